import { expect, it } from 'vitest';
import { equalErrorRate, rankTrials } from '../../../evaluation/audio/statistics/error-curve.ts';
import { fitLogisticRegression } from '../../../evaluation/audio/statistics/logistic-regression.ts';
import { nuisanceScores, type NuisanceTrial } from '../../../evaluation/audio/nuisance-baseline.ts';
import { NuisanceMeter, type NuisanceFeatures } from '../../../evaluation/audio/nuisance-features.ts';
import { Seeded } from '../../../runtime/seeded.ts';

const rate = 8000;
const measure = (samples: Float32Array, block = samples.length) => {
  const meter = new NuisanceMeter(rate);
  for (let at = 0; at < samples.length; at += block) meter.take(samples.subarray(at, at + block));
  return meter.end();
};
const tone = (seconds: number, { hz = 1000, amplitude = 0.5 } = {}) =>
  Float32Array.from({ length: seconds * rate }, (_none, at) => amplitude * Math.sin((2 * Math.PI * hz * at) / rate));
const join = (...parts: Float32Array[]) => Float32Array.from(parts.flatMap((part) => [...part]));

it('measures level, length, silence at both ends, noise floor and bandwidth', () => {
  const features = measure(join(tone(0.5, { amplitude: 0.0005 }), tone(2), tone(0.25, { amplitude: 0.0005 })))!;
  expect(features.durationSeconds).toBe(2.75);
  expect(features.levelDbfs).toBeCloseTo(10 * Math.log10((0.125 * 2) / 2.75), 1);
  expect(features.leadingSilenceSeconds).toBeCloseTo(0.5, 10);
  expect(features.trailingSilenceSeconds).toBeCloseTo(0.25, 10);
  expect(features.noiseFloorDbfs).toBeCloseTo(20 * Math.log10(0.0005 / Math.SQRT2), 1);
  expect(features.bandwidthHz).toBeGreaterThan(1000);
  expect(features.bandwidthHz).toBeLessThan(1100);
});

it('measures the same whatever the blocks', () => {
  const samples = join(tone(0.3, { amplitude: 0.001 }), tone(1.1, { hz: 3100 }), tone(0.2));
  const whole = measure(samples)!;
  for (const block of [1, 77, 511, 512, 513, 4096]) {
    for (const [name, value] of Object.entries(measure(samples, block)!))
      expect(value, `${name} in blocks of ${block}`).toBeCloseTo(whole[name as keyof NuisanceFeatures], 6);
  }
});

it('has numbers for silence, and none for less than a frame', () => {
  expect(measure(new Float32Array(rate))).toEqual({
    levelDbfs: -100,
    durationSeconds: 1,
    noiseFloorDbfs: -100,
    bandwidthHz: 0,
    leadingSilenceSeconds: 0,
    trailingSilenceSeconds: 0,
  });
  expect(measure(new Float32Array(79))).toBeUndefined();
});

it('fits a logistic regression that finds the plane between two clouds', () => {
  const random = new Seeded(2);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  // Log-odds of N(+1, 1) against N(-1, 1) are 2x; a second column says nothing, a third never changes.
  const rows = Array.from({ length: 4000 }, (_none, at) => [(at % 2 === 0 ? 1 : -1) + normal(), 5 * normal(), 7]);
  const classify = fitLogisticRegression({ rows, labels: rows.map((_row, at) => at % 2 === 0) });
  expect(classify([0, 0, 7])).toBeCloseTo(0, 0);
  expect(classify([2, 0, 7]) - classify([0, 0, 7])).toBeCloseTo(4, 0);
  expect(classify([0, 10, 7]) - classify([0, 0, 7])).toBeCloseTo(0, 0);
});

it('gives the log-odds of classes that are equally many, and stays finite where they are apart', () => {
  const classify = fitLogisticRegression({
    rows: [[0], [0], [0], [1], [1], [0], [0], [0], [1], [1]],
    labels: [false, false, false, false, false, true, true, true, true, true],
  });
  expect(classify([0])).toBeCloseTo(0, 6);
  const apart = fitLogisticRegression({ rows: [[0], [0], [0], [1]], labels: [false, false, false, true] });
  expect(apart([1])).toBeGreaterThan(0);
  expect(apart([1])).toBeLessThan(20);
  expect(() => fitLogisticRegression({ rows: [[1]], labels: [true] })).toThrow(RangeError);
});

/** Recordings of 20 speakers, half of them attacks, whose level says so as much as `leak` says. */
function recordings(leak: number, seed: number): NuisanceTrial[] {
  const random = new Seeded(seed);
  return Array.from({ length: 400 }, (_none, at) => {
    const authentic = at % 2 === 0;
    const uniform = (low: number, high: number) => low + (high - low) * random.next();
    const features = {
      levelDbfs: uniform(-30, -15) + (authentic ? leak : 0),
      durationSeconds: uniform(1, 5),
      noiseFloorDbfs: uniform(-70, -40),
      bandwidthHz: uniform(3000, 4000),
      leadingSilenceSeconds: uniform(0, 0.5),
      trailingSilenceSeconds: uniform(0, 0.5),
    };
    return { authentic, speaker: String(at % 20), features };
  });
}

const errorOf = (trials: readonly NuisanceTrial[]) =>
  equalErrorRate(
    rankTrials(nuisanceScores(trials)!.map((score, item) => ({ score, item, authentic: trials[item]!.authentic }))),
  )!;

it('is near chance where nothing but the voice differs, and far below it where the level does', () => {
  const clean = [1, 2, 3].map((seed) => errorOf(recordings(0, seed)));
  expect(clean.reduce((sum, each) => sum + each, 0) / clean.length).toBeGreaterThan(0.44);
  expect(errorOf(recordings(12, 1))).toBeLessThan(0.2);
});

it('finds a leak that is in the spread and not in the mean', () => {
  const trials = recordings(0, 4).map((trial) => ({
    ...trial,
    features: {
      ...trial.features,
      levelDbfs: trial.authentic ? -22 + (trial.features.levelDbfs + 22.5) / 5 : trial.features.levelDbfs,
    },
  }));
  expect(errorOf(trials)).toBeLessThan(0.35);
});

it('never scores a speaker with a classifier that knew him', () => {
  // Each speaker has a duration of his own, and is of one class: known speakers would be classified without error, new ones not at all.
  const random = new Seeded(5);
  const durations = Array.from({ length: 60 }, () => 1 + 10 * random.next());
  const trials = recordings(0, 5).map((trial, at) => ({
    ...trial,
    speaker: `s${at % 60}`,
    authentic: (at % 60) % 2 === 0,
    features: { ...trial.features, durationSeconds: durations[at % 60]! },
  }));
  expect(errorOf(trials)).toBeGreaterThan(0.3);
});

it('is not defined without enough speakers of each class', () => {
  expect(
    nuisanceScores(recordings(0, 1).map((trial) => ({ ...trial, speaker: trial.authentic ? 'one' : trial.speaker }))),
  ).toBeUndefined();
  expect(nuisanceScores([])).toEqual([]);
});
