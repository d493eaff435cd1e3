import { describe, expect, it } from 'vitest';
import {
  adviseOnReason,
  describeBriefly,
  describeStanding,
  explainErrors,
  explainUnseen,
  explainScore,
  explainTelephone,
  percent,
} from '../../../../console/pages/recordings/score-words.ts';
import { runsOf } from '../../../../console/pages/recordings/waveform-runs.ts';
import { AUDIO_REASONS, type AudioReason } from '../../../../pipelines/audio/reasons.ts';

describe('a score in words', () => {
  it('is the probability that the recording is authentic, and is below its threshold or not', () => {
    expect(explainScore('synthesis', 0.25, { threshold: 0.5 })).toBe(
      'The model gives 25\u00A0% that the voice is not synthesized, and 75\u00A0% that it is synthesized, as if one recording of two were an attack. That is below the threshold of 0.50, so the recording counts as synthesized.',
    );
    expect(explainScore('replay', 0.5, { threshold: 0.5 })).toContain(
      'That reaches the threshold of 0.50, so the recording counts as not played back.',
    );
    expect(explainScore('replay', 0.5, { threshold: null })).not.toContain('threshold');
  });

  it.each([
    [0.29, 'That is below the threshold of 0.30, so the recording counts as synthesized.'],
    [0.3, 'Between 0.30 and 0.70 nothing is decided.'],
    [0.7, 'From 0.70 on a recording counts as not synthesized. 9\u00A0% of attacks of a kind never seen got as far.'],
  ])('of %d says which side of an open band it is on', (score, words) => {
    const band = { threshold: 0.3, authenticFrom: 0.7, falseAcceptance: 0.09 };
    expect(explainScore('synthesis', score, band)).toContain(words);
  });

  it('never counts as authentic where no score is known to be enough', () => {
    expect(explainScore('synthesis', 1, { threshold: 0.3, authenticFrom: null })).toContain(
      'No score of this model is enough',
    );
  });

  it('of speech of a telephone says which family is meant for it', () => {
    expect(explainTelephone('digital/v3')).toContain('digital/v3 was asked for');
    expect(explainTelephone('phone/v8')).toMatch(/So a model of the family phone scored it\.$/);
  });

  it.each([
    ['synthesis', 0.49, 0.5, 'below threshold 0.50: synthesized', 'below 0.50: synthesized'],
    ['synthesis', 0.5, 0.5, 'not below threshold 0.50', 'not below 0.50'],
    ['replay', 0.1, 0.4, 'below threshold 0.40: replayed', 'below 0.40: replayed'],
    ['identity', 0.1, 0.6, 'below threshold 0.60: no match', 'below 0.60: no match'],
    ['identity', 0.9, 0.6, 'threshold 0.60 reached: like the person’s', '0.60 is reached'],
    ['replay', null, 0.4, 'no score', 'no score'],
    ['replay', 0.4, null, 'no threshold', 'no threshold'],
  ] as const)('%s %d at a threshold of %d', (name, score, threshold, words, brief) => {
    expect([describeStanding(name, score, threshold), describeBriefly(name, score, threshold)]).toEqual([words, brief]);
  });

  it('never rounds to what is certain', () => {
    expect([0, 0.001, 0.004999, 0.5, 0.996, 0.999, 1].map(percent)).toEqual([
      '0\u00A0%',
      'under 1\u00A0%',
      'under 1\u00A0%',
      '50\u00A0%',
      'over 99\u00A0%',
      'over 99\u00A0%',
      '100\u00A0%',
    ]);
  });

  it('says first what it is worth on synthesizers that the model never saw, with the figure of chance', () => {
    const share = (rate: number) => ({ rate, interval: { low: rate, high: rate } });
    expect(
      explainUnseen({
        seconds: 3,
        systems: 118,
        families: 21,
        genuine: 434,
        genuineSpeakers: 130,
        synthetic: 1679,
        equalError: share(0.51),
        attacksMissed: share(0.9),
        genuineCalledAttacks: share(0.02),
      }).replaceAll('\u00A0', ' '),
    ).toBe(
      'On 1679 recordings of 3 s by 118 synthesizers that the model never saw, and 434 genuine ones, 90 % of the attacks were not found at this threshold, and 2 % of the genuine ones were taken for attacks; where both errors are as frequent, each is 51 %, where chance is 50 %.',
    );
  });

  it('comes with how often it errs, by the card of its model', () => {
    expect(
      explainErrors({
        score: 'replay',
        equalError: { rate: 0.14, interval: { low: 0.09, high: 0.18 } },
        atThreshold: { threshold: 0.4, miss: 0.11, falseAlarm: 0.19 },
        bonafide: 313,
        attacks: 266,
      }).replaceAll('\u00A0', ' '),
    ).toBe(
      'On the 313 authentic recordings and 266 replays of the model’s development set, which was partly in sight when it was made, 11 % of the authentic ones were taken for attacks at this threshold, and 19 % of the attacks were let through; where both errors are as frequent, each is 14 % (between 9 % and 18 %).',
    );
  });
});

describe('a recording without a score', () => {
  it.each(Object.keys(AUDIO_REASONS) as AudioReason[])('has advice for %s', (reason) => {
    expect(adviseOnReason({ reason, meaning: '', retryHelps: AUDIO_REASONS[reason].retry }, 1.5)).toMatch(/\.$/);
  });

  it('says how much voice the model needs', () => {
    expect(adviseOnReason({ reason: 'insufficient_voice', meaning: '', retryHelps: false }, 1.5)).toContain(
      'at least 1.5 s of voice',
    );
  });
});

describe('windows that overlap', () => {
  const window = (start: number, label: 'validVoice' | 'insufficientVoice') => ({
    channel: 0,
    start,
    end: start + 4,
    label,
    scores: null,
  });

  it('are shown as stretches of the same label, each until the next begins', () => {
    expect(
      runsOf([
        window(0, 'validVoice'),
        window(2, 'validVoice'),
        window(4, 'insufficientVoice'),
        window(6, 'validVoice'),
      ]),
    ).toEqual([
      { start: 0, end: 4, label: 'validVoice' },
      { start: 4, end: 6, label: 'insufficientVoice' },
      { start: 6, end: 10, label: 'validVoice' },
    ]);
    expect(runsOf([])).toEqual([]);
  });
});
