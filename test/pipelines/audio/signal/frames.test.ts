import { describe, expect, it } from 'vitest';
import { powerSpectrogram } from '../../../../pipelines/audio/signal/power-spectrogram.ts';
import { InputMaker } from '../../../../pipelines/audio/signal/frames.ts';
import { pad, setLevel } from '../../../../pipelines/audio/signal/level.ts';
import { spectrogramPart, testManifest, waveformGraph } from '../../../support/onnx-file.ts';
import { speechLike } from '../../../support/speech-like.ts';

const rmsOf = (samples: Float32Array) =>
  Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
const meanOf = (samples: Float32Array) => samples.reduce((sum, value) => sum + value, 0) / samples.length;

describe('the level', () => {
  it.each([-60, -26, 0])('of samples becomes %d dBFS without offset', (targetDbfs) => {
    const samples = speechLike({ sampleRate: 8000, seconds: 2 }).map((value) => value * 0.3 + 0.25);
    setLevel(samples, { kind: 'rms', targetDbfs });
    expect(20 * Math.log10(rmsOf(samples))).toBeCloseTo(targetDbfs, 3);
    expect(meanOf(samples)).toBeCloseTo(0, 6);
  });

  it.each([1, 2, 3, 4, 5, 7, 8001])('of %i samples is that of the definition, whatever was set before', (length) => {
    setLevel(new Float32Array(length + 5).fill(9), { kind: 'rms', targetDbfs: -26 });
    const samples = Float32Array.from({ length }, (_none, at) => Math.sin(at * 1.7) * 0.4 + 0.1);
    const mean = meanOf(samples);
    const wanted = samples.map((value) => value - mean);
    const gain = length === 1 ? 1 : 10 ** (-26 / 20) / rmsOf(wanted);
    setLevel(samples, { kind: 'rms', targetDbfs: -26 });
    for (const [at, value] of samples.entries()) expect(value).toBeCloseTo(wanted[at]! * gain, 6);
  });

  it('of silence stays what it is', () => {
    const samples = new Float32Array(100);
    setLevel(samples, { kind: 'rms', targetDbfs: -26 });
    expect(samples.every((value) => value === 0)).toBe(true);
  });

  it('stays what it is for a model that wants it so', () => {
    const samples = Float32Array.from([0.5, 0.7]);
    setLevel(samples, { kind: 'none' });
    expect(samples).toEqual(Float32Array.from([0.5, 0.7]));
  });
});

describe('a short window', () => {
  it.each([
    ['repeat', 3, [1, 2, 3, 1, 2, 3, 1]],
    ['repeat', 7, [1, 2, 3, 4, 5, 6, 7]],
    ['zero', 3, [1, 2, 3, 0, 0, 0, 0]],
    ['repeat', 0, [0, 0, 0, 0, 0, 0, 0]],
  ] as const)('is filled by %s after %i samples', (padding, length, expected) => {
    const samples = Float32Array.from([1, 2, 3, 4, 5, 6, 7]);
    pad(samples, length, padding);
    expect(Array.from(samples)).toEqual(expected);
  });
});

describe('the input of a graph', () => {
  const { input: waveform } = testManifest(waveformGraph());
  const { input: spectrogram } = testManifest(waveformGraph(), spectrogramPart);

  it('is the waveform at the level, padded after it', () => {
    const maker = new InputMaker(waveform);
    const into = new Float32Array(maker.values * 2);
    const half = speechLike({ sampleRate: 8000, seconds: 1 });
    maker.write(half, into, maker.values);
    expect(maker.shape).toEqual([16_000]);
    expect(into.subarray(0, maker.values).every((value) => value === 0)).toBe(true);
    const [first, second] = [into.subarray(16_000, 24_000), into.subarray(24_000)];
    expect(Array.from(second)).toEqual(Array.from(first));
    expect(20 * Math.log10(rmsOf(first))).toBeCloseTo(-26, 3);
  });

  it('is the power spectrogram of it', () => {
    const maker = new InputMaker(spectrogram);
    const into = new Float32Array(maker.values);
    const samples = speechLike({ sampleRate: 8000, seconds: 4 });
    maker.write(samples, into, 0);
    expect(maker.shape).toEqual([398, 129]);
    setLevel(samples, { kind: 'rms', targetDbfs: -26 });
    expect(into).toEqual(powerSpectrogram(samples, { frameSamples: 200, hopSamples: 80, fftSize: 256 }).values);
  });

  it('does not change the samples that it is made of', () => {
    const samples = speechLike({ sampleRate: 8000, seconds: 4 });
    const before = samples.slice();
    new InputMaker(spectrogram).write(samples, new Float32Array(398 * 129), 0);
    expect(samples).toEqual(before);
  });
});
