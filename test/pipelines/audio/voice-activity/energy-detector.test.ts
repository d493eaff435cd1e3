import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EnergyDetector } from '../../../../pipelines/audio/voice-activity/energy-detector.ts';
import { joinFrames, type VoiceSampleRate } from '../../../../pipelines/audio/voice-activity/voice-frames.ts';
import { following, mixed, noise, speechLike, tones, voicedShare } from './line-signals.ts';

function detect(samples: Float32Array, rate: VoiceSampleRate = 8000, blockSamples = samples.length || 1) {
  const detector = new EnergyDetector(rate);
  const parts = [];
  for (let at = 0; at < samples.length; at += blockSamples)
    parts.push(detector.push(samples.subarray(at, at + blockSamples)));
  return joinFrames([...parts, detector.finish()]);
}

describe('energy/1', () => {
  it.each([8000, 16000] as const)('finds speech between pauses with noise at %i Hz', (rate) => {
    const speech = following(new Float32Array(2 * rate), speechLike(3 * rate, { rate }), new Float32Array(2 * rate));
    const { voiced } = detect(mixed(speech, noise(speech.length, 0.002)), rate);
    expect(voicedShare(voiced, 0, 1.9)).toBeLessThan(0.02);
    expect(voicedShare(voiced, 2, 5)).toBeGreaterThan(0.75);
    expect(voicedShare(voiced, 5.4, 7)).toBeLessThan(0.02);
  });

  it.each([0.3, 0.03, 0.003])('takes steady noise of rms %d for no voice', (rms) => {
    expect(voicedShare(detect(noise(80_000, rms)).voiced, 0, 10)).toBeLessThan(0.01);
  });

  it('takes a steady tone for no voice, and one that comes and goes for voice', () => {
    const tone = tones(80_000, { rate: 8000, frequencies: [425], amplitude: 0.2 });
    expect(voicedShare(detect(tone).voiced, 0, 10)).toBe(0);
    expect(
      voicedShare(detect(tone.map((sample, at) => (at % 8000 < 4000 ? sample : 0))).voiced, 0, 10),
    ).toBeGreaterThan(0.4);
  });

  it.each([
    [-57, 1],
    [-59, 0],
  ])('at %d dBFS over silence hears %i', (dbfs, heard) => {
    const amplitude = Math.SQRT2 * 10 ** (dbfs / 20);
    const { voiced } = detect(
      following(
        new Float32Array(8000),
        tones(4000, { rate: 8000, frequencies: [500], amplitude }),
        new Float32Array(8000),
      ),
    );
    expect(Math.max(...voiced)).toBe(heard);
  });

  it.each([
    [3, 15],
    [2, 0],
  ])('of %i loud frames in a row makes %i of voice', (loud, expected) => {
    const tone = tones(loud * 80, { rate: 8000, frequencies: [500], amplitude: 0.3 });
    const { voiced } = detect(following(new Float32Array(8000), tone, new Float32Array(8000)));
    expect(voiced.reduce((sum, voice) => sum + voice, 0)).toBe(expected);
  });

  it('says the same in whatever blocks the samples come', () => {
    const samples = following(noise(9000, 0.001), speechLike(20_000, { rate: 8000 }), noise(3007, 0.02));
    const whole = detect(samples);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), (block) => {
        expect(detect(samples, 8000, block)).toEqual(whole);
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    [0, 0],
    [79, 0],
    [80, 1],
    [24_079, 300],
    [24_080, 301],
  ])('gives of %i samples %i frames', (samples, frames) => {
    expect(detect(noise(samples, 0.1)).voiced).toHaveLength(frames);
  });

  it('measures levels without the offset, and silence where a sample is no number', () => {
    const square = Float32Array.from({ length: 800 }, (_none, at) => 0.25 + (at % 2 === 0 ? 0.1 : -0.1));
    expect(detect(square).levelsDbfs.every((level) => Math.abs(level + 20) < 0.001)).toBe(true);
    expect([...detect(new Float32Array(160).fill(NaN)).levelsDbfs]).toEqual([-100, -100]);
    expect([...detect(new Float32Array(80).fill(Infinity)).voiced]).toEqual([0]);
  });
});
