import { describe, expect, it } from 'vitest';
import {
  joinFrames,
  labelWindow,
  silenceDbfs,
  summarizeVoice,
  type VoiceFrames,
} from '../../../../pipelines/audio/voice-activity/voice-frames.ts';

const framesOf = (...runs: readonly (readonly [voice: 0 | 1, frames: number, dbfs: number])[]): VoiceFrames => ({
  voiced: Uint8Array.from(runs.flatMap(([voice, frames]) => Array<number>(frames).fill(voice))),
  levelsDbfs: Float32Array.from(runs.flatMap(([, frames, dbfs]) => Array<number>(frames).fill(dbfs))),
});

describe('the summary of a stretch', () => {
  it('counts the seconds of voice and takes levels as means of power', () => {
    const summary = summarizeVoice(framesOf([0, 5, -60], [1, 100, -20], [1, 100, -26], [0, 95, -50]));
    expect(summary.voicedSeconds).toBe(2);
    expect(summary.speechDbfs).toBeCloseTo(10 * Math.log10((0.01 + 10 ** -2.6) / 2), 4);
    expect(summary.noiseDbfs).toBeCloseTo(10 * Math.log10((5 * 1e-6 + 95 * 1e-5) / 100), 4);
  });

  it('does not take soft speech for the noise, where a clip was cut inside speech', () => {
    const frames = framesOf([1, 150, -20], [0, 60, -22], [1, 15, -45]);
    expect(summarizeVoice(frames).noiseDbfs).toBeCloseTo(-45, 4);
    expect(labelWindow(summarizeVoice(frames), { voicedSecondsMin: 1.5, signalToNoiseDbMin: 3 })).toBe('validVoice');
  });

  it('looks at the frames from the first to before the last', () => {
    expect(summarizeVoice(framesOf([0, 100, -60], [1, 100, -20]), 90, 110)).toMatchObject({ voicedSeconds: 0.1 });
    expect(summarizeVoice(framesOf([0, 100, -60], [1, 100, -20]), 0, 100)).toMatchObject({
      voicedSeconds: 0,
      speechDbfs: null,
    });
  });

  it.each([
    [10, -60],
    [9, -40],
  ])('with %i frames between the voice measures noise at %i dBFS', (pauses, noiseDbfs) => {
    const frames = framesOf([0, pauses, -60], [1, 42, -40], [1, 949, -20]);
    expect(summarizeVoice(frames).noiseDbfs).toBeCloseTo(noiseDbfs, 4);
  });

  it('of nothing has no level', () => {
    expect(summarizeVoice(framesOf())).toEqual({ voicedSeconds: 0, speechDbfs: null, noiseDbfs: null });
  });

  it('is never below silence', () => {
    expect(summarizeVoice(framesOf([0, 20, -400])).noiseDbfs).toBe(silenceDbfs);
  });
});

describe('the label of a window', () => {
  const limits = { voicedSecondsMin: 1.5, signalToNoiseDbMin: 6 };

  it.each([
    [1.5, -20, -26, 'validVoice'],
    [1.49, -20, -60, 'insufficientVoice'],
    [1.5, -20, -25.9, 'excessiveNoise'],
    [0, null, -60, 'insufficientVoice'],
    [4, -20, null, 'validVoice'],
    [0.1, -20, -20, 'insufficientVoice'],
  ])('with %d s of voice at %s dBFS over noise at %s is %s', (voicedSeconds, speechDbfs, noiseDbfs, label) => {
    expect(labelWindow({ voicedSeconds, speechDbfs, noiseDbfs }, limits)).toBe(label);
  });

  it('needs voice even where no seconds of it are asked for', () => {
    expect(
      labelWindow(
        { voicedSeconds: 0, speechDbfs: null, noiseDbfs: -60 },
        { voicedSecondsMin: 0, signalToNoiseDbMin: 0 },
      ),
    ).toBe('insufficientVoice');
  });
});

describe('frames', () => {
  it('are joined in their order', () => {
    expect(joinFrames([framesOf([1, 1, -10]), framesOf(), framesOf([0, 2, -50])])).toEqual(
      framesOf([1, 1, -10], [0, 2, -50]),
    );
  });
});
