import { Seeded } from '../../runtime/seeded.ts';

/** What a resample of a test set draws anew: who speaks, and which synthesizer made it ('' for none). */
export interface ClusterNames {
  readonly speaker: string;
  readonly synthesizer: string;
}

/** Where 95 % of the resamples lie. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** How often a set is resampled, and from which seed. */
export interface BootstrapSettings {
  readonly resamples: number;
  readonly seed: number;
}

export const bootstrapDefaults: BootstrapSettings = { resamples: 1000, seed: 1 };

/** Fewest resamples that must have a figure, as a share of those asked for: one of a synthesizer and a speaker is there in two of five. */
const definedShareMin = 0.2;

const tail = 0.025;

/** A figure of a test set whose items count as often as their weights say; undefined where it has none. */
export type WeightedFigure = (weights: Float32Array) => number | undefined;

/**
 * The 95 % intervals of figures (percentiles 2.5 and 97.5 of resamples), each figure on the same resamples, so that the
 * difference of two models is a figure like another.
 *
 * Speakers are drawn with replacement, and so are synthesizers, apart from each other; an item counts as often as its
 * speaker times its synthesizer was drawn (Owen, "The pigeonhole bootstrap", 2007). Clips are not drawn: those of one
 * speaker or one synthesizer err together, so that an interval over clips would be far too narrow for speakers and
 * synthesizers that were never heard.
 *
 * Null where too few resamples have the figure, or where all of them have the same: then the set is too small or too easy for
 * the bootstrap to say how far the figure would move, and an interval of no width would claim certainty.
 */
export function bootstrapIntervals(
  items: readonly ClusterNames[],
  figures: readonly WeightedFigure[],
  { resamples, seed }: BootstrapSettings = bootstrapDefaults,
): (Interval | null)[] {
  const random = new Seeded(seed);
  const speakers = numberNames(items.map(({ speaker }) => speaker));
  const synthesizers = numberNames(items.map(({ synthesizer }) => synthesizer));
  const none = synthesizers.names.indexOf('');
  const synthesizersDrawn = synthesizers.names.length - (none === -1 ? 0 : 1);

  const values = figures.map((): number[] => []);
  const weights = new Float32Array(items.length);
  for (let resample = 0; resample < resamples; resample++) {
    const ofSpeakers = drawCounts(speakers.names.length, random);
    const ofSynthesizers = drawCounts(synthesizersDrawn, random);
    if (none !== -1) ofSynthesizers.splice(none, 0, 1); // what no synthesizer made always counts
    for (let at = 0; at < weights.length; at++)
      weights[at] = ofSpeakers[speakers.numbers[at]!]! * ofSynthesizers[synthesizers.numbers[at]!]!;
    for (const [at, figure] of figures.entries()) {
      const value = figure(weights);
      if (value !== undefined) values[at]!.push(value);
    }
  }
  return values.map((of) => (of.length === 0 || of.length < resamples * definedShareMin ? null : intervalOf(of)));
}

function intervalOf(values: readonly number[]): Interval | null {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted[0] === sorted.at(-1)) return null;
  return { low: percentile(sorted, tail), high: percentile(sorted, 1 - tail) };
}

/** The value below which a share of sorted values lies, interpolated between neighbours. */
export function percentile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below]!;
  return low + (place - below) * ((sorted[below + 1] ?? low) - low);
}

function numberNames(names: readonly string[]): { readonly names: readonly string[]; readonly numbers: Uint32Array } {
  const numberOf = new Map<string, number>();
  for (const name of names) if (!numberOf.has(name)) numberOf.set(name, numberOf.size);
  return { names: [...numberOf.keys()], numbers: Uint32Array.from(names, (name) => numberOf.get(name)!) };
}

/** How often each of `clusters` is drawn in as many draws with replacement. */
function drawCounts(clusters: number, random: Seeded): number[] {
  const counts = new Array<number>(clusters).fill(0);
  for (let draw = 0; draw < clusters; draw++) counts[random.below(clusters)]!++;
  return counts;
}
