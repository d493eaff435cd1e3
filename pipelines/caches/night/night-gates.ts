import type { LevelCounts } from '../../../clients/typescript/format/levels.ts';

/** Numbers whose label a night changes: from none to one, from one to none, and between SPAM and FRAUD. */
export interface LabelMoves {
  readonly rises: number;
  readonly falls: number;
  readonly flips: number;
}

/** Limits of the gates: the settings of the same names. */
export interface NightGateLimits {
  readonly shrinkPercentMax: number;
  readonly growthPercentMax: number;
  readonly labelRisePercentMax: number;
  readonly labelFallPercentMax: number;
  readonly labelFlipPercentMax: number;
  readonly levelSharePointsMax: number;
  readonly nightGateRowsMin: number;
}

/** The closed list of gates that a build passes before it is published. */
export const NIGHT_GATES = ['shrink', 'growth', 'label_rise', 'label_fall', 'label_flip', 'level_share'] as const;

/** A gate that a build does not pass; figure and limit in percent. */
export interface NightBreach {
  readonly gate: (typeof NIGHT_GATES)[number];
  readonly figure: number;
  readonly limit: number;
  readonly reason: string;
}

/** Rows and levels of a build or of the published version. */
export interface ComparedRows {
  readonly rows: number;
  readonly levels: LevelCounts;
}

/** The gates that a build does not pass, compared with the published version. `moves` is null if unknown. */
export function judgeBuild(
  build: ComparedRows & { readonly moves: LabelMoves | null; readonly rowsLeft: number },
  published: ComparedRows,
  limits: NightGateLimits,
): NightBreach[] {
  return [
    ...judgeRows(build, published, limits),
    ...judgeMoves(build.moves, countLabels(published), limits),
    ...judgeFraudShare(build, published, limits),
  ];
}

function judgeRows(
  { rows, rowsLeft }: { readonly rows: number; readonly rowsLeft: number },
  published: ComparedRows,
  { shrinkPercentMax, growthPercentMax, nightGateRowsMin }: NightGateLimits,
): NightBreach[] {
  const before = Math.max(0, published.rows - rowsLeft);
  if (shrinksTooMuch(rows, before, shrinkPercentMax)) {
    const left = rowsLeft === 0 ? '' : `, of which ${rowsLeft} left by decision`;
    return [
      {
        gate: 'shrink',
        figure: percentOf(before - rows, before),
        limit: shrinkPercentMax,
        reason: `${rows} rows instead of ${published.rows}${left}: a loss of more than ${shrinkPercentMax} %.`,
      },
    ];
  }
  const added = rows - published.rows;
  if (added < nightGateRowsMin || added * 100 <= published.rows * growthPercentMax) return [];
  return [
    {
      gate: 'growth',
      figure: percentOf(added, published.rows),
      limit: growthPercentMax,
      reason: `${rows} rows instead of ${published.rows}: a growth of more than ${growthPercentMax} %.`,
    },
  ];
}

function judgeMoves(moves: LabelMoves | null, labels: number, limits: NightGateLimits): NightBreach[] {
  if (moves === null) return [];
  const gates = [
    { gate: 'label_rise', numbers: moves.rises, limit: limits.labelRisePercentMax, words: 'get a label' },
    { gate: 'label_fall', numbers: moves.falls, limit: limits.labelFallPercentMax, words: 'lose their label' },
    {
      gate: 'label_flip',
      numbers: moves.flips,
      limit: limits.labelFlipPercentMax,
      words: 'change between SPAM and FRAUD',
    },
  ] as const;
  return gates
    .filter(({ numbers, limit }) => numbers >= limits.nightGateRowsMin && numbers > 0 && numbers * 100 > labels * limit)
    .map(({ gate, numbers, limit, words }) => ({
      gate,
      figure: percentOf(numbers, labels),
      limit,
      reason: `${numbers} numbers ${words}, more than ${limit} % of the ${labels} labels that are published.`,
    }));
}

function judgeFraudShare(
  build: ComparedRows,
  published: ComparedRows,
  { levelSharePointsMax, nightGateRowsMin }: NightGateLimits,
): NightBreach[] {
  const [labels, labelsBefore] = [countLabels(build), countLabels(published)];
  if (labels === 0 || labelsBefore === 0) return [];
  const [share, before] = [
    percentOf(build.levels.FRAUD ?? 0, labels),
    percentOf(published.levels.FRAUD ?? 0, labelsBefore),
  ];
  const points = Math.abs(share - before);
  if (points <= levelSharePointsMax || Math.round((points * labels) / 100) < nightGateRowsMin) return [];
  return [
    {
      gate: 'level_share',
      figure: Math.round(points * 100) / 100,
      limit: levelSharePointsMax,
      reason: `${share.toFixed(1)} % of the labels are FRAUD instead of ${before.toFixed(1)} %: a difference of more than ${levelSharePointsMax} points.`,
    },
  ];
}

/** True if the rows fall by more than the given share. Integer arithmetic, so that exactly the limit passes. */
export function shrinksTooMuch(rows: number, before: number, percentMax: number): boolean {
  return (before - rows) * 100 > before * percentMax;
}

function countLabels({ levels }: ComparedRows): number {
  return (levels.SPAM ?? 0) + (levels.FRAUD ?? 0);
}

/** With two decimals; a whole of 0 counts as 1. */
function percentOf(part: number, whole: number): number {
  return Math.round((part / Math.max(1, whole)) * 10_000) / 100;
}
