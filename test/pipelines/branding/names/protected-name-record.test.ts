import { describe, expect, it } from 'vitest';
import {
  addProtectedName,
  listOwnProtectedNames,
  protectedNameCharactersMax,
  readProtectedNames,
  removeProtectedName,
} from '../../../../pipelines/branding/names/protected-name-record.ts';
import { nearProtectedName } from '../../../../pipelines/branding/names/protected-names.ts';
import { ask, goodLetter, profile } from '../../../support/branding.ts';
import { useTestDatabase } from '../../../support/database.ts';

const { db } = await useTestDatabase();
const entry = { db, category: 'bank', country: 'US', common: false, reason: 'Ticket 1', actor: 'cli ada' } as const;

describe('a name that an operator protects', () => {
  it('is compared with names from then on, until it is removed, and both are kept with who and why', async () => {
    await addProtectedName({ ...entry, name: 'Skellbrook Savings' });
    expect(nearProtectedName('Ske11brook Savings Support', await readProtectedNames(db))).toMatchObject({
      name: 'Skellbrook Savings',
      category: 'bank',
      country: 'US',
    });
    await removeProtectedName({ db, name: 'SKELLBROOK savings', reason: 'Ticket 2', actor: 'cli bob' });
    expect(nearProtectedName('Skellbrook Savings', await readProtectedNames(db))).toBe(null);
    expect(await listOwnProtectedNames(db)).toEqual([]);
    expect(await listOwnProtectedNames(db, { all: true })).toMatchObject([
      {
        name: 'Skellbrook Savings',
        addedBy: 'cli ada',
        reason: 'Ticket 1',
        removed: { by: 'cli bob', reason: 'Ticket 2' },
      },
    ]);
  });

  it('is protected once, and again after it was removed', async () => {
    await addProtectedName({ ...entry, name: 'Brackett Müller' });
    await expect(addProtectedName({ ...entry, name: 'brackett muller' })).rejects.toMatchObject({
      code: 'protected_name_exists',
    });
    await removeProtectedName({ ...entry, name: 'Brackett Müller' });
    await expect(removeProtectedName({ ...entry, name: 'Brackett Müller' })).rejects.toMatchObject({
      code: 'protected_name_unknown',
    });
    await addProtectedName({ ...entry, name: 'Brackett Müller' });
  });

  it.each(['', '--', 'x', 'x'.repeat(protectedNameCharactersMax + 1)])('may not be %j', async (name) => {
    await expect(addProtectedName({ ...entry, name })).rejects.toMatchObject({ code: 'protected_name_invalid' });
  });

  it('needs a reason', async () => {
    await addProtectedName({ ...entry, name: 'x'.repeat(protectedNameCharactersMax) });
    await expect(addProtectedName({ ...entry, name: 'Thornquill', reason: ' ' })).rejects.toMatchObject({
      code: 'reason_required',
    });
  });

  it('stays in the database as it was: entries are neither deleted nor changed', async () => {
    await addProtectedName({ ...entry, name: 'Thornquill' });
    await expect(db.query('DELETE FROM protected_name')).rejects.toThrow('only added, and removed once');
    await expect(db.query("UPDATE protected_name SET reason = 'other' WHERE name = 'Thornquill'")).rejects.toThrow(
      'only added, and removed once',
    );
  });

  it('sends a brand of that name to a person although its letter is good', async () => {
    await addProtectedName({ ...entry, name: 'Northwind' });
    const phones = ['+12125550971'];
    const result = await ask(
      db,
      'add_managed_brand',
      { handle: 'near-northwind', brand: profile, numbers: phones },
      { letter: goodLetter(phones) },
    );
    expect(result).toMatchObject({
      outcome: 'in_review',
      brand: {
        state: 'in_review',
        findings: expect.arrayContaining([
          expect.objectContaining({
            code: 'name_not_protected',
            severity: 'review',
            message: expect.stringContaining('the protected name Northwind (bank)') as string,
          }),
        ]) as unknown,
      },
    });
  });
});
