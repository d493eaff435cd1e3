import { describe, expect, it } from 'vitest';
import type { ItemOutcome } from '../../../evaluation/audio/evaluated-set.ts';
import { calibrationMinimums, fitCalibration, uncalibrated } from '../../../evaluation/audio/fit-calibration.ts';
import type { IndexRow } from '../../../evaluation/audio/index-file.ts';
import { calibrate } from '../../../pipelines/audio/scoring/score-decision.ts';
import { Seeded } from '../../../runtime/seeded.ts';
import { testManifest } from '../../support/onnx-file.ts';

const manifest = uncalibrated(testManifest(Buffer.from('graph')));

interface Classes {
  readonly bonafide?: number;
  readonly attacks?: number;
  readonly speakers?: number;
  readonly synthesizers?: number;
  /** Mean of the logits of genuine voices; that of attacks is its opposite. The deviation of both is 2. */
  readonly mean?: number;
  /** Synthesizers, from the first, whose attacks have the logits of genuine voices. */
  readonly likeGenuine?: number;
}

/** A test set with normal logits, for which the log-likelihood ratio is `mean` times the logit. */
function scoredSet({
  bonafide = 2_000,
  attacks = 2_000,
  speakers = 20,
  synthesizers = 5,
  mean = 1,
  likeGenuine = 0,
}: Classes = {}) {
  const random = new Seeded(3);
  const normal = () => Math.sqrt(-2 * Math.log(random.next())) * Math.cos(2 * Math.PI * random.next());
  const rows: IndexRow[] = [];
  const outcomes: ItemOutcome[] = [];
  for (let at = 0; at < bonafide + attacks; at++) {
    const isGenuine = at < bonafide;
    rows.push({
      line: at + 2,
      path: `${at}.wav`,
      file: `/${at}.wav`,
      label: isGenuine ? 'bonafide' : 'synthetic',
      channel: 'phone',
      speaker: isGenuine ? `speaker ${at % speakers}` : '',
      synthesizer: isGenuine ? '' : `voice ${at % synthesizers}`,
      codec: '',
      attack: '',
      set: '',
      baseLabel: '',
      snrDb: null,
      asvScore: null,
      asvTrial: '',
    });
    const isLikeGenuine = isGenuine || at % synthesizers < likeGenuine;
    const logit = (isLikeGenuine ? mean : -mean) + 2 * normal();
    outcomes.push({ state: 'performed', scores: calibrate({ synthesis: logit }, manifest) });
  }
  return { set: { rows, nuisance: rows.map(() => null) }, scored: { model: 'phone/v9-test', outcomes } };
}

const fit = (classes?: Classes) => {
  const { set, scored } = scoredSet(classes);
  return fitCalibration(set, scored, 'synthesis');
};

describe('a calibration', () => {
  it('is the log-likelihood ratio of the logits, and costs on held-out groups what the ranking must', () => {
    const { calibration, threshold, bonafide, attacks, heldOut } = fit();
    expect([bonafide, attacks]).toEqual([2_000, 2_000]);
    expect(calibration.slope).toBeCloseTo(0.5, 1); // 2 * mean / variance
    expect(calibration.intercept).toBeCloseTo(0, 1);
    expect(threshold).toBeCloseTo(0.5, 1);
    expect(heldOut.cllr - heldOut.minimumCllr).toBeGreaterThan(0);
    expect(heldOut.cllr - heldOut.minimumCllr).toBeLessThan(0.03);
    expect(heldOut.equalErrorRate).toBeCloseTo(0.309, 1); // half the distance of the means is half a deviation
  });

  it('weighs both classes alike, however many recordings each has', () => {
    const { calibration } = fit({ bonafide: 4_000, attacks: 500 });
    expect(calibration.slope).toBeCloseTo(0.5, 1);
    expect(Math.abs(calibration.intercept)).toBeLessThan(0.15);
  });

  it('calls scores authentic from where few attacks of each held-out synthesizer come, and says how many', () => {
    const { condition } = fit({ mean: 1.5 });
    expect(condition.attackBelow).toBeLessThan(condition.authenticFrom!);
    expect(condition.falseAlarm).toBeCloseTo(0.1, 1);
    expect(condition.falseAcceptance).toBeGreaterThan(0.05);
    expect(condition.falseAcceptance).toBeLessThanOrEqual(0.2);
  });

  it.each<[string, Classes]>([
    ['attacks of one synthesizer are like genuine voices', { mean: 1.5, likeGenuine: 1 }],
    ['there are too few attacks of each to know', { mean: 1.5, attacks: 100, synthesizers: 10 }],
  ])('calls no score authentic where %s', (_why, classes) => {
    expect(fit(classes).condition).toMatchObject({ authenticFrom: null, falseAcceptance: null });
  });

  it.each<[string, Classes, string]>([
    ['genuine recordings', { bonafide: calibrationMinimums.recordings }, 'bonafide'],
    ['attacks', { attacks: calibrationMinimums.recordings }, 'synthetic'],
    ['speakers', { speakers: calibrationMinimums.speakers }, 'bonafide'],
    ['synthesizers', { synthesizers: calibrationMinimums.attackGroups }, 'synthetic'],
  ])('needs this many %s, and refuses one less', (_what, least, kind) => {
    expect(fit(least).calibration.slope).toBeGreaterThan(0);
    const fewer = Object.fromEntries(Object.entries(least).map(([name, count]) => [name, (count as number) - 1]));
    expect(() => fit(fewer)).toThrow(
      expect.objectContaining({
        code: 'index_invalid',
        problem: expect.stringMatching(
          new RegExp(`^A calibration of synthesis needs 100 ${kind} recordings`),
        ) as string,
      }) as Error,
    );
  });

  it('is refused where attacks score higher than genuine voices', () => {
    expect(() => fit({ mean: -1 })).toThrow(
      expect.objectContaining({
        code: 'model_invalid',
        hint: expect.stringContaining('output.polarity') as string,
      }) as Error,
    );
  });
});
