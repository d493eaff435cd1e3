import type { RowBlock } from './row-block.ts';
import { LEVELS, type LevelCounts } from './levels.ts';

const tab = 0x09;
/** A plus sign and 8 digits. */
const phoneBytesMin = 9;
/** First letters of the levels. */
const letters = { NEUTRAL: 0x4e, SPAM: 0x53, FRAUD: 0x46 } as const;
const counts = new Uint32Array(256);

/** Counts the rows from `from` to before `to` by level: their second column, recognized by its first letter. */
export function countLevels({ plain, starts }: RowBlock, { from, to }: { from: number; to: number }): LevelCounts {
  counts.fill(0);
  for (let row = from; row < to; row++) {
    let at = starts[row]! + phoneBytesMin;
    while (plain[at] !== tab) at++;
    counts[plain[at + 1]!]!++;
  }
  return sumLevels([{ NEUTRAL: counts[letters.NEUTRAL]!, SPAM: counts[letters.SPAM]!, FRAUD: counts[letters.FRAUD]! }]);
}

/** The sum of counts, less those of `minus`, without levels that have no rows. */
export function sumLevels(plus: readonly LevelCounts[], minus: readonly LevelCounts[] = []): LevelCounts {
  const total: LevelCounts = {};
  for (const level of LEVELS) {
    const add = (list: readonly LevelCounts[]) => list.reduce((sum, counts) => sum + (counts[level] ?? 0), 0);
    const rows = add(plus) - add(minus);
    if (rows !== 0) total[level] = rows;
  }
  return total;
}
