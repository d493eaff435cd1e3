import { describe, expect, it } from 'vitest';
import {
  judgeVoice,
  VOICE_LABELS,
  type AuthenticityAnswer,
  type VoiceLabel,
} from '../../../../pipelines/audio/voices/voice-judgement.ts';
import { DECISION_LABELS } from '../../../../pipelines/audio/verification.ts';

const looks = (label: (typeof DECISION_LABELS)[number]): AuthenticityAnswer => ({ label, reason: null });
const unknown: AuthenticityAnswer = { label: null, reason: 'sample_rate_too_low' };

const thresholds = { match: 0.6, mismatch: 0.3 };
const voice = { enrolled: 9, recording: 3 };

describe('identity and authenticity together', () => {
  it.each([
    { score: 0.9, authenticity: looks('authentic'), label: 'match' },
    { score: 0.6, authenticity: looks('authentic'), label: 'match' },
    { score: 0.5999, authenticity: looks('authentic'), label: 'undecided' },
    { score: 0.3, authenticity: looks('synthesized'), label: 'undecided' },
    { score: 0.2999, authenticity: looks('authentic'), label: 'mismatch' },
    { score: 0.9, authenticity: looks('synthesized'), label: 'copySuspected' },
    { score: 0.9, authenticity: looks('replayed'), label: 'copySuspected' },
    { score: 0.9, authenticity: looks('synthesizedAndReplayed'), label: 'copySuspected' },
    { score: 0.9, authenticity: unknown, label: 'undecided' },
    { score: 0.1, authenticity: looks('authentic'), label: 'mismatch' },
    { score: 0.1, authenticity: looks('synthesized'), label: 'mismatch' },
    { score: 0.1, authenticity: unknown, label: 'mismatch' },
  ] satisfies { score: number; authenticity: AuthenticityAnswer; label: VoiceLabel }[])(
    'of $score and $authenticity are $label',
    ({ score, authenticity, label }) => {
      expect(judgeVoice({ identity: { score, reason: null }, thresholds, voice, authenticity }).label).toBe(label);
    },
  );

  it('are undecided without an identity, however authentic the recording looks', () => {
    expect(
      judgeVoice({
        identity: { score: null, reason: 'no_voice' },
        thresholds,
        voice: { enrolled: 9, recording: null },
        authenticity: looks('authentic'),
      }),
    ).toMatchObject({ label: 'undecided', undecidedReason: 'identity_unknown' });
  });

  it.each([
    ['no_voice', /^The voice could not be compared\. Ask for another recording/],
    [
      'format_unknown',
      /^The recording cannot be compared: The content is of no format that is read here\. Submit another file; docs\/audio-formats\.md/,
    ],
    ['time_exceeded', /Scoring took longer than the limit\. Try again when the cause is fixed\.$/],
  ] as const)('without an identity for %s say what helps', (reason, advice) => {
    expect(judgeVoice({ identity: { score: null, reason }, thresholds, voice, authenticity: unknown }).advice).toMatch(
      advice,
    );
  });

  it('come with what to do, which never takes the voice alone for a proof', () => {
    for (const score of [0.1, 0.4, 0.9]) {
      for (const authenticity of [...DECISION_LABELS.map(looks), unknown]) {
        const { label, advice } = judgeVoice({ identity: { score, reason: null }, thresholds, voice, authenticity });
        expect(VOICE_LABELS).toContain(label);
        expect(advice).toMatch(label === 'match' ? /one proof among others/ : /[Dd]o not accept it/);
      }
    }
  });

  it.each([
    [9, 3, /^3\.0 s of voice against 9\.0 s of the enrolment is too little to decide .* ask for a longer recording/],
    [9, 29.9, /ask for a longer recording/],
    [9, 30, /ask for another proof, and enrol the person again with more voice\.$/],
    [30, 30, /ask for another proof\.$/],
  ])('between the thresholds say what would help: %d s enrolled, %d s recorded', (enrolled, recording, advice) => {
    const judged = judgeVoice({
      identity: { score: 0.4, reason: null },
      thresholds,
      voice: { enrolled, recording },
      authenticity: looks('synthesized'),
    });
    expect(judged).toMatchObject({ label: 'undecided', undecidedReason: 'identity_between' });
    expect(judged.advice).toMatch(advice);
    expect(judged.advice).toContain('The recording looks synthesized.');
  });

  it('are undecided where the voice is alike and the recording could not be scored', () => {
    const identity = { score: 0.9, reason: null };
    expect(judgeVoice({ identity, thresholds, voice, authenticity: unknown }).undecidedReason).toBe(
      'authenticity_unknown',
    );
    expect(judgeVoice({ identity, thresholds, voice, authenticity: looks('authentic') }).undecidedReason).toBeNull();
  });
});
