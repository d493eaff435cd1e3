import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRecording } from '../../../../pipelines/audio/decode/open-recording.ts';
import { openGraph, type Graph } from '../../../../pipelines/audio/inference/graph.ts';
import {
  detectVoice,
  labelWindow,
  type VoiceDetectorName,
  type VoiceSampleRate,
} from '../../../../pipelines/audio/voice-activity/voice-activity.ts';
import { following } from './line-signals.ts';

const limits = {
  bytesMax: 10_000_000,
  channelsMax: 2,
  sampleRateMin: 8000,
  sampleRateMax: 48_000,
  secondsMax: 60,
  wallSecondsMax: 60,
};
let graph: Graph;

beforeAll(async () => {
  graph = await openGraph('models/voice-activity-telephone-2/model.onnx', { inputName: 'input', outputName: 'output' });
});

afterAll(() => graph.close());

async function detectIn(name: string, detector: VoiceDetectorName) {
  const recording = await openRecording(join('samples/recordings', name), limits);
  const blocks: Float32Array[] = [];
  for await (const block of recording.blocks()) blocks.push(block[0]!);
  await recording.close();
  const sampleRate = recording.sampleRate as VoiceSampleRate;
  return detectVoice(
    following(...blocks),
    detector === 'energy/1' ? { name: detector, sampleRate } : { name: detector, sampleRate, graph },
  );
}

describe('of the sample recordings', () => {
  it.each([
    ['reader-a-1.wav', 'energy/1'],
    ['reader-a-1.wav', 'telephone/2'],
    ['reader-a-2.wav', 'energy/1'],
    ['reader-a-2.wav', 'telephone/2'],
    ['synthesizer-espeak-en.wav', 'telephone/2'],
    ['call-two-sides.wav', 'telephone/2'],
  ] as const)('%s is a valid window for %s', async (name, detector) => {
    const found = await detectIn(name, detector);
    expect(labelWindow(found, { voicedSecondsMin: 1, signalToNoiseDbMin: 6 })).toBe('validVoice');
  });

  it.each(['energy/1', 'telephone/2'] as const)('the dial tone has no voice for %s', async (detector) => {
    expect((await detectIn('dial-tone.wav', detector)).voicedSeconds).toBeLessThan(0.1);
  });
});
