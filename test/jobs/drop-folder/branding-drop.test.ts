import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Queues } from '../../../jobs/queues/backend.ts';
import { queueSchema } from '../../../jobs/queues/queue-schema.ts';
import { brandingInbox } from '../../../jobs/drop-folder/branding-drop.ts';
import { openDropFolder, type DropFolder } from '../../../jobs/drop-folder/drop-folder.ts';
import type { LetterReadingOutcome } from '../../../pipelines/branding/letter-reading.ts';
import { runOperation } from '../../../pipelines/branding/requests/run-operation.ts';
import { SUBMITTED_FILES } from '../../../pipelines/branding/submitted-file.ts';
import { isServiceError } from '../../../runtime/errors.ts';
import { queryRows } from '../../../runtime/postgres.ts';
import {
  fresh,
  goodLetter,
  letterForReview,
  operationSettings,
  owner,
  profile,
  signer,
  testVault,
} from '../../support/branding.ts';
import { letterFile } from '../../support/letter-file.ts';
import { killProcessesAfterEach, startProcess, until } from '../../support/service-process.ts';
import { openBackend, silent } from '../backends.ts';

const backend = await openBackend('postgres', {
  RECONCILE_SECONDS: '1',
  DROP_SETTLE_SECONDS: '0',
  LETTER_MASTER_KEY: '07'.repeat(32),
  LOG_LEVEL: 'silent',
});
const queues: Queues = await backend.openQueues();
const { db } = backend.database;
killProcessesAfterEach();

let directory: string;
let now: number;

const drop = (...path: string[]) => join(directory, 'drop', ...path);
const open = (openVault = async () => testVault): DropFolder => {
  const config = { dropDir: drop(), dropSettleSeconds: 10 };
  return openDropFolder({
    config,
    db,
    log: silent,
    inboxes: [brandingInbox({ config, db, queues, log: silent, openVault })],
    clock: () => new Date(now),
  });
};
/** Polls, and again when every entry is stable. */
const pollWhenStable = async (...folders: DropFolder[]) => {
  await Promise.all(folders.map((folder) => folder.poll()));
  now += 10_000;
  await Promise.all(folders.map((folder) => folder.poll()));
};
const operations = () =>
  queryRows<{ operationId: number; state: string }>(
    db,
    'SELECT operation_id, state, requested_by, submitted_by, idempotency_key FROM branding_operation ORDER BY operation_id',
  );
const dropped = (name: string, files: Record<string, unknown>) => writeRequest(drop('branding', name), files);
const result = async (...path: string[]) =>
  JSON.parse(await readFile(drop(...path), 'utf8')) as Record<string, unknown>;
const takenPaths = async () =>
  (await readdir(drop('taken'), { recursive: true })).filter((path) => path.split('/').length > 2);

/** Runs what is queued, as a worker does; every letter counts as read with the outcome. */
async function carryOut(letter: LetterReadingOutcome = goodLetter([])): Promise<void> {
  const due = (await operations()).filter(({ state }) => state === 'queued');
  for (const { operationId } of due) {
    const options = { db, operationId, ...operationSettings, readLetter: async () => letter };
    await runOperation(options).catch(async (error: unknown) => {
      if (!isServiceError(error)) throw error;
      await db.query(
        `UPDATE branding_operation SET state = 'failed', finished_at = now(), failure_code = $2, failure_reason = $3 WHERE operation_id = $1`,
        [operationId, error.code, error.problem],
      );
    });
  }
}

async function writeRequest(folder: string, files: Record<string, unknown>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files))
    await writeFile(
      join(folder, name),
      typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
    );
}

const addBrand = (handle: string, more: object = {}) => ({
  operation: 'add_managed_brand',
  owner,
  handle,
  brand: profile,
  ...more,
});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'caller-trust-drop-'));
  now = Date.parse('2026-03-29T12:00:00Z');
  await open().poll(); // makes the folders
});
afterEach(async () => {
  // Rows of the audit trail are only ever added: each test has handles of its own instead of an empty database.
  await db.query(
    `UPDATE branding_operation SET state = 'failed', finished_at = now(), failure_code = 'internal', failure_reason = 'the test is over' WHERE state = 'queued'`,
  );
  await db.query(`DELETE FROM ${queueSchema}.job`);
  await rm(directory, { recursive: true });
});
afterAll(async () => {
  await queues.close();
  await backend.close();
});

describe('a folder with a request', () => {
  it('is taken when nothing in it has changed for the settling time, and its operation is queued', async () => {
    const { handle } = fresh(0);
    const before = (await operations()).length;
    const folder = open();
    await dropped('acme', { 'request.json': addBrand(handle) });
    await folder.poll();
    now += 9000;
    await writeFile(drop('branding', 'acme', 'letter.pdf'), 'grows');
    await folder.poll();
    now += 9999;
    await folder.poll();
    expect(await operations()).toHaveLength(before);
    now += 1;
    await folder.poll();
    const queued = (await operations()).slice(before);
    expect(queued).toMatchObject([
      {
        state: 'queued',
        requestedBy: expect.stringMatching(/^drop folder [0-9a-f]{16}$/) as string,
        submittedBy: userInfo().username,
      },
    ]);
    expect(await queues.state('branding', `branding-${queued[0]!.operationId}`)).toBe('waiting');
    expect(await readdir(drop('branding'))).toEqual([]);
  });

  it('is left alone while a file in it, or the folder, is still being copied', async () => {
    const { handle } = fresh(0);
    const before = (await operations()).length;
    const folder = open();
    for (const [name, file] of [
      ['part', 'letter.pdf.part'],
      ['tmp', 'numbers.csv.tmp'],
      ['dot', '.letter.pdf.Xy12'],
    ] as const)
      await dropped(name, { 'request.json': addBrand(handle), [file]: 'x' });
    await dropped('acme.tmp', { 'request.json': addBrand(handle) });
    await dropped('.hidden', { 'request.json': addBrand(handle) });
    await pollWhenStable(folder);
    expect((await readdir(drop('branding'))).length).toBe(5);
    await rename(drop('branding', 'part', 'letter.pdf.part'), drop('branding', 'part', 'letter.pdf'));
    await pollWhenStable(folder);
    expect(await operations()).toHaveLength(before + 1);
  });

  it('moves to done with its result, without letter and CSV, when its operation has ended', async () => {
    const { handle, phones } = fresh(2);
    const folder = open();
    const csv = `phone\n${phones.join('\n')}\n12\n${phones[0]}\n`;
    await dropped('acme', {
      'request.json': addBrand(handle, { key: 'acme-1' }),
      'loa.pdf': 'letter',
      'numbers.csv': csv,
      '.DS_Store': 'desktop',
    });
    await pollWhenStable(folder);
    const attached = goodLetter([
      ...phones,
      `The attached CSV lists them from ${phones[0]} to ${phones[1]}, 2 numbers.`,
    ]);
    await carryOut(attached);
    await folder.poll();
    expect((await readdir(drop('done', 'acme'))).toSorted()).toEqual([
      'numbers.result.csv',
      'request.json',
      'result.json',
    ]);
    expect(await result('done', 'acme', 'result.json')).toMatchObject({
      schema: 'caller-trust/branding-drop-result/1',
      folder: 'acme',
      outcome: 'in_review',
      operation: 'add_managed_brand',
      owner,
      key: 'acme-1',
      failure: null,
      operationId: expect.any(Number) as number,
      brand: { handle, state: 'in_review' },
      letter: { state: 'in_review' },
      numbers: { given: 4, accepted: 2, rejected: 2 },
    });
    const rows = (await readFile(drop('done', 'acme', 'numbers.result.csv'), 'utf8')).split('\n');
    expect(rows.slice(0, 2)).toEqual([
      'line,phone,outcome,reason',
      `2,${phones[0]},accepted,The number was submitted with the brand.`,
    ]);
    expect(rows.slice(3)).toEqual([
      expect.stringMatching(/^4,,phone_invalid,/),
      expect.stringMatching(/^5,\+\d+,number_repeated,/),
      '',
    ]);
    expect(await takenPaths()).toEqual([]);
  });

  it.each([
    ['done', 'in_review', letterForReview],
    ['rejected', 'rejected', () => ({ kind: 'refused', code: 'letter_altered', problem: '' }) as const],
  ] as const)(
    'moves to %s when the outcome is %s, its letter kept in the database only',
    async (place, outcome, letter) => {
      const { handle, phones } = fresh(2);
      const folder = open();
      await dropped('acme', { 'request.json': addBrand(handle, { numbers: phones }), 'scan.png': 'letter' });
      await pollWhenStable(folder);
      await carryOut(letter(phones));
      await folder.poll();
      expect(await result(place, 'acme', 'result.json')).toMatchObject({
        outcome,
        failure: null,
        letter: {
          findings: expect.arrayContaining([
            expect.objectContaining({ severity: outcome === 'in_review' ? 'review' : 'reject' }),
          ]) as unknown[],
        },
      });
      expect(await readdir(drop(place, 'acme'))).not.toContain('scan.png');
    },
  );

  it('moves to rejected with its files when its operation has failed, and can be put in again', async () => {
    const { handle } = fresh(0);
    const folder = open();
    await dropped('acme', {
      'request.json': { operation: 'update_managed_brand', owner, handle },
      'loa.pdf': 'letter',
    });
    await pollWhenStable(folder);
    await carryOut();
    await folder.poll();
    expect(await result('rejected', 'acme', 'result.json')).toMatchObject({
      outcome: 'rejected',
      failure: { code: 'brand_unknown' },
      brand: null,
    });
    expect((await readdir(drop('rejected', 'acme'))).toSorted()).toEqual(['loa.pdf', 'request.json', 'result.json']);
    await rename(drop('rejected', 'acme'), drop('branding', 'acme'));
    await writeFile(drop('branding', 'acme', 'request.json'), JSON.stringify(addBrand(handle)));
    await pollWhenStable(folder);
    await carryOut(goodLetter([]));
    await folder.poll();
    expect(await result('done', 'acme', 'result.json')).toMatchObject({
      outcome: expect.stringMatching(/approved|in_review/) as string,
      brand: { handle },
    });
    expect((await readdir(drop('done', 'acme'))).toSorted()).toEqual(['request.json', 'result.json']);
  });

  it('under a key that was used gives the answer of then, and another request under it is refused', async () => {
    const { handle } = fresh(0);
    const folder = open();
    const before = (await operations()).length;
    await dropped('first', { 'request.json': addBrand(handle, { key: `key-${handle}` }), 'loa.pdf': 'letter' });
    await pollWhenStable(folder);
    await dropped('second', { 'request.json': addBrand(handle, { key: `key-${handle}` }), 'loa.pdf': 'letter' });
    await dropped('other', { 'request.json': addBrand(handle, { key: `key-${handle}` }), 'loa.pdf': 'another letter' });
    await pollWhenStable(folder);
    await carryOut(goodLetter([]));
    await folder.poll();
    expect(await operations()).toHaveLength(before + 1);
    const [first, second] = [
      await result('done', 'first', 'result.json'),
      await result('done', 'second', 'result.json'),
    ];
    expect(second['operationId']).toBe(first['operationId']);
    expect(await result('rejected', 'other', 'result.json')).toMatchObject({
      operationId: null,
      failure: { code: 'idempotency_conflict' },
    });
    expect(await readdir(drop('done', 'second'))).not.toContain('loa.pdf');
  });

  it('of a name that is taken gets one with its id', async () => {
    const folder = open();
    await mkdir(drop('done', 'acme'));
    await writeFile(drop('done', 'acme', 'kept'), '');
    await dropped('acme', { 'request.json': addBrand(fresh(0).handle) });
    await dropped(`${'ü'.repeat(120)}`, { 'request.json': addBrand(fresh(0).handle) });
    await pollWhenStable(folder);
    await carryOut();
    await folder.poll();
    expect((await readdir(drop('done'))).toSorted()).toEqual([
      'acme',
      expect.stringMatching(/^acme\.[0-9a-f]{16}$/),
      expect.stringMatching(/^ü+\.[0-9a-f]{16}$/),
    ]);
    expect(await readdir(drop('done', 'acme'))).toEqual(['kept']);
  });
});

describe('a folder that asks for the form of a letter', () => {
  const askForm = (handle: string, more: object = {}) => ({
    operation: 'issue_letter_form',
    owner,
    handle,
    brand: profile,
    signer,
    ...more,
  });
  const forms = () =>
    queryRows<{ sha256: string }>(
      db,
      "SELECT sha256, owner, language, issued_by, content -> 'phones' AS phones FROM issued_form WHERE issued_by LIKE 'drop folder %' ORDER BY form_id",
    );
  const digestOf = async (...path: string[]) =>
    createHash('sha256')
      .update(await readFile(drop(...path, 'letter-form.pdf')))
      .digest('hex');

  it('gets it at once, with no operation made, and keeps its CSV', async () => {
    const { handle, phones } = fresh(2);
    const before = (await operations()).length;
    await dropped('form', { 'request.json': askForm(handle, { language: 'fr' }), 'numbers.csv': phones.join('\n') });
    await pollWhenStable(open());
    expect((await readdir(drop('done', 'form'))).toSorted()).toEqual([
      'letter-form.pdf',
      'numbers.csv',
      'request.json',
      'result.json',
    ]);
    const sha256 = await digestOf('done', 'form');
    expect((await forms()).at(-1)).toMatchObject({
      sha256,
      owner,
      language: 'fr',
      issuedBy: expect.stringMatching(/^drop folder [0-9a-f]{16}$/) as string,
      phones,
    });
    expect(await result('done', 'form', 'result.json')).toMatchObject({
      outcome: 'accepted',
      operation: 'issue_letter_form',
      operationId: null,
      owner,
      failure: null,
      form: { sha256, numbers: 2, file: 'letter-form.pdf' },
    });
    expect(await operations()).toHaveLength(before);
  });

  it('gets another one when it is put in again', async () => {
    await dropped('form', { 'request.json': askForm(fresh(0).handle) });
    await pollWhenStable(open());
    const first = await digestOf('done', 'form');
    await rename(drop('done', 'form'), drop('branding', 'form'));
    await pollWhenStable(open());
    expect(await digestOf('done', 'form')).toBe((await forms()).at(-1)!.sha256);
    expect(await digestOf('done', 'form')).not.toBe(first);
  });

  it.each(['letter-form.pdf', 'letter-form.pdf.tmp'])(
    'gets it from the next watcher, where one was killed that had written %s',
    async (left) => {
      await writeRequest(drop('taken', 'branding', '0123456789abcdef', 'form'), {
        'request.json': askForm(fresh(0).handle),
        [left]: 'half',
      });
      await open().poll();
      expect((await readdir(drop('done', 'form'))).toSorted()).toEqual([
        'letter-form.pdf',
        'request.json',
        'result.json',
      ]);
      expect(await digestOf('done', 'form')).toBe((await forms()).at(-1)!.sha256);
    },
  );

  it.each([
    ['without a signer', { signer: undefined }, {}, 'brand_request_invalid', /signer/],
    ['in another language', { language: 'nl' }, {}, 'brand_request_invalid', /language: is not one of en, de/],
    ['with a key', { key: 'acme-1' }, {}, 'brand_request_invalid', /key/],
    ['with a letter', {}, { 'loa.pdf': 'letter' }, 'letter_file_invalid', /came with a letter/],
    ['for a brand that is not there', { brand: undefined, handle: 'never-made' }, {}, 'brand_unknown', /./],
  ])('%s is rejected', async (_what, more, files, code, reason) => {
    const before = (await forms()).length;
    await dropped('form', { 'request.json': askForm(fresh(0).handle, more), ...files });
    await pollWhenStable(open());
    expect(await result('rejected', 'form', 'result.json')).toMatchObject({
      outcome: 'rejected',
      form: null,
      failure: { code, reason: expect.stringMatching(reason) as string },
    });
    expect((await readdir(drop('rejected', 'form'))).toSorted()).toEqual(
      [...Object.keys(files), 'request.json', 'result.json'].toSorted(),
    );
    expect(await forms()).toHaveLength(before);
  });

  it('comes back signed under its own name as the letter of an operation, which is taken from the folder', async () => {
    const { handle } = fresh(0);
    const folder = open();
    await dropped('back', { 'request.json': addBrand(handle), 'letter-form.pdf': 'signed' });
    await pollWhenStable(folder);
    await carryOut();
    await folder.poll();
    expect(await result('done', 'back', 'result.json')).toMatchObject({
      operation: 'add_managed_brand',
      form: null,
      letter: { findings: expect.any(Array) as unknown[] },
    });
    expect(await readdir(drop('done', 'back'))).not.toContain('letter-form.pdf');
  });
});

describe('a folder that is no request is rejected with what to do', () => {
  const good = () => addBrand('never-made');
  const cases: [string, () => Record<string, unknown>, string, RegExp][] = [
    ['damaged JSON', () => ({ 'request.json': '{"owner":' }), 'brand_request_invalid', /not JSON/],
    [
      'an owner that cannot be stored',
      () => ({ 'request.json': { ...good(), owner: 'a\u0000b' } }),
      'brand_request_invalid',
      /cannot be stored/,
    ],
    ['JSON that is no object', () => ({ 'request.json': '[]' }), 'brand_request_invalid', /not a JSON object/],
    [
      'text that is not UTF-8',
      () => ({ 'request.json': Buffer.from([0x7b, 0xff, 0x7d]) }),
      'brand_request_invalid',
      /UTF-8/,
    ],
    [
      'huge JSON',
      () => ({ 'request.json': { ...good(), filling: 'x'.repeat(1024 * 1024) } }),
      'brand_request_invalid',
      /larger than 1048576 bytes/,
    ],
    [
      'an unknown operation',
      () => ({ 'request.json': { ...good(), operation: 'constructor' } }),
      'brand_request_invalid',
      /operation: is not one of add_managed_brand/,
    ],
    [
      'no owner',
      () => ({ 'request.json': { ...good(), owner: undefined } }),
      'brand_request_invalid',
      /owner: is missing/,
    ],
    [
      'an owner that is no text',
      () => ({ 'request.json': { ...good(), owner: { name: owner } } }),
      'brand_request_invalid',
      /owner/,
    ],
    ['a key with a space', () => ({ 'request.json': { ...good(), key: 'a b' } }), 'brand_request_invalid', /key/],
    ['an unknown field', () => ({ 'request.json': { ...good(), colour: 'red' } }), 'brand_request_invalid', /colour/],
    [
      'numbers named and as a CSV',
      () => ({ 'request.json': { ...good(), numbers: ['+12125550101'] }, 'numbers.csv': '+12125550101' }),
      'brand_request_invalid',
      /give one of the two/,
    ],
    [
      'several letters',
      () => ({ 'request.json': good(), 'a.pdf': 'a', 'b.png': 'b' }),
      'letter_file_invalid',
      /more than one letter/,
    ],
    [
      'a letter past the limit',
      () => ({ 'request.json': good(), 'a.pdf': 'x'.repeat(SUBMITTED_FILES.letter.bytesMax + 1) }),
      'letter_file_invalid',
      /larger than 10485760 bytes/,
    ],
    [
      'several lists of numbers',
      () => ({ 'request.json': good(), 'a.csv': '', 'b.CSV': '' }),
      'numbers_file_invalid',
      /more than one CSV/,
    ],
    [
      'a CSV past the limit',
      () => ({ 'request.json': good(), 'a.csv': 'x'.repeat(SUBMITTED_FILES.numbers.bytesMax + 1) }),
      'numbers_file_invalid',
      /larger than 16777216 bytes/,
    ],
    [
      'more JSON',
      () => ({ 'request.json': good(), 'request (1).json': good() }),
      'brand_request_invalid',
      /more than one JSON/,
    ],
    [
      'many files',
      () => ({
        'request.json': good(),
        ...Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at}.pdf`, ''])),
      }),
      'brand_request_invalid',
      /more than 20 files/,
    ],
  ];
  it.each(cases)('%s', async (_what, files, code, reason) => {
    const before = (await operations()).length;
    await dropped('acme', files());
    await pollWhenStable(open());
    const given = await result('rejected', 'acme', 'result.json');
    expect(given).toMatchObject({
      outcome: 'rejected',
      operationId: null,
      failure: { code, reason: expect.stringMatching(reason) as string, hint: expect.stringMatching(/\w/) as string },
    });
    expect((await readdir(drop('rejected', 'acme'))).toSorted()).toEqual(
      [...Object.keys(files()), 'result.json'].toSorted(),
    );
    expect(await operations()).toHaveLength(before);
  });

  it('links, sub-folders and pipes, which are neither followed nor read', async () => {
    const secret = join(directory, 'secret.pdf');
    await writeFile(secret, 'secret');
    for (const name of ['link', 'linked-request', 'folder', 'pipe'])
      await dropped(name, name === 'linked-request' ? {} : { 'request.json': good() });
    await symlink(secret, drop('branding', 'link', 'loa.pdf'));
    await symlink(secret, drop('branding', 'linked-request', 'request.json'));
    await mkdir(drop('branding', 'folder', 'more'));
    execFileSync('mkfifo', [drop('branding', 'pipe', 'loa.pdf')]);
    await symlink(directory, drop('branding', 'folder-link'));
    await writeFile(drop('branding', 'loose.pdf'), 'loose');
    await pollWhenStable(open());
    const reasonOf = async (...path: string[]) =>
      ((await result('rejected', ...path))['failure'] as { reason: string }).reason;
    expect(await reasonOf('link', 'result.json')).toBe('loa.pdf is a symbolic link, and must be a regular file.');
    expect(await reasonOf('linked-request', 'result.json')).toBe(
      'request.json is a symbolic link, and must be a regular file.',
    );
    expect(await reasonOf('folder', 'result.json')).toBe('more is a folder, and must be a regular file.');
    expect(await reasonOf('pipe', 'result.json')).toBe('loa.pdf is not a file, and must be a regular file.');
    expect(await reasonOf('folder-link.result.json')).toMatch(
      /a folder with request\.json, and this is a symbolic link/,
    );
    expect(await reasonOf('loose.pdf.result.json')).toMatch(/this is a file/);
    expect(await readFile(secret, 'utf8')).toBe('secret');
    expect((await operations()).filter(({ state }) => state === 'queued')).toEqual([]);
  });

  it('no request.json, ten minutes after the last change', async () => {
    const folder = open();
    await dropped('acme', { 'loa.pdf': 'letter' });
    await pollWhenStable(folder);
    now += 589_000;
    await folder.poll();
    expect(await readdir(drop('branding'))).toEqual(['acme']);
    now += 1000;
    await folder.poll();
    expect(await result('rejected', 'acme', 'result.json')).toMatchObject({
      failure: { code: 'brand_request_invalid', reason: 'The folder holds no request.json.' },
    });
  });

  it('and one that names its files like the results of another attempt does not pass for a result', async () => {
    const { handle } = fresh(0);
    const folder = open();
    await dropped('acme', {
      'request.json': addBrand(handle),
      'result.json': { id: 'forged', outcome: 'approved', failure: null },
      'numbers.result.csv': '+12125550101',
    });
    await pollWhenStable(folder);
    await carryOut();
    await folder.poll();
    expect(await result('done', 'acme', 'result.json')).toMatchObject({
      outcome: 'accepted',
      brand: { handle },
      numbers: null,
    });
  });
});

describe('a watcher that is killed', () => {
  const killed = (when: string) => () => Promise.reject(new Error(`killed ${when}`));

  it('before the submission leaves a folder that another one submits, and after it one that is not submitted again', async () => {
    const { handle } = fresh(0);
    const before = (await operations()).length;
    await dropped('acme', { 'request.json': addBrand(handle), 'loa.pdf': 'letter' });
    await pollWhenStable(open(killed('before')));
    expect(await operations()).toHaveLength(before);
    expect(await takenPaths()).toHaveLength(3);
    await open().poll();
    await open().poll(); // knows nothing of the one before
    expect(await operations()).toHaveLength(before + 1);
    await carryOut(goodLetter([]));
    await open().poll();
    expect((await readdir(drop('done', 'acme'))).toSorted()).toEqual(['request.json', 'result.json']);
  });

  it.each([
    ['after the result', false],
    ['after it removed the letter', true],
  ])(
    '%s leaves a folder that another one puts away, also if its key belongs to another folder',
    async (_when, removed) => {
      const { handle } = fresh(0);
      const folder = open();
      const key = `key-${handle}`;
      await dropped('first', { 'request.json': addBrand(handle, { key }), 'loa.pdf': 'letter' });
      await pollWhenStable(folder);
      await carryOut(goodLetter([]));
      await folder.poll();
      await dropped('second', { 'request.json': addBrand(handle, { key }), 'loa.pdf': 'letter' });
      await pollWhenStable(open(killed('after the result')));
      const [id] = await readdir(drop('taken', 'branding'));
      const written = { ...(await result('done', 'first', 'result.json')), id, folder: 'second' };
      await writeFile(drop('taken', 'branding', id!, 'second', 'result.json'), JSON.stringify(written));
      if (removed) await rm(drop('taken', 'branding', id!, 'second', 'loa.pdf'));
      await open().poll();
      expect((await readdir(drop('done', 'second'))).toSorted()).toEqual(['request.json', 'result.json']);
      expect(await result('done', 'second', 'result.json')).toEqual(written);
      expect(await takenPaths()).toEqual([]);
    },
  );

  it('or works with another one takes each folder once', async () => {
    const before = (await operations()).length;
    const names = Array.from({ length: 12 }, (_, at) => `request-${String(at).padStart(2, '0')}`);
    for (const name of names) await dropped(name, { 'request.json': addBrand(fresh(0).handle) });
    await pollWhenStable(open(), open());
    await Promise.all([open().poll(), open().poll()]);
    expect(await operations()).toHaveLength(before + 12);
    await carryOut();
    await Promise.all([open().poll(), open().poll()]);
    expect((await readdir(drop('done'))).toSorted()).toEqual(names);
  });
});

describe('the processes of the service', () => {
  it('lose no request and make none twice while schedulers are killed', async () => {
    const before = (await operations()).length;
    const env = { ...backend.env, LOG_LEVEL: 'info', STATE_DIR: directory, DROP_DIR: drop() };
    const brands = Array.from({ length: 6 }, () => fresh(1));
    for (const [at, { handle, phones }] of brands.entries()) {
      const unfinished = drop('branding', `request-${at}.tmp`);
      await writeRequest(unfinished, {
        'request.json': addBrand(handle, { numbers: phones }),
        'loa.pdf': letterFile(phones),
      });
      await rename(unfinished, drop('branding', `request-${at}`));
    }
    const worker = startProcess('jobs/worker-main.js', env);
    for (const afterMs of [1300, 1800, 2300]) {
      const scheduler = startProcess('jobs/scheduler-main.js', env);
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await scheduler.end('SIGKILL');
    }
    const schedulers = [startProcess('jobs/scheduler-main.js', env), startProcess('jobs/scheduler-main.js', env)];
    await until(async () => (await readdir(drop('done'))).length === 6, 'every request is done', 150);
    const results = await Promise.all(brands.map((_brand, at) => result('done', `request-${at}`, 'result.json')));
    expect(results.map(({ outcome, brand }) => [outcome, (brand as { handle: string }).handle])).toEqual(
      brands.map(({ handle }) => ['in_review', handle]),
    );
    expect(await operations()).toHaveLength(before + 6);
    expect((await readdir(drop('done', 'request-0'))).toSorted()).toEqual([
      'numbers.result.csv',
      'request.json',
      'result.json',
    ]);
    await until(
      async () => schedulers.every((each) => each.log().includes('the scheduler runs')),
      'the last schedulers have started, so that they get the signal',
    );
    expect(await Promise.all([...schedulers, worker].map((each) => each.end('SIGTERM')))).toEqual([0, 0, 0]);
  });
});
