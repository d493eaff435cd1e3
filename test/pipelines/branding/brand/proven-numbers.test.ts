import { describe, expect, it } from 'vitest';
import { readBrand } from '../../../../pipelines/branding/brand/brand-record.ts';
import { changeNumber, withdrawBrand } from '../../../../pipelines/branding/brand/person-actions.ts';
import { readProvenPhones } from '../../../../pipelines/branding/brand/proven-numbers.ts';
import { eyes, ask, fresh, profile, signedForm } from '../../../support/branding.ts';
import { useTestDatabase } from '../../../support/database.ts';

const { db } = await useTestDatabase();
const by = { actor: 'another person', reason: 'because' };

async function brandWith(numbers: number): Promise<{ handle: string; phones: string[]; brandId: number }> {
  const { handle, phones } = fresh(numbers);
  await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones });
  return { handle, phones, brandId: (await readBrand(db, handle)).brandId };
}

/** The state of a proof once every code was given back. */
async function prove(brandId: number, phones: readonly string[], validity = '1 day'): Promise<void> {
  const { rows } = await db.query<{ proof_id: number }>(
    `INSERT INTO number_proof (brand_id, state, language, requested_by, ended_at, valid_until)
     VALUES ($1, 'proven', 'en', 'test', clock_timestamp(), clock_timestamp() + $2::interval) RETURNING proof_id`,
    [brandId, validity],
  );
  await db.query('INSERT INTO number_proof_member (proof_id, phone) SELECT $1, unnest($2::text[])', [
    rows[0]!.proof_id,
    phones,
  ]);
}

describe('The numbers that a brand has proven to answer', () => {
  it('are those of its own proofs, among the ones that are asked for', async () => {
    const [brand, other] = [await brandWith(3), await brandWith(1)];
    await prove(brand.brandId, brand.phones.slice(0, 2));
    expect(await readProvenPhones(db, brand.brandId, brand.phones)).toEqual(new Set(brand.phones.slice(0, 2)));
    expect(await readProvenPhones(db, brand.brandId, brand.phones.slice(1))).toEqual(new Set([brand.phones[1]]));
    expect(await readProvenPhones(db, other.brandId, brand.phones)).toEqual(new Set());
  });

  it('are proven until the validity of the proof is over', async () => {
    const { brandId, phones } = await brandWith(2);
    await prove(brandId, [phones[0]!], '-1 millisecond');
    await prove(brandId, [phones[1]!], '1 minute');
    expect(await readProvenPhones(db, brandId, phones)).toEqual(new Set([phones[1]]));
  });

  it.each(['remove', 'reject'] as const)(
    'no longer have one that left the brand by %s, also when it is back',
    async (action) => {
      const { handle, brandId, phones } = await brandWith(2);
      await prove(brandId, phones);
      await changeNumber({ db, eyes, handle, phone: phones[0]!, action, ...by });
      expect(await readProvenPhones(db, brandId, phones)).toEqual(new Set([phones[1]]));
      await ask(db, 'add_phone_number', { handle, numbers: [phones[0]!] });
      expect(await readProvenPhones(db, brandId, phones)).toEqual(new Set([phones[1]]));
    },
  );

  it('end with the brand', async () => {
    const { handle, brandId, phones } = await brandWith(1);
    await prove(brandId, phones);
    await withdrawBrand({ db, handle, ...by });
    expect(await readProvenPhones(db, brandId, phones)).toEqual(new Set());
  });

  it('no longer have one that another brand has taken, also when that one has given it back', async () => {
    const [first, second] = [await brandWith(1), await brandWith(0)];
    await prove(first.brandId, first.phones);
    // As a number is that no letter names any more: free for others, and not removed.
    await db.query("UPDATE brand_number SET state = 'expired' WHERE brand_id = $1", [first.brandId]);
    expect(await readProvenPhones(db, first.brandId, first.phones)).toEqual(new Set(first.phones));
    const numbers = { handle: second.handle, numbers: first.phones };
    await ask(db, 'add_phone_number', numbers, { letter: signedForm(first.phones) });
    expect(await readProvenPhones(db, first.brandId, first.phones)).toEqual(new Set());
    await changeNumber({ db, eyes, handle: second.handle, phone: first.phones[0]!, action: 'remove', ...by });
    expect(await readProvenPhones(db, first.brandId, first.phones)).toEqual(new Set());
  });
});
