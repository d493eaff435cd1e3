import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OpenModels } from '../../../../pipelines/audio/scoring/open-models.ts';
import { readWaveform, type WaveformRequest } from '../../../../pipelines/audio/scoring/recording-waveform.ts';
import { scoreRecording } from '../../../../pipelines/audio/scoring/score-recording.ts';
import { waveformForm } from '../../../../pipelines/audio/scoring/scorer-protocol.ts';
import { waveformBucketsMax } from '../../../../pipelines/audio/scoring/scorer-protocol.ts';
import { wideLimits } from '../../../support/audio-file.ts';
import { spectrogramGraph, spectrogramPart } from '../../../support/onnx-file.ts';
import { makeTestModel, useScoringPool, useTestDirectory } from '../../../support/scoring.ts';
import { speechLike, writeWav } from '../../../support/speech-like.ts';

const directory = await useTestDirectory();
const model = await makeTestModel(directory, { graph: spectrogramGraph(), manifest: spectrogramPart });
const voice = speechLike({ sampleRate: 8000, seconds: 6 });
const quiet = new Float32Array(voice.length);
quiet[8000] = -0.5;
const call = await writeWav(join(directory, 'call.wav'), [voice, quiet], 8000);
const opened = new OpenModels();
afterAll(() => opened.close());

const request = (changes: Partial<WaveformRequest> = {}): WaveformRequest => ({
  file: call,
  model,
  settings: { channels: 'apart' },
  limits: wideLimits,
  opened,
  ...changes,
});

describe('the waveform of a recording', () => {
  it('has the lowest and highest sample of each stretch, a channel each', async () => {
    const { durationSeconds, bucketSeconds, channels } = await readWaveform(request());
    expect([durationSeconds, channels.map(({ channel }) => channel)]).toEqual([6, [0, 1]]);
    for (const { lows, highs } of channels) {
      expect([lows.length, highs.length]).toEqual([Math.ceil(6 / bucketSeconds), Math.ceil(6 / bucketSeconds)]);
      expect(lows.length).toBeLessThanOrEqual(waveformBucketsMax);
      expect(lows.length).toBeGreaterThan(waveformBucketsMax / 2 - 1);
    }
    const at = Math.floor(1 / bucketSeconds);
    expect([channels[1]!.lows[at], channels[1]!.highs[at]]).toEqual([-0.5, 0]);
    expect(channels[1]!.lows.filter((low) => low !== 0)).toHaveLength(1);
    expect(Math.max(...channels[0]!.highs)).toBeCloseTo(Math.max(...voice), 2);
  });

  it('marks the voice that scoring finds', async () => {
    const { channels, bucketSeconds } = await readWaveform(request());
    const { channelScores } = await scoreRecording({
      file: call,
      models: { phone: model, digital: null },
      settings: { channels: 'apart' },
      limits: wideLimits,
      opened,
    });
    const seconds = channels[0]!.voice!.reduce((sum, [start, end]) => sum + end - start, 0);
    expect(Math.abs(seconds - channelScores[0]!.voiceSeconds)).toBeLessThanOrEqual(
      bucketSeconds * channels[0]!.voice!.length,
    );
    expect(channels[1]!.voice).toEqual([]);
  });

  it('is of one channel where the channels were mixed, and knows no voice without a model', async () => {
    const { channels } = await readWaveform(request({ settings: { channels: 'mixed' }, model: null }));
    expect(channels.map(({ channel, voice: found }) => [channel, found])).toEqual([[null, null]]);
    expect(Math.max(...channels[0]!.highs)).toBeCloseTo(Math.max(...voice) / 2, 2);
  });

  it.each([1, 15, 16, 17, 16 * waveformBucketsMax - 1, 16 * waveformBucketsMax, 16 * waveformBucketsMax + 1, 100_000])(
    'has no more stretches than a screen shows for %i samples',
    async (samples) => {
      const file = await writeWav(join(directory, `${samples}.wav`), [new Float32Array(samples).fill(0.25)], 8000);
      const waveform = await readWaveform(request({ file, model: null }));
      const [channel] = waveform.channels;
      expect(channel!.lows.length).toBe(Math.ceil(samples / Math.round(waveform.bucketSeconds * 8000)));
      expect(channel!.lows.length).toBeLessThanOrEqual(waveformBucketsMax);
      expect(new Set([...channel!.lows, ...channel!.highs])).toEqual(new Set([0.25]));
      expect(waveform.durationSeconds).toBeCloseTo(samples / 8000, 6);
    },
  );
});

describe('the pool', () => {
  const { pool } = useScoringPool();

  it('draws as this process does', async () => {
    expect(await pool.waveform({ file: call, model, settings: { channels: 'apart' } })).toEqual(
      await readWaveform(request()),
    );
  });

  it('refuses what is no recording with its reason', async () => {
    await expect(
      pool.waveform({ file: join(directory, 'no.wav'), model: null, settings: { channels: 'apart' } }),
    ).rejects.toMatchObject({ reason: 'file_missing' });
  });
});

describe('what a child draws', () => {
  const drawn = {
    durationSeconds: 1,
    bucketSeconds: 0.5,
    channels: [{ channel: null, lows: [-1, 0], highs: [0, 1], voice: [[0, 0.5]] }],
  };

  it('is taken as it is sent', () => {
    expect(waveformForm.parse(drawn)).toEqual(drawn);
  });

  it.each([
    ['samples beyond full scale', { lows: [-1.5] }],
    ['too many stretches', { highs: new Array(waveformBucketsMax + 1).fill(0) }],
    ['voice before the start', { voice: [[-1, 0]] }],
    ['voice that is no stretch', { voice: [[1]] }],
  ])('is no answer with %s', (_name, changes) => {
    expect(waveformForm.safeParse({ ...drawn, channels: [{ ...drawn.channels[0], ...changes }] }).success).toBe(false);
  });
});
