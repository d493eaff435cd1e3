import { describe, expect, it } from 'vitest';
import { findBrand, listLetters, listNumbers, readBrand, readLetter } from '../../../api/reads/brand-records.ts';
import { expireLetters } from '../../../pipelines/branding/brand/expiry.ts';
import {
  changeNumber,
  decideBrand,
  decideLetterByPerson,
  resumeBrand,
  suspendBrand,
  withdrawBrand,
  withdrawLetter,
} from '../../../pipelines/branding/brand/person-actions.ts';
import { letterRuleVersion } from '../../../pipelines/branding/letter/rules/letter-rules.ts';
import { ask, eyes, fresh, letterForReview, owner, profile, signedForm } from '../../support/branding.ts';
import { useTestDatabase } from '../../support/database.ts';

const { db } = await useTestDatabase();
const by = { actor: 'Pat Reviewer', reason: 'Checked by telephone.', eyes };
const dayMs = 86_400_000;
const nameOf = (handle: string) => ({ client: owner, handle });
const lettersOf = async (handle: string) =>
  listLetters(db, await findBrand(db, nameOf(handle)), { newest: Number.MAX_SAFE_INTEGER, rows: 10 });
const numbersOf = async (handle: string) =>
  listNumbers(db, await findBrand(db, nameOf(handle)), { state: undefined, after: '', rows: 100 });

/** The numbers whose end the API gives, and those that the caches have with theirs: the same in every state. */
async function expectEndsAsPublished(handle: string): Promise<Record<string, string | null>> {
  const shown = Object.fromEntries((await numbersOf(handle)).map(({ phone, liveUntil }) => [phone, liveUntil]));
  const { rows } = await db.query<{ phone: string; live_until: Date }>(
    'SELECT phone, live_until FROM branded_number WHERE brand_handle = $1',
    [handle],
  );
  expect(Object.fromEntries(Object.entries(shown).filter(([, end]) => end !== null))).toEqual(
    Object.fromEntries(rows.map(({ phone, live_until }) => [phone, live_until.toISOString()])),
  );
  return shown;
}

async function approvedBrand(numbers: number): Promise<{ handle: string; phones: string[]; letterId: number }> {
  const { handle, phones } = fresh(numbers);
  const result = await ask(
    db,
    'add_managed_brand',
    { handle, brand: profile, numbers: phones },
    { letter: signedForm(phones) },
  );
  expect(result.outcome).toBe('approved');
  return { handle, phones, letterId: result.letter!.letterId };
}

describe('the end of a number', () => {
  it('is that of the caches from the first letter to its expiry', async () => {
    const { handle, phones } = await approvedBrand(3);
    const shown = await expectEndsAsPublished(handle);
    expect(Object.values(shown).every((end) => end !== null)).toBe(true);
    await changeNumber({ db, handle, action: 'suspend', phone: phones[0]!, ...by });
    expect((await expectEndsAsPublished(handle))[phones[0]!]).toBeNull();
    await changeNumber({ db, handle, action: 'remove', phone: phones[1]!, ...by });
    await expectEndsAsPublished(handle);
    await expireLetters(db, new Date(Date.now() + 400 * dayMs));
    expect((await readBrand(db, nameOf(handle))).state).toBe('expired');
    await expectEndsAsPublished(handle);
  });

  it('is that of the caches while a brand is suspended, resumed and withdrawn', async () => {
    const { handle } = await approvedBrand(2);
    await suspendBrand({ db, handle, ...by });
    expect(Object.values(await expectEndsAsPublished(handle))).toEqual([null, null]);
    await resumeBrand({ db, handle, ...by });
    expect(Object.values(await expectEndsAsPublished(handle))).not.toContain(null);
    await withdrawBrand({ db, handle, ...by });
    expect(Object.values(await expectEndsAsPublished(handle))).toEqual([null, null]);
  });

  it('is that of the caches when one of two letters is withdrawn', async () => {
    const { handle, phones, letterId } = await approvedBrand(2);
    const second = await ask(db, 'update_managed_brand', { handle }, { letter: signedForm(phones.slice(0, 1)) });
    expect(second.outcome).toBe('approved');
    await expectEndsAsPublished(handle);
    await withdrawLetter({ db, letterId, ...by });
    await expectEndsAsPublished(handle);
    await withdrawLetter({ db, letterId: second.letter!.letterId, ...by });
    await expectEndsAsPublished(handle);
  });
});

describe('a letter', () => {
  it('was decided by the rules, or by a person whose name is not shown', async () => {
    const { handle: ruled } = await approvedBrand(1);
    expect(await lettersOf(ruled)).toMatchObject([
      { state: 'approved', decidedBy: 'rules', numbers: 1, ruleVersion: letterRuleVersion },
    ]);

    const { handle, phones } = fresh(1);
    const waiting = await ask(
      db,
      'add_managed_brand',
      { handle, brand: profile, numbers: phones },
      { letter: letterForReview(phones) },
    );
    const letterId = waiting.letter!.letterId;
    const [undecided] = await lettersOf(handle);
    expect(undecided).toMatchObject({
      letterId,
      state: 'in_review',
      decidedBy: null,
      decidedAt: null,
      decisionReason: null,
    });
    await decideLetterByPerson({ db, letterId, approve: true, ...by });
    const decided = await readLetter(db, await findBrand(db, nameOf(handle)), letterId);
    expect(decided).toMatchObject({ state: 'approved', decidedBy: 'person', decisionReason: 'Checked by telephone.' });
    expect(JSON.stringify(decided)).not.toMatch(/Pat Reviewer|Jane Sample/);
  });
});

describe('a pending revision', () => {
  it('is shown with the approved one, until it is decided', async () => {
    const { handle } = await approvedBrand(1);
    expect((await readBrand(db, nameOf(handle))).pendingRevision).toBeNull();
    await ask(db, 'update_managed_brand', { handle, changes: { displayName: 'Northwind Smiles' } });
    expect(await readBrand(db, nameOf(handle))).toMatchObject({
      state: 'approved',
      displayName: 'Northwind Dental',
      pendingRevision: { revision: 2, displayName: 'Northwind Smiles' },
    });
    await decideBrand({ db, handle, approve: true, ...by });
    expect(await readBrand(db, nameOf(handle))).toMatchObject({
      displayName: 'Northwind Smiles',
      pendingRevision: null,
    });
  });

  it('is none while the brand itself waits', async () => {
    const { handle } = fresh(0);
    await ask(db, 'add_managed_brand', { handle, brand: profile });
    expect(await readBrand(db, nameOf(handle))).toMatchObject({
      state: 'draft',
      displayName: 'Northwind Dental',
      pendingRevision: null,
    });
  });
});
