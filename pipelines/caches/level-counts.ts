import type { RowBlock } from './copy-out.ts';
import type { LevelCounts } from './manifest.ts';

const tab = 0x09;
/** No phone is shorter: a plus sign and 8 digits. */
const phoneBytesMin = 9;
const levelOfLetter: Readonly<Record<number, 'NEUTRAL' | 'SPAM' | 'FRAUD'>> = { 0x4e: 'NEUTRAL', 0x53: 'SPAM', 0x46: 'FRAUD' };

/** Rows a level of the rows from one to before another, whose second column is a reputation level: its first letter tells which. */
export function countLevels({ plain, starts }: RowBlock, { from, to }: { from: number; to: number }): LevelCounts {
  let neutral = 0;
  let spam = 0;
  let fraud = 0;
  for (let row = from; row < to; row++) {
    let at = starts[row]! + phoneBytesMin;
    while (plain[at] !== tab) at++;
    const level = levelOfLetter[plain[at + 1]!];
    if (level === 'NEUTRAL') neutral++;
    else if (level === 'SPAM') spam++;
    else if (level === 'FRAUD') fraud++;
  }
  return sumLevels([{ NEUTRAL: neutral, SPAM: spam, FRAUD: fraud }]);
}

/** The sum of counts, less those of `minus`; levels without rows are left out. */
export function sumLevels(plus: readonly LevelCounts[], minus: readonly LevelCounts[] = []): LevelCounts {
  const total: LevelCounts = {};
  for (const level of ['NEUTRAL', 'SPAM', 'FRAUD'] as const) {
    const add = (list: readonly LevelCounts[]) => list.reduce((sum, counts) => sum + (counts[level] ?? 0), 0);
    const rows = add(plus) - add(minus);
    if (rows !== 0) total[level] = rows;
  }
  return total;
}
