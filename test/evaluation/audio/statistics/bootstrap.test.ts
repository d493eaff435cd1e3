import { expect, it } from 'vitest';
import { bootstrapIntervals } from '../../../../evaluation/audio/statistics/bootstrap.ts';
import { quantile } from '../../../../pipelines/audio/drift/score-shift.ts';
import { equalErrorRate, rankTrials } from '../../../../evaluation/audio/statistics/error-curve.ts';
import { Seeded } from '../../../../runtime/seeded.ts';

const settings = { resamples: 400, seed: 3 };
const human = (speaker: string) => ({ speaker, synthesizer: '' });

/** Weights that a bootstrap gives, as it hands them to a figure. */
function weightsOf(items: readonly { speaker: string; synthesizer: string }[]): number[][] {
  const seen: number[][] = [];
  bootstrapIntervals(items, [(weights) => seen.push([...weights])], settings);
  return seen;
}

it('draws speakers, and all clips of a speaker with it', () => {
  const weights = weightsOf([human('a'), human('a'), human('b'), human('c')]);
  expect(weights).toHaveLength(400);
  for (const [first, second, third, fourth] of weights as [number, number, number, number][]) {
    expect(first).toBe(second);
    expect(first + third + fourth).toBe(3);
  }
  expect(new Set(weights.map(([first]) => first))).toEqual(new Set([0, 1, 2, 3]));
});

it('draws synthesizers apart from speakers, and multiplies', () => {
  const weights = weightsOf([
    human('a'),
    { speaker: 'a', synthesizer: 'x' },
    { speaker: 'a', synthesizer: 'y' },
    human('b'),
  ]);
  for (const [bare, x, y, other] of weights as [number, number, number, number][]) {
    expect(bare + other).toBe(2);
    expect(x + y).toBe(bare * 2);
  }
});

it('is the same for the same seed', () => {
  const items = [human('a'), human('b'), human('c')];
  const figure = (weights: Float32Array) => weights[0]! * 10 + weights[1]!;
  expect(bootstrapIntervals(items, [figure], settings)).toEqual(bootstrapIntervals(items, [figure], settings));
});

it('has no interval where the figure never moves, or where too few resamples have it', () => {
  expect(bootstrapIntervals([human('a'), human('a')], [() => 1], settings)).toEqual([null]);
  expect(bootstrapIntervals([human('a'), { speaker: 'a', synthesizer: 'x' }], [() => 1], settings)).toEqual([null]);
  expect(bootstrapIntervals([human('a'), human('b')], [() => undefined, () => 0], settings)).toEqual([null, null]);
  expect(
    bootstrapIntervals(
      [human('a'), human('b'), human('c')],
      [(weights) => (weights[0]! > 2 ? weights[1] : undefined)],
      settings,
    ),
  ).toEqual([null]);
});

it('covers the true rate of sets whose speakers differ, which an interval over clips does not', () => {
  const random = new Seeded(11);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  let [covered, coveredOverClips] = [0, 0];
  const sets = 60;
  for (let set = 0; set < sets; set++) {
    // Scores N(±1, 1 + 1): the true equal error rate is Φ(-1 / √2), 24.0 %.
    const speakers = Array.from({ length: 40 }, (_none, at) => ({
      name: String(at),
      authentic: at < 20,
      shift: normal(),
    }));
    const clips = speakers.flatMap((speaker) =>
      Array.from({ length: 10 }, () => ({ speaker, score: (speaker.authentic ? 1 : -1) + speaker.shift + normal() })),
    );
    const ranked = rankTrials(clips.map(({ speaker, score }, item) => ({ score, authentic: speaker.authentic, item })));
    const figure = (weights: Float32Array) => equalErrorRate(ranked, weights);
    const few = { resamples: 150, seed: set };
    const [interval] = bootstrapIntervals(
      clips.map(({ speaker }) => human(speaker.name)),
      [figure],
      few,
    );
    const [overClips] = bootstrapIntervals(
      clips.map((_clip, at) => human(String(at))),
      [figure],
      few,
    );
    if (interval!.low <= 0.2398 && 0.2398 <= interval!.high) covered++;
    if (overClips!.low <= 0.2398 && 0.2398 <= overClips!.high) coveredOverClips++;
  }
  expect(covered / sets).toBeGreaterThan(0.85);
  expect(coveredOverClips / sets).toBeLessThan(0.75);
});

it('interpolates percentiles', () => {
  expect(quantile([1, 2, 3, 4], 0)).toBe(1);
  expect(quantile([1, 2, 3, 4], 1)).toBe(4);
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
  expect(quantile([7], 0.3)).toBe(7);
});
