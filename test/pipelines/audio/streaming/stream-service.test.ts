import { randomUUID } from 'node:crypto';
import { readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { listBatches, type Batch } from '../../../../pipelines/audio/batches/batch.ts';
import { submitBatch, type BatchSubmission } from '../../../../pipelines/audio/batches/batch-intake.ts';
import { StreamService } from '../../../../pipelines/audio/streaming/stream-service.ts';
import { SpoolDirectory, type StreamFacts } from '../../../../pipelines/audio/streaming/stream-spool.ts';
import { listVerifications } from '../../../../pipelines/audio/batches/stored-verifications.ts';
import { ServiceError } from '../../../../runtime/errors.ts';
import { createLog } from '../../../../runtime/log.ts';
import { sql } from '../../../../sql/sql.ts';
import { pcm16 } from '../../../support/audio-file.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { configIn, useFolder } from '../../../support/recording-batch.ts';
import { scorerPids } from '../../../support/scoring.ts';
import { until } from '../../../support/service-process.ts';
import { resample } from '../../../../pipelines/audio/signal/resample.ts';
import { fullBandSpeech, speechLike } from '../../../support/speech-like.ts';

const { db } = await useTestDatabase();
const folder = await useFolder('stream-service');
const voice = pcm16(speechLike({ sampleRate: 8000, seconds: 5 }));
const format = { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 } as const;
const owner = { owner: 'Acme', requestedBy: 'key of Acme', mode: 'api' } as const;
const watcher = { onWindow() {}, onProgress() {} };
let services: StreamService[] = [];
let folders = 0;

afterEach(async () => {
  for (const service of services) await service.close(0);
  services = [];
});

/** A service in a folder, whose batches for the workers are submitted and not queued. */
async function start(
  stateDir: string,
  requestVerification?: (submission: BatchSubmission) => Promise<{ batch: Batch }>,
  settings: Record<string, string> = {},
): Promise<StreamService> {
  const config = configOf(stateDir, settings);
  const service = await StreamService.start({
    db,
    config,
    log: createLog({ level: process.env.TEST_LOG_LEVEL ?? 'silent', process: 'test' }),
    requestVerification: requestVerification ?? ((submission) => submitBatch({ db, config }, submission)),
  });
  services.push(service);
  return service;
}

const configOf = (stateDir: string, settings: Record<string, string> = {}) =>
  configIn(join(folder, stateDir), { AUDIO_SCORERS: '1', ...settings });
const newFolder = () => `state-${++folders}`;
const spoolOf = (stateDir: string) => join(folder, stateDir, 'state', 'streams');
const startOf = (model: string) => ({ type: 'start', model, format, channels: 'apart', name: 'call' }) as const;

const batchOf = (id: string, isWanted: (batch: Batch) => boolean = ({ state }) => state !== 'open') =>
  until(
    async () =>
      (await listBatches(db, { limit: 1000 })).find((batch) => batch.key === `stream-${id}` && isWanted(batch)),
    'the stream is submitted',
  );
const itemOf = async ({ batchId }: Batch) =>
  (await listVerifications(db, batchId, { after: 0, limit: 1, windows: false }))[0]!;

/** What a console that was killed left of a stream. */
async function leave(stateDir: string, changes: Partial<StreamFacts> = {}): Promise<string> {
  const facts: StreamFacts = {
    id: randomUUID(),
    ...owner,
    model: 'phone',
    channels: 'apart',
    name: 'call',
    format,
    startedAt: new Date().toISOString(),
    ...changes,
  };
  const spools = await SpoolDirectory.open(spoolOf(stateDir), { log: createLog({ level: 'silent', process: 'test' }) });
  const spool = await spools.create(facts);
  await spool.append(voice);
  await spool.close();
  spools.close();
  return facts.id;
}

it('speech of a telephone at a higher rate is left to the workers, which score it with a phone model', async () => {
  const service = await start(newFolder());
  const wide = { encoding: 'pcm_s16le', sampleRate: 16_000, channels: 1 } as const;
  const stream = await service.begin({ ...startOf('auto'), format: wide }, owner, watcher);
  expect(stream.model.name).toBe('digital/v3.3');
  await stream.append(pcm16(resample(fullBandSpeech({ sampleRate: 8000, seconds: 5 }), 8000, 16_000)));
  void stream.end();
  const batch = await batchOf(stream.id);
  expect(await itemOf(batch)).toMatchObject({ state: 'queued', requestedModel: 'auto', model: null });
});

describe('what is left of a stream', () => {
  it('is submitted when a service starts, for the workers', async () => {
    const stateDir = newFolder();
    const id = await leave(stateDir);
    await start(stateDir);
    expect(await itemOf(await batchOf(id))).toMatchObject({
      state: 'queued',
      requestedModel: 'phone',
      model: 'phone/v8.2',
    });
    await until(async () => (await readdir(spoolOf(stateDir))).length === 0, 'the spool is empty');
  });

  it('stays until it can be submitted', async () => {
    const stateDir = newFolder();
    const id = await leave(stateDir);
    let asked = 0;
    await start(stateDir, async () => {
      asked++;
      throw new ServiceError('database_unavailable', { operation: 'test' });
    });
    await until(async () => asked > 0, 'it was tried');
    expect(await readdir(spoolOf(stateDir))).toHaveLength(2);
    await start(stateDir);
    await batchOf(id);
  });

  it('of a model that was removed meanwhile is in the list with the reason', async () => {
    const stateDir = newFolder();
    const id = await leave(stateDir, { model: 'phone/v5' });
    await start(stateDir);
    const batch = await batchOf(id, ({ state }) => state === 'done');
    expect(await itemOf(batch)).toMatchObject({ state: 'error', reason: 'model_removed', requestedModel: 'phone/v5' });
    await until(
      async () => (await readdir(spoolOf(stateDir))).includes(`${id}.refused.wav`),
      'its audio, which is stored nowhere else, is moved aside',
    );
  });

  it('and cannot be submitted at all is moved aside', async () => {
    const stateDir = newFolder();
    const id = await leave(stateDir);
    await start(stateDir, async () => {
      throw new ServiceError('idempotency_conflict', { operation: 'test' });
    });
    await until(async () => (await readdir(spoolOf(stateDir))).includes(`${id}.refused.wav`), 'it is moved aside');
    expect(await readFile(join(spoolOf(stateDir), `${id}.refused.txt`), 'utf8')).toContain(
      'The idempotency key was used for another request.',
    );
  });

  it('and has a name that the database cannot store is moved aside with the reason', async () => {
    const stateDir = newFolder();
    const id = await leave(stateDir, { name: 'a\u0000b' });
    await start(stateDir);
    await until(async () => (await readdir(spoolOf(stateDir))).includes(`${id}.refused.wav`), 'it is moved aside');
    expect(await readFile(join(spoolOf(stateDir), `${id}.refused.txt`), 'utf8')).toMatch(/invalid byte sequence/);
    expect((await readdir(spoolOf(stateDir))).sort()).toEqual(
      ['json', 'txt', 'wav'].map((ending) => `${id}.refused.${ending}`),
    );
  });
});

describe('of several that are left', () => {
  it('one that cannot be submitted does not hold up the next', async () => {
    const stateDir = newFolder();
    const ids = [await leave(stateDir), await leave(stateDir)].sort();
    await start(stateDir, async (submission) => {
      if (submission.key === `stream-${ids[0]}`) throw new Error('a fault of the service');
      return submitBatch({ db, config: configOf(stateDir) }, submission);
    });
    await batchOf(ids[1]!);
    expect(await readdir(spoolOf(stateDir))).toEqual(expect.arrayContaining([`${ids[0]}.json`, `${ids[0]}.wav`]));
  });

  it('one whose audio is refused is moved aside', async () => {
    const stateDir = newFolder();
    const id = await leave(stateDir);
    await start(stateDir, undefined, { AUDIO_BYTES_MAX: '1000' });
    expect(await itemOf(await batchOf(id))).toMatchObject({ state: 'error', reason: 'file_too_large', audio: null });
    await until(async () => (await readdir(spoolOf(stateDir))).includes(`${id}.refused.wav`), 'it is moved aside');
  });
});

describe('a stream', () => {
  it('is left alone by another console with the same state', async () => {
    const stateDir = newFolder();
    const service = await start(stateDir);
    const stream = await service.begin(startOf('phone'), owner, watcher);
    await stream.append(voice);
    await leave(stateDir);
    await start(stateDir);
    await until(async () => (await readdir(spoolOf(stateDir))).length === 2, 'the other stream is submitted');
    expect(await readdir(spoolOf(stateDir))).toEqual(expect.arrayContaining([`${stream.id}.json`, `${stream.id}.wav`]));
    await stream.end();
    expect(await itemOf(await batchOf(stream.id))).toMatchObject({ state: 'performed' });
  });

  it('that begins while its service closes is refused, and leaves nothing', async () => {
    const stateDir = newFolder();
    const service = await start(stateDir);
    const begun = service.begin(startOf('phone'), owner, watcher);
    await Promise.all([expect(begun).rejects.toMatchObject({ code: 'interrupted' }), service.close(0)]);
    expect(service.count()).toBe(0);
    expect(await readdir(spoolOf(stateDir))).toEqual([]);
  });

  it('whose process hangs is scored by another one', async () => {
    const service = await start(newFolder(), undefined, { AUDIO_WORK_SECONDS_MAX: '10' });
    let windows = 0;
    const stream = await service.begin(startOf('phone'), owner, { onWindow: () => void windows++, onProgress() {} });
    await stream.append(voice.subarray(0, 70_000));
    await until(async () => windows > 0, 'a window is scored');
    const pids = await scorerPids();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await stream.append(voice.subarray(70_000));
    expect(await stream.end()).toMatchObject({ state: 'performed', audio: { duration: 5 } });
    expect((await scorerPids()).filter((pid) => pids.includes(pid))).toEqual([]);
  });

  it('whose file has lost its audio is given up, and keeps no process busy', async () => {
    const stateDir = newFolder();
    const service = await start(stateDir);
    const stream = await service.begin(startOf('phone'), owner, watcher);
    await stream.append(voice);
    await truncate(join(spoolOf(stateDir), `${stream.id}.wav`), 44); // before a process has started to read it
    await until(async () => stream.behindSeconds === 0, 'nobody waits for its scores');
    expect(stream.voiceSeconds).toBe(0);
  });

  it('whose database is away at the end is kept, and submitted later', async () => {
    const stateDir = newFolder();
    const service = await start(stateDir);
    const stream = await service.begin(startOf('phone'), owner, watcher);
    await stream.append(voice);
    await db.query('ALTER TABLE verification_batch RENAME TO away');
    await expect(stream.end()).rejects.toThrow();
    await db.query('ALTER TABLE away RENAME TO verification_batch');
    expect(await readdir(spoolOf(stateDir))).toHaveLength(2);
    await service.close(0);
    await start(stateDir);
    expect(await itemOf(await batchOf(stream.id))).toMatchObject({
      state: 'queued',
      audio: { sha256: expect.any(String) as string },
    });
  });

  it('is scored by the workers if the default of its family has moved since it began', async () => {
    const stateDir = newFolder();
    let left: (batch: Batch) => void;
    const leftToWorkers = new Promise<Batch>((resolve) => (left = resolve));
    const service = await start(stateDir, async (submission) => {
      const { batch } = await submitBatch({ db, config: configOf(stateDir) }, submission);
      left(batch);
      return { batch };
    });
    const stream = await service.begin(startOf('phone'), owner, watcher);
    await stream.append(voice);
    await db.query(sql('audio/insert_model_default'), ['phone', 'phone/v7', 'test', 'test', null, true]);
    void stream.end().catch(() => {});
    const batch = await leftToWorkers;
    expect([await itemOf(batch), batch.pinned.phone]).toMatchObject([
      { state: 'queued', requestedModel: 'phone', model: 'phone/v7' },
      'phone/v7',
    ]);
  });

  it('is scored by the workers if each process that scores it dies', async () => {
    const service = await start(newFolder());
    let kills = 0;
    const killing = setInterval(
      () =>
        void scorerPids()
          .then((pids) => pids.forEach((pid) => process.kill(pid, 'SIGKILL') && kills++))
          .catch(() => {}),
      20,
    ); // one may be gone already
    const stream = await service.begin(startOf('phone/v8'), owner, watcher);
    await stream.append(voice);
    void stream.end().catch(() => {});
    const batch = await batchOf(stream.id);
    clearInterval(killing);
    expect(kills).toBeGreaterThan(0);
    expect(await itemOf(batch)).toMatchObject({ state: 'queued', model: 'phone/v8' });
  });
});
