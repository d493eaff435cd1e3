/** A share and its change, with the significance of the change. */
export interface PairedChange {
  /** Recordings that both models judged. */
  readonly compared: number;
  readonly old: number;
  readonly new: number;
  /** New share less the old one, from -1 to 1; null if nothing was compared. */
  readonly change: number | null;
  /** Of the change, at 95 %. */
  readonly interval: readonly [low: number, high: number] | null;
  /** Two-sided exact test of McNemar: how often as much would happen if the models did not differ. */
  readonly p: number | null;
}

/** How many recordings both models, one of them, or neither put into a class. */
interface PairedCounts {
  readonly both: number;
  readonly oldOnly: number;
  readonly newOnly: number;
  readonly neither: number;
}

/** Standard normal quantile of a two-sided 95 % interval. */
const z95 = 1.959963984540054;

/** The change of a share that two models judged on the same recordings. */
export function pairedChange(counts: PairedCounts): PairedChange {
  const { both, oldOnly, newOnly, neither } = counts;
  const compared = both + oldOnly + newOnly + neither;
  const shares = { compared, old: both + oldOnly, new: both + newOnly };
  if (compared === 0) return { ...shares, change: null, interval: null, p: null };
  return {
    ...shares,
    change: (newOnly - oldOnly) / compared,
    interval: newcombeInterval(counts),
    p: mcnemarExact(oldOnly, newOnly),
  };
}

/**
 * 95 % interval of the difference of two proportions that were measured on the same recordings: method 10 of R. G. Newcombe,
 * "Improved confidence intervals for the difference between binomial proportions based on paired data", Statistics in
 * Medicine 17 (1998), 2635-2650. It joins the two score intervals of Wilson by the correlation of the pairs, and holds its
 * level also where few recordings change, or none: the usual interval then has no width.
 */
export function newcombeInterval({
  both,
  oldOnly,
  newOnly,
  neither,
}: PairedCounts): readonly [low: number, high: number] {
  const total = both + oldOnly + newOnly + neither;
  const [pNew, pOld] = [(both + newOnly) / total, (both + oldOnly) / total];
  const [newLow, newHigh] = wilsonInterval(both + newOnly, total);
  const [oldLow, oldHigh] = wilsonInterval(both + oldOnly, total);
  const phi = correctedCorrelation({ both, oldOnly, newOnly, neither });
  const below = joined(pNew - newLow, oldHigh - pOld, phi);
  const above = joined(newHigh - pNew, pOld - oldLow, phi);
  return [Math.max(-1, pNew - pOld - below), Math.min(1, pNew - pOld + above)];
}

/** 95 % score interval of one proportion: E. B. Wilson, Journal of the American Statistical Association 22 (1927), 209-212. */
export function wilsonInterval(count: number, total: number): readonly [low: number, high: number] {
  const [p, square] = [count / total, z95 ** 2];
  const middle = p + square / (2 * total);
  const half = z95 * Math.sqrt((p * (1 - p)) / total + square / (4 * total ** 2));
  const scale = 1 + square / total;
  return [count === 0 ? 0 : (middle - half) / scale, count === total ? 1 : (middle + half) / scale];
}

/**
 * Two-sided exact test of McNemar on the recordings that changed: twice the smaller tail of the binomial with even odds, at
 * most 1. Q. McNemar, Psychometrika 12 (1947), 153-157.
 */
export function mcnemarExact(oldOnly: number, newOnly: number): number {
  const changed = oldOnly + newOnly;
  let [term, tail] = [-changed * Math.LN2, 0]; // the logarithm of one term of the tail, from none upwards
  for (let count = 0; count <= Math.min(oldOnly, newOnly); count++) {
    tail += Math.exp(term);
    term += Math.log((changed - count) / (count + 1));
  }
  return Math.min(1, 2 * tail);
}

/** Correlation of the pairs, drawn towards zero by half a recording, as method 10 has it. */
function correctedCorrelation({ both, oldOnly, newOnly, neither }: PairedCounts): number {
  const total = both + oldOnly + newOnly + neither;
  const margins = (both + oldOnly) * (newOnly + neither) * (both + newOnly) * (oldOnly + neither);
  if (margins === 0) return 0;
  const cross = both * neither - oldOnly * newOnly;
  const corrected = cross > 0 ? Math.max(0, cross - total / 2) : cross;
  return corrected / Math.sqrt(margins);
}

function joined(a: number, b: number, phi: number): number {
  return Math.sqrt(Math.max(0, a ** 2 - 2 * phi * a * b + b ** 2));
}
