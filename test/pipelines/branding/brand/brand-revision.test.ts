import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readBrand } from '../../../../pipelines/branding/brand/brand-record.ts';
import { checkNames, isNameCheckCurrent } from '../../../../pipelines/branding/brand/brand-revision.ts';
import { brandProfileSchema } from '../../../../pipelines/branding/brand-profile.ts';
import {
  decideLetterText,
  type LetterTextFacts,
} from '../../../../pipelines/branding/decision/letter-text-decision.ts';
import { addProtectedName } from '../../../../pipelines/branding/names/protected-name-record.ts';
import { submitOperation } from '../../../../pipelines/branding/operation.ts';
import { runOperation } from '../../../../pipelines/branding/requests/run-operation.ts';
import { fresh, goodLetter, operationSettings, owner, profile, testVault } from '../../../support/branding.ts';
import { useTestDatabase } from '../../../support/database.ts';

const { db } = await useTestDatabase();

const protect = (name: string) =>
  addProtectedName({
    db,
    name,
    category: 'brand',
    country: null,
    common: false,
    reason: 'Asked by its owner.',
    actor: 'test',
  });

describe('the names of a brand', () => {
  it('are checked again if a name was protected between the check and the lock of changes', async () => {
    const { handle, phones } = fresh(1);
    const brand = { ...profile, legalName: 'Quillmarsh Fenwick LLC', displayName: 'Quillmarsh Fenwick' };
    const submission = {
      kind: 'add_managed_brand',
      request: { handle, brand, numbers: phones },
      owner,
      key: randomBytes(8).toString('hex'),
      requestedBy: 'test',
      letter: Buffer.from('letter'),
    } as const;
    const { operationId } = await submitOperation({ db, vault: testVault }, submission);
    let decisions = 0;
    const decideText = async (facts: LetterTextFacts) => {
      decisions += 1;
      if (decisions === 1) await protect('Quillmarsh'); // the names are checked by then
      return decideLetterText(facts);
    };
    await runOperation({
      db,
      operationId,
      ...operationSettings,
      decideText,
      readLetter: async () => goodLetter(phones, { brand: brand.legalName }),
    });
    const { findings } = await readBrand(db, handle);
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'name_not_protected',
        severity: 'review',
        message: expect.stringContaining('Quillmarsh'),
      }),
    );
    expect(decisions).toBe(2);
  });

  it('need no other check while they and the protected names are the same', async () => {
    const brand = brandProfileSchema.parse({ ...profile, legalName: 'Tarn & Hollis Ltd', displayName: 'Tarn Hollis' });
    const checked = await checkNames(db, brand);
    expect(new Set(checked.findings.map(({ severity }) => severity))).toEqual(new Set(['pass']));
    expect(await isNameCheckCurrent(db, checked, { ...brand, relationship: 'agency' })).toBe(true);
    for (const field of ['displayName', 'legalName', 'dba', 'website'] as const)
      expect(await isNameCheckCurrent(db, checked, { ...brand, [field]: 'Tarn' })).toBe(false);
    await protect('Zebulon Parcels');
    expect(await isNameCheckCurrent(db, checked, brand)).toBe(false);
  });
});
