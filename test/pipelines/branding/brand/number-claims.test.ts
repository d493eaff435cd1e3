import { describe, expect, it } from 'vitest';
import { readBrand } from '../../../../pipelines/branding/brand/brand-record.ts';
import { listRivalClaims } from '../../../../pipelines/branding/brand/number-claims.ts';
import { decideLetterByPerson } from '../../../../pipelines/branding/brand/person-actions.ts';
import { ask, eyes, fresh, letterForReview, profile, signedForm, type AskOptions } from '../../../support/branding.ts';
import { useTestDatabase } from '../../../support/database.ts';

const { db } = await useTestDatabase();
const by = { actor: 'a person', reason: 'because', eyes };

/** Adds a brand with numbers, each brand for an owner of its own. */
async function claim(phones: readonly string[], options: AskOptions = {}) {
  const { handle } = fresh(0);
  const asked = { owner: `owner of ${handle}`, ...options };
  return { handle, ...(await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: [...phones] }, asked)) };
}

const rivalsOf = async (handle: string) =>
  (await listRivalClaims(db, handle)).map(({ handle: of, numbers, live }) => ({ of, numbers, live }));
const numbersOf = async (handle: string) => (await readBrand(db, handle)).numbers;
const rivalFinding = (severity: string) => expect.objectContaining({ code: 'numbers_claimed_once', severity });

describe('a number that a brand without a letter has claimed', () => {
  it('is verified for the brand that comes with a signed form, and is lost to the other one', async () => {
    const { phones } = fresh(3);
    const draft = await claim(phones);
    expect(draft).toMatchObject({ outcome: 'accepted', numbers: { states: { submitted: 3 } } });
    const honest = await claim(phones, { letter: signedForm(phones) });
    expect(honest).toMatchObject({
      outcome: 'approved',
      letter: { findings: expect.arrayContaining([rivalFinding('pass')]) },
      numbers: { accepted: 3, states: { verified: 3 } },
    });
    const late = await ask(
      db,
      'update_managed_brand',
      { handle: draft.handle, changes: {} },
      { letter: signedForm(phones), owner: `owner of ${draft.handle}` },
    );
    expect(late).toMatchObject({ brand: { state: 'approved' } });
    expect([await numbersOf(draft.handle), await numbersOf(honest.handle)]).toEqual([
      { unsuccessful: 3 },
      { verified: 3 },
    ]);
    const { rows } = await db.query<{ brand_handle: string }>(
      'SELECT DISTINCT brand_handle FROM branded_number WHERE phone = ANY ($1)',
      [phones],
    );
    expect(rows).toEqual([{ brand_handle: honest.handle }]);
  });

  it('does not stand against others while that brand waits for a person with a letter of other numbers', async () => {
    const { phones } = fresh(2);
    const waiting = await claim(phones.slice(0, 1), { letter: letterForReview(phones.slice(0, 1)) });
    const more = { handle: waiting.handle, numbers: phones.slice(1) };
    expect(await ask(db, 'add_phone_number', more, { owner: `owner of ${waiting.handle}` })).toMatchObject({
      numbers: { states: { submitted: 1 } },
    });
    expect(await claim(phones.slice(1), { letter: signedForm(phones.slice(1)) })).toMatchObject({
      outcome: 'approved',
    });
  });

  it('ends no proof of the brand that answers it', async () => {
    const { phones } = fresh(1);
    const honest = await claim(phones);
    await db.query(
      `WITH proof AS (
         INSERT INTO number_proof (brand_id, state, language, requested_by, ended_at, valid_until)
         SELECT brand_id, 'proven', 'en', 'test', clock_timestamp(), clock_timestamp() + interval '1 day' FROM brand WHERE handle = $1 RETURNING proof_id)
       INSERT INTO number_proof_member (proof_id, phone) SELECT proof_id, unnest($2::text[]) FROM proof`,
      [honest.handle, phones],
    );
    await claim(phones);
    const proven = { handle: honest.handle, changes: {} };
    expect(
      await ask(db, 'update_managed_brand', proven, {
        owner: `owner of ${honest.handle}`,
        letter: signedForm(phones),
        policy: 'signature+numbers',
      }),
    ).toMatchObject({ outcome: 'approved' });
  });
});

describe('a number that two brands claim with letters', () => {
  it('goes to a person, who sees each beside the other, and belongs to the one that is approved first', async () => {
    const { phones } = fresh(3);
    const first = await claim(phones.slice(0, 2), { letter: letterForReview(phones.slice(0, 2)) });
    const second = await claim(phones.slice(1), { letter: signedForm(phones.slice(1)) });
    expect(second).toMatchObject({
      outcome: 'in_review',
      letter: {
        state: 'in_review',
        findings: expect.arrayContaining([
          expect.objectContaining({
            code: 'numbers_claimed_once',
            severity: 'review',
            message: expect.stringContaining('claims 1 of 2 numbers too'),
          }),
        ]),
      },
      numbers: { accepted: 2, states: { in_review: 2 } },
    });
    expect([await rivalsOf(first.handle), await rivalsOf(second.handle)]).toEqual([
      [{ of: second.handle, numbers: 1, live: 0 }],
      [{ of: first.handle, numbers: 1, live: 0 }],
    ]);
    await decideLetterByPerson({ db, letterId: second.letter!.letterId, approve: true, ...by });
    expect(await numbersOf(second.handle)).toEqual({ verified: 2 });
    expect(await rivalsOf(first.handle)).toEqual([{ of: second.handle, numbers: 1, live: 1 }]);
    await decideLetterByPerson({ db, letterId: first.letter!.letterId, approve: true, ...by });
    expect(await numbersOf(first.handle)).toEqual({ verified: 1, unsuccessful: 1 });
  });

  it('goes to a person also where a form names it and it was claimed before the form came', async () => {
    const { phones } = fresh(1);
    const draft = await claim(phones);
    await claim(phones, { letter: letterForReview(phones) });
    const form = { handle: draft.handle, changes: {} };
    expect(
      await ask(db, 'update_managed_brand', form, { owner: `owner of ${draft.handle}`, letter: signedForm(phones) }),
    ).toMatchObject({ outcome: 'in_review', letter: { findings: expect.arrayContaining([rivalFinding('review')]) } });
  });

  it('is verified for one of them where both come with a signed form at a time', async () => {
    for (let round = 0; round < 5; round++) {
      const { phones } = fresh(2);
      const brands = await Promise.all([
        claim(phones, { letter: signedForm(phones) }),
        claim(phones.toReversed(), { letter: signedForm(phones) }),
      ]);
      const verified = await Promise.all(brands.map(async ({ handle }) => (await numbersOf(handle)).verified ?? 0));
      expect(verified.toSorted()).toEqual([0, 2]);
      expect(brands.map(({ outcome }) => outcome).toSorted()).toEqual(['approved', 'rejected']);
    }
  });
});

describe('requests of one brand at a time', () => {
  it('are done one after another, each by what the one before has left', async () => {
    const { phones } = fresh(8);
    const { handle } = await claim(phones.slice(0, 2), { letter: signedForm(phones.slice(0, 2)) });
    const options = { owner: `owner of ${handle}` };
    const results = await Promise.all(
      [1, 2, 3].flatMap((each) => [
        ask(
          db,
          'update_managed_brand',
          { handle, changes: { contact: { name: `Jane ${each}`, email: 'jane@northwind.example' } } },
          options,
        ),
        ask(
          db,
          'add_phone_number',
          { handle, numbers: phones.slice(2 * each, 2 * each + 2) },
          { ...options, letter: signedForm(phones.slice(2 * each, 2 * each + 2)) },
        ),
      ]),
    );
    expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'approved'));
    expect(await readBrand(db, handle)).toMatchObject({ approvedRevision: 4, numbers: { verified: 8 } });
  });
});

describe('the numbers of one owner that wait', () => {
  it('are as many as the limit over all its brands, and not one more, but for those of a form that rules approve', async () => {
    const { phones } = fresh(4);
    const limited = { owner: 'an owner with a limit', numbersWaitingMax: 2 };
    const first = await claim(phones.slice(0, 1), limited);
    await expect(claim(phones.slice(1, 3), limited)).rejects.toMatchObject({
      code: 'numbers_waiting_too_many',
      problem: expect.stringContaining('1 numbers of this owner wait'),
    });
    expect(await claim(phones.slice(1, 2), limited)).toMatchObject({ numbers: { accepted: 1 } });
    await expect(
      ask(db, 'add_phone_number', { handle: first.handle, numbers: phones.slice(2, 3) }, limited),
    ).rejects.toMatchObject({ code: 'numbers_waiting_too_many' });
    expect(await claim(phones.slice(2), { ...limited, letter: signedForm(phones.slice(2)) })).toMatchObject({
      outcome: 'approved',
    });
    expect(await claim(phones.slice(2, 3), { numbersWaitingMax: 1 })).toMatchObject({ outcome: 'rejected' });
  });
});
