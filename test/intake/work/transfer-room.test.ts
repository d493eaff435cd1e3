import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { revokeKey } from '../../../pipelines/access/keys.ts';
import { runUploadRetention } from '../../../pipelines/submissions/upload-retention.ts';
import { useTestDatabase } from '../../support/database.ts';
import { until } from '../../support/service-process.ts';
import { outcomeOf, uploadsIn, useTestIntake, type IntakeClient } from '../support/running-intake.ts';

const KiB = 1024;
const database = await useTestDatabase();
const { db } = database;
const intake = await useTestIntake(
  database,
  { INTAKE_DISK_BYTES_MAX: String(4096 * KiB) },
  { announcedBytesMax: 64 * KiB, reservedStepBytes: 64 * KiB },
);
const directory = intake.config.intakeDir;
const idOf = (path: string) => path.split('/').at(-1)!;
const zeros = (length: number) => new Uint8Array(length);
const kept = async () =>
  Number((await db.query<{ sum: string }>('SELECT coalesce(sum(reserved_bytes), 0) AS sum FROM upload')).rows[0]!.sum);
const clear = async () => {
  await db.query("UPDATE upload SET active_at = now() - interval '30 hours'");
  await runUploadRetention({ db, directory }, new Date());
};

/** Opens uploads of a length until one is refused. */
async function openMany(client: IntakeClient, length: number): Promise<{ paths: string[]; refusal: string }> {
  const paths: string[] = [];
  for (;;) {
    const opened = await client.open('recording', length).catch((error: Error) => error);
    if (opened instanceof Error) return { paths, refusal: opened.message };
    paths.push(opened);
  }
}

it('what a client announces keeps none of its own bytes out, and no other client', async () => {
  const greedy = await intake.client(['batches:write']);
  const { paths, refusal } = await openMany(greedy, 256 * KiB);
  expect(refusal).toMatch(/^429 .*"uploads_too_many"/);
  expect(paths.length).toBeGreaterThan(10); // 64 KiB are kept for each, of 1,024
  const other = await intake.client(['branding:write']);
  expect((await other.send('letter', zeros(8))).status).toBe(201);
  const answer = await greedy.patch(paths[0]!, zeros(100 * KiB), { offset: 0, complete: false });
  expect(answer.status).toBe(204);
  expect(await kept()).toBeLessThanOrEqual(1024 * KiB + 8);
  await clear();
});

it('a client may have a quarter of the disk: past it a transfer ends, what has arrived is kept, and it continues when there is room', async () => {
  const client = await intake.client(['batches:write']);
  const [first, second] = [await client.open('recording', 700 * KiB), await client.open('recording', 700 * KiB)];
  expect((await client.patch(first, zeros(699 * KiB), { offset: 0, complete: false })).status).toBe(204);
  expect(await outcomeOf(client.patch(second, zeros(600 * KiB), { offset: 0, complete: false }))).toEqual([
    429,
    'uploads_too_many',
  ]);
  const offset = await client.offset(second);
  expect(offset).toBeGreaterThan(200 * KiB);
  expect(offset).toBeLessThan(325 * KiB);
  await client.fetch(first, { method: 'DELETE' });
  expect((await client.patch(second, zeros(690 * KiB - offset), { offset, complete: false })).status).toBe(204);
  const tooLarge = { method: 'POST', headers: { 'upload-complete': '?0', 'upload-length': String(1024 * KiB + 1) } };
  expect(await outcomeOf(client.fetch('/v1/uploads?for=recording', tooLarge))).toEqual([413, 'upload_too_large']);
  await clear();
});

it('the disk has room for what clients send up to its limit, and for no byte more', async () => {
  for (let sender = 0; sender < 4; sender++) {
    const client = await intake.client(['batches:write']);
    const path = await client.open('recording', 1024 * KiB);
    expect((await client.patch(path, zeros(1023 * KiB), { offset: 0, complete: false })).status).toBe(204);
  }
  expect(await kept()).toBe(4096 * KiB);
  const other = await intake.client(['branding:write']);
  expect(await outcomeOf(other.send('letter', zeros(8)))).toEqual([503, 'uploads_full']);
  await clear();
});

it('an upload stays for bytes that arrive, not for requests that ask for it', async () => {
  const client = await intake.client(['batches:write']);
  const [asked, sent] = [await client.open('recording', 10), await client.open('recording', 10)];
  await db.query("UPDATE upload SET active_at = now() - interval '59 minutes'");
  expect(await client.offset(asked)).toBe(0);
  expect((await client.patch(asked, zeros(0), { offset: 0, complete: false })).status).toBe(204);
  const batch = { items: [{ upload: idOf(asked) }] };
  expect(await outcomeOf(client.post('/v1/batches', batch))).toEqual([409, 'upload_incomplete']);
  expect((await client.patch(sent, zeros(1), { offset: 0, complete: false })).status).toBe(204);
  await runUploadRetention({ db, directory }, new Date(Date.now() + 2 * 60_000));
  expect(await uploadsIn(directory)).toEqual([idOf(sent)]);
  await clear();
});

it('an upload ends with its key, while its bytes arrive too', async () => {
  const client = await intake.client(['batches:write'], { client: 'Revoked' });
  const path = await client.open('recording', 1000);
  const sending = request(`${intake.url}${path}`, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${client.key}`,
      'content-type': 'application/partial-upload',
      'content-length': '1000',
      'upload-offset': '0',
      'upload-complete': '?0',
    },
  });
  sending.on('error', () => {}); // the connection ends before all bytes are sent
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
  sending.write(zeros(100));
  const stored = join(directory, idOf(path));
  await until(async () => (await readFile(stored)).length === 100, 'a part has arrived');
  await revokeKey(db, /^[^_]+_([a-z0-9]{12})/.exec(client.key)![1]!);
  await until(async () => (await client.fetch('/v1/loads/0')).status === 401, 'the key is known to be revoked');
  sending.write(zeros(100));
  const [answer] = await answered;
  answer.resume();
  expect(answer.statusCode).toBe(401);
  const owner = await intake.client(['batches:write'], { client: 'Revoked' });
  const offset = await owner.offset(path);
  expect(offset).toBe(100);
  await runUploadRetention({ db, directory }, new Date());
  expect(await uploadsIn(directory)).toEqual([]);
});
