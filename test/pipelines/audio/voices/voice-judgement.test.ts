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

describe('identity and authenticity together', () => {
  it.each([
    { score: 0.9, authenticity: looks('authentic'), label: 'match' },
    { score: 0.6, authenticity: looks('authentic'), label: 'match' },
    { score: 0.5999, authenticity: looks('authentic'), label: 'mismatch' },
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
      expect(judgeVoice({ identity: { score, reason: null }, identityThreshold: 0.6, authenticity }).label).toBe(label);
    },
  );

  it('are undecided without an identity, however authentic the recording looks', () => {
    expect(
      judgeVoice({
        identity: { score: null, reason: 'no_voice' },
        identityThreshold: 0.6,
        authenticity: looks('authentic'),
      }).label,
    ).toBe('undecided');
  });

  it.each([
    ['no_voice', /^The voice could not be compared\. Ask for another recording/],
    [
      'format_unknown',
      /^The recording cannot be compared: The content is of no format that is read here\. Hand in another file; docs\/audio-formats\.md/,
    ],
    ['time_exceeded', /Scoring took longer than the limit\. Try again when the cause is mended\.$/],
  ] as const)('without an identity for %s say what helps', (reason, advice) => {
    expect(
      judgeVoice({ identity: { score: null, reason }, identityThreshold: 0.6, authenticity: unknown }).advice,
    ).toMatch(advice);
  });

  it('come with what to do, which never takes the voice alone for a proof', () => {
    for (const score of [0.1, 0.9]) {
      for (const authenticity of [...DECISION_LABELS.map(looks), unknown]) {
        const { label, advice } = judgeVoice({
          identity: { score, reason: null },
          identityThreshold: 0.6,
          authenticity,
        });
        expect(VOICE_LABELS).toContain(label);
        expect(advice).toMatch(label === 'match' ? /one proof among others/ : /[Dd]o not accept it/);
      }
    }
  });
});
