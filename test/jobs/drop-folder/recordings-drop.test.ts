import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Queues } from '../../../jobs/queues/backend.ts';
import { openDropFolder, type DropFolder } from '../../../jobs/drop-folder/drop-folder.ts';
import { recordingsInbox } from '../../../jobs/drop-folder/recordings-drop.ts';
import { cancelBatch, finishBatch, listBatches, type Batch } from '../../../pipelines/audio/batches/batch.ts';
import { failChunk } from '../../../pipelines/audio/batches/perform-chunk.ts';
import { wavHeader } from '../../../pipelines/audio/streaming/stream-format.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { testModel, tinyRecording, writeVoice } from '../../support/recording-batch.ts';
import { killProcessesAfterEach, startProcess, until } from '../../support/service-process.ts';
import { openBackend, silent } from '../backends.ts';
import { ServiceError } from '../../../runtime/errors.ts';

const backend = await openBackend('postgres', {
  RECONCILE_SECONDS: '1',
  DROP_SETTLE_SECONDS: '0',
  LETTER_MASTER_KEY: '07'.repeat(32),
  LOG_LEVEL: 'silent',
  BATCH_ITEMS_MAX: '20',
});
const queues: Queues = await backend.openQueues();
const { db } = backend.database;
killProcessesAfterEach();

let directory: string;
let now: number;
let made = 0;

const drop = (...path: string[]) => join(directory, 'drop', ...path);
const open = (waitMs?: number, signal?: AbortSignal): DropFolder => {
  const config = { ...backend.config, dropDir: drop(), dropSettleSeconds: 10, audioDir: join(directory, 'audio') };
  return openDropFolder({
    config,
    db,
    log: silent,
    inboxes: [recordingsInbox({ config, db, queues, log: silent, waitMs, signal })],
    clock: () => new Date(now),
  });
};
/** Polls, and again when every entry is stable. */
const pollWhenStable = async (...folders: DropFolder[]) => {
  await Promise.all(folders.map((folder) => folder.poll()));
  now += 10_000;
  await Promise.all(folders.map((folder) => folder.poll()));
};
const batches = (): Promise<Batch[]> => listBatches(db, { limit: 1000 });
const result = async (...path: string[]) =>
  JSON.parse(await readFile(drop(...path), 'utf8')) as Record<string, unknown>;
const taken = async () =>
  (await readdir(drop('taken'), { recursive: true })).filter((path) => path.split('/').length > 2);
const dropped = async (name: string, files: Record<string, unknown>) => {
  for (const [file, content] of Object.entries(files)) {
    await mkdir(join(drop('recordings', name), file, '..'), { recursive: true });
    await writeFile(
      join(drop('recordings', name), file),
      Buffer.isBuffer(content) || typeof content === 'string' ? content : JSON.stringify(content),
    );
  }
};
/** Ends what is queued: every item in error, as a worker would that cannot score. */
const carryOut = async () => {
  for (const { batchId, generation, state } of await batches()) {
    if (state !== 'queued') continue;
    await failChunk(db, { batchId, generation, chunk: 0 }, 'test');
    await finishBatch(db, { batchId, generation });
  }
};
const wishes = (more: object = {}) => ({ model: testModel, ...more });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'caller-trust-recordings-'));
  now = Date.now();
  await mkdir(drop('recordings'), { recursive: true });
});
afterEach(async () => {
  execFileSync('chmod', ['-R', 'u+rwX', directory]);
  await rm(directory, { recursive: true, force: true });
});
afterAll(async () => {
  await queues.close();
  await backend.close();
});

describe('a dropped folder', () => {
  it('is a batch of its recordings, and lies in done with its results when that has ended', async () => {
    await dropped('calls', {
      'request.json': wishes({ owner: 'Northwind', channels: 'mixed', name: 'Monday' }),
      'b.wav': tinyRecording(++made),
      'sub/a.wav': tinyRecording(++made),
      'Thumbs.db': 'x',
      '.DS_Store': 'x',
    });
    await pollWhenStable(open());
    const [batch] = await batches();
    expect(batch).toMatchObject({
      state: 'queued',
      owner: 'Northwind',
      items: 2,
      requestedModel: testModel,
      settings: { channels: 'mixed' },
      name: 'Monday',
    });
    await pollWhenStable(open());
    expect(await readdir(drop('done'))).toEqual([]);
    await carryOut();
    await open().poll();
    expect((await readdir(drop('done', 'calls'))).toSorted()).toEqual([
      '.DS_Store',
      'Thumbs.db',
      'b.wav',
      'request.json',
      'result.json',
      'results.csv',
      'sub',
    ]);
    expect(await result('done', 'calls', 'result.json')).toMatchObject({
      outcome: 'done',
      failure: null,
      verification: null,
      batch: { id: batch!.id, items: 2, counts: { error: 2 } },
    });
    const lines = (await readFile(drop('done', 'calls', 'results.csv'), 'utf8')).split('\n');
    expect(lines[0]).toMatch(/^line,source,state,synthesis,replay,decision,next_step,reason,/);
    expect(lines.slice(1, 3).map((line) => line.split(',').slice(0, 3).join())).toEqual([
      '1,b.wav,error',
      '2,sub/a.wav,error',
    ]);
    expect(await taken()).toEqual([]);
  });

  it('is submitted while polls continue, by several watchers too, and is one batch', async () => {
    const named = async () => (await batches()).filter(({ name }) => name === 'Long');
    await dropped('calls', {
      'request.json': wishes({ name: 'Long' }),
      ...Object.fromEntries(Array.from({ length: 8 }, (_none, at) => [`${at}.wav`, tinyRecording(++made)])),
    });
    const [first, second] = [open(0), open(0)];
    const holder = await db.connect();
    await holder.query('BEGIN; LOCK TABLE verification_batch IN SHARE ROW EXCLUSIVE MODE');
    await pollWhenStable(first); // returns although the batch cannot be stored yet
    expect(await named()).toEqual([]);
    await holder.query('COMMIT');
    holder.release();
    await second.poll();
    await until(async () => (await named())[0]?.state === 'queued', 'the batch is queued');
    expect(await named()).toMatchObject([{ state: 'queued', items: 8 }]);
    await first.poll();
    await carryOut();
    await first.poll();
    expect(await result('done', 'calls', 'result.json')).toMatchObject({ outcome: 'done', batch: { items: 8 } });
  });

  it('that a watcher has begun to submit when it stops is submitted by the next', async () => {
    await dropped('calls', {
      'request.json': wishes({ name: 'Stopped' }),
      ...Object.fromEntries(Array.from({ length: 8 }, (_none, at) => [`${at}.wav`, tinyRecording(++made)])),
    });
    const stopping = new AbortController();
    const client = await db.connect();
    await client.query('BEGIN');
    await client.query('LOCK TABLE verification_batch IN SHARE MODE'); // no batch is inserted until the watcher has stopped
    await pollWhenStable(open(0, stopping.signal));
    stopping.abort(new ServiceError('interrupted', { operation: 'test' }));
    await client.query('COMMIT');
    client.release();
    const submitted = (await batches()).filter(({ name, state }) => name === 'Stopped' && state !== 'open');
    expect(submitted).toEqual([]); // its row may be there, if the insertion had reached the lock
    await open().poll();
    expect((await batches()).filter(({ name }) => name === 'Stopped')).toMatchObject([{ state: 'queued', items: 8 }]);
  });

  it('is taken when nothing in it has changed for a while, at any depth, and no name says that it is being written', async () => {
    const folder = open();
    await dropped('calls', { 'request.json': wishes(), 'sub/a.wav': 'x' });
    await folder.poll();
    await writeFile(drop('recordings', 'calls', 'sub', 'a.wav'), 'more');
    now += 10_000;
    await folder.poll();
    expect(await taken()).toEqual([]);
    await writeFile(drop('recordings', 'calls', 'sub', 'b.wav.part'), 'x');
    for (let looks = 0; looks < 3; looks++) await pollWhenStable(folder);
    expect(await taken()).toEqual([]);
    await rename(drop('recordings', 'calls', 'sub', 'b.wav.part'), drop('recordings', 'calls', 'sub', 'b.wav'));
    await pollWhenStable(folder);
    expect((await batches())[0]).toMatchObject({ items: 2 });
  });

  it('of raw audio is stored as what its request says', async () => {
    const leg = Buffer.alloc(800, ++made);
    await dropped('legs', { 'request.json': wishes({ raw: 'mulaw@8000' }), 'a.ul': leg });
    await pollWhenStable(open());
    const { rows } = await db.query<{ sha256: string }>('SELECT audio_sha256 AS sha256 FROM verification');
    const head = wavHeader({ encoding: 'pcm_mulaw', sampleRate: 8_000, channels: 1 }, leg.length);
    expect(rows).toContainEqual({ sha256: sha256Of(Buffer.concat([head, leg])) });
  });

  it.each([
    ['without a recording', { 'request.json': wishes() }, 'audio_request_invalid'],
    [
      'whose owner cannot be stored',
      { 'request.json': wishes({ owner: 'a\u0000b' }), 'a.wav': 'x' },
      'audio_request_invalid',
    ],
    ['whose request is no JSON', { 'request.json': '{', 'a.wav': 'x' }, 'audio_request_invalid'],
    [
      'whose request has a field that does not exist',
      { 'request.json': wishes({ modle: 'x' }), 'a.wav': 'x' },
      'audio_request_invalid',
    ],
    [
      'whose request names no form of raw audio',
      { 'request.json': wishes({ raw: 'mp3@8000' }), 'a.wav': 'x' },
      'audio_request_invalid',
    ],
    [
      'whose request is too long',
      { 'request.json': wishes({ name: 'x'.repeat(70_000) }), 'a.wav': 'x' },
      'audio_request_invalid',
    ],
    [
      'that asks for a model that nobody knows',
      { 'request.json': wishes({ model: 'phone/v99' }), 'a.wav': 'x' },
      'model_unknown',
    ],
    [
      'that asks for a model that was removed',
      { 'request.json': wishes({ model: 'phone/v5' }), 'a.wav': 'x' },
      'model_removed',
    ],
    [
      'with more recordings than a batch may have',
      {
        'request.json': wishes(),
        ...Object.fromEntries(Array.from({ length: 21 }, (_none, at) => [`${at}.wav`, `${at}`])),
      },
      'batch_too_large',
    ],
  ])('%s lies in rejected with the reason, and can be tried again', async (_what, files, code) => {
    await dropped('calls', files);
    await pollWhenStable(open());
    expect(await result('rejected', 'calls', 'result.json')).toMatchObject({
      outcome: 'rejected',
      batch: null,
      failure: { code },
    });
    expect((await readdir(drop('rejected', 'calls'))).toSorted()).toEqual(
      [...Object.keys(files), 'result.json'].toSorted(),
    );
    await writeFile(drop('rejected', 'calls', 'request.json'), JSON.stringify(wishes()));
    await writeFile(drop('rejected', 'calls', 'a.wav'), tinyRecording(++made));
    for (let at = 0; at < 21; at++) await rm(drop('rejected', 'calls', `${at}.wav`), { force: true });
    await rename(drop('rejected', 'calls'), drop('recordings', 'calls'));
    await pollWhenStable(open());
    await carryOut();
    await open().poll();
    expect(await result('done', 'calls', 'result.json')).toMatchObject({ outcome: 'done', batch: { items: 1 } });
  });

  it('has the answer of the first one under the same key', async () => {
    for (const name of ['first', 'second'])
      await dropped(name, { 'request.json': wishes({ key: 'same-key', owner: 'Same' }), 'a.wav': 'the same' });
    await pollWhenStable(open());
    await carryOut();
    await pollWhenStable(open());
    const ids = await Promise.all(
      ['first', 'second'].map(async (name) => ((await result('done', name, 'result.json')).batch as { id: string }).id),
    );
    expect(ids[0]).toBe(ids[1]);
    await dropped('third', { 'request.json': wishes({ key: 'same-key', owner: 'Same' }), 'a.wav': 'another' });
    await pollWhenStable(open());
    expect(await result('rejected', 'third', 'result.json')).toMatchObject({
      failure: { code: 'idempotency_conflict' },
    });
  });

  it('holds nothing that is followed: a link in it is an item in error', async () => {
    await dropped('calls', { 'request.json': wishes(), 'a.wav': tinyRecording(++made) });
    await symlink('/etc/passwd', drop('recordings', 'calls', 'b.wav'));
    await symlink('/', drop('recordings', 'calls', 'root'));
    await pollWhenStable(open());
    await carryOut();
    await open().poll();
    expect((await readFile(drop('done', 'calls', 'results.csv'), 'utf8')).match(/file_unreadable/g)).toHaveLength(2);
  });

  it('whose batch was cancelled reports that', async () => {
    await dropped('calls', { 'request.json': wishes(), 'a.wav': tinyRecording(++made) });
    await pollWhenStable(open());
    await cancelBatch(db, (await batches())[0]!.id);
    await open().poll();
    expect(await result('done', 'calls', 'result.json')).toMatchObject({
      outcome: 'cancelled',
      batch: { counts: { error: 1 } },
    });
  });
});

describe('a dropped recording', () => {
  it('is a batch of one, and lies in done next to its result', async () => {
    await writeFile(drop('recordings', 'call.wav'), tinyRecording(++made));
    await pollWhenStable(open());
    await carryOut();
    await open().poll();
    expect((await readdir(drop('done'))).toSorted()).toEqual(['call.wav', 'call.wav.result.json']);
    expect(await result('done', 'call.wav.result.json')).toMatchObject({
      outcome: 'done',
      batch: { items: 1, owner: 'operator', requestedModel: 'auto' },
      verification: { source: 'call.wav', state: 'error', reason: 'scoring_failed' },
    });
  });

  it('that is a link is rejected', async () => {
    await symlink('/etc/passwd', drop('recordings', 'call.wav'));
    await pollWhenStable(open());
    expect(await result('rejected', 'call.wav.result.json')).toMatchObject({
      failure: { code: 'audio_request_invalid' },
    });
  });
});

describe('a watcher', () => {
  it('with another one makes one batch of each folder', async () => {
    const before = (await batches()).length;
    const names = Array.from({ length: 6 }, (_none, at) => `calls-${at}`);
    for (const name of names) await dropped(name, { 'request.json': wishes(), 'a.wav': tinyRecording(++made) });
    await pollWhenStable(open(), open());
    await Promise.all([open().poll(), open().poll()]);
    expect(await batches()).toHaveLength(before + 6);
    await carryOut();
    await Promise.all([open().poll(), open().poll()]);
    expect((await readdir(drop('done'))).toSorted()).toEqual(names);
  });

  it('continues where a killed one has ended: a partly submitted batch is completed', async () => {
    await dropped('calls', {
      'request.json': wishes(),
      'a.wav': tinyRecording(++made),
      'b.wav': tinyRecording(++made),
    });
    await pollWhenStable(open());
    const [batch] = await batches();
    await db.query('DELETE FROM verification WHERE batch_id = $1 AND line = 2', [batch!.batchId]);
    await db.query(`UPDATE verification_batch SET state = 'open', items = 1 WHERE batch_id = $1`, [batch!.batchId]);
    await open().poll();
    expect((await batches())[0]).toMatchObject({ id: batch!.id, state: 'queued', items: 2 });
  });
});

it('the processes of the service verify what is dropped, and lose nothing while schedulers are killed', async () => {
  const env = { ...backend.env, LOG_LEVEL: 'info', STATE_DIR: directory, DROP_DIR: drop() };
  const names = ['one', 'two', 'three'];
  for (const name of names) {
    await mkdir(drop('recordings', `${name}.tmp`));
    await writeFile(drop('recordings', `${name}.tmp`, 'request.json'), JSON.stringify(wishes()));
    await writeVoice(drop('recordings', `${name}.tmp`, 'voice.wav'), { pitch: 120 + name.length });
    await writeFile(drop('recordings', `${name}.tmp`, 'silence.wav'), tinyRecording(++made));
    await rename(drop('recordings', `${name}.tmp`), drop('recordings', name));
  }
  const worker = startProcess('jobs/worker-main.js', env);
  for (const afterMs of [1500, 2500]) {
    const scheduler = startProcess('jobs/scheduler-main.js', env);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await scheduler.end('SIGKILL');
  }
  const scheduler = startProcess('jobs/scheduler-main.js', env);
  await until(async () => (await readdir(drop('done')).catch(() => [])).length === 3, 'every folder is done');
  for (const name of names)
    expect(await result('done', name, 'result.json')).toMatchObject({
      outcome: 'done',
      batch: { items: 2, counts: { performed: 1, performedWithoutScore: 1 } },
    });
  await until(
    async () => scheduler.log().includes('the scheduler runs'),
    'the last scheduler has started, so that it hears the signal',
  );
  expect(await Promise.all([scheduler, worker].map((each) => each.end('SIGTERM')))).toEqual([0, 0]);
});
