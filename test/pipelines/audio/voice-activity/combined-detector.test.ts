import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGraph, type Graph } from '../../../../pipelines/audio/inference/graph.ts';
import {
  detectVoice,
  joinFrames,
  makeVoiceDetector,
  type VoiceDetectorName,
} from '../../../../pipelines/audio/voice-activity/voice-activity.ts';
import { following, mixed, noise, speechLike, tones, voicedShare } from './line-signals.ts';

let graph: Graph;

beforeAll(async () => {
  const weights = await readFile('models/voice-activity-telephone-2/model.onnx');
  graph = await openGraph(weights, { inputName: 'input', outputName: 'output' });
});

afterAll(() => graph.close());

const detect = (samples: Float32Array, name: Exclude<VoiceDetectorName, 'energy/1'> = 'combined/1') =>
  detectVoice(samples, { name, sampleRate: 8000, graph });

/** A room in which sound dies away over 0.7 s, with the voice 12 dB under its own reverberation: as far speech, or a replay. */
function reverberant(samples: Float32Array): Float32Array {
  const tail = noise(5600, 1, 11).map((sample, at) => sample * Math.exp((-6.9 * at) / 5600));
  const wet = new Float32Array(samples.length);
  for (let from = 0; from < samples.length; from++)
    for (let at = 0; at < tail.length && from + at < wet.length; at += 8) wet[from + at]! += samples[from]! * tail[at]!;
  return wet.map((sample, at) => 0.03 * sample + 0.25 * samples[at]!);
}

describe('combined/1', () => {
  it('finds at least the voice that telephone/2 finds, and more of a voice in a room', async () => {
    const far = mixed(reverberant(speechLike(32_000, { rate: 8000 })), noise(32_000, 0.003));
    const [combined, telephone] = [await detect(far), await detect(far, 'telephone/2')];
    expect(telephone.voiced.some((voice, at) => voice > combined.voiced[at]!)).toBe(false);
    expect(combined.voicedSeconds).toBeGreaterThan(1.5);
    expect(combined.voicedSeconds).toBeGreaterThan(telephone.voicedSeconds);
  });

  it.each([
    ['silence', new Float32Array(48_000)],
    ['noise', noise(48_000, 0.02)],
    ['a dial tone', tones(48_000, { rate: 8000, frequencies: [350, 440], amplitude: 0.1 })],
    [
      'a ringing tone',
      following(tones(16_000, { rate: 8000, frequencies: [440, 480], amplitude: 0.1 }), new Float32Array(32_000)),
    ],
  ])('takes %s on a line with some noise for no voice', async (_name, sound) => {
    const { voicedSeconds } = await detect(mixed(sound, noise(sound.length, 0.0005, 7)));
    expect(voicedSeconds).toBeLessThan(0.15);
  });

  it.each([61, 8000])('says the same in blocks of %i samples as of the whole', async (block) => {
    const samples = mixed(
      following(...[100, 130, 160].map((pitch) => speechLike(80_000, { rate: 8000, pitch }))),
      noise(240_000, 0.003),
    );
    const detector = makeVoiceDetector({ name: 'combined/1', sampleRate: 8000, graph });
    const parts = [];
    for (let at = 0; at < samples.length; at += block)
      parts.push(await detector.push(samples.subarray(at, at + block)));
    const { voiced, levelsDbfs } = await detect(samples);
    expect(joinFrames([...parts, await detector.finish()])).toEqual({ voiced, levelsDbfs });
  });

  it('previews the frames that are open, and changes nothing by it', async () => {
    const samples = mixed(speechLike(40_000, { rate: 8000 }), noise(40_000, 0.002));
    const detector = makeVoiceDetector({ name: 'combined/1', sampleRate: 8000, graph, runFrames: 200 });
    const decided = await detector.push(samples);
    const open = await detector.preview();
    expect(decided.voiced.length + open.voiced.length).toBe(500);
    const whole = joinFrames([decided, await detector.finish()]);
    expect(voicedShare(joinFrames([decided, open]).voiced, 0, 5)).toBeCloseTo(voicedShare(whole.voiced, 0, 5), 1);
  });

  it('gives no frame of less than 10 ms', async () => {
    expect((await detect(noise(79, 0.01))).voiced).toHaveLength(0);
    expect((await detect(noise(80, 0.01))).voiced).toHaveLength(1);
  });
});
