import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DecodeLimits } from '../../../../pipelines/audio/decode/recording.ts';
import { digestOfManifest } from '../../../../pipelines/audio/models/manifest.ts';
import type { ResolvedModel } from '../../../../pipelines/audio/models/registry.ts';
import { OpenModels } from '../../../../pipelines/audio/scoring/open-models.ts';
import { chooseModel, type ModelChoice } from '../../../../pipelines/audio/models/named-model.ts';
import { scoreRecording } from '../../../../pipelines/audio/scoring/score-recording.ts';
import type { ChannelMode } from '../../../../pipelines/audio/verification.ts';
import {
  spectrogramGraph,
  spectrogramPart,
  waveformGraph,
  waveformPart,
  writeTestModel,
  type TestModel,
} from '../../../support/onnx-file.ts';
import { resample } from '../../../../pipelines/audio/signal/resample.ts';
import { fullBandSpeech, speechLike, writeWav } from '../../../support/speech-like.ts';

const limits: DecodeLimits = {
  bytesMax: 1e9,
  channelsMax: 8,
  sampleRateMin: 4000,
  sampleRateMax: 192_000,
  secondsMax: 3600,
  wallSecondsMax: 60,
};
const opened = new OpenModels();
let directory = '';
let waveform: ResolvedModel;
let spectrogram: ResolvedModel;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'score-recording-test-'));
  waveform = await makeModel('waveform', { graph: waveformGraph(), manifest: waveformPart });
  spectrogram = await makeModel('spectrogram', { graph: spectrogramGraph(), manifest: spectrogramPart });
});
afterAll(async () => {
  await opened.close();
  await rm(directory, { recursive: true });
});

async function makeModel(name: string, model: TestModel): Promise<ResolvedModel> {
  const folder = await mkdtemp(join(directory, `${name}-`));
  const manifest = await writeTestModel(folder, model);
  return {
    name: manifest.model,
    manifest,
    manifestSha256: digestOfManifest(manifest),
    weightsFile: join(folder, manifest.file),
  };
}

async function score(
  channels: readonly Float32Array[],
  { sampleRate = 8000, mode = 'apart', models }: { sampleRate?: number; mode?: ChannelMode; models?: ModelChoice } = {},
) {
  const file = await writeWav(join(directory, 'recording.wav'), channels, sampleRate);
  return scoreRecording({
    file,
    models: models ?? { phone: spectrogram, digital: null },
    settings: { channels: mode },
    limits,
    opened,
  });
}

describe('a recording', () => {
  it('is cut into windows that overlap; the last one ends with it', async () => {
    const scored = await score([speechLike({ sampleRate: 8000, seconds: 9.5 })]);
    expect(scored.state).toBe('performed');
    expect(scored.windows.map(({ start, end, label }) => [start, end, label])).toEqual([
      [0, 4, 'validVoice'],
      [2, 6, 'validVoice'],
      [4, 8, 'validVoice'],
      [5.5, 9.5, 'validVoice'],
    ]);
    expect(scored.audio).toEqual({
      format: 'wav',
      codec: 'pcm_s16le',
      sampleRate: 8000,
      channels: 1,
      durationSeconds: 9.5,
    });
  });

  it('has the calibrated mean of its windows as score, and a decision by the thresholds', async () => {
    const scored = await score([speechLike({ sampleRate: 8000, seconds: 10 })]);
    const logit = (share: number, { slope, intercept }: { slope: number; intercept: number }) =>
      (Math.log(share / (1 - share)) - intercept) / slope;
    const { synthesis } = spectrogramPart.calibration;
    const logits = scored.windows.map(({ scores }) => logit(scores!.synthesis!, synthesis));
    const mean = logits.reduce((sum, each) => sum + each, 0) / logits.length;
    expect(logit(scored.scores!.synthesis!, synthesis)).toBeCloseTo(mean, 6);
    expect(scored.decision).toEqual({
      label: expect.any(String) as string,
      thresholds: { synthesis: 0.5, replay: 0.5 },
      policy: 'thresholds/2',
      reason: scored.decision?.label === 'undecided' ? 'acceptance_unknown' : null,
      authenticFrom: { synthesis: null, replay: null },
      falseAcceptance: { synthesis: null, replay: null },
    });
    expect(scored.channelScores).toEqual([
      { channel: 0, voiceSeconds: scored.voiceSeconds, scores: scored.scores, reason: null },
    ]);
  });

  it('that is shorter than a window is one window', async () => {
    const scored = await score([speechLike({ sampleRate: 8000, seconds: 2.2 })]);
    expect(scored.windows).toMatchObject([{ start: 0, end: 2.2, label: 'validVoice' }]);
    expect(scored.state).toBe('performed');
  });

  it('has scores that do not depend on its level', async () => {
    const loud = await score([speechLike({ sampleRate: 8000, seconds: 5, peak: 0.8, noise: 0.004 })]);
    const soft = await score([speechLike({ sampleRate: 8000, seconds: 5, peak: 0.2, noise: 0.001 })]);
    expect(soft.scores!.synthesis!).toBeCloseTo(loud.scores!.synthesis!, 2);
    expect(soft.scores!.replay!).toBeCloseTo(loud.scores!.replay!, 2);
  });

  it('is resampled to the rate of the model', async () => {
    const scores = await Promise.all(
      [8000].map(async () => (await score([speechLike({ sampleRate: 8000, seconds: 6, noise: 0 })])).scores),
    );
    for (const sampleRate of [11_025, 16_000, 44_100, 48_000]) {
      const scored = await score([speechLike({ sampleRate, seconds: 6, noise: 0 })], { sampleRate });
      expect(scored.windows).toHaveLength(2);
      expect(scored.audio.durationSeconds).toBeCloseTo(6, 6);
      expect(Math.abs(scored.scores!.synthesis! - scores[0]!.synthesis!)).toBeLessThan(0.1);
    }
  });

  it('gives the same twice, whatever was scored in between', async () => {
    const voice = speechLike({ sampleRate: 8000, seconds: 7 });
    const first = await score([voice]);
    await score([speechLike({ sampleRate: 8000, seconds: 3, pitch: 220 })], {
      models: { phone: waveform, digital: null },
    });
    const second = await score([voice]);
    expect({ ...second, computedMs: 0 }).toEqual({ ...first, computedMs: 0 });
  });

  it.each([
    ['silence', new Float32Array(40_000), 'no_voice', 'insufficientVoice'],
    [
      'little voice',
      Float32Array.from([...speechLike({ sampleRate: 8000, seconds: 0.6 }), ...new Float32Array(24_000)]),
      'insufficient_voice',
      'insufficientVoice',
    ],
  ])('without enough voice has a reason and no number: %s', async (_name, samples, reason, label) => {
    const scored = await score([samples]);
    expect(scored).toMatchObject({ state: 'performedWithoutScore', scores: null, decision: null, reason });
    expect(scored.windows.map((window) => [window.label, window.scores])).toEqual(
      scored.windows.map(() => [label, null]),
    );
  });
});

describe('a window', () => {
  it.each([
    ['soft noise', 0.0005, 'validVoice', 'performed', null],
    ['noise as loud as the voice', 0.09, 'excessiveNoise', 'performedWithoutScore', 'excessive_noise'],
    ['noise that hides the voice', 0.4, 'insufficientVoice', 'performedWithoutScore', 'no_voice'],
  ])('is labelled by its voice and by what is between: %s', async (_name, noise, label, state, reason) => {
    const telephone = await makeModel('telephone', {
      graph: spectrogramGraph(),
      manifest: { ...spectrogramPart, voiceActivity: 'telephone/2' },
    });
    const scored = await score([speechLike({ sampleRate: 8000, seconds: 8, noise })], {
      models: { phone: telephone, digital: null },
    });
    expect(scored).toMatchObject({ state, reason });
    expect(scored.windows.map((window) => window.label)).toEqual([label, label, label]);
  });
});

describe('the channels of a recording', () => {
  const voice = speechLike({ sampleRate: 8000, seconds: 5 });
  const other = speechLike({ sampleRate: 8000, seconds: 5, pitch: 260, noise: 0.01 });

  it('are scored apart, and the lower score of each kind is that of the recording', async () => {
    const [left, right, both] = [await score([voice]), await score([other]), await score([voice, other])];
    expect(both.channelScores.map(({ scores }) => scores)).toEqual([left.scores, right.scores]);
    expect(both.scores).toEqual({
      synthesis: Math.min(left.scores!.synthesis!, right.scores!.synthesis!),
      replay: Math.min(left.scores!.replay!, right.scores!.replay!),
    });
    expect(both.windows.map(({ channel }) => channel)).toEqual([0, 0, 1, 1]);
  });

  it('count where they have voice: a silent one has a reason', async () => {
    const both = await score([voice, new Float32Array(voice.length)]);
    const alone = await score([voice]);
    expect(both.state).toBe('performed');
    expect(both.scores).toEqual(alone.scores);
    expect(both.channelScores).toMatchObject([
      { channel: 0, reason: null },
      { channel: 1, scores: null, reason: 'no_voice', voiceSeconds: 0 },
    ]);
  });

  it('are one when they are mixed', async () => {
    const mixed = await score([voice, voice], { mode: 'mixed' });
    const alone = await score([voice]);
    expect(mixed.channelScores).toEqual([]);
    expect(mixed.windows.map(({ channel }) => channel)).toEqual([null, null]);
    expect(mixed.scores!.synthesis!).toBeCloseTo(alone.scores!.synthesis!, 5);
  });

  it('have their voice together as the voice of the recording', async () => {
    const silence = new Float32Array(24_000);
    const [first, second] = [
      Float32Array.from([...speechLike({ sampleRate: 8000, seconds: 3 }), ...silence]),
      Float32Array.from([...silence, ...speechLike({ sampleRate: 8000, seconds: 3 })]),
    ];
    const scored = await score([first, second]);
    const sum = scored.channelScores.reduce((total, { voiceSeconds }) => total + voiceSeconds, 0);
    expect(scored.voiceSeconds).toBeGreaterThan(
      Math.max(...scored.channelScores.map(({ voiceSeconds }) => voiceSeconds)),
    );
    expect(scored.voiceSeconds).toBeLessThanOrEqual(sum);
  });

  it('without score give the reason that is nearest to one', async () => {
    const little = Float32Array.from([...speechLike({ sampleRate: 8000, seconds: 0.6 }), ...new Float32Array(16_000)]);
    const scored = await score([new Float32Array(little.length), little]);
    expect(scored).toMatchObject({ state: 'performedWithoutScore', reason: 'insufficient_voice' });
    expect(scored.channelScores.map(({ reason }) => reason)).toEqual(['no_voice', 'insufficient_voice']);
  });
});

describe('the model', () => {
  it('is taken by the band where both families are given', async () => {
    const digital = { ...spectrogram, name: 'digital/v9' };
    const both = { phone: spectrogram, digital };
    expect(
      [8000, 15_999, 16_000, 48_000].map((rate) => chooseModel(both, { sampleRate: rate, isTelephone: false }).name),
    ).toEqual(['phone/v9-test', 'phone/v9-test', 'digital/v9', 'digital/v9']);
    expect(
      [8000, 48_000].map(
        (rate) => chooseModel({ phone: spectrogram, digital: null }, { sampleRate: rate, isTelephone: false }).name,
      ),
    ).toEqual(['phone/v9-test', 'phone/v9-test']);
  });

  it('is that of the phone family for speech of a telephone at a higher rate, and the result says so', async () => {
    const models = { phone: spectrogram, digital: { ...spectrogram, name: 'digital/v9' } };
    const upsampled = resample(fullBandSpeech({ sampleRate: 8000, seconds: 4.5 }), 8000, 16_000);
    expect(await score([upsampled], { sampleRate: 16_000, models })).toMatchObject({
      model: 'phone/v9-test',
      audio: { sampleRate: 16_000 },
      notes: ['telephone_band'],
    });
    const wide = fullBandSpeech({ sampleRate: 16_000, seconds: 4.5 });
    expect(await score([wide], { sampleRate: 16_000, models })).toMatchObject({ model: 'digital/v9', notes: [] });
    expect(await score([upsampled, wide], { sampleRate: 16_000, models })).toMatchObject({
      model: 'digital/v9',
      notes: [],
    });
  });

  it('that was asked for scores speech of a telephone too, with a note', async () => {
    const upsampled = resample(fullBandSpeech({ sampleRate: 8000, seconds: 4.5 }), 8000, 16_000);
    const models = { phone: null, digital: { ...spectrogram, name: 'digital/v9' } };
    expect(await score([upsampled], { sampleRate: 16_000, models })).toMatchObject({
      model: 'digital/v9',
      notes: ['telephone_band'],
    });
    await expect(score([upsampled], { sampleRate: 16_000, models: { ...models, byRate: true } })).rejects.toThrow(
      expect.objectContaining({
        reason: 'scoring_failed',
        detail: 'At 16000 Hz with speech of a telephone it needs the default of phone, which cannot be used here.',
      }) as Error,
    );
  });

  it('where the band decides, is not another one because its own cannot be used', () => {
    const phoneOnly = { phone: spectrogram, digital: null, byRate: true };
    expect(chooseModel(phoneOnly, { sampleRate: 15_999, isTelephone: false }).name).toBe('phone/v9-test');
    expect(() => chooseModel(phoneOnly, { sampleRate: 16_000, isTelephone: false })).toThrowError(
      expect.objectContaining({
        reason: 'scoring_failed',
        detail: 'At 16000 Hz it needs the default of digital, which cannot be used here.',
      }) as Error,
    );
    expect(() =>
      chooseModel({ phone: null, digital: spectrogram, byRate: true }, { sampleRate: 8000, isTelephone: false }),
    ).toThrowError(expect.objectContaining({ reason: 'scoring_failed' }) as Error);
  });

  it('refuses a rate below its minimum', () => {
    const digital = {
      ...spectrogram,
      manifest: {
        ...spectrogram.manifest,
        input: { ...spectrogram.manifest.input, sampleRateMin: 16_000, sampleRate: 16_000 },
      },
    };
    expect(() => chooseModel({ phone: null, digital }, { sampleRate: 15_999, isTelephone: false })).toThrowError(
      expect.objectContaining({ reason: 'sample_rate_too_low' }) as Error,
    );
    expect(chooseModel({ phone: null, digital }, { sampleRate: 16_000, isTelephone: false })).toBe(digital);
  });

  it('of another shape gives scores too: waveform in, pairs out, the second the spoof', async () => {
    const scored = await score([speechLike({ sampleRate: 8000, seconds: 4.5 })], {
      models: { phone: waveform, digital: null },
    });
    expect(scored.state).toBe('performed');
    expect(scored.windows.map(({ start }) => start)).toEqual([0, 1, 2, 2.5]);
    expect(scored.decision?.thresholds).toEqual({ synthesis: 0.5, replay: 0.4 });
  });

  it('is refused if its graph does not answer what its manifest says', async () => {
    const wrong = await makeModel('wrong', {
      graph: spectrogramGraph(),
      manifest: { ...spectrogramPart, output: { ...spectrogramPart.output, activation: 'logit-pair' } },
    });
    await expect(
      score([speechLike({ sampleRate: 8000, seconds: 3 })], { models: { phone: wrong, digital: null } }),
    ).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringContaining('4 numbers for 2 windows') as string,
    });
  });

  it('is refused if its weights are not those of the manifest', async () => {
    const wrong = { ...waveform, manifestSha256: 'other', manifest: { ...waveform.manifest, sha256: 'a'.repeat(64) } };
    await expect(
      score([speechLike({ sampleRate: 8000, seconds: 3 })], { models: { phone: wrong, digital: null } }),
    ).rejects.toMatchObject({ code: 'model_invalid' });
  });
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the buffers that are in use, without those that wait for the collector. */
function readLiveBytes(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

describe('a long recording', () => {
  it('does not take memory with its length', async () => {
    const minute = speechLike({ sampleRate: 8000, seconds: 60 });
    const long = new Float32Array(minute.length * 10);
    for (let at = 0; at < 10; at++) long.set(minute, at * minute.length);
    await score([minute]);
    const file = await writeWav(join(directory, 'long.wav'), [long], 8000);
    const before = readLiveBytes();
    const samples: number[] = [];
    const sampling = setInterval(() => samples.push(readLiveBytes()), 100); // a collection takes longer than that
    const scored = await scoreRecording({
      file,
      models: { phone: spectrogram, digital: null },
      settings: { channels: 'apart' },
      limits,
      opened,
    }).finally(() => clearInterval(sampling));
    expect(scored.windows).toHaveLength(299);
    expect(samples.length).toBeGreaterThan(2);
    expect(Math.max(...samples) - before).toBeLessThan(long.byteLength / 2);
  });
});
