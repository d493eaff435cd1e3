import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGraph, type Graph } from '../../../../pipelines/audio/inference/graph.ts';
import { readManifest } from '../../../../pipelines/audio/models/manifest.ts';
import { readWeights } from '../../../../pipelines/audio/models/model-weights.ts';
import { powerSpectrogram } from '../../../../pipelines/audio/signal/power-spectrogram.ts';
import {
  detectVoice,
  makeVoiceDetector,
  type VoiceSampleRate,
} from '../../../../pipelines/audio/voice-activity/voice-activity.ts';
import { joinFrames } from '../../../../pipelines/audio/voice-activity/voice-frames.ts';
import { following, mixed, noise, speechLike, tones, voicedShare } from './line-signals.ts';

const folder = 'models/voice-activity-telephone-2';
let graph: Graph;

beforeAll(async () => {
  const manifest = await readManifest(folder, 'voice-activity');
  graph = await openGraph(await readWeights(join(folder, manifest.file), manifest), {
    inputName: manifest.input.name,
    outputName: manifest.output.name,
  });
});

afterAll(() => graph.close());

const detect = (samples: Float32Array, sampleRate: VoiceSampleRate = 8000) =>
  detectVoice(samples, { name: 'telephone/2', sampleRate, graph });

async function detectInBlocks(samples: Float32Array, blockSamples: number) {
  const detector = makeVoiceDetector({ name: 'telephone/2', sampleRate: 8000, graph });
  const parts = [];
  for (let at = 0; at < samples.length; at += blockSamples)
    parts.push(await detector.push(samples.subarray(at, at + blockSamples)));
  return joinFrames([...parts, await detector.finish()]);
}

/** Chords of four notes, one a second, with harmonics. */
const chords = (seconds: number) =>
  following(
    ...Array.from({ length: seconds }, (_none, bar) => {
      const root = 220 * 2 ** ([0, 5, 7, 3][bar % 4]! / 12);
      return tones(8000, {
        rate: 8000,
        frequencies: [root, root * 1.26, root * 1.5, root * 2, root * 3],
        amplitude: 0.05,
      });
    }),
  );

const keyPresses = () =>
  following(
    ...[
      [697, 1209],
      [770, 1336],
      [852, 1477],
      [941, 1336],
      [697, 1477],
    ].flatMap((frequencies) => [tones(1600, { rate: 8000, frequencies, amplitude: 0.1 }), new Float32Array(1600)]),
  );

describe('telephone/2', () => {
  it('gives the logits that its training gave', async () => {
    const check = JSON.parse(await readFile(join(folder, 'check.json'), 'utf8')) as {
      readonly logits: readonly number[];
    };
    const samples = Float32Array.from({ length: 32_000 }, (_none, at) => {
      const t = at / 8000;
      if (t >= 2) return 0.1 * Math.sin(2 * Math.PI * 350 * t) + 0.1 * Math.sin(2 * Math.PI * 440 * t);
      return (
        0.1 *
        (0.5 - 0.5 * Math.cos(2 * Math.PI * 4 * t)) *
        Array.from({ length: 19 }, (_h, index) => Math.sin(2 * Math.PI * 140 * (index + 1) * t) / (index + 1)).reduce(
          (sum, part) => sum + part,
          0,
        )
      );
    });
    const { values, frames, bins } = powerSpectrogram(following(new Float32Array(60), samples, new Float32Array(60)), {
      frameSamples: 200,
      hopSamples: 80,
      fftSize: 256,
    });
    const logits = await graph.run(values, [1, frames, bins]);
    expect(logits).toHaveLength(check.logits.length);
    expect(Math.max(...check.logits.map((logit, frame) => Math.abs(logit - logits[frame]!)))).toBeLessThan(0.01);
  });

  it.each([
    ['silence', new Float32Array(48_000)],
    ['noise', noise(48_000, 0.02)],
    ['a dial tone', tones(48_000, { rate: 8000, frequencies: [350, 440], amplitude: 0.1 })],
    [
      'a ringing tone',
      following(tones(16_000, { rate: 8000, frequencies: [440, 480], amplitude: 0.1 }), new Float32Array(32_000)),
    ],
    [
      'a busy tone',
      tones(48_000, { rate: 8000, frequencies: [480, 620], amplitude: 0.1 }).map((sample, at) =>
        at % 8000 < 4000 ? sample : 0,
      ),
    ],
    ['keys', following(keyPresses(), keyPresses())],
    ['the hum of the mains', tones(48_000, { rate: 8000, frequencies: [50, 100, 150, 250, 350], amplitude: 0.05 })],
    ['chords', chords(6)],
  ])('takes %s on a line with some noise for no voice', async (_name, sound) => {
    const { voicedSeconds } = await detect(mixed(sound, noise(sound.length, 0.0005, 7)));
    expect(voicedSeconds).toBeLessThan(0.15);
  });

  it.each([8000, 16000] as const)('finds what is like speech between tones at %i Hz', async (rate) => {
    const sound = following(
      tones(3 * rate, { rate, frequencies: [350, 440], amplitude: 0.1 }),
      speechLike(4 * rate, { rate }),
      tones(3 * rate, { rate, frequencies: [480, 620], amplitude: 0.1 }),
    );
    const { voiced } = await detect(mixed(sound, noise(sound.length, 0.0005, 3)), rate);
    expect(voicedShare(voiced, 0, 2.8)).toBeLessThan(0.05);
    expect(voicedShare(voiced, 3, 7)).toBeGreaterThan(0.6);
    expect(voicedShare(voiced, 7.3, 10)).toBeLessThan(0.05);
  });

  it.each([61, 8000, 170_000])(
    'says the same in blocks of %i samples as of the whole, over the seams of its runs',
    async (block) => {
      const sound = following(
        ...Array.from({ length: 9 }, (_none, index) =>
          following(speechLike(24_000, { rate: 8000, pitch: 100 + 15 * index }), chords(2)),
        ),
      );
      const samples = mixed(sound, noise(sound.length, 0.001));
      expect(await detectInBlocks(samples, block)).toEqual(await detectInBlocks(samples, samples.length));
    },
  );

  it('decides a frame alike wherever the recording begins, up to what the network sees', async () => {
    const samples = following(speechLike(160_000, { rate: 8000 }), noise(160_000, 0.01));
    const [whole, later] = [await detect(samples), await detect(samples.slice(32_000))];
    expect([...later.voiced.subarray(300, 3500)]).toEqual([...whole.voiced.subarray(700, 3900)]);
  });

  it.each([
    [0, 8000, 0],
    [79, 8000, 0],
    [80, 8000, 1],
    [240, 8000, 3],
    [16_079, 8000, 200],
    [159, 16000, 0],
    [160, 16000, 1],
    [321_599, 16000, 2009],
  ] as const)('gives of %i samples at %i Hz %i frames', async (samples, rate, frames) => {
    const found = await detect(noise(samples, 0.01), rate);
    expect([found.voiced.length, found.levelsDbfs.length]).toEqual([frames, frames]);
  });

  it('is not thrown by samples that are no numbers', async () => {
    const speech = speechLike(32_000, { rate: 8000 });
    const { voiced } = await detect(
      speech.map((sample, at) => (at === 16_000 ? NaN : at === 20_000 ? -Infinity : sample)),
    );
    expect(voicedShare(voiced, 0, 4)).toBeCloseTo(voicedShare((await detect(speech)).voiced, 0, 4), 1);
  });
});
