import { describe, expect, it } from 'vitest';
import { findIssuedForm, issueLetterForm } from '../../../../pipelines/branding/requests/letter-form.ts';
import { sql } from '../../../../sql/sql.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { ask, owner, profile, signedForm, signer } from '../../../support/branding.ts';

const { db } = await useTestDatabase();

describe('a form for numbers of an approved brand whose new name waits', () => {
  const handle = 'northwind-forms';
  const form = (numbers: readonly string[], numbersFile?: Uint8Array) =>
    issueLetterForm(
      { db, now: new Date() },
      { request: { handle, numbers: [...numbers], signer }, owner, language: 'en', issuedBy: 'test', numbersFile },
    );

  it('has the approved names, whether the numbers are named or come as a CSV', async () => {
    await ask(
      db,
      'add_managed_brand',
      { handle, brand: profile, numbers: ['+12025550101'] },
      { letter: signedForm(['+12025550101']) },
    );
    await ask(db, 'update_managed_brand', { handle, changes: { displayName: 'Northwind Smiles' } });
    const named = await form(['+12025550102']);
    const listed = await form([], Buffer.from('phone\n+12025550102\n'));
    expect([named, listed].map(({ content }) => [content.displayName, content.phones])).toEqual(
      Array(2).fill(['Northwind Dental', ['+12025550102']]),
    );
  });

  it('has the names that wait where no numbers are given', async () => {
    expect((await form([])).content.displayName).toBe('Northwind Smiles');
  });
});

describe('a form of an earlier version', () => {
  it('is known by the digest of its bytes', async () => {
    const { code, content, signaturePlace, issuedAt, validUntil } = await issueLetterForm(
      { db, now: new Date() },
      { request: { brand: profile, numbers: [], signer }, owner, language: 'de', issuedBy: 'test' },
    );
    const [earlier, sha256] = ['A'.repeat(26), 'd'.repeat(64)];
    const values = [
      earlier,
      owner,
      sha256,
      1000,
      'letter-form/1',
      'de',
      JSON.stringify(content),
      JSON.stringify(signaturePlace),
      issuedAt,
      'test',
      validUntil,
    ];
    await db.query(sql('branding/insert_issued_form'), values);
    expect(await findIssuedForm(db, { digests: [sha256], codes: [] })).toMatchObject({
      code: earlier,
      formVersion: 'letter-form/1',
      sameBytes: true,
      content,
    });
    expect(await findIssuedForm(db, { digests: [], codes: [code] })).toMatchObject({
      code,
      formVersion: 'letter-form/2',
      sameBytes: false,
    });
  });
});
