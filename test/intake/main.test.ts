import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listVerifications } from '../../pipelines/audio/batches/stored-verifications.ts';
import { readBatch } from '../../pipelines/audio/batches/batch.ts';
import { makeSampleLetters } from '../../samples/letters/sample-letters.ts';
import { runCli, runCliJson } from '../support/cli.ts';
import { useTestDatabase } from '../support/database.ts';
import { startProcess, until, untilServing, type ServiceProcess } from '../support/service-process.ts';
import { digestField, intakeSettings, makeClient, IntakeClient, uploadsIn } from './support/running-intake.ts';

const database = await useTestDatabase();
const { db } = database;
const sample = (name: string) => readFile(join(import.meta.dirname, '../../samples/recordings', name));

/** Work from outside through the real processes: the intake takes it, a worker does it. */
describe('the intake', () => {
  let stateDir: string;
  let env: Record<string, string>;
  let intake: ServiceProcess;
  let worker: ServiceProcess;
  let client: IntakeClient;

  const startIntakeProcess = async () => {
    await rm(join(stateDir, 'intake.json'), { force: true });
    intake = startProcess('intake/main.js', { ...env, INTAKE_DATABASE_URL: database.intakeUrl });
    return (await untilServing(stateDir, 'intake')).url;
  };

  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-intake-'));
    env = { ...intakeSettings, STATE_DIR: stateDir };
    worker = startProcess('jobs/worker-main.js', { ...env, DATABASE_URL: database.url });
    await until(async () => worker.log().includes('the worker runs'), `the worker runs: ${worker.log()}`);
    const url = await startIntakeProcess();
    client = await makeClient(database, url, ['batches:write', 'branding:write', 'feeds:write'], { client: 'Remote' });
  });

  afterAll(async () => {
    await Promise.all([intake.end('SIGTERM'), worker.end('SIGTERM')]);
    await rm(stateDir, { recursive: true, force: true });
  });

  it('is looked at by the doctor: its role, its uploads, and the room on its disk', async () => {
    const doctor = async (settings: Record<string, string>) => {
      const given = { ...env, DATABASE_URL: database.url, INTAKE_DATABASE_URL: database.intakeUrl, ...settings };
      const { stdout, code } = await runCli(given, 'doctor', '--json');
      const { findings } = JSON.parse(stdout) as { findings: { thing: string; good: boolean; warns: boolean; detail: string }[] }; // prettier-ignore
      return { code, ...findings.find(({ thing }) => thing === 'intake')! };
    };
    const path = await client.open('recording', 10_000);
    const login = new URL(database.intakeUrl).username;
    expect(await doctor({ INTAKE_DISK_BYTES_MAX: '20000' })).toMatchObject({
      code: 0,
      warns: false,
      detail: expect.stringMatching(
        new RegExp(`^${login} submits; 1 uploads in ${stateDir}/intake, [\\d,]+ MiB free$`),
      ) as string,
    });
    expect(await doctor({ INTAKE_DISK_BYTES_MAX: '9000000000000000', INTAKE_DIR: '/no/such/folder' })).toMatchObject({
      code: 0,
      warns: true,
      detail: expect.stringMatching(
        / MiB free in \/, and uploads may take 8,583,068,\d{3} MiB more\. Make room/,
      ) as string,
    });
    await db.query('UPDATE upload SET bytes = 8000000000000000'); // opened, and nothing of it received
    expect(await doctor({ INTAKE_DISK_BYTES_MAX: '8000000000000000' })).toMatchObject({
      warns: true,
      detail: expect.stringContaining('uploads may take 7,629,394,532 MiB more') as string,
    });
    expect(await doctor({ INTAKE_DATABASE_URL: database.url })).toMatchObject({
      code: 69,
      good: false,
      detail: expect.stringContaining('The role of the intake may') as string,
    });
    expect(await doctor({ INTAKE: 'off' })).toMatchObject({ code: 0, good: true, detail: 'off (INTAKE)' });
    await client.fetch(path, { method: 'DELETE' });
  });

  it('continues with an upload where its client was killed', async () => {
    const recording = randomBytes(2 * 1024 * 1024);
    const file = join(stateDir, 'slow.wav');
    await writeFile(file, recording);
    const path = await client.open('recording', recording.length, { 'repr-digest': digestField(recording) });
    const fields = ['Content-Type: application/partial-upload', 'Upload-Offset: 0', 'Upload-Complete: ?1'];
    const headers = [`Authorization: Bearer ${client.key}`, ...fields].flatMap((field) => ['-H', field]);
    const curl = spawn('curl', [
      '-sT',
      file,
      '-X',
      'PATCH',
      '--limit-rate',
      '128k',
      ...headers,
      `${client.url}${path}`,
    ]);
    await until(async () => (await sizeOf(path)) > 4000, 'a part has arrived');
    curl.kill('SIGKILL');
    await once(curl, 'exit');
    const offset = await client.offset(path);
    expect(offset).toBeGreaterThan(4000);
    expect(offset).toBeLessThan(recording.length);
    const rest = new Uint8Array(recording.subarray(offset));
    const last = await client.patch(path, rest, { offset, complete: true });
    expect([last.status, last.headers.get('repr-digest')]).toEqual([200, digestField(recording)]);
    await client.fetch(path, { method: 'DELETE' });
  });

  it('continues with an upload where it was killed itself, and has the recordings scored to the end', async () => {
    const recordings = [await sample('reader-a-1.wav'), await sample('synthesizer-espeak-en.wav')] as const;
    const path = await client.open('recording', recordings[0].length);
    const sending = request(`${client.url}${path}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${client.key}`,
        'content-type': 'application/partial-upload',
        'upload-offset': '0',
        'upload-complete': '?1',
        'repr-digest': digestField(recordings[0]),
        'content-length': String(recordings[0].length),
      },
    });
    sending.on('error', () => {}); // the connection breaks with the process
    sending.write(recordings[0].subarray(0, 20_000));
    await until(async () => (await sizeOf(path)) === 20_000, 'a part has arrived');
    expect(await intake.end('SIGKILL')).toBeNull();
    const url = await startIntakeProcess();
    const again = new IntakeClient(url, client.key);
    await until(async () => (await again.fetch('/v1/loads/0')).status === 404, 'the key is known');
    client = again;
    expect(await client.offset(path)).toBe(20_000);
    const rest = new Uint8Array(recordings[0].subarray(20_000));
    expect((await client.patch(path, rest, { offset: 20_000, complete: true })).status).toBe(200); // the digest was kept

    const uploads = [path.split('/').at(-1)!, await client.upload('recording', new Uint8Array(recordings[1]))];
    const items = uploads.map((upload, at) => ({ upload, source: `call-${at}.wav` }));
    const answer = await client.post('/v1/batches', { name: 'remote calls', items }, 'calls-of-Monday');
    expect(answer.status).toBe(202);
    const { batch: id } = (await answer.json()) as { batch: string };
    expect(answer.headers.get('location')).toBe(`/v1/batches/${id}`);
    const batch = await until(async () => {
      const found = await readBatch(db, id);
      return found.state === 'done' ? found : undefined;
    }, `the batch is done: ${worker.log()}`);
    expect(batch).toMatchObject({ owner: 'Remote', requestedBy: 'intake Remote', name: 'remote calls', items: 2 });
    const shown = await listVerifications(db, batch.batchId, { after: 0, limit: 10, windows: false });
    expect(shown).toMatchObject([
      { source: 'call-0.wav', state: 'performed', model: 'phone/v8.2' },
      { source: 'call-1.wav', state: 'performed', model: 'phone/v8.2' },
    ]);
    expect(await uploadsIn(join(stateDir, 'intake'))).toEqual([]);
  });

  it('has a letter read with the request that it came with', async () => {
    const [letter] = (await makeSampleLetters({ seed: 20260102, count: 4, asOf: new Date(), scans: false })).filter(
      ({ forgery, request: { csv } }) => forgery === null && csv === null,
    );
    const { legalName, dba, displayName, country, address } = letter!.request;
    const answer = await client.post('/v1/branding-requests', {
      operation: 'add_managed_brand',
      handle: 'remote-brand',
      brand: { legalName, dba, displayName, country, address },
      letter: await client.upload('letter', new Uint8Array(letter!.bytes)),
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([202, '/v1/brands/remote-brand']);
    const { status } = (await answer.json()) as { status: string };
    const done = await until(async () => {
      const found = (await (await client.fetch(status)).json()) as { state: string };
      return found.state === 'queued' ? undefined : found;
    }, 'the letter is read');
    expect(done).toMatchObject({
      operation: 'add_managed_brand',
      handle: 'remote-brand',
      state: 'done',
      outcome: 'in_review',
      result: { letter: { state: 'in_review' }, brand: { handle: 'remote-brand' } },
    });
    const { rows } = await db.query('SELECT owner FROM brand');
    expect(rows).toEqual([{ owner: 'Remote' }]);
    const bad = await client.post('/v1/branding-requests', { operation: 'add_phone_number', handle: 'remote-brand' });
    expect([bad.status, ((await bad.json()) as { code: string }).code]).toEqual([400, 'brand_request_invalid']);
  });

  it('has a feed loaded, once for its key', async () => {
    const bytes = new TextEncoder().encode(
      'phone,reputation_level,reputation_category\n+12025550123,SPAM,6\nx,SPAM,6\n',
    );
    const body = { upload: await client.upload('feed', bytes), fileName: 'levels.csv', options: { source: 'remote' } };
    const answer = await client.post('/v1/feeds/reputation/loads', body, 'levels');
    expect(answer.status).toBe(202);
    const path = answer.headers.get('location')!;
    const load = await until(async () => {
      const found = (await (await client.fetch(path)).json()) as { state: string };
      return found.state === 'queued' || found.state === 'running' ? undefined : found;
    }, 'the feed is loaded');
    expect(load).toMatchObject({
      state: 'done',
      source: 'remote',
      fileName: 'levels.csv',
      rowsGiven: 2,
      rowsAccepted: 1,
    });
    const again = await client.post('/v1/feeds/reputation/loads', body, 'levels');
    expect([again.headers.get('location'), await again.json()]).toMatchObject([
      path,
      { state: 'done', repeated: true },
    ]);
    const listed = await runCliJson<{ kind: string; client: string }[]>(
      { ...env, DATABASE_URL: database.url },
      'intake',
      'list',
      '--client',
      'Remote',
    );
    expect(listed.map(({ kind }) => kind)).toEqual(['load', 'branding', 'batch']);
  });

  it('answers 503 while its disk is full, and continues with what has arrived', async () => {
    const limit = 1_000_000;
    const elsewhere = await mkdtemp(join(tmpdir(), 'caller-trust-intake-full-'));
    const own = { ...env, STATE_DIR: elsewhere, INTAKE_DATABASE_URL: database.intakeUrl };
    const small = startProcess('intake/main.js', own, { by: ['prlimit', `--fsize=${limit}:unlimited`] });
    try {
      const url = await until(
        async () => /"url":"([^"]+)"/.exec(small.log())?.[1],
        `the intake listens: ${small.log()}`,
      );
      const sender = new IntakeClient(url, client.key);
      await until(async () => (await sender.fetch('/v1/loads/0')).status === 404, 'the key is known');
      const content = new Uint8Array(randomBytes(limit + 1));
      const path = await sender.open('recording', content.length, { 'repr-digest': digestField(content) });
      const refused = await sender.patch(path, content, { offset: 0, complete: true });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(((await refused.json()) as { code: string }).code).toBe('storage_unavailable');
      expect(await sender.offset(path)).toBe(limit);
      spawnSync('prlimit', ['--fsize=unlimited', '--pid', String(small.pid)]);
      expect((await sender.patch(path, content.slice(limit), { offset: limit, complete: true })).status).toBe(200);
    } finally {
      await small.end('SIGTERM');
    }
    await rm(elsewhere, { recursive: true, force: true });
  });

  it('refuses a directory of uploads that another intake holds, and takes it when that one has ended', async () => {
    const own = { ...env, STATE_DIR: stateDir, INTAKE_DATABASE_URL: database.intakeUrl };
    const second = startProcess('intake/main.js', own);
    expect(await second.ended).toBe(1);
    expect(second.log()).toContain('"code":"directory_busy"');
    const third = startProcess('intake/main.js', own);
    await intake.end('SIGTERM');
    await until(async () => third.log().includes('listening'), `the third listens: ${third.log()}`);
    intake = third;
    client = new IntakeClient((await untilServing(stateDir, 'intake')).url, client.key);
  });

  it('ends at once where it is off', async () => {
    const off = startProcess('intake/main.js', { ...env, INTAKE: 'off' });
    expect(await off.ended).toBe(0);
    expect(off.log()).toContain('the intake is off: INTAKE=on turns it on');
  });

  /** Bytes of an upload on the disk, without a request, which would end the transfer. */
  async function sizeOf(path: string): Promise<number> {
    return (await readFile(join(stateDir, 'intake', path.split('/').at(-1)!)).catch(() => Buffer.alloc(0))).length;
  }
});
