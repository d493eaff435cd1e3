import { Seeded } from '../../../runtime/seeded.ts';
import { quantile } from '../../../pipelines/audio/drift/score-shift.ts';

/** The clusters that a resample of a test set draws: speakers and synthesizers ('' for none). */
interface ClusterNames {
  readonly speaker: string;
  readonly synthesizer: string;
}

/** A 95 % interval of the resamples. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The number of resamples and the seed. */
export interface BootstrapSettings {
  readonly resamples: number;
  readonly seed: number;
}

export const bootstrapDefaults: BootstrapSettings = { resamples: 1000, seed: 1 };

/** Share of the resamples that must have the figure: a pair of one synthesizer and one speaker occurs in two of five. */
const definedShareMin = 0.2;

const tail = 0.025;

/** A figure of a test set with weighted items; undefined if it is not defined. */
export type WeightedFigure = (weights: Float32Array) => number | undefined;

/**
 * The 95 % intervals of figures (percentiles 2.5 and 97.5 of resamples). All figures use the same resamples, so that the
 * difference of two models can be a figure.
 *
 * Speakers and synthesizers are drawn with replacement, independently; the weight of an item is the product of the counts of
 * its speaker and its synthesizer (Owen, "The pigeonhole bootstrap", 2007). Clips are not drawn: the errors of one speaker or
 * one synthesizer are correlated, so an interval over clips would be far too narrow for new speakers and synthesizers.
 *
 * Null if too few resamples have the figure, or all have the same value: then the set is too small or too easy for an interval,
 * and one of zero width would claim certainty.
 */
export function bootstrapIntervals(
  items: readonly ClusterNames[],
  figures: readonly WeightedFigure[],
  { resamples, seed }: BootstrapSettings,
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
    if (none !== -1) ofSynthesizers.splice(none, 0, 1); // items without a synthesizer always count
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
  return { low: quantile(sorted, tail), high: quantile(sorted, 1 - tail) };
}

function numberNames(names: readonly string[]): { readonly names: readonly string[]; readonly numbers: Uint32Array } {
  const numberOf = new Map<string, number>();
  for (const name of names) if (!numberOf.has(name)) numberOf.set(name, numberOf.size);
  return { names: [...numberOf.keys()], numbers: Uint32Array.from(names, (name) => numberOf.get(name)!) };
}

/** The counts of each cluster in as many draws with replacement as there are clusters. */
function drawCounts(clusters: number, random: Seeded): number[] {
  const counts = new Array<number>(clusters).fill(0);
  for (let draw = 0; draw < clusters; draw++) counts[random.below(clusters)]!++;
  return counts;
}
