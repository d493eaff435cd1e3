import type { LabelMoves } from '../artefact/row-difference.ts';
import type { LevelCounts } from '../../phone/reputation-level.ts';

/** Limits of the gates: the settings of the same names, and a limit that tests lower. */
export interface NightGateLimits {
  readonly shrinkPercentMax: number;
  readonly growthPercentMax: number;
  readonly labelChangePercentMax: number;
  /** Default: {@link gateRowsMin}. */
  readonly gateRowsMin?: number;
}

/**
 * A difference of fewer rows holds no build: labels that build up from nothing pass (measured at commit dc73ae54). For lost rows the
 * percentage alone counts.
 */
const gateRowsMin = 1000;

/**
 * The limits of labels as shares of `labelChangePercentMax`, as usual nights differ (commit dc73ae54): fewer fall than rise,
 * and few change their level.
 */
const labelLimits = { rise: 1, fall: 0.8, flip: 0.4, fraudSharePoints: 0.8 } as const;

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

/**
 * The gates that a build does not pass, compared with the published version. `moves` is null if unknown. No gate compares with
 * nothing: the first rows and the first labels pass.
 */
export function judgeBuild(
  build: ComparedRows & { readonly moves: LabelMoves | null; readonly rowsLeft: number },
  published: ComparedRows,
  limits: NightGateLimits,
): NightBreach[] {
  if (published.rows === 0) return [];
  return [
    ...judgeRows(build, published, limits),
    ...judgeMoves(build.moves, countLabels(published), limits),
    ...judgeFraudShare(build, published, limits),
  ];
}

function judgeRows(
  { rows, rowsLeft }: { readonly rows: number; readonly rowsLeft: number },
  published: ComparedRows,
  { shrinkPercentMax, growthPercentMax, gateRowsMin: rowsMin = gateRowsMin }: NightGateLimits,
): NightBreach[] {
  const before = Math.max(0, published.rows - rowsLeft);
  if (shrinksTooMuch(rows, before, shrinkPercentMax)) {
    const left = rowsLeft === 0 ? '' : `, with ${rowsLeft} removed by decision`;
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
  if (added < rowsMin || added * 100 <= published.rows * growthPercentMax) return [];
  return [
    {
      gate: 'growth',
      figure: percentOf(added, published.rows),
      limit: growthPercentMax,
      reason: `${rows} rows instead of ${published.rows}: a growth of more than ${growthPercentMax} %.`,
    },
  ];
}

function judgeMoves(
  moves: LabelMoves | null,
  labels: number,
  { labelChangePercentMax, gateRowsMin: rowsMin = gateRowsMin }: NightGateLimits,
): NightBreach[] {
  if (moves === null || labels === 0) return [];
  const limitOf = (share: number) => Math.round(labelChangePercentMax * share);
  const gates = [
    { gate: 'label_rise', numbers: moves.rises, limit: limitOf(labelLimits.rise), words: 'get a label' },
    { gate: 'label_fall', numbers: moves.falls, limit: limitOf(labelLimits.fall), words: 'lose their label' },
    {
      gate: 'label_flip',
      numbers: moves.flips,
      limit: limitOf(labelLimits.flip),
      words: 'change between SPAM and FRAUD',
    },
  ] as const;
  return gates
    .filter(({ numbers, limit }) => numbers >= rowsMin && numbers > 0 && numbers * 100 > labels * limit)
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
  { labelChangePercentMax, gateRowsMin: rowsMin = gateRowsMin }: NightGateLimits,
): NightBreach[] {
  const [labels, labelsBefore] = [countLabels(build), countLabels(published)];
  if (labels === 0 || labelsBefore === 0) return [];
  const [share, before] = [
    percentOf(build.levels.FRAUD ?? 0, labels),
    percentOf(published.levels.FRAUD ?? 0, labelsBefore),
  ];
  const points = Math.abs(share - before);
  const limit = Math.round(labelChangePercentMax * labelLimits.fraudSharePoints);
  if (points <= limit || Math.round((points * labels) / 100) < rowsMin) return [];
  return [
    {
      gate: 'level_share',
      figure: Math.round(points * 100) / 100,
      limit,
      reason: `${share.toFixed(1)} % of the labels are FRAUD instead of ${before.toFixed(1)} %: a difference of more than ${limit} points.`,
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

/** With two decimals. */
function percentOf(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 100;
}
