import { describe, expect, it } from 'vitest';
import { resample } from '../../../../pipelines/audio/signal/resample.ts';
import { areOfTelephone, TelephoneBand } from '../../../../pipelines/audio/signal/telephone-band.ts';
import { fullBandSpeech, seededNoise, speechLike } from '../../../support/speech-like.ts';

const telephone = fullBandSpeech({ sampleRate: 8000, seconds: 4 });
const wide = fullBandSpeech({ sampleRate: 16_000, seconds: 4 });

function listen(samples: Float32Array, sampleRate: number, blockSamples = samples.length): TelephoneBand {
  const band = new TelephoneBand(sampleRate);
  for (let at = 0; at < samples.length; at += blockSamples) band.push(samples.subarray(at, at + blockSamples));
  return band;
}

/** What plain resamplers make: the sample before, or a straight line between two. */
function resamplePlainly(samples: Float32Array, from: number, to: number, kind: 'hold' | 'line'): Float32Array {
  return Float32Array.from({ length: Math.floor(((samples.length - 1) * to) / from) }, (_none, at) => {
    const place = (at * from) / to;
    const before = Math.floor(place);
    const share = kind === 'line' ? place - before : 0;
    return samples[before]! * (1 - share) + samples[before + 1]! * share;
  });
}

function plus(samples: Float32Array, rms: number): Float32Array {
  const noise = seededNoise(3);
  return samples.map((sample) => sample + rms * noise());
}

describe('speech of a telephone at a higher rate is detected', () => {
  it.each([16_000, 22_050, 44_100, 48_000])('after a good resampler, at %i Hz', (to) => {
    expect(listen(resample(telephone, 8000, to), to).isTelephone()).toBe(true);
  });

  it.each([
    ['hold', 16_000],
    ['line', 16_000],
    ['hold', 44_100],
    ['line', 48_000],
  ] as const)('by the mirror image that a plain one leaves: %s, %i Hz', (kind, to) => {
    expect(listen(resamplePlainly(telephone, 8000, to, kind), to).isTelephone()).toBe(true);
  });

  it('under the noise of 16-bit dithering', () => {
    expect(listen(plus(resample(telephone, 8000, 16_000), 2 / 32_768), 16_000).isTelephone()).toBe(true);
  });

  it('wherever the blocks end', () => {
    const samples = resample(telephone, 8000, 48_000);
    expect(listen(samples, 48_000, 997).isTelephone()).toBe(true);
  });
});

describe('wide-band speech is not taken for that of a telephone', () => {
  it.each([16_000, 44_100])('at %i Hz', (to) => {
    expect(listen(resample(wide, 16_000, to), to).isTelephone()).toBe(false);
  });

  it('that ends at 5.9 kHz, below the edge of every wide-band codec', () => {
    expect(listen(resample(resample(wide, 16_000, 11_800), 11_800, 16_000), 16_000).isTelephone()).toBe(false);
  });
});

describe('nothing is said', () => {
  it('of silence, and of less than half a second of speech', () => {
    expect(listen(new Float32Array(48_000), 16_000).isTelephone()).toBeNull();
    const short = resample(telephone, 8000, 16_000);
    expect(listen(short.subarray(0, 512 + 30 * 256), 16_000).isTelephone()).toBeNull();
  });

  it('of a voice that does not reach the edge of a telephone’s band', () => {
    expect(listen(speechLike({ sampleRate: 16_000, seconds: 4, noise: 1e-5 }), 16_000).isTelephone()).toBeNull();
  });
});

it('30 s with sound are listened to, and no sample after them counts', () => {
  const band = new TelephoneBand(16_000);
  const samples = resample(telephone, 8000, 16_000);
  for (let times = 0; times < 30 && !band.isComplete; times++) band.push(samples);
  expect([band.isComplete, band.isTelephone()]).toEqual([true, true]);
  for (let times = 0; times < 30; times++) band.push(wide);
  expect(band.isTelephone()).toBe(true);
});

it('a recording is of a telephone if each channel with an answer is', () => {
  const [yes, no] = [listen(resample(telephone, 8000, 16_000), 16_000), listen(wide, 16_000)];
  const silent = listen(new Float32Array(48_000), 16_000);
  expect([[yes, yes], [yes, silent], [yes, no], [silent], []].map(areOfTelephone)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
