import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PoolRequest } from '../../../../pipelines/audio/scorers/scoring-pool.ts';
import { OpenModels } from '../../../../pipelines/audio/scoring/open-models.ts';
import { scoreRecording } from '../../../../pipelines/audio/scoring/score-recording.ts';
import { decodeLimitsOf } from '../../../../pipelines/audio/scorers/scoring-pool.ts';
import { networkIsolation } from '../../../../runtime/processes/sandboxed-child.ts';
import { loadConfig } from '../../../../runtime/config.ts';
import {
  spectrogramGraph,
  spectrogramPart,
  testManifest,
  waveformGraph,
  waveformPart,
} from '../../../support/onnx-file.ts';
import { hungryGraph, makeTestModel, slowGraph, useScoringPool, useTestDirectory } from '../../../support/scoring.ts';
import { speechLike, writeWav } from '../../../support/speech-like.ts';

const directory = await useTestDirectory();
const spectrogram = await makeTestModel(directory, { graph: spectrogramGraph(), manifest: spectrogramPart });
const waveform = await makeTestModel(directory, { graph: waveformGraph(), manifest: waveformPart });
const slow = await makeTestModel(directory, { graph: slowGraph(), manifest: {} });
const voice = await writeWav(join(directory, 'voice.wav'), [speechLike({ sampleRate: 8000, seconds: 6 })], 8000);
const text = join(directory, 'text.wav');
await writeFile(text, 'No audio at all, whatever the name says.');

const request = (changes: Partial<PoolRequest> = {}): PoolRequest => ({
  file: voice,
  model: { phone: spectrogram, digital: null },
  settings: { channels: 'apart' },
  ...changes,
});
const withModel = (phone: typeof spectrogram): PoolRequest => request({ model: { phone, digital: null } });
const soon = () => new Promise((resolve) => setTimeout(resolve, 1500));

describe('the pool', () => {
  const { pool } = useScoringPool({ audioScorers: 2 });

  it('scores as this process does', async () => {
    const opened = new OpenModels();
    const own = await scoreRecording({
      file: voice,
      models: request().model,
      settings: { channels: 'apart' },
      limits: decodeLimitsOf(loadConfig({})),
      opened,
    });
    await opened.close();
    expect({ ...(await pool.score(request())), computedMs: 0 }).toEqual({ ...own, computedMs: 0 });
  });

  it('scores many at a time, each with its own model', async () => {
    const scored = await Promise.all(
      Array.from({ length: 12 }, (_none, at) => pool.score(withModel(at % 2 === 0 ? spectrogram : waveform))),
    );
    const [even, odd] = [scored[0]!, scored[1]!];
    expect(scored.map(({ scores }) => scores)).toEqual(
      scored.map((_each, at) => (at % 2 === 0 ? even.scores : odd.scores)),
    );
    expect(even.windows).not.toHaveLength(odd.windows.length);
  });

  it('refuses a file with the reason that the child gave, and continues', async () => {
    const [refused, scored] = await Promise.allSettled([pool.score(request({ file: text })), pool.score(request())]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { name: 'AudioRefusal', reason: 'format_unknown' } });
    expect(scored).toMatchObject({ status: 'fulfilled', value: { state: 'performed' } });
  });

  it('has no network where the system can take it away', async () => {
    await pool.score(request());
    const words = await networkIsolation();
    for (const pid of words.length === 0 ? [] : pool.pids()) {
      const devices = (await readFile(`/proc/${pid}/net/dev`, 'utf8')).split('\n').filter((line) => line.includes(':'));
      expect(devices.map((line) => line.trim().split(':')[0])).toEqual(['lo']);
    }
    expect(pool.pids().length).toBeGreaterThan(0);
  });

  it('says that a missing file is missing', async () => {
    await expect(pool.score(request({ file: join(directory, 'no.wav') }))).rejects.toMatchObject({
      reason: 'file_missing',
    });
  });
});

describe('a fault of a model', () => {
  const { pool, logged } = useScoringPool();

  it('is a reason for its recordings, and a line in the log', async () => {
    const wrong = {
      ...spectrogram,
      manifestSha256: 'wrong',
      manifest: { ...spectrogram.manifest, sha256: 'a'.repeat(64) },
    };
    await expect(pool.score(withModel(wrong))).rejects.toMatchObject({
      reason: 'scoring_failed',
      detail: expect.stringContaining('sha256') as string,
    });
    expect(logged.map(({ message }) => message)).toEqual(['a recording could not be scored']);
    expect((await pool.score(request())).state).toBe('performed');
  });
});

describe('a recording that takes too long', () => {
  const { pool } = useScoringPool({ audioWorkSecondsMax: 3 });

  it('ends at the limit, and the next one is scored by a fresh process', async () => {
    const started = performance.now();
    await expect(pool.score(withModel(slow))).rejects.toMatchObject({ reason: 'time_exceeded' });
    expect(performance.now() - started).toBeLessThan(30_000);
    expect((await pool.score(request())).state).toBe('performed');
  });
});

describe('a recording that takes too much memory', () => {
  const { pool } = useScoringPool();

  it.each([
    ['little by little', 450e6],
    ['at once', 40e9],
  ])('ends %s, and the next one is scored', async (_name, bytes) => {
    const hungry = await makeTestModel(directory, { graph: hungryGraph(bytes), manifest: {} });
    await expect(pool.score(withModel(hungry))).rejects.toMatchObject({
      reason: expect.stringMatching(/^(memory_exceeded|scoring_failed|scorer_crashed)$/) as string,
    });
    expect((await pool.score(request())).state).toBe('performed');
  });
});

describe('a model that asks for memory', () => {
  const MiB = 1024 ** 2;
  const { pool } = useScoringPool({ audioMemoryBytesMax: 300 * MiB, modelMemoryBytesMax: 1200 * MiB });
  const hungry = (memoryBytes?: number) =>
    makeTestModel(directory, {
      graph: hungryGraph(400 * MiB),
      manifest: { limits: { batchMax: 1, ...(memoryBytes === undefined ? {} : { memoryBytes }) } },
    });

  it('scores in a process with that limit, and others in one with theirs', async () => {
    const [asking, silent] = [await hungry(1200 * MiB), await hungry()];
    expect(await pool.score(withModel(asking))).toMatchObject({ state: 'performed' });
    const [first] = pool.pids();
    await expect(pool.score(withModel(silent))).rejects.toMatchObject({
      reason: expect.stringMatching(/^(memory_exceeded|scoring_failed|scorer_crashed)$/) as string,
    });
    const scored = await Promise.all([withModel(asking), request(), withModel(asking)].map((each) => pool.score(each)));
    expect(scored.map(({ state }) => state)).toEqual(['performed', 'performed', 'performed']);
    expect(pool.pids()).not.toContain(first);
    expect(pool.pids().length).toBeLessThanOrEqual(1);
  });

  it('beyond what the operator allows is refused with the setting', async () => {
    await expect(pool.score(withModel(await hungry(1200 * MiB + 1)))).rejects.toMatchObject({
      reason: 'memory_exceeded',
      detail: expect.stringContaining('MODEL_MEMORY_BYTES_MAX') as string,
    });
  });
});

describe('a signal', () => {
  const { pool } = useScoringPool();

  it('ends a recording that is being scored', async () => {
    const controller = new AbortController();
    const scoring = pool.score(withModel(slow), controller.signal);
    scoring.catch(() => {});
    await soon();
    controller.abort();
    await expect(scoring).rejects.toMatchObject({ code: 'interrupted' });
    expect((await pool.score(request())).state).toBe('performed');
  });

  it('takes a recording out of the queue', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const running = pool.score(withModel(slow), first.signal);
    running.catch(() => {});
    const queued = pool.score(request(), second.signal);
    const last = pool.score(request());
    second.abort();
    await expect(queued).rejects.toMatchObject({ code: 'interrupted' });
    first.abort();
    await expect(running).rejects.toMatchObject({ code: 'interrupted' });
    expect((await last).state).toBe('performed');
  });

  it('that fired before is obeyed', async () => {
    await expect(pool.score(request(), AbortSignal.abort())).rejects.toMatchObject({ code: 'interrupted' });
  });
});

describe('a pool that closes', () => {
  const { pool } = useScoringPool();
  const { pool: unused } = useScoringPool();

  it('ends what runs and what waits, and takes nothing more', async () => {
    const running = pool.score(withModel(slow));
    const waiting = pool.score(request());
    const ended = Promise.allSettled([running, waiting]);
    await soon();
    await pool.close();
    expect(await ended).toMatchObject([{ reason: { code: 'interrupted' } }, { reason: { code: 'interrupted' } }]);
    await expect(pool.score(request())).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('that scored nothing has nothing to end', async () => {
    await expect(unused.close()).resolves.toBeUndefined();
  });
});

describe('a model of one window a batch', () => {
  const { pool } = useScoringPool();

  it('scores like one of many', async () => {
    const single = {
      ...spectrogram,
      manifestSha256: 'single',
      manifest: testManifest(spectrogramGraph(), { ...spectrogramPart, limits: { batchMax: 1 } }),
    };
    const [one, many] = [await pool.score(withModel(single)), await pool.score(request())];
    expect(one.scores!.synthesis!).toBeCloseTo(many.scores!.synthesis!, 6);
  });
});
