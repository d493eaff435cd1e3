import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readLetterRecord } from '../../../../pipelines/branding/brand/brand-record.ts';
import {
  decideLetterText,
  type LetterTextFacts,
} from '../../../../pipelines/branding/decision/letter-text-decision.ts';
import { approveProvenLetters } from '../../../../pipelines/branding/proof/letter-proof.ts';
import { lockBrand } from '../../../../pipelines/branding/brand/locked-brand.ts';
import { submitOperation } from '../../../../pipelines/branding/operation.ts';
import { runOperation } from '../../../../pipelines/branding/requests/run-operation.ts';
import { settleBrand } from '../../../../pipelines/branding/brand/settle.ts';
import { inTransaction } from '../../../../runtime/postgres.ts';
import {
  ask,
  fresh,
  goodLetter,
  operationSettings,
  owner,
  profile,
  signedForm,
  testVault,
} from '../../../support/branding.ts';
import { useTestDatabase } from '../../../support/database.ts';

const { db } = await useTestDatabase();

async function submit(
  handle: string,
  phones: readonly string[],
  kind: 'add_managed_brand' | 'update_managed_brand' = 'add_managed_brand',
): Promise<number> {
  const request = kind === 'add_managed_brand' ? { handle, brand: profile, numbers: [...phones] } : { handle };
  return (
    await submitOperation(
      { db, vault: testVault },
      { kind, request, owner, key: randomBytes(8).toString('hex'), requestedBy: 'test', letter: Buffer.from('letter') },
    )
  ).operationId;
}

/** The state of a proof once every code was given back. */
async function prove(handle: string, phones: readonly string[]): Promise<void> {
  const { rows } = await db.query<{ proof_id: number }>(
    `INSERT INTO number_proof (brand_id, state, language, requested_by, ended_at, valid_until)
     SELECT brand_id, 'proven', 'en', 'test', clock_timestamp(), clock_timestamp() + interval '1 day' FROM brand WHERE handle = $1 RETURNING proof_id`,
    [handle],
  );
  await db.query('INSERT INTO number_proof_member (proof_id, phone) SELECT $1, unnest($2::text[])', [
    rows[0]!.proof_id,
    phones,
  ]);
}

describe('the text of a letter', () => {
  it('is decided once, while the lock of the brand is free', async () => {
    const { handle, phones } = fresh(1);
    await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones });
    const operationId = await submit(handle, phones, 'update_managed_brand');
    let decisions = 0;
    const decideText = async (facts: LetterTextFacts) => {
      decisions += 1;
      await inTransaction(db, async (client) => {
        await client.query("SET LOCAL lock_timeout = '2s'");
        await lockBrand(client, handle, null); // fails if the operation held it
      });
      return decideLetterText(facts);
    };
    const result = await runOperation({
      db,
      operationId,
      ...operationSettings,
      decideText,
      readLetter: async () => goodLetter(phones),
    });
    expect([result.outcome, decisions]).toEqual(['in_review', 1]);
  });

  it('is decided again, without the lock, when the brand has changed meanwhile', async () => {
    const { handle, phones } = fresh(1);
    await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones });
    const operationId = await submit(handle, phones, 'update_managed_brand');
    const names: string[] = [];
    const decideText = async (facts: LetterTextFacts) => {
      names.push(facts.brand.displayName);
      if (names.length === 1)
        await ask(db, 'update_managed_brand', { handle, changes: { displayName: 'Dental Northwind' } });
      return decideLetterText(facts);
    };
    await runOperation({
      db,
      operationId,
      ...operationSettings,
      decideText,
      readLetter: async () => goodLetter(phones),
    });
    expect(names).toEqual(['Northwind Dental', 'Dental Northwind']);
    const { rows } = await db.query('SELECT count(*) AS letters FROM letter WHERE operation_id = $1', [operationId]);
    expect(rows).toEqual([{ letters: 1 }]);
  });
});

describe('a form that waits for the proof of its numbers', () => {
  it('is approved when the last one is proven, without being read again, and a free letter is not', async () => {
    const { handle, phones } = fresh(2);
    const result = await ask(
      db,
      'add_managed_brand',
      { handle, brand: profile, numbers: phones },
      { letter: signedForm(phones), policy: 'signature+numbers' },
    );
    expect(result).toMatchObject({ outcome: 'in_review', letter: { state: 'in_review' } });
    const free = fresh(1);
    await ask(
      db,
      'add_managed_brand',
      { handle: free.handle, brand: profile, numbers: free.phones },
      { letter: goodLetter(free.phones), policy: 'form+numbers' },
    );
    const approve = (of: string) =>
      inTransaction(db, async (client) => {
        const brand = await lockBrand(client, of, null);
        const letters = await approveProvenLetters(client, {
          brandId: brand.brandId,
          policy: 'signature+numbers',
          at: new Date(),
        });
        await settleBrand(client, brand.brandId, {
          at: new Date(),
          cause: { actor: 'test', reason: 'proven', operationId: null },
        });
        return letters;
      });
    await prove(handle, phones.slice(0, 1));
    expect(await approve(handle)).toEqual([]);
    await prove(handle, phones.slice(1));
    expect(await approve(handle)).toEqual([result.letter!.letterId]);
    expect(await readLetterRecord(db, result.letter!.letterId)).toMatchObject({
      state: 'approved',
      decidedBy: result.letter!.ruleVersion,
      handle,
    });
    await prove(free.handle, free.phones);
    expect(await approve(free.handle)).toEqual([]);
  });
});
