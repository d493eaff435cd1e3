import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startIntake } from '../../intake/start.ts';
import { intakeLimits } from '../../intake/work/intake-limits.ts';
import { submissionsAtOnceMax, WorkRoom } from '../../intake/work/work-room.ts';
import { listAcceptedRequests, pruneRequests } from '../../pipelines/submissions/request-ledger.ts';
import { runUploadRetention } from '../../pipelines/submissions/upload-retention.ts';
import { uploadBytesCounted } from '../../pipelines/submissions/upload.ts';
import { createLog } from '../../runtime/log.ts';
import { lintOpenApi, type OpenApiDocument } from '../api/documents/openapi-rules.ts';
import { addBrand } from '../api/support/brands.ts';
import { useTestDatabase } from '../support/database.ts';
import { putNumbers } from '../support/numbers.ts';
import { tinyRecording } from '../support/recording-batch.ts';
import { until, untilServing } from '../support/service-process.ts';
import { digestField, IntakeClient, outcomeOf, uploadsIn, useTestIntake } from './support/running-intake.ts';

const database = await useTestDatabase();
const { db } = database;
const intake = await useTestIntake(
  database,
  {
    INTAKE_DISK_BYTES_MAX: String(16 * uploadBytesCounted),
    INTAKE_API_ORIGIN: 'https://api.example.com',
    FEED_PLAIN_BYTES_MAX: '320000',
  },
  { bodyBytesMax: 2048, batchFilesMax: 2, openUploadsMax: 2, waitingJobsMax: 2, clientShareMax: 1 },
);
const bytes = (length: number, value = 1) => new Uint8Array(length).fill(value);
const recording = (number: number) => new Uint8Array(tinyRecording(number));
const feed = (text: string) => new TextEncoder().encode(text);
/** Settings of an intake beside the one of the tests. */
const elsewhere = { ...intake.config, intakeDir: join(intake.config.stateDir, 'elsewhere') };
const clear = async () => {
  await db.query("UPDATE upload SET active_at = now() - interval '30 hours'");
  await runUploadRetention({ db, directory: intake.config.intakeDir }, new Date());
};

describe('a key', () => {
  it('is needed, with the scope of what is sent', async () => {
    const reader = await intake.client(['verifications:read', 'caches:read']);
    expect(await outcomeOf(fetch(`${intake.url}/v1/batches`, { method: 'POST' }))).toEqual([401, 'unauthenticated']);
    for (const [path, body] of [
      ['/v1/batches', {}],
      ['/v1/branding-requests', {}],
      ['/v1/letter-forms', {}],
      ['/v1/feeds/directory/loads', {}],
      ['/v1/disputes', {}],
    ] as const)
      expect(await outcomeOf(reader.post(path, body)), path).toEqual([403, 'forbidden']);
    for (const kind of ['recording', 'letter', 'numbers', 'feed'])
      expect(await outcomeOf(reader.send(kind, bytes(1)))).toEqual([403, 'forbidden']);
    const batches = await intake.client(['batches:write']);
    expect(await outcomeOf(batches.send('letter', bytes(1)))).toEqual([403, 'forbidden']);
    const letters = await intake.client(['branding:write']);
    const path = await letters.open('letter', 1);
    expect(await outcomeOf(batches.fetch(path, { method: 'DELETE' }))).toEqual([404, 'upload_unknown']);
    expect((await letters.fetch(path, { method: 'DELETE' })).status).toBe(204);
  });

  it('that is bound to a brand writes for this brand alone', async () => {
    const owner = 'Agency';
    const brandId = await addBrand(db, { handle: 'bound', owner });
    const phone = '+12125550199';
    await db.query("INSERT INTO brand_number (brand_id, phone, country, state) VALUES ($1, $2, 'US', 'submitted')", [
      brandId,
      phone,
    ]);
    await putNumbers(db, [
      { phone, country: 'US', level: 'SPAM', category: 6 },
      { phone: '+12125550100', country: 'US', level: 'SPAM', category: 6 },
    ]);
    const bound = await intake.client(['branding:write', 'numbers:dispute'], { client: owner, brand: 'bound' });
    const numbers = { operation: 'add_phone_number', numbers: ['+12125550101'] };
    for (const handle of ['another', undefined])
      expect(await outcomeOf(bound.post('/v1/branding-requests', { ...numbers, handle }))).toEqual([403, 'forbidden']);
    expect((await bound.post('/v1/branding-requests', { ...numbers, handle: 'bound' })).status).toBe(202);
    expect(await outcomeOf(bound.post('/v1/disputes', { phone: '+12125550100', reason: 'no' }))).toEqual([
      403,
      'forbidden',
    ]);
    const filed = await bound.post('/v1/disputes', { phone, reason: 'It is ours.', contact: 'ops@example.com' });
    expect([filed.status, filed.headers.get('location')]).toEqual([202, `https://api.example.com/v1/numbers/${phone}`]);
    const dispute = (await filed.json()) as { status: string };
    expect(await (await bound.fetch(dispute.status)).json()).toMatchObject({ phone, state: 'open', decision: null });
    const stranger = await intake.client(['numbers:dispute']);
    expect(await outcomeOf(stranger.fetch(dispute.status))).toEqual([404, 'dispute_unknown']);
    const { rows: trail } = await db.query(
      "SELECT client, brand_handle, kind, host(address) AS address FROM intake_request WHERE kind = 'dispute'",
    );
    expect(trail).toEqual([{ client: owner, brand_handle: 'bound', kind: 'dispute', address: '127.0.0.1' }]);
  });
});

describe('an upload', () => {
  let client: IntakeClient;

  it('arrives in pieces, each at the offset, and is complete with its digest', async () => {
    client = await intake.client(['batches:write', 'branding:write', 'feeds:write']);
    const content = bytes(3000, 7);
    const path = await client.open('recording', content.length);
    const first = await client.patch(path, content.slice(0, 1000), { offset: 0, complete: false });
    expect([first.status, first.headers.get('upload-offset')]).toEqual([204, '1000']);
    const early = await client.patch(path, content.slice(2000), { offset: 2000, complete: false });
    expect([early.status, early.headers.get('upload-offset')]).toEqual([409, '1000']);
    const wrong = { 'content-digest': digestField(bytes(1)) };
    expect(
      await outcomeOf(client.patch(path, content.slice(1000, 2000), { offset: 1000, complete: false, headers: wrong })),
    ).toEqual([400, 'digest_wrong']);
    expect(await client.offset(path)).toBe(1000);
    expect(await outcomeOf(client.patch(path, content.slice(1000), { offset: 1000, complete: true }))).toEqual([
      400,
      'digest_required',
    ]);
    const digest = { 'repr-digest': digestField(content) };
    const last = await client.patch(path, content.slice(1000), { offset: 1000, complete: true, headers: digest });
    expect([last.status, last.headers.get('repr-digest')]).toEqual([200, digestField(content)]);
    expect(await last.json()).toMatchObject({ bytes: 3000, offset: 3000, complete: true });
    expect(await outcomeOf(client.patch(path, bytes(0), { offset: 3000, complete: true, headers: digest }))).toEqual([
      400,
      'upload_completed',
    ]);
    const head = await client.fetch(path, { method: 'HEAD' });
    expect(['upload-complete', 'upload-length', 'upload-limit'].map((name) => head.headers.get(name))).toEqual([
      '?1',
      '3000',
      `max-size=${16 * uploadBytesCounted}, max-age=86400`,
    ]);
    expect((await client.fetch(path, { method: 'DELETE' })).status).toBe(204);
    expect((await client.fetch(path, { method: 'HEAD' })).status).toBe(404);
  });

  it('has one writer: a later request ends the transfer before it, and keeps what has arrived', async () => {
    const path = await client.open('recording', 3000);
    const first = request(`${intake.url}${path}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${client.key}`,
        'content-type': 'application/partial-upload',
        'content-length': '3000',
        'upload-offset': '0',
        'upload-complete': '?0',
      },
    });
    const cut = once(first, 'error');
    first.write(bytes(1000));
    const file = join(intake.config.intakeDir, path.split('/').at(-1)!);
    await until(async () => (await readFile(file)).length === 1000, 'a part has arrived');
    expect(await client.offset(path)).toBe(1000);
    expect(await cut).toMatchObject([{ code: 'ECONNRESET' }]);
    await client.fetch(path, { method: 'DELETE' });
  });

  it('with another digest than its bytes is empty again, and takes them once more', async () => {
    const content = bytes(500, 3);
    const path = await client.open('recording', 500, { 'repr-digest': digestField(content) });
    expect(await outcomeOf(client.patch(path, bytes(500, 4), { offset: 0, complete: true }))).toEqual([
      400,
      'digest_wrong',
    ]);
    expect(await client.offset(path)).toBe(0);
    expect((await client.patch(path, content, { offset: 0, complete: true })).status).toBe(200);
    await client.fetch(path, { method: 'DELETE' });
    expect(await outcomeOf(client.send('recording', content, { 'repr-digest': digestField(bytes(2)) }))).toEqual([
      400,
      'digest_wrong',
    ]);
    expect(await uploadsIn(intake.config.intakeDir)).toEqual([]); // nobody knows the address of the one that failed
  });

  it('is refused by name with fields that do not fit', async () => {
    const path = await client.open('recording', 10);
    const refused = async (answer: Promise<Response>) => expect((await outcomeOf(answer))[1]);
    const patch = (content: Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
      client.patch(path, content, { offset: 0, complete: false, headers });
    (await refused(patch(bytes(11), {}))).toBe('upload_invalid');
    (await refused(patch(bytes(1), { 'upload-offset': 'x' }))).toBe('upload_invalid');
    (await refused(patch(bytes(1), { 'upload-complete': '1' }))).toBe('upload_invalid');
    (await refused(patch(bytes(1), { 'upload-length': '11' }))).toBe('upload_invalid');
    (await refused(patch(bytes(1), { 'content-digest': 'sha-256=:AAAA:' }))).toBe('upload_invalid');
    (await refused(patch(bytes(1), { 'content-type': 'audio/wav' }))).toBe('media_type_unsupported');
    (await refused(client.patch(path, bytes(5), { offset: 0, complete: true, headers: { 'repr-digest': digestField(bytes(10)) } }))).toBe('upload_invalid'); // prettier-ignore
    expect(await client.offset(path)).toBe(5); // what has arrived is kept
    await client.fetch(path, { method: 'DELETE' });
    (await refused(client.send('cassette', bytes(1)))).toBe('parameter_invalid');
    (await refused(client.send('recording&x=1', bytes(1)))).toBe('parameter_unknown');
    (await refused(client.fetch('/v1/uploads?for=feed', { method: 'POST', body: 'x' }))).toBe('digest_required');
    (await refused(client.send('feed', bytes(0)))).toBe('upload_invalid');
    (await refused(client.fetch('/v1/uploads?for=feed', { method: 'POST', headers: { 'upload-complete': '?0' } }))).toBe('upload_invalid'); // prettier-ignore
  });

  it('may be as large as its kind allows, and not a byte larger', async () => {
    expect((await client.send('feed', bytes(40_000))).status).toBe(201);
    expect(await outcomeOf(client.send('feed', bytes(40_001)))).toEqual([413, 'upload_too_large']);
    await clear();
  });

  it('may be open in addition to as many as the client may have, and to no more', async () => {
    const paths = [await client.open('feed', 10), await client.open('recording', 10)];
    const third = { method: 'POST', headers: { 'upload-complete': '?0', 'upload-length': '10' } };
    const refused = await client.fetch('/v1/uploads?for=recording', third);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await outcomeOf(Promise.resolve(refused))).toEqual([429, 'uploads_too_many']);
    const other = await intake.client(['batches:write']);
    await other.fetch(await other.open('recording', 10), { method: 'DELETE' });
    await client.fetch(paths[0]!, { method: 'DELETE' });
    await client.open('recording', 10);
    await clear();
  });

  it('has room on the disk up to the last byte of the limit', async () => {
    const half = 8 * uploadBytesCounted;
    const path = await client.open('feed', half);
    await client.open('feed', half);
    const other = await intake.client(['batches:write']);
    const refused = await other.send('recording', bytes(1));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await outcomeOf(Promise.resolve(refused))).toEqual([503, 'uploads_full']);
    await client.fetch(path, { method: 'DELETE' });
    expect((await other.send('recording', bytes(1))).status).toBe(201);
    await clear();
  });

  it('that is idle too long is removed with its bytes, an incomplete one after an hour and a complete one after a day', async () => {
    const idOf = (path: string) => path.split('/').at(-1)!;
    const age = (uploadId: string, minutes: number) =>
      db.query('UPDATE upload SET active_at = now() - make_interval(mins => $2) WHERE upload_id = $1', [uploadId, minutes]); // prettier-ignore
    const ids = [
      await client.upload('feed', bytes(10)),
      await client.upload('feed', bytes(10)),
      idOf(await client.open('feed', 10)),
      idOf(await client.open('feed', 10)),
    ] as const;
    const ages = [24 * 60 + 1, 24 * 60 - 1, 61, 59];
    for (const [at, uploadId] of ids.entries()) await age(uploadId, ages[at]!);
    const directory = intake.config.intakeDir;
    expect(await runUploadRetention({ db, directory }, new Date())).toEqual({ removed: 2, swept: 0 });
    expect((await uploadsIn(directory)).sort()).toEqual([ids[1], ids[3]].sort());
    expect((await client.fetch(`/v1/uploads/${ids[0]}`, { method: 'HEAD' })).status).toBe(404);
    await clear();
  });
});

describe('a request', () => {
  it('is remembered with its key for the days of the setting, and what it became for longer', async () => {
    const client = await intake.client(['numbers:dispute'], { client: 'Remembered' });
    await putNumbers(db, [{ phone: '+12025550166', level: 'SPAM', category: 6 }]);
    const answer = await client.post('/v1/disputes', { phone: '+12025550166', reason: 'Ours' }, 'kept');
    const { status } = (await answer.json()) as { status: string };
    expect(await listAcceptedRequests(db, { client: 'Remembered', limit: 9 })).toMatchObject([
      { kind: 'dispute', key: 'kept', object: status.split('/').at(-1), keyId: expect.any(String) as string },
    ]);
    const after = (days: number) => new Date(Date.now() + days * 86_400_000);
    const before = await listAcceptedRequests(db, { limit: 500 });
    expect(await pruneRequests(db, { retentionDays: 400, at: after(399.9) })).toBe(0);
    expect((await client.fetch(status)).status).toBe(200);
    expect(await pruneRequests(db, { retentionDays: 400, at: after(400.1) })).toBe(before.length);
    expect((await client.fetch(status)).status).toBe(404);
    expect((await db.query("SELECT FROM number_dispute WHERE filed_by = 'intake Remembered'")).rowCount).toBe(1);
  });

  const model = 'phone/v1.1';

  it('whose recordings are all refused at once is a batch that is done, and announced', async () => {
    const client = await intake.client(['batches:write']);
    const upload = await client.upload('recording', recording(5));
    const answer = await client.post('/v1/batches', { model, items: [{ upload, model: 'phone/v5' }] });
    const { batch, state } = (await answer.json()) as { batch: string; state: string };
    expect([answer.status, state]).toEqual([202, 'done']); // the model was removed
    const { rows } = await db.query(
      "SELECT type, data ->> 'error' AS error FROM webhook_event WHERE data ->> 'batch' = $1",
      [batch],
    );
    expect(rows).toEqual([{ type: 'batch.done', error: '1' }]);
  });

  it('is performed once for its key: the same again gets the same answer, another is refused', async () => {
    const client = await intake.client(['batches:write', 'numbers:dispute'], { client: 'Once' });
    const upload = await client.upload('recording', recording(1));
    const body = { model, items: [{ upload, source: 'a.wav' }] };
    const first = await client.post('/v1/batches', body, '"same"');
    const { batch, ...answer } = (await first.json()) as { batch: string };
    expect([first.status, first.headers.get('location')]).toEqual([202, `https://api.example.com/v1/batches/${batch}`]);
    expect(answer).toMatchObject({ state: 'queued', items: 1, repeated: false });
    expect(await uploadsIn(intake.config.intakeDir)).toEqual([]);
    expect(await (await client.post('/v1/batches', { items: body.items, model }, 'same')).json()).toMatchObject({
      batch,
      repeated: true,
    });
    const conflict = [409, 'idempotency_conflict'];
    expect(await outcomeOf(client.post('/v1/batches', { ...body, model: 'phone/v3' }, 'same'))).toEqual(conflict);
    const dispute = { phone: '+12125550100', reason: 'It is ours.' };
    expect(await outcomeOf(client.post('/v1/disputes', dispute, 'same'))).toEqual(conflict);
    const another = await intake.client(['batches:write']);
    expect(await outcomeOf(another.post('/v1/batches', body, 'same'))).toEqual([404, 'upload_unknown']);
    const noKey = {
      method: 'POST',
      body: '{"items":[{"upload":"x"}]}',
      headers: { 'content-type': 'application/json' },
    };
    expect(await outcomeOf(client.fetch('/v1/batches', noKey))).toEqual([400, 'idempotency_key_required']);
    expect(await outcomeOf(client.post('/v1/batches', body, 'k'.repeat(129)))).toEqual([
      400,
      'idempotency_key_required',
    ]);
    const { rows } = await db.query(
      "SELECT idempotency_key, requested_by, items FROM verification_batch WHERE owner = 'Once'",
    );
    expect(rows).toEqual([{ idempotency_key: 'same', requested_by: 'intake Once', items: 1 }]);
  });

  it('may have as many bytes and recordings as the limits say, and not one more', async () => {
    const client = await intake.client(['batches:write']);
    const items: { upload: string }[] = [];
    for (const number of [2, 3, 4]) items.push({ upload: await client.upload('recording', recording(number)) });
    expect(await outcomeOf(client.post('/v1/batches', { model, items }))).toEqual([400, 'batch_too_large']);
    const text = (length: number) => {
      const body = { model, items: items.slice(0, 2), name: '' };
      return { ...body, name: 'n'.repeat(length - JSON.stringify(body).length) };
    };
    expect((await outcomeOf(client.post('/v1/batches', text(2049)))).at(1)).toBe('upload_too_large');
    expect((await outcomeOf(client.post('/v1/batches', text(2048)))).at(1)).toBe('audio_request_invalid'); // the name is too long
    const incomplete = await client.open('recording', 10);
    const named = { model, items: [{ upload: incomplete.split('/').at(-1)! }] };
    expect(await outcomeOf(client.post('/v1/batches', named))).toEqual([409, 'upload_incomplete']);
    const twice = { model, items: [items[0], items[0]] };
    expect(await outcomeOf(client.post('/v1/batches', twice))).toEqual([400, 'audio_request_invalid']);
    expect((await client.post('/v1/batches', { model, items: items.slice(0, 2) })).status).toBe(202);
    await clear();
  });

  it('answers 503 while the limit of waiting jobs is reached, and continues when there is room', async () => {
    const client = await intake.client(['feeds:write', 'batches:write']);
    const load = async (name: string) => {
      const upload = await client.upload('feed', feed(`phone,display_name\n+13035550100,${name}\n`));
      return client.post('/v1/feeds/directory/loads', { upload, fileName: `${name}.csv` }, `load-${name}`);
    };
    expect([(await load('one')).status, (await load('two')).status]).toEqual([202, 202]); // no worker takes them
    const refused = await load('three');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
    expect(await outcomeOf(Promise.resolve(refused))).toEqual([503, 'queue_full']);
    const upload = await client.upload('feed', feed('phone,display_name\n+13035550100,one\n'));
    const again = { upload, fileName: 'one.csv' };
    expect(await outcomeOf(client.post('/v1/feeds/directory/loads', again, 'load-one'))).toEqual([
      409,
      'idempotency_conflict',
    ]);
    expect(await outcomeOf(client.post('/v1/feeds/nothing/loads', again))).toEqual([400, 'feed_unknown']);
    expect((await db.query('SELECT FROM feed_load')).rowCount).toBe(2);
    await clear();
  });

  it('with a text that the database cannot store is refused in path, query and body', async () => {
    const scopes = ['feeds:write', 'batches:write', 'branding:write', 'numbers:dispute'] as const;
    const client = await intake.client([...scopes]);
    for (const path of ['loads', 'disputes', 'branding-requests', 'uploads'])
      for (const text of ['1%00', '%00', 'a%00b'])
        expect(await outcomeOf(client.fetch(`/v1/${path}/${text}`)), `${path} ${text}`).toEqual([404, 'route_unknown']);
    expect((await client.fetch('/v1/uploads/1%00', { method: 'HEAD' })).status).toBe(404);
    expect(await outcomeOf(client.post('/v1/feeds/a%00/loads', {}))).toEqual([404, 'route_unknown']);
    expect(await outcomeOf(client.send('feed&x=%00', bytes(1)))).toEqual([400, 'parameter_invalid']);
    for (const text of ['a\u0000b', '\ud800'])
      for (const [path, body, code] of [
        ['batches', { name: text, items: [{ upload: 'x' }] }, 'audio_request_invalid'],
        ['branding-requests', { operation: 'add_phone_number', handle: text }, 'brand_request_invalid'],
        ['feeds/directory/loads', { upload: 'x', options: { columns: { [text]: 1 } } }, 'feed_option_invalid'],
        ['disputes', { phone: '+12025550100', reason: text }, 'dispute_invalid'],
      ] as const)
        expect(await outcomeOf(client.post(`/v1/${path}`, body)), `${path} ${JSON.stringify(text)}`).toEqual([
          400,
          code,
        ]);
  });

  it('for what the path does not have is refused by name', async () => {
    const client = await intake.client(['feeds:write']);
    const put = await client.fetch('/v1/batches', { method: 'PUT' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await outcomeOf(client.fetch('/v1/nothing'))).toEqual([404, 'route_unknown']);
    expect(await outcomeOf(client.fetch('/v1/loads/999'))).toEqual([404, 'feed_not_found']);
    const text = { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } };
    expect(await outcomeOf(client.fetch('/v1/disputes', text))).toEqual([400, 'request_invalid']);
    expect(await outcomeOf(client.fetch('/v1/disputes', { ...text, headers: { 'content-type': 'text/csv' } }))).toEqual(
      [415, 'media_type_unsupported'],
    );
  });
});

describe('a limit of the process', () => {
  it('lets as many requests of a key through in a minute as it says, and not one more', async () => {
    const log = createLog({ level: 'silent', process: 'intake' });
    const { key } = await intake.client(['feeds:write']); // before the process, which reads the keys when it starts
    const limited = await startIntake({ ...elsewhere, intakeRequestsPerMinuteMax: 3 }, { log });
    await untilServing(intake.config.stateDir, 'intake');
    const client = new IntakeClient(limited.url, key);
    const answers = [];
    for (let count = 0; count < 4; count++) answers.push(await client.fetch('/v1/loads/0'));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 429]);
    expect(Number(answers.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(0);
    await limited.close();
  });

  it('lets six requests become work at a time, and not one more', async () => {
    const room = new WorkRoom(undefined as never, intakeLimits); // disputes have no queue
    let end: () => void = () => {};
    const work = () => new Promise<void>((resolve) => (end = resolve));
    const running = Array.from({ length: submissionsAtOnceMax }, () => room.run(null, work));
    await expect(room.run(null, work)).rejects.toMatchObject({ code: 'overloaded' });
    end();
    await Promise.race(running);
    await room.run(null, async () => {});
  });
});

describe('the form of a letter', () => {
  const request = {
    brand: { legalName: 'Northwind Dental LLC', displayName: 'Northwind Dental', country: 'US' },
    numbers: ['(202) 555-0143'],
    signer: { name: 'Jane Sample', title: 'Director' },
  };
  const listed = async (client: IntakeClient, query = '') =>
    (await (await client.fetch(`/v1/letter-forms${query}`)).json()) as {
      forms: { form: number; handle: string | null; revokedAt: string | null }[];
      next: string | null;
    };

  it('is issued as a PDF, is listed for its client alone, and can be revoked once', async () => {
    const client = await intake.client(['branding:write'], { client: 'Former' });
    const answer = await client.post('/v1/letter-forms', { ...request, language: 'de' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([201, 'application/pdf']);
    expect(Buffer.from(await answer.arrayBuffer()).toString('latin1', 0, 5)).toBe('%PDF-');
    const numbersFile = await client.upload('numbers', feed('phone\n+12025550143\n2025550144\n'));
    expect((await client.post('/v1/letter-forms', { ...request, numbers: [], numbersFile })).status).toBe(201);
    const { forms, next } = await listed(client, '?limit=1');
    expect([forms, next]).toEqual([
      [expect.objectContaining({ displayName: 'Northwind Dental', language: 'en', numbers: 2, revokedAt: null })],
      String(forms[0]!.form),
    ]);
    expect((await listed(client, `?before=${next}`)).forms).toMatchObject([{ language: 'de', numbers: 1 }]);
    const stranger = await intake.client(['branding:write'], { client: 'Another' });
    expect(await listed(stranger)).toEqual({ forms: [], next: null });
    const path = `/v1/letter-forms/${forms[0]!.form}/revocation`;
    expect(await outcomeOf(stranger.post(path, { reason: 'no' }))).toEqual([404, 'form_unknown']);
    expect(await (await client.post(path, { reason: 'Wrong signer' })).json()).toMatchObject({
      revokedAt: expect.any(String),
      revokedReason: 'Wrong signer',
    });
    expect(await outcomeOf(client.post(path, { reason: 'again' }))).toEqual([409, 'form_revoked']);
  });

  it('is of the brand that the key is bound to, and names each number that is none', async () => {
    const owner = 'Bound former';
    await addBrand(db, { handle: 'bound-form', owner });
    const bound = await intake.client(['branding:write'], { client: owner, brand: 'bound-form' });
    expect(await outcomeOf(bound.post('/v1/letter-forms', request))).toEqual([403, 'forbidden']);
    const { brand: _brand, ...own } = { ...request, handle: 'bound-form' };
    expect((await bound.post('/v1/letter-forms', own)).status).toBe(201);
    expect((await listed(bound)).forms).toMatchObject([{ handle: 'bound-form' }]);
    const refused = await bound.post('/v1/letter-forms', { ...own, numbers: ['+12025550143', '12'] });
    expect(await refused.json()).toMatchObject({
      code: 'brand_request_invalid',
      detail: expect.stringContaining('place 2, "12"'),
    });
    expect(await outcomeOf(bound.post('/v1/letter-forms', { ...own, handle: 'another' }))).toEqual([403, 'forbidden']);
  });
});

describe('the process', () => {
  it('says that it is ready, counts its requests, and describes every path with its methods', async () => {
    expect(await (await fetch(`${intake.url}/readyz`)).json()).toMatchObject({ status: 'ready' });
    expect((await fetch(`${intake.url}/healthz`)).status).toBe(200);
    const metrics = await (await fetch(`${intake.metricsUrl}/metrics`)).text();
    expect(metrics).toMatch(
      /caller_trust_intake_requests_total\{route="\/v1\/batches",method="POST",status="202"\} \d+/,
    );
    expect(metrics).toMatch(/caller_trust_intake_upload_bytes_total\{kind="recording"\} \d+/);
    const document = (await (await fetch(`${intake.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    const operations = Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.values(methods).map(({ operationId }) => operationId),
    ]);
    expect(Object.fromEntries(operations)).toEqual({
      '/v1/uploads': ['openUpload'],
      '/v1/uploads/{upload}': ['continueUpload', 'readUploadOffset', 'giveUpUpload'],
      '/v1/batches': ['submitBatch'],
      '/v1/branding-requests': ['submitBrandingRequest'],
      '/v1/branding-requests/{id}': ['getBrandingRequest'],
      '/v1/letter-forms': ['issueLetterForm', 'listLetterForms'],
      '/v1/letter-forms/{id}/revocation': ['revokeLetterForm'],
      '/v1/feeds/{feed}/loads': ['submitLoad'],
      '/v1/loads/{id}': ['getLoad'],
      '/v1/disputes': ['fileDispute'],
      '/v1/disputes/{id}': ['getDispute'],
      '/healthz': ['getHealth'],
      '/readyz': ['getReadiness'],
      '/openapi.json': ['getDocument'],
    });
    const client = await intake.client(['batches:write']);
    // The rules are those of an API without HEAD; that of an upload is no twin of a GET.
    const { head: _head, ...others } = document.paths['/v1/uploads/{upload}']!;
    const ruled = { ...document, paths: { ...document.paths, '/v1/uploads/{upload}': others } };
    expect(lintOpenApi(ruled as unknown as OpenApiDocument)).toEqual([]);
    for (const [path, methods] of Object.entries(document.paths)) {
      const allowed = (await client.fetch(path.replace(/\{\w+\}/g, 'x'), { method: 'PUT' })).headers.get('allow');
      const described = Object.keys(methods);
      expect(
        allowed?.split(', ').filter((method) => method !== 'HEAD' || !allowed.includes('GET')), // Node's twin of GET
        path,
      ).toEqual(described.map((name) => name.toUpperCase()).sort());
    }
  });

  it('refuses a login that may do more than submit', async () => {
    const log = createLog({ level: 'silent', process: 'intake' });
    await expect(startIntake({ ...elsewhere, intakeDatabaseUrl: database.url }, { log })).rejects.toMatchObject({
      code: 'database_role_writes',
    });
  });

  it('takes its role on the login of the owner where it has none of its own', async () => {
    const log = createLog({ level: 'silent', process: 'intake' });
    const own = { ...elsewhere, intakeDatabaseUrl: undefined, databaseUrl: database.url };
    const started = await startIntake(own, { log });
    expect((await fetch(`${started.url}/healthz`)).status).toBe(200);
    await started.close();
  });
});
