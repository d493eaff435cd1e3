import { describe, expect, it } from 'vitest';
import type { ScoreCondition } from '../../../../pipelines/audio/models/manifest.ts';
import type { Activation } from '../../../../pipelines/audio/models/manifest.ts';
import { reasonOfWindows, reasonOfAll } from '../../../../pipelines/audio/scoring/recording-scorer.ts';
import {
  calibrate,
  decideByThresholds,
  lowestScores,
  meanLogits,
  outputColumns,
  readLogits,
} from '../../../../pipelines/audio/scoring/score-decision.ts';
import type { ScoreName } from '../../../../pipelines/audio/verification.ts';

const output = (
  activation: Activation,
  polarity: 'higher-is-authentic' | 'higher-is-spoof',
  layout: ScoreName[] = ['synthesis'],
) => ({ output: { name: 'output', layout, activation, polarity } });

describe('the logits of an output', () => {
  it.each([
    ['logit', 'higher-is-authentic', [1.5], 1.5],
    ['logit', 'higher-is-spoof', [1.5], -1.5],
    ['probability', 'higher-is-authentic', [0.5], 0],
    ['probability', 'higher-is-authentic', [0.8], Math.log(4)],
    ['probability', 'higher-is-spoof', [0.8], -Math.log(4)],
    ['softmax-pair', 'higher-is-authentic', [0.2, 0.8], Math.log(4)],
    ['softmax-pair', 'higher-is-spoof', [0.2, 0.8], -Math.log(4)],
    ['logit-pair', 'higher-is-authentic', [-1, 2], 3],
    ['logit-pair', 'higher-is-spoof', [-1, 2], -3],
  ] as const)('as %s, %s: %j is %d', (activation, polarity, row, logit) => {
    expect(readLogits(row, output(activation, polarity)).synthesis).toBeCloseTo(logit, 12);
  });

  it.each([
    ['logit', [1e30], 1000],
    ['logit-pair', [-1e30, 1e30], 1000],
    ['probability', [1], -Math.log(1e-7)],
    ['probability', [0], Math.log(1e-7)],
    ['probability', [1.0000001], -Math.log(1e-7)],
    ['softmax-pair', [0, 1], -Math.log(1e-7)],
    ['softmax-pair', [1, 0], Math.log(1e-7)],
  ] as const)('stay finite at the ends: %s of %j is %d', (activation, row, logit) => {
    expect(readLogits(row, output(activation, 'higher-is-authentic')).synthesis).toBeCloseTo(logit, 6);
  });

  it.each([
    ['logit', [NaN]],
    ['logit', [Infinity]],
    ['probability', [-Infinity]],
    ['softmax-pair', [0.5, NaN]],
    ['logit-pair', [NaN, 0]],
  ] as const)('are none where a number is not finite: %s of %j', (activation, row) => {
    expect(() => readLogits(row, output(activation, 'higher-is-authentic'))).toThrowError(
      expect.objectContaining({ code: 'model_invalid' }) as Error,
    );
  });

  it('are read by the layout', () => {
    expect(readLogits([3, 4], output('logit', 'higher-is-authentic', ['replay', 'synthesis']))).toEqual({
      replay: 3,
      synthesis: 4,
    });
    expect(readLogits([0, 1, 0, 5], output('logit-pair', 'higher-is-authentic', ['synthesis', 'replay']))).toEqual({
      synthesis: 1,
      replay: 5,
    });
    expect([
      outputColumns(output('logit', 'higher-is-spoof', ['synthesis', 'replay'])),
      outputColumns(output('softmax-pair', 'higher-is-spoof', ['synthesis', 'replay'])),
    ]).toEqual([2, 4]);
  });

  it('of several windows are their mean, and of none there are none', () => {
    expect(
      meanLogits([
        { synthesis: 1, replay: -2 },
        { synthesis: 4, replay: 0 },
      ]),
    ).toEqual({ synthesis: 2.5, replay: -1 });
    expect(meanLogits([])).toBeNull();
  });
});

describe('a score', () => {
  it.each([
    [0, { slope: 1, intercept: 0 }, 0.5],
    [2, { slope: 1, intercept: 0 }, 0.880797],
    [2, { slope: 0.5, intercept: -1 }, 0.5],
    [-3, { slope: 2, intercept: 1 }, 0.006693],
    [1000, { slope: 100, intercept: 0 }, 1],
    [-1000, { slope: 100, intercept: 0 }, 0],
  ])('of the logit %d with %j is %d', (synthesis, platt, score) => {
    expect(calibrate({ synthesis }, { calibration: { synthesis: platt }, thresholds: { synthesis: 0.5 } })).toEqual({
      synthesis: expect.closeTo(score, 6) as number,
      replay: null,
    });
  });

  it('of several channels is the lower one, each kind for itself', () => {
    expect(
      lowestScores([
        { synthesis: 0.9, replay: 0.2 },
        { synthesis: 0.3, replay: 0.8 },
      ]),
    ).toEqual({ synthesis: 0.3, replay: 0.2 });
    expect(
      lowestScores([
        { synthesis: 0.9, replay: null },
        { synthesis: 0.3, replay: 0.8 },
      ]),
    ).toEqual({ synthesis: 0.3, replay: 0.8 });
    expect(lowestScores([])).toEqual({ synthesis: null, replay: null });
  });
});

const platt = { slope: 1, intercept: 0 };

/** A condition of a score; from 0.7 on authentic unless it says otherwise. */
const condition = (changes: Partial<ScoreCondition> = {}): ScoreCondition => ({
  voiceSecondsFrom: 0,
  calibration: platt,
  attackBelow: 0.3,
  authenticFrom: 0.7,
  falseAlarm: 0.05,
  falseAcceptance: 0.1,
  ...changes,
});

describe('a score by the seconds of voice', () => {
  const model = {
    calibration: { synthesis: platt },
    thresholds: { synthesis: 0.3 },
    conditions: {
      synthesis: [condition(), condition({ voiceSecondsFrom: 6, calibration: { slope: 2, intercept: 0 } })],
    },
  };

  it.each([
    [0, 0.731059],
    [5.99, 0.731059],
    [6, 0.880797],
    [600, 0.880797],
  ])('of %d s has the calibration of its condition', (voiceSeconds, score) => {
    expect(calibrate({ synthesis: 1 }, model, voiceSeconds).synthesis).toBeCloseTo(score, 6);
  });
});

describe('a decision', () => {
  const model = {
    calibration: { synthesis: platt, replay: platt },
    thresholds: { synthesis: 0.3, replay: 0.3 },
    conditions: { synthesis: [condition()], replay: [condition({ attackBelow: 0.4, authenticFrom: 0.6 })] },
  };
  const decide = (synthesis: number | null, replay: number | null) =>
    decideByThresholds([{ scores: { synthesis, replay }, voiceSeconds: 3 }], model);

  it.each([
    [0.7, 0.6, 'authentic'],
    [0.699, 0.6, 'undecided'],
    [0.7, 0.599, 'undecided'],
    [0.3, 0.4, 'undecided'],
    [0.299, 0.4, 'synthesized'],
    [0.3, 0.399, 'replayed'],
    [0.299, 0.399, 'synthesizedAndReplayed'],
    [1, 1, 'authentic'],
    [0, 0, 'synthesizedAndReplayed'],
    [null, 0.399, 'replayed'],
    [0.299, null, 'synthesized'],
    [0.7, null, 'authentic'],
  ])('on synthesis %d and replay %d is %s', (synthesis, replay, label) => {
    expect(decide(synthesis, replay).label).toBe(label);
  });

  it('names its thresholds, and the attacks of a kind never seen that reach the upper one', () => {
    expect(decide(0.5, 0.9)).toEqual({
      label: 'undecided',
      thresholds: { synthesis: 0.3, replay: 0.4 },
      policy: 'thresholds/2',
      reason: 'between_thresholds',
      authenticFrom: { synthesis: 0.7, replay: 0.6 },
      falseAcceptance: { synthesis: 0.1, replay: 0.1 },
    });
  });

  it('is never authentic where the acceptance of a kind never seen is not known', () => {
    const { conditions: _none, ...plain } = model;
    const unknown = decideByThresholds([{ scores: { synthesis: 1, replay: 1 }, voiceSeconds: 60 }], plain);
    expect(unknown).toMatchObject({ label: 'undecided', reason: 'acceptance_unknown' });
    expect(decideByThresholds([{ scores: { synthesis: 0.29, replay: 1 }, voiceSeconds: 60 }], plain).label).toBe(
      'synthesized',
    );
  });

  it('takes each score from the channel where it says the worst, by the voice of that channel', () => {
    const byLength = {
      ...model,
      conditions: {
        ...model.conditions,
        synthesis: [condition(), condition({ voiceSecondsFrom: 6, attackBelow: 0.6, authenticFrom: 0.8 })],
      },
    };
    const channels = [
      { scores: { synthesis: 0.5, replay: 0.9 }, voiceSeconds: 5.99 },
      { scores: { synthesis: 0.59, replay: 0.9 }, voiceSeconds: 6 },
    ];
    expect(decideByThresholds(channels, byLength)).toMatchObject({
      label: 'synthesized',
      thresholds: { synthesis: 0.6, replay: 0.4 },
    });
  });

  it('names no threshold that its model does not have', () => {
    const one = { calibration: { synthesis: platt }, thresholds: { synthesis: 0.5 } };
    const { thresholds } = decideByThresholds([{ scores: { synthesis: 0.4, replay: null }, voiceSeconds: 3 }], one);
    expect(thresholds).toEqual({ synthesis: 0.5, replay: null });
  });
});

describe('the reason for no score', () => {
  const [little, noisy] = [{ label: 'insufficientVoice' }, { label: 'excessiveNoise' }] as const;

  it.each([
    [[little], 0, 'no_voice'],
    [[little], 0.01, 'insufficient_voice'],
    [[little, noisy], 4, 'excessive_noise'],
    [[noisy], 0, 'excessive_noise'],
    [[], 0, 'no_voice'],
  ] as const)('of a channel with %j and %d s of voice is %s', (windows, voiceSeconds, reason) => {
    expect(reasonOfWindows(windows, voiceSeconds)).toBe(reason);
  });

  it.each([
    [['no_voice', 'insufficient_voice'], 'insufficient_voice'],
    [['excessive_noise', 'insufficient_voice'], 'excessive_noise'],
    [['no_voice', 'no_voice'], 'no_voice'],
  ] as const)('of a recording whose channels have %j is %s', (reasons, reason) => {
    expect(reasonOfAll(reasons)).toBe(reason);
  });
});
