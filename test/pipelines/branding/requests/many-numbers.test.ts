import { performance } from 'node:perf_hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { readBrand } from '../../../../pipelines/branding/brand/brand-record.ts';
import { readProvenPhones } from '../../../../pipelines/branding/brand/proven-numbers.ts';
import { listNumberProofs } from '../../../../pipelines/branding/proof/number-proof.ts';
import { suspendBrand, resumeBrand, withdrawBrand } from '../../../../pipelines/branding/brand/person-actions.ts';
import { readOperation } from '../../../../pipelines/branding/operation.ts';
import { ask, eyes, fresh, profile, signedForm } from '../../../support/branding.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { sizes } from '../../../support/run-size.ts';

const { db } = await useTestDatabase();
const by = { actor: 'a person', reason: 'because', eyes };

/** Rows that are read for each number of a request; a loop over all numbers for each of them reads as many as there are. */
const rowsANumberMax = 150;

/** E.164, of a block of its own each time. */
function manyPhones(count: number): string[] {
  const first = 2_122_000_000 + blocks++ * 1_000_000;
  return Array.from({ length: count }, (_, at) => `+1${first + at}`);
}
let blocks = 0;

const csvOf = (phones: readonly string[]) => ['phone', ...phones].join('\n');

async function rowsRead(): Promise<number> {
  await db.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await db.query<{ rows: string }>(
    'SELECT sum(seq_tup_read) + sum(coalesce(idx_tup_fetch, 0)) AS rows FROM pg_stat_user_tables',
  );
  return Number(rows[0]!.rows);
}

/** Proofs of a hundred numbers each, as if all codes had been given back. */
async function proveAll(brandId: number, phones: readonly string[]): Promise<void> {
  for (let at = 0; at < phones.length; at += 100) {
    const { rows } = await db.query<{ proof_id: number }>(
      `INSERT INTO number_proof (brand_id, state, language, requested_by, ended_at, valid_until)
       VALUES ($1, 'proven', 'en', 'test', clock_timestamp(), clock_timestamp() + interval '1 day') RETURNING proof_id`,
      [brandId],
    );
    await db.query('INSERT INTO number_proof_member (proof_id, phone) SELECT $1, unnest($2::text[])', [
      rows[0]!.proof_id,
      phones.slice(at, at + 100),
    ]);
  }
}

/** Until the statement of a running request that names its numbers is seen, so that the request is under way. */
async function untilUnderWay(isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    const { rows } = await db.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%brand_number%'",
    );
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('the request ended before it was seen');
}

describe('a request of many numbers, after the tables were analysed while they had few', () => {
  beforeAll(async () => {
    for (let brand = 0; brand < 3; brand++) {
      const { handle, phones } = fresh(20);
      await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones }, { letter: signedForm(phones) });
    }
    await db.query('ANALYZE');
  });

  it('reads each number some times, and no statement reads all of them for each', async () => {
    const phones = manyPhones(sizes.requestNumbers);
    const { handle } = fresh(0);
    const before = await rowsRead();
    const startedAt = performance.now();
    const result = await ask(
      db,
      'add_managed_brand',
      { handle, brand: profile },
      { letter: signedForm(phones), numbersFile: csvOf(phones) },
    );
    expect(result).toMatchObject({ outcome: 'approved', numbers: { states: { verified: phones.length } } });
    const seconds = (performance.now() - startedAt) / 1000;
    expect((await rowsRead()) - before, `${seconds} s`).toBeLessThan(phones.length * rowsANumberMax);
    const { brandId } = await readBrand(db, handle);
    await proveAll(brandId, phones);
    for (const step of [
      () => readProvenPhones(db, brandId, phones),
      () => listNumberProofs(db, brandId, {}),
      () => suspendBrand({ db, handle, ...by }),
      () => resumeBrand({ db, handle, ...by }),
      () => ask(db, 'update_managed_brand', { handle, changes: { website: 'https://www.northwind.example' } }),
      () => withdrawBrand({ db, handle, ...by }),
    ]) {
      const from = await rowsRead();
      await step();
      expect((await rowsRead()) - from).toBeLessThan(phones.length * rowsANumberMax);
    }
    expect(await readBrand(db, handle)).toMatchObject({ numbers: { removed: phones.length } });
  });

  it('holds up no request of another brand', async () => {
    const phones = manyPhones(sizes.requestNumbers);
    const { handle } = fresh(0);
    let isDone = false;
    const many = ask(
      db,
      'add_managed_brand',
      { handle, brand: profile },
      { letter: signedForm(phones), numbersFile: csvOf(phones) },
    ).finally(() => {
      isDone = true;
    });
    await untilUnderWay(() => isDone);
    const one = fresh(1);
    const small = await ask(
      db,
      'add_managed_brand',
      { handle: one.handle, brand: profile, numbers: one.phones },
      { letter: signedForm(one.phones) },
    );
    expect([small.outcome, isDone]).toEqual(['approved', false]);
    expect(await many).toMatchObject({ outcome: 'approved' });
  });

  it('ends soon when it is stopped, leaves nothing, and does all of it when it runs again', async () => {
    const phones = manyPhones(sizes.requestNumbers);
    const { handle } = fresh(0);
    const stop = new AbortController();
    const key = `stopped ${handle}`.replaceAll(' ', '-');
    const request = () =>
      ask(
        db,
        'add_managed_brand',
        { handle, brand: profile },
        { numbersFile: csvOf(phones), key, signal: stop.signal },
      );
    const stopped = expect(request()).rejects.toMatchObject({ code: 'interrupted' });
    await untilUnderWay(() => false);
    stop.abort();
    await stopped;
    const { rows } = await db.query<{ operation_id: number }>(
      'SELECT operation_id FROM branding_operation WHERE idempotency_key = $1',
      [key],
    );
    expect(await readOperation(db, Number(rows[0]!.operation_id))).toMatchObject({ state: 'queued' });
    await expect(readBrand(db, handle)).rejects.toMatchObject({ code: 'brand_unknown' });
    const again = await ask(db, 'add_managed_brand', { handle, brand: profile }, { numbersFile: csvOf(phones), key });
    expect(again).toMatchObject({ outcome: 'accepted', numbers: { accepted: phones.length } });
  });
});
