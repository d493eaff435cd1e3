import { expect, it } from 'vitest';
import { curvesOf, drawDetCurves, probit } from '../../../evaluation/audio/card/det-picture.ts';
import type { EvaluatedSet, ItemOutcome, ModelOutcomes } from '../../../evaluation/audio/evaluated-set.ts';
import { makeReport, thinCurve } from '../../../evaluation/audio/evaluation-report.ts';
import { errorCurve, rankTrials } from '../../../evaluation/audio/statistics/error-curve.ts';
import type { IndexRow } from '../../../evaluation/audio/index-file.ts';
import { Seeded } from '../../../runtime/seeded.ts';
import { formatEvaluation } from '../../../evaluation/audio/stored-evaluation.ts';

const row = (at: number, part: Partial<IndexRow>): IndexRow => ({
  line: at + 2,
  path: `${at}.wav`,
  file: `/${at}.wav`,
  label: 'bonafide',
  channel: 'phone',
  speaker: `s${at}`,
  synthesizer: '',
  codec: 'mulaw',
  attack: '',
  set: '',
  baseLabel: '',
  snrDb: null,
  asvScore: null,
  asvTrial: '',
  ...part,
});
const performed = (synthesis: number | null, replay: number | null = null): ItemOutcome => ({
  state: 'performed',
  scores: { synthesis, replay },
});

interface Item extends Partial<IndexRow> {
  readonly outcome: ItemOutcome | null;
}

function evaluate(items: readonly Item[], ...others: (readonly (ItemOutcome | null)[])[]) {
  const rows = items.map(({ outcome: _outcome, ...part }, at) => row(at, part));
  const random = new Seeded(1);
  const set: EvaluatedSet = {
    rows,
    nuisance: rows.map(() => ({
      levelDbfs: -30 * random.next(),
      durationSeconds: 3,
      noiseFloorDbfs: -60,
      bandwidthHz: 3400,
      leadingSilenceSeconds: 0.1,
      trailingSilenceSeconds: 0.1,
    })),
  };
  const models = [items.map(({ outcome }) => outcome), ...others].map((outcomes, at): ModelOutcomes => ({
    model: `phone/v${at + 1}`,
    manifestSha256: 'a'.repeat(64),
    weightsSha256: 'b'.repeat(64),
    thresholds: { synthesis: 0.5 },
    outcomes,
  }));
  return makeReport({
    index: { name: 'a set', note: '', sha256: 'c'.repeat(64), recordings: rows.length },
    set,
    models,
    evaluatedAt: new Date('2026-11-21T12:00:00Z'),
    bootstrap: { resamples: 50, seed: 1 },
  });
}

const synthetic = (score: number, part: Partial<IndexRow> = {}): Item => ({
  label: 'synthetic',
  synthesizer: 'tts',
  ...part,
  outcome: performed(score),
});
const bonafide = (score: number, part: Partial<IndexRow> = {}): Item => ({ ...part, outcome: performed(score, score) });

it('sets bonafide recordings against synthetic ones for synthesis, and against replays for replay', () => {
  const { sections } = evaluate([
    bonafide(0.9),
    bonafide(0.8),
    bonafide(0.3),
    synthetic(0.1),
    synthetic(0.2),
    synthetic(0.95),
    { label: 'replay', outcome: performed(0.99, 0.1) },
    { label: 'replay', outcome: performed(0.01, 0.2) },
  ]);
  expect(sections).toHaveLength(1);
  const [synthesis, replay] = sections[0]!.scores;
  expect(synthesis).toMatchObject({
    score: 'synthesis',
    bonafide: 3,
    attacks: 3,
    speakers: 6,
    synthesizers: 1,
    equalError: { rate: expect.closeTo(1 / 3, 12) },
    minimumTandemCost: null,
  });
  expect(synthesis!.atThreshold).toEqual({
    threshold: 0.5,
    miss: expect.closeTo(1 / 3, 12),
    falseAlarm: expect.closeTo(1 / 3, 12),
  });
  expect(replay).toMatchObject({
    score: 'replay',
    bonafide: 3,
    attacks: 2,
    equalError: { rate: 0 },
    minimumCost: 0,
    atThreshold: null,
  });
});

it('counts abstentions and errors apart, and leaves them out of the rates', () => {
  const { sections } = evaluate([
    bonafide(0.9),
    synthetic(0.1),
    { outcome: { state: 'performedWithoutScore', reason: 'no_voice' } },
    { label: 'synthetic', outcome: { state: 'performedWithoutScore', reason: 'insufficient_voice' } },
    { outcome: { state: 'performedWithoutScore', reason: 'no_voice' } },
    { outcome: { state: 'error', reason: 'audio_damaged' } },
    { outcome: null },
  ]);
  expect(sections[0]!.outcomes).toEqual([
    { label: 'bonafide', performed: 1, performedWithoutScore: 2, error: 1 },
    { label: 'synthetic', performed: 1, performedWithoutScore: 1, error: 0 },
    { label: 'replay', performed: 0, performedWithoutScore: 0, error: 0 },
  ]);
  expect(sections[0]!.reasons).toEqual([
    { state: 'performedWithoutScore', reason: 'no_voice', count: 2 },
    { state: 'error', reason: 'audio_damaged', count: 1 },
    { state: 'performedWithoutScore', reason: 'insufficient_voice', count: 1 },
  ]);
  expect(sections[0]!.scores.map(({ score, bonafide: count }) => [score, count])).toEqual([['synthesis', 1]]);
});

it('has a section for each channel, and figures for none where a class is missing', () => {
  const { sections } = evaluate([bonafide(0.9), synthetic(0.1), bonafide(0.7, { channel: 'digital' })]);
  expect(sections.map(({ channel, scores }) => [channel, scores.length])).toEqual([
    ['digital', 0],
    ['phone', 1],
  ]);
});

it('breaks errors down: same codec against same codec, a synthesizer and a base against all, small groups left out', () => {
  const many = (count: number, make: (at: number) => Item) => Array.from({ length: count }, (_none, at) => make(at));
  const { sections } = evaluate([
    ...many(6, () => bonafide(0.9)),
    ...many(5, () => bonafide(0.1, { codec: 'gsm' })),
    ...many(5, () => synthetic(0.2)),
    ...many(5, () => synthetic(0.5, { codec: 'gsm', synthesizer: 'other' })),
    ...many(4, () => synthetic(0.5, { synthesizer: 'rare' })),
    ...many(5, (): Item => ({ label: 'replay', baseLabel: 'synthetic', outcome: performed(0.5, 0.05) })),
    ...many(6, (): Item => ({ label: 'replay', baseLabel: 'bonafide', outcome: performed(0.5, 0.95) })),
  ]);
  const groups = sections[0]!.scores.flatMap(({ score, groups: of }) =>
    of.map((group) => [
      score,
      group.by,
      group.name,
      group.bonafide,
      group.attacks,
      Math.round(group.equalError.rate * 1000) / 1000,
    ]),
  );
  expect(groups).toEqual([
    ['synthesis', 'synthesizer', 'other', 11, 5, 0.455],
    ['synthesis', 'synthesizer', 'tts', 11, 5, 0.455],
    ['synthesis', 'codec', 'gsm', 5, 5, 1],
    ['synthesis', 'codec', 'mulaw', 6, 9, 0],
    ['replay', 'base', 'replay of bonafide', 11, 6, 1],
    ['replay', 'base', 'replay of synthetic', 11, 5, 0],
  ]);
});

it('compares models on what both scored, with an interval of the difference', () => {
  const random = new Seeded(3);
  const items = Array.from({ length: 60 }, (_none, at) =>
    at % 2 === 0
      ? bonafide(0.2 + 0.6 * random.next(), { speaker: `s${at % 20}` })
      : synthetic(0.8 * random.next(), { speaker: `s${at % 20}`, synthesizer: `t${at % 6}` }),
  );
  const better = items.map(({ label }, at): ItemOutcome =>
    at === 0 ? { state: 'error', reason: 'time_exceeded' } : performed(label === 'synthetic' ? 0.1 : 0.9),
  );
  const { comparisons, sections, models } = evaluate(items, better);
  expect(models.map(({ model }) => model)).toEqual(['phone/v1', 'phone/v2']);
  expect(comparisons).toHaveLength(1);
  expect(comparisons[0]).toMatchObject({
    from: 'phone/v1',
    to: 'phone/v2',
    channel: 'phone',
    score: 'synthesis',
    bonafide: 29,
    attacks: 30,
    toRate: 0,
  });
  expect(comparisons[0]!.difference).toBeCloseTo(-comparisons[0]!.fromRate, 12);
  expect(comparisons[0]!.interval!.high).toBeLessThan(0);
  expect(sections.map(({ scores }) => scores[0]!.bonafide)).toEqual([30, 29]);
  expect(
    evaluate(
      items,
      items.map(({ outcome }) => outcome),
    ).comparisons[0],
  ).toMatchObject({ difference: 0, interval: null });
});

it('has the tandem cost where the index has scores of speaker verification', () => {
  const { sections } = evaluate([
    bonafide(0.9, { asvScore: 2, asvTrial: 'target' }),
    bonafide(0.8, { asvScore: 1, asvTrial: 'target' }),
    bonafide(0.7, { asvScore: -1, asvTrial: 'nontarget' }),
    synthetic(0.85, { asvScore: 3 }),
    synthetic(0.1, { asvScore: -2 }),
  ]);
  // Speaker verification errs nowhere but takes half of the attacks. Accepting all costs 0.25; refusing below 0.85 misses two of three.
  expect(sections[0]!.scores[0]!.minimumTandemCost).toBeCloseTo(0.5, 12);
});

it('is the same for the same outcomes, and survives its own form', () => {
  const items = [
    bonafide(0.9, { speaker: 'a' }),
    bonafide(0.3, { speaker: 'b' }),
    synthetic(0.1),
    synthetic(0.35, { synthesizer: 'other' }),
  ];
  const report = evaluate(items);
  expect(evaluate(items)).toEqual(report);
  expect(formatEvaluation(JSON.parse(formatEvaluation(report)) as typeof report)).toBe(formatEvaluation(report));
});

it('keeps the corners of a curve', () => {
  const trials = [
    [0.1, false],
    [0.2, false],
    [0.3, true],
    [0.4, true],
    [0.5, false],
    [0.6, true],
  ] as const;
  const curve = errorCurve(rankTrials(trials.map(([score, authentic], item) => ({ score, authentic, item }))))!;
  const third = expect.closeTo(1 / 3, 12);
  const twoThirds = expect.closeTo(2 / 3, 12);
  expect(thinCurve(curve)).toEqual([
    [1, 0],
    [third, 0],
    [third, twoThirds],
    [0, twoThirds],
    [0, 1],
  ]);
});

it('places a share on the scale of the normal distribution', () => {
  expect(probit(0.5)).toBeCloseTo(0, 7);
  expect(probit(0.975)).toBeCloseTo(1.959963985, 6);
  expect(probit(0.001)).toBeCloseTo(-3.090232306, 6);
  for (const outside of [0, 1, -1, Number.NaN]) expect(() => probit(outside)).toThrow(RangeError);
});

it('draws each curve with its name and rate, and text that cannot break out of it', () => {
  const report = evaluate([
    bonafide(0.9),
    bonafide(0.2),
    synthetic(0.1),
    synthetic(0.3),
    { label: 'replay', outcome: performed(0.5, 0.1) },
  ]);
  const picture = drawDetCurves(curvesOf(report), 'a <set> & more');
  expect(picture).toContain('a &lt;set&gt; &amp; more');
  expect(picture).toContain('phone/v1 synthesis');
  expect(picture).toContain('phone/v1 replay');
  expect(picture.match(/<circle/g)).toHaveLength(2);
  expect(picture).not.toContain('NaN');
  expect(picture).toMatch(/^<svg [^]*<\/svg>\n$/);
});
