import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { brandNumberListSchema } from '../../api/reads/branding-schemas.ts';
import { numberSchema } from '../../api/reads/number-schemas.ts';
import { verificationDetailSchema } from '../../api/reads/verification-schemas.ts';
import { API_ERROR_CODES } from '../../api/http/error-codes.ts';
import { ERRORS, type ErrorCode } from '../../runtime/errors.ts';
import { childEnvironment } from '../../runtime/config.ts';
import { useTestDatabase } from '../support/database.ts';
import { inventedRows, PublishedHistory } from '../support/segmented-artefacts.ts';
import { addBrand, addLetter, addNumbers } from './support/brands.ts';
import { useTestApi } from './support/running-api.ts';
import { addBatch, addItems } from './support/verifications.ts';

const database = await useTestDatabase();
const { url, makeKey, publish, store } = await useTestApi(database);
const { key, client } = await makeKey(['caches:read', 'numbers:read', 'branding:read', 'verifications:read']);
const directory = await mkdtemp(join(tmpdir(), 'caller-trust-docs-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const text = await readFile(join(import.meta.dirname, '../../docs/api.md'), 'utf8');
const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, script]) => script ?? '');

it('runs every example of docs/api.md, in the order of the page', async () => {
  const phones = new PublishedHistory({ db: database.db, store, artefact: { cache: 'phones', country: 'US' } });
  for (const rows of [900, 905]) await phones.publish(inventedRows(rows, () => 'SPAM\t1\t\t\t\t'));
  const spammers = new PublishedHistory({ db: database.db, store, artefact: { cache: 'spammer_phones', country: '' } });
  await spammers.publish(inventedRows(300));
  await publish({ cache: 'branded_phones' });
  const brandId = await addBrand(database.db, { handle: 'northwind-dental', owner: client });
  await addNumbers(database.db, brandId, { from: 1, to: 600 });
  await addLetter(database.db, {
    brandId,
    owner: client,
    state: 'rejected',
    validUntil: null,
    findings: [
      { code: 'signed', severity: 'reject', message: 'No signature was found. Sign the letter.', page: 1, line: null },
    ],
  });
  const batch = await addBatch(database.db, { owner: client });
  await addItems(database.db, batch, { from: 1, to: 3 });
  expect(blocks.length).toBeGreaterThan(8);
  for (const block of blocks) {
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block], {
      cwd: directory,
      env: childEnvironment({ URL: url, KEY: key }),
    }).catch((error: { stdout: string; stderr: string }) => {
      throw new Error(`${block}\n${error.stdout}\n${error.stderr}`);
    });
  }
  const pages = (await readFile(join(directory, 'numbers.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => brandNumberListSchema.parse(JSON.parse(line)));
  expect(pages.map(({ numbers }) => numbers.length)).toEqual([500, 100]);
});

it('shows an answer in the form that it has', () => {
  const examples = [...text.matchAll(/^```json\n([^]*?)^```$/gm)].map(
    ([, example]) => JSON.parse(example ?? '') as unknown,
  );
  const schemas = [numberSchema, brandNumberListSchema, verificationDetailSchema];
  expect(examples).toHaveLength(schemas.length);
  for (const [at, schema] of schemas.entries()) expect(schema.strict().parse(examples[at])).toEqual(examples[at]);
});

it('names each code that the API answers with, with the status that it has', () => {
  const rows = [...text.matchAll(/^\| (\d{3}) \| (`.*?`) \|/gm)];
  const named = rows.flatMap(([, status, codes]) =>
    [...codes!.matchAll(/`(\w+)`/g)].map(([, code]) => [code as ErrorCode, Number(status)] as const),
  );
  for (const [code, status] of named) expect(ERRORS[code].http, code).toBe(status);
  expect(named.map(([code]) => code).toSorted()).toEqual([...API_ERROR_CODES].toSorted());
});
