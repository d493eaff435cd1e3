import { describe, expect, it } from 'vitest';
import { calibrate, decide, lowestScores } from '../../../../pipelines/audio/scoring/decision.ts';
import { reasonOf, reasonOfAll } from '../../../../pipelines/audio/scoring/recording-scorer.ts';

describe('a score', () => {
  it.each([
    [0, { slope: 1, intercept: 0 }, 0.5],
    [2, { slope: 1, intercept: 0 }, 0.880797],
    [2, { slope: 0.5, intercept: -1 }, 0.5],
    [-3, { slope: 2, intercept: 1 }, 0.006693],
    [1000, { slope: 100, intercept: 0 }, 1],
    [-1000, { slope: 100, intercept: 0 }, 0],
  ])('of the logit %d with %j is %d', (synthesis, platt, score) => {
    expect(calibrate({ synthesis }, { synthesis: platt })).toEqual({
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

describe('a decision', () => {
  const thresholds = { synthesis: 0.5, replay: 0.4 };

  it.each([
    [0.5, 0.4, 'authentic'],
    [0.499, 0.4, 'synthesized'],
    [0.5, 0.399, 'replayed'],
    [0.499, 0.399, 'synthesizedAndReplayed'],
    [1, 1, 'authentic'],
    [0, 0, 'synthesizedAndReplayed'],
    [null, 0.399, 'replayed'],
    [0.499, null, 'synthesized'],
    [0.5, null, 'authentic'],
  ])('on synthesis %d and replay %d is %s', (synthesis, replay, label) => {
    expect(decide({ synthesis, replay }, thresholds)).toEqual({ label, thresholds, policy: 'thresholds/1' });
  });

  it('names no threshold that its model does not have', () => {
    expect(decide({ synthesis: 0.4, replay: null }, { synthesis: 0.5 }).thresholds).toEqual({
      synthesis: 0.5,
      replay: null,
    });
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
    expect(reasonOf(windows, voiceSeconds)).toBe(reason);
  });

  it.each([
    [['no_voice', 'insufficient_voice'], 'insufficient_voice'],
    [['excessive_noise', 'insufficient_voice'], 'excessive_noise'],
    [['no_voice', 'no_voice'], 'no_voice'],
  ] as const)('of a recording whose channels have %j is %s', (reasons, reason) => {
    expect(reasonOfAll(reasons)).toBe(reason);
  });
});
