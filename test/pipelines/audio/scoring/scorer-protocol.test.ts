import { describe, expect, it } from 'vitest';
import { answerForm, embeddedForm, scoredForm } from '../../../../pipelines/audio/scoring/scorer-protocol.ts';

const scored = {
  state: 'performed',
  model: 'phone/v8',
  audio: { format: 'wav', codec: 'pcm_s16le', sampleRate: 8000, channels: 1, durationSeconds: 4 },
  voiceSeconds: 3,
  scores: { synthesis: 0.25, replay: null },
  decision: {
    label: 'synthesized',
    thresholds: { synthesis: 0.5, replay: null },
    policy: 'thresholds/2',
    reason: null,
    authenticFrom: { synthesis: 0.7, replay: null },
    falseAcceptance: { synthesis: 0.1, replay: null },
  },
  reason: null,
  channelScores: [{ channel: 0, voiceSeconds: 3, scores: { synthesis: 0.25, replay: null }, reason: null }],
  windows: [{ channel: 0, start: 0, end: 4, label: 'validVoice', scores: { synthesis: 0.25, replay: null } }],
  notes: ['truncated'],
  computedMs: 12.5,
};

describe('what a child says', () => {
  it('is taken as it is sent', () => {
    expect(scoredForm.parse(JSON.parse(JSON.stringify(scored)))).toEqual(scored);
  });

  it.each([
    ['a score over 1', { scores: { synthesis: 1.01, replay: null } }],
    ['a score below 0', { scores: { synthesis: -0.01, replay: null } }],
    ['a score that is a text', { scores: { synthesis: '0.5', replay: null } }],
    ['a missing score', { scores: { synthesis: 0.5 } }],
    ['a state of its own', { state: 'queued' }],
    ['a reason of its own', { reason: 'because' }],
    ['a label of its own', { windows: [{ ...scored.windows[0], label: 'music' }] }],
    ['a rate of 0 Hz', { audio: { ...scored.audio, sampleRate: 0 } }],
    ['a time before the start', { windows: [{ ...scored.windows[0], start: -1 }] }],
    ['no windows', { windows: null }],
  ])('is no result with %s', (_name, changes) => {
    expect(scoredForm.safeParse({ ...scored, ...changes }).success).toBe(false);
  });

  it.each([
    ['a text', 'ready'],
    ['nothing', null],
    ['another kind', { kind: 'scored' }],
    ['no id', { kind: 'done', residentBytes: 1, result: {} }],
    ['a reason that is not of the list', { kind: 'refused', id: 1, residentBytes: 1, reason: 'bored', detail: '' }],
    [
      'a detail without end',
      { kind: 'refused', id: 1, residentBytes: 1, reason: 'audio_damaged', detail: 'x'.repeat(1001) },
    ],
  ])('is no answer as %s', (_name, message) => {
    expect(answerForm.safeParse(message).success).toBe(false);
  });

  it('has numbers only in a voice', () => {
    const audio = scored.audio;
    expect(embeddedForm.safeParse({ embedding: [0.1, 0.2], voiceSeconds: 3, audio }).success).toBe(true);
    expect(embeddedForm.safeParse({ embedding: [0.1, null], voiceSeconds: 3, audio }).success).toBe(false);
  });
});
