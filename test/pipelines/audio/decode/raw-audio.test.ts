import { describe, expect, it } from 'vitest';
import { containerOfRaw, parseRawAudio } from '../../../../pipelines/audio/decode/raw-audio.ts';
import { sniffContainer } from '../../../../pipelines/audio/decode/sniff.ts';

describe('the form of raw audio', () => {
  it.each([
    ['mulaw@8000', { encoding: 'mulaw', sampleRate: 8_000 }],
    [' ALAW@16000 ', { encoding: 'alaw', sampleRate: 16_000 }],
    ['s16le@4000', { encoding: 's16le', sampleRate: 4_000 }],
    ['s16le@192000', { encoding: 's16le', sampleRate: 192_000 }],
    ['gsm@8000', { encoding: 'gsm', sampleRate: 8_000 }],
    ['g722@16000', { encoding: 'g722', sampleRate: 16_000 }],
    ['vox@6000', { encoding: 'vox', sampleRate: 6_000 }],
  ])('%s is an encoding and a rate', (text, form) => {
    expect(parseRawAudio(text)).toEqual(form);
  });

  it.each([
    '',
    'mulaw',
    'mulaw@',
    '@8000',
    'mulaw@8k',
    'mulaw@8000.5',
    'mulaw@-8000',
    'mp3@8000',
    'toString@8000',
    's16le@3999',
    's16le@192001',
    'mulaw@99999999',
  ])('%j is none, and the error says what one is', (text) => {
    expect(() => parseRawAudio(text)).toThrow(
      expect.objectContaining({
        code: 'audio_request_invalid',
        problem: `${JSON.stringify(text)} is no form of raw audio.`,
        hint: expect.stringContaining('mulaw, alaw, s16le, g722, gsm, vox') as string,
      }) as Error,
    );
  });

  it.each([
    ['gsm@16000', 'The rate of gsm is 8000 Hz.'],
    ['g722@8000', 'The rate of g722 is 16000 Hz.'],
  ])('%s has the wrong rate', (text, problem) => {
    expect(() => parseRawAudio(text)).toThrow(expect.objectContaining({ problem }) as Error);
  });

  it('is kept in a container that is known by its content, padded to whole pairs of bytes', async () => {
    for (const [text, container, tail] of [
      ['mulaw@8000', 'wav', 1],
      ['s16le@8000', 'wav', 1],
      ['vox@8000', 'wav', 1],
      ['g722@16000', 'wav', 1],
      ['gsm@8000', 'caf', 0],
    ] as const) {
      const { head, tail: padding } = containerOfRaw(parseRawAudio(text), 33);
      expect(padding.length).toBe(tail);
      const file = { bytes: head.length, read: async (at: number) => head.subarray(at) } as unknown;
      expect((await sniffContainer(file as Parameters<typeof sniffContainer>[0])).container).toBe(container);
    }
  });
});
