import { describe, expect, it } from 'vitest';
import { listIssuedForms, revokeIssuedForm } from '../../../../pipelines/branding/requests/issued-forms.ts';
import { issueLetterForm } from '../../../../pipelines/branding/requests/letter-form.ts';
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

describe('the numbers of a form', () => {
  const form = (numbers: readonly string[], numbersFile?: string) =>
    issueLetterForm(
      { db, now: new Date() },
      {
        request: { brand: profile, numbers: [...numbers], signer },
        owner,
        language: 'en',
        issuedBy: 'test',
        numbersFile: numbersFile === undefined ? undefined : Buffer.from(numbersFile),
      },
    );

  it('may have the national form of the country of the brand', async () => {
    const phones = ['+12025550111', '+12025550112', '+442079460018'];
    expect((await form(['(202) 555-0112', '+1 202 555 0111', '+44 20 7946 0018'])).content.phones).toEqual(phones);
    expect((await form([], 'phone\n202-555-0111\n2025550112\n+442079460018\n')).content.phones).toEqual(phones);
  });

  it('are refused together, each with its place and its text', async () => {
    await expect(form(['+12025550111', '555-01', 'call me'])).rejects.toMatchObject({
      code: 'brand_request_invalid',
      problem: expect.stringMatching(/^numbers: 2 of 3 are refused\. place 2, "555-01": .+ place 3, "call me": .+/),
      hint: expect.stringContaining('docs/letter-forms.md'),
    });
    await expect(form([], 'phone\n+12025550111\n12\n')).rejects.toMatchObject({
      problem: expect.stringMatching(/^numbers: 1 of 2 are refused\. line 3, "12": /),
    });
  });
});

describe('an issued form', () => {
  const handle = 'northwind-revoked';
  const request = { handle, brand: profile, numbers: ['+12025550121'] };
  const issued = (limit = 10) => listIssuedForms(db, { handle, limit });

  it('is listed, newest first, with the letter that it came back as', async () => {
    await issueLetterForm(
      { db, now: new Date() },
      { request: { ...request, signer }, owner, language: 'de', issuedBy: 'test' },
    );
    await ask(db, 'add_managed_brand', request, { letter: signedForm(request.numbers) });
    expect(await issued()).toMatchObject([
      { handle, owner, numbers: 1, language: 'en', letterId: expect.any(Number), revokedAt: null },
      { handle, displayName: profile.displayName, language: 'de', letterId: null },
    ]);
    expect(await listIssuedForms(db, { handle, owners: ['Somebody Else'], limit: 1 })).toEqual([]);
  });

  it('that was revoked is no letter that rules approve, and is revoked once', async () => {
    const by = { actor: 'test', reason: 'Wrong signer' };
    const phones = ['+12025550122'];
    const revoking = async () => {
      const [newest] = await issued(1);
      await revokeIssuedForm(db, { formId: newest!.formId, ...by });
      return newest!.formId;
    };
    const result = await ask(
      db,
      'add_phone_number',
      { handle, numbers: phones },
      { letter: signedForm(phones), beforeSubmission: async () => void (await revoking()) },
    );
    expect(result.letter).toMatchObject({
      state: 'in_review',
      findings: expect.arrayContaining([
        expect.objectContaining({ code: 'form_issued', message: expect.stringContaining('was revoked') }),
      ]),
    });
    const [{ formId, revokedReason } = { formId: 0, revokedReason: null }] = await issued(1);
    expect(revokedReason).toBe('Wrong signer');
    await expect(revokeIssuedForm(db, { formId, ...by })).rejects.toMatchObject({ code: 'form_revoked' });
    await expect(revokeIssuedForm(db, { formId, owners: ['Somebody Else'], ...by })).rejects.toMatchObject({
      code: 'form_unknown',
    });
  });
});
