import { describe, expect, it } from 'vitest';
import { listEvents, readBrand, readLetterRecord } from '../../../../pipelines/branding/brand/brand-record.ts';
import { letterRuleVersion } from '../../../../pipelines/branding/letter/rules/letter-rules.ts';
import { openDocument } from '../../../../pipelines/branding/document-store.ts';
import { destroyOldDocuments, expireLetters } from '../../../../pipelines/branding/brand/expiry.ts';
import {
  listOperationRows,
  readOperation,
  submitOperation,
  type OperationKind,
  type OperationRequest,
  type Submission,
} from '../../../../pipelines/branding/operation.ts';
import { runOperation } from '../../../../pipelines/branding/requests/run-operation.ts';
import {
  changeNumber,
  decideBrand,
  decideLetterByPerson,
  deleteLetterDocument,
  resumeBrand,
  suspendBrand,
  withdrawBrand,
  withdrawLetter,
} from '../../../../pipelines/branding/brand/person-actions.ts';
import {
  ask,
  eyes,
  fresh,
  goodLetter,
  letterForReview,
  operationSettings,
  owner,
  profile,
  signedForm,
  testVault,
  type AskOptions,
} from '../../../support/branding.ts';
import { useTestDatabase } from '../../../support/database.ts';

const { db } = await useTestDatabase();
const by = { actor: 'test person', reason: 'because', eyes };
const dayMs = 86_400_000;

type Fields<Kind extends OperationKind> = Partial<OperationRequest<Kind>>;
const addBrand = (handle: string, fields: Fields<'add_managed_brand'> = {}, options: AskOptions = {}) =>
  ask(db, 'add_managed_brand', { handle, brand: profile, ...fields }, options);
const updateBrand = (handle: string, fields: Fields<'update_managed_brand'>, options: AskOptions = {}) =>
  ask(db, 'update_managed_brand', { handle, ...fields }, options);
const addNumbers = (handle: string, fields: Fields<'add_phone_number'>, options: AskOptions = {}) =>
  ask(db, 'add_phone_number', { handle, ...fields }, options);

/** What the branded cache would have at an instant, of one brand: phones with their display names. */
async function published(handle: string, at = new Date()): Promise<Record<string, string>> {
  const { rows } = await db.query<{ phone: string; display_name: string }>(
    'SELECT phone, display_name FROM branded_number WHERE brand_handle = $1 AND live_from <= $2 AND live_until > $2 ORDER BY phone',
    [handle, at],
  );
  return Object.fromEntries(rows.map(({ phone, display_name }) => [phone, display_name]));
}

async function approvedBrand(numbers = 2): Promise<{ handle: string; phones: string[]; letterId: number }> {
  const { handle, phones } = fresh(numbers);
  const result = await addBrand(handle, { numbers: phones }, { letter: signedForm(phones) });
  expect(result.outcome, JSON.stringify(result.letter?.findings.filter(({ severity }) => severity !== 'pass'))).toBe(
    'approved',
  );
  return { handle, phones, letterId: result.letter!.letterId };
}

/** A letter that is refused unread. */
const altered = { kind: 'refused', code: 'letter_altered', problem: '' } as const;

describe('Add Managed Brand', () => {
  it('with a good letter approves brand, letter and numbers, which are published under the display name', async () => {
    const { handle, phones } = fresh(2);
    const result = await addBrand(
      handle,
      { brand: { ...profile, callReasons: ['Appointment', 'Visit'] }, numbers: phones, callReason: 'Visit' },
      { letter: signedForm(phones) },
    );
    expect(result).toMatchObject({
      outcome: 'approved',
      brand: { handle, state: 'approved', approvedRevision: 1, pendingRevision: null },
      letter: { state: 'approved', ruleVersion: letterRuleVersion },
      numbers: { given: 2, accepted: 2, known: 0, rejected: 0, states: { verified: 2 }, rejects: [] },
    });
    expect(await published(handle)).toEqual(Object.fromEntries(phones.map((phone) => [phone, 'Northwind Dental'])));
    const { rows } = await db.query(
      'SELECT b.display_description, b.display_detail, p.country FROM branded_number AS b JOIN phone_number AS p USING (phone) WHERE brand_handle = $1',
      [handle],
    );
    expect(rows[0]).toEqual({
      display_description: 'Visit',
      display_detail: 'https://northwind.example',
      country: 'US',
    });
  });

  it('without a letter is a draft whose numbers wait, until an update brings one', async () => {
    const { handle, phones } = fresh(1);
    const draft = await addBrand(handle, { numbers: phones });
    expect(draft).toMatchObject({
      outcome: 'accepted',
      brand: { state: 'draft' },
      letter: null,
      numbers: { states: { submitted: 1 } },
    });
    expect(await published(handle)).toEqual({});
    const update = await updateBrand(handle, {}, { letter: signedForm(phones) });
    expect(update).toMatchObject({ outcome: 'approved', brand: { state: 'approved' } });
    expect(Object.keys(await published(handle))).toEqual(phones);
  });

  it('with a letter that was changed after it was signed is rejected with the finding, and a better letter is accepted', async () => {
    const { handle, phones } = fresh(2);
    const bad = await addBrand(handle, { numbers: phones }, { letter: altered });
    expect(bad).toMatchObject({
      outcome: 'rejected',
      brand: { state: 'rejected' },
      letter: { state: 'rejected' },
      numbers: { states: { unsuccessful: 2 } },
    });
    expect(bad.letter!.findings.some(({ severity }) => severity === 'reject')).toBe(true);
    expect(await published(handle)).toEqual({});
    const good = await updateBrand(handle, { numbers: phones }, { letter: signedForm(phones) });
    expect(good).toMatchObject({
      outcome: 'approved',
      brand: { state: 'approved' },
      numbers: { accepted: 2, states: { verified: 2 } },
    });
    expect(Object.keys(await published(handle))).toEqual(phones);
  });

  it('with a file that cannot be read is rejected with its code', async () => {
    const { handle } = fresh(0);
    const result = await addBrand(
      handle,
      {},
      { letter: { kind: 'refused', code: 'letter_encrypted', problem: 'The PDF is encrypted.' } },
    );
    expect(result).toMatchObject({
      outcome: 'rejected',
      letter: { state: 'rejected', findings: [{ code: 'letter_encrypted', severity: 'reject' }] },
    });
  });

  it('whose letter leaves a question waits for a person, who approves it', async () => {
    const { handle, phones } = fresh(2);
    const result = await addBrand(handle, { numbers: phones }, { letter: letterForReview(phones) });
    expect(result).toMatchObject({
      outcome: 'in_review',
      brand: { state: 'in_review' },
      letter: { state: 'in_review' },
      numbers: { states: { in_review: 2 } },
    });
    await expect(decideBrand({ db, handle, approve: true, ...by })).rejects.toMatchObject({
      code: 'transition_refused',
      hint: expect.stringContaining(`letter decide ${result.letter!.letterId}`),
    });
    expect(await decideLetterByPerson({ db, letterId: result.letter!.letterId, approve: true, ...by })).toBe(
      'approved',
    );
    expect(await readBrand(db, handle)).toMatchObject({ state: 'approved', numbers: { verified: 2 } });
    expect(Object.keys(await published(handle))).toEqual(phones);
    await expect(
      decideLetterByPerson({ db, letterId: result.letter!.letterId, approve: false, ...by }),
    ).rejects.toMatchObject({ code: 'transition_refused' });
  });

  it('whose letter a person rejects is rejected with its numbers', async () => {
    const { handle, phones } = fresh(1);
    const result = await addBrand(handle, { numbers: phones }, { letter: letterForReview(phones) });
    await decideLetterByPerson({ db, letterId: result.letter!.letterId, approve: false, ...by });
    expect(await readBrand(db, handle)).toMatchObject({ state: 'rejected', numbers: { unsuccessful: 1 } });
  });

  it('under a name that is not related to the legal name waits for a person although the letter is good', async () => {
    const { handle, phones } = fresh(1);
    const result = await addBrand(
      handle,
      { brand: { ...profile, displayName: 'Meridian Bank' }, numbers: phones },
      { letter: signedForm(phones) },
    );
    expect(result).toMatchObject({
      outcome: 'in_review',
      brand: {
        state: 'in_review',
        findings: expect.arrayContaining([
          expect.objectContaining({ code: 'display_name_related', severity: 'review' }),
        ]),
      },
      letter: { state: 'approved' },
    });
    expect(await published(handle)).toEqual({});
    expect(await decideBrand({ db, handle, approve: true, ...by })).toBe('approved');
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Meridian Bank' });
  });

  it('with a letter of its own making waits for a person, however good it is', async () => {
    const { handle, phones } = fresh(1);
    const result = await addBrand(handle, { numbers: phones }, { letter: goodLetter(phones) });
    expect(result).toMatchObject({
      outcome: 'in_review',
      brand: { state: 'in_review' },
      letter: {
        findings: expect.arrayContaining([expect.objectContaining({ code: 'form_issued', severity: 'review' })]),
      },
    });
    expect(await published(handle)).toEqual({});
    await decideLetterByPerson({ db, letterId: result.letter!.letterId, approve: true, ...by });
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Northwind Dental' });
  });

  it('with a letter that another client has submitted waits for a person', async () => {
    const [first, second] = [fresh(1), fresh(1)];
    const letter = goodLetter([...first.phones, ...second.phones]);
    const { letter: ofFirst } = await addBrand(
      first.handle,
      { numbers: first.phones },
      { letter, key: 'the-same-letter' },
    );
    // nothing of a free letter is said to be in order
    expect(
      ofFirst!.findings.filter(({ code, severity }) => code === 'letter_of_one_owner' || severity === 'pass'),
    ).toEqual([]);
    const result = await addBrand(
      second.handle,
      { numbers: second.phones },
      { letter, key: 'the-same-letter', owner: 'Somebody Else' },
    );
    expect(result).toMatchObject({
      outcome: 'in_review',
      letter: {
        findings: expect.arrayContaining([
          expect.objectContaining({ code: 'letter_of_one_owner', severity: 'review' }),
        ]),
      },
    });
  });

  it('that a person rejects for its name stays rejected, whatever its letter says', async () => {
    const { handle, phones } = fresh(1);
    await addBrand(
      handle,
      { brand: { ...profile, displayName: 'Meridian Bank' }, numbers: phones },
      { letter: signedForm(phones) },
    );
    expect(await decideBrand({ db, handle, approve: false, ...by })).toBe('rejected');
    await expireLetters(db, new Date());
    expect(await readBrand(db, handle)).toMatchObject({ state: 'rejected', profile: { displayName: 'Meridian Bank' } });
  });

  it('under a handle that is taken fails, and the same key gives the same answer', async () => {
    const { handle } = await approvedBrand(1);
    const again = () => addBrand(handle, {}, { key: `taken-${handle}` });
    await expect(again()).rejects.toMatchObject({ code: 'brand_handle_taken' });
  });
});

describe('Update Managed Brand', () => {
  it('takes a new contact and relationship at once', async () => {
    const { handle } = await approvedBrand(1);
    const contact = { name: 'Jane Sample', email: 'jane@northwind.example' };
    expect(await updateBrand(handle, { changes: { contact, relationship: 'agency' } })).toMatchObject({
      outcome: 'approved',
      brand: { state: 'approved', approvedRevision: 2, pendingRevision: null },
    });
  });

  const logo = { logo: 'https://northwind.example/logo.png', logoSha256: 'a'.repeat(64) };
  const shown = async (handle: string) =>
    (
      await db.query(
        'SELECT display_description AS reason, display_detail AS website, display_image AS logo FROM branded_number WHERE brand_handle = $1',
        [handle],
      )
    ).rows;

  it.each<[string, object]>([
    ['website', { website: 'https://www.northwind.example/new' }],
    ['logo', logo],
    ['digest of the logo', { logoSha256: 'b'.repeat(64) }],
    ['call reasons, also of the list', { callReasons: ['Survey'] }],
    ['country', { country: 'CA' }],
    ['tax id', { taxId: '52-1234567' }],
    ['address', { address: '9 Elsewhere Street' }],
  ])('keeps what is published until a person has approved another %s', async (_field, changes) => {
    const { handle } = await approvedBrand(1);
    const before = await shown(handle);
    expect(await updateBrand(handle, { changes })).toMatchObject({
      outcome: 'in_review',
      brand: { state: 'approved', approvedRevision: 1, pendingRevision: 2 },
    });
    expect(await shown(handle)).toEqual(before);
    await decideBrand({ db, handle, approve: true, ...by });
    expect(await readBrand(db, handle)).toMatchObject({ approvedRevision: 2, profile: changes });
  });

  it('publishes what a signed form shows, and sends what the form does not show to a person', async () => {
    const { handle, phones } = await approvedBrand(1);
    const changes = { ...logo, website: 'https://northwind.example/visit', callReasons: ['Survey'] };
    const bait = { ...changes, callReasons: ['Survey', 'Your card is blocked'] };
    expect(
      await updateBrand(handle, { changes: bait }, { letter: signedForm(phones, { request: { changes } }) }),
    ).toMatchObject({
      outcome: 'in_review',
      letter: {
        state: 'in_review',
        findings: expect.arrayContaining([
          expect.objectContaining({ code: 'form_fits_request', message: expect.stringContaining(': call reasons.') }),
        ]),
      },
    });
    const { handle: other, phones: own } = await approvedBrand(1);
    expect(await updateBrand(other, { changes }, { letter: signedForm(own) })).toMatchObject({ outcome: 'approved' });
    expect(await shown(other)).toEqual([{ reason: 'Survey', website: changes.website, logo: logo.logo }]);
  });

  it('that brings a DBA goes to a person, where the letter that was approved for the brand has none', async () => {
    const { handle, phones } = fresh(1);
    const initials = { ...profile, legalName: 'Fresh Bakery LLC', displayName: 'FBI' };
    const added = await addBrand(handle, { brand: initials, numbers: phones }, { letter: signedForm(phones) });
    expect(added).toMatchObject({ outcome: 'in_review', letter: { state: 'approved' }, brand: { state: 'in_review' } });
    const renamed = await updateBrand(handle, { changes: { dba: 'Meridian Harbor', displayName: 'Meridian Harbor' } });
    expect(renamed).toMatchObject({ outcome: 'in_review', brand: { state: 'in_review' } });
    for (const changes of [{ website: 'https://meridian.example' }, { displayName: 'Meridian' }])
      expect(await updateBrand(handle, { changes })).toMatchObject({ outcome: 'in_review' });
    expect(await published(handle)).toEqual({});
    expect(
      await updateBrand(
        handle,
        { changes: { dba: null, displayName: 'Fresh Bakery' }, numbers: phones },
        { letter: signedForm(phones) },
      ),
    ).toMatchObject({ outcome: 'approved' });
    expect(Object.values(await published(handle))).toEqual(['Fresh Bakery']);
  });

  it('keeps the approved name published until a person approves the new one', async () => {
    const { handle, phones } = await approvedBrand(1);
    const result = await updateBrand(handle, { changes: { displayName: 'Northwind Smiles' } });
    expect(result).toMatchObject({
      outcome: 'in_review',
      brand: { state: 'approved', approvedRevision: 1, pendingRevision: 2 },
    });
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Northwind Dental' });
    await decideBrand({ db, handle, approve: true, ...by });
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Northwind Smiles' });
    await expect(decideBrand({ db, handle, approve: true, ...by })).rejects.toMatchObject({
      code: 'transition_refused',
    });
  });

  it('drops a new name that is rejected, and takes one that a signed form names', async () => {
    const { handle, phones } = await approvedBrand(1);
    await updateBrand(handle, { changes: { displayName: 'Northwind Smiles' } });
    await decideBrand({ db, handle, approve: false, ...by });
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Northwind Dental' });
    const result = await updateBrand(
      handle,
      { changes: { displayName: 'Northwind Dental Care' } },
      { letter: signedForm(phones) },
    );
    expect(result).toMatchObject({ outcome: 'approved', brand: { approvedRevision: 3, pendingRevision: null } });
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Northwind Dental Care' });
  });

  it('with a bad letter leaves an approved brand as it is', async () => {
    const { handle, phones } = await approvedBrand(1);
    const result = await updateBrand(handle, { changes: { displayName: 'Northwind Smiles' } }, { letter: altered });
    expect(result).toMatchObject({
      outcome: 'rejected',
      brand: { state: 'approved', approvedRevision: 1, pendingRevision: null },
      letter: { state: 'rejected' },
    });
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Northwind Dental' });
  });

  it('of a brand that is not there, or is another owner’s, fails as unknown', async () => {
    const { handle } = await approvedBrand(1);
    await expect(updateBrand('nobody-here', { changes: {} })).rejects.toMatchObject({ code: 'brand_unknown' });
    await expect(updateBrand(handle, { changes: {} }, { owner: 'Somebody Else' })).rejects.toMatchObject({
      code: 'brand_unknown',
    });
  });
});

describe('a new name', () => {
  it('that the form does not have waits for a person, also when the letter comes later', async () => {
    const { handle, phones } = await approvedBrand(1);
    const changes = { displayName: 'Northwind Bank of America' };
    const old = signedForm(phones, { request: { changes: {} } });
    expect(await updateBrand(handle, { changes }, { letter: old })).toMatchObject({
      outcome: 'in_review',
      brand: { pendingRevision: 2 },
      letter: { state: 'in_review' },
    });
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Northwind Dental' });
  });

  it('waits on when a form for more numbers under the old name is approved', async () => {
    const { handle, phones } = await approvedBrand(1);
    await updateBrand(handle, { changes: { displayName: 'Northwind Smiles' } });
    const more = fresh(1).phones;
    expect(await addNumbers(handle, { numbers: more }, { letter: signedForm(more) })).toMatchObject({
      letter: { state: 'approved' },
      brand: { pendingRevision: 2 },
    });
    expect(await published(handle)).toEqual(
      Object.fromEntries([...phones, ...more].map((phone) => [phone, 'Northwind Dental'])),
    );
  });

  it('of another company takes no number along that this company has not authorized', async () => {
    const { handle, phones } = await approvedBrand(2);
    const changes = { legalName: 'Meridian Bank Inc', displayName: 'Meridian Bank' };
    await updateBrand(handle, { changes }, { letter: signedForm([]) });
    expect(await published(handle)).toEqual({});
    expect(await readBrand(db, handle)).toMatchObject({
      state: 'approved',
      profile: { legalName: 'Meridian Bank Inc' },
      numbers: { expired: phones.length },
    });
  });

  it('that is rejected leaves nothing of its letter: numbers that came with it are not published', async () => {
    const { handle, phones } = await approvedBrand(1);
    const more = fresh(1).phones;
    const changes = { legalName: 'Meridian Bank Inc', displayName: 'Acme Loans' };
    const result = await updateBrand(handle, { changes, numbers: more }, { letter: signedForm(more) });
    expect(result).toMatchObject({
      outcome: 'in_review',
      letter: { state: 'approved' },
      numbers: { states: { in_review: 1 } },
    });
    await decideBrand({ db, handle, approve: false, ...by });
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Northwind Dental' });
    expect(await readBrand(db, handle)).toMatchObject({ numbers: { verified: 1, unsuccessful: 1 } });
  });

  it('that a person approves without a letter keeps the numbers: the person vouches for the letters', async () => {
    const { handle, phones } = await approvedBrand(1);
    await updateBrand(handle, { changes: { legalName: 'Northwind Dental Holdings LLC' } });
    await decideBrand({ db, handle, approve: true, ...by });
    expect(Object.keys(await published(handle))).toEqual(phones);
  });

  it('waits on through a change of the contact, and cannot be replaced while its letter waits', async () => {
    const { handle, phones } = await approvedBrand(1);
    const first = await updateBrand(
      handle,
      { changes: { displayName: 'Northwind Smiles' } },
      { letter: letterForReview(phones) },
    );
    const contact = { name: 'Jane Sample', email: 'jane@northwind.example', phone: null };
    expect(await updateBrand(handle, { changes: { contact } })).toMatchObject({
      outcome: 'in_review',
      brand: { pendingRevision: 3 },
    });
    await expect(updateBrand(handle, { changes: { website: null } })).rejects.toMatchObject({
      code: 'transition_refused',
    });
    await expect(updateBrand(handle, {}, { letter: signedForm(phones) })).rejects.toMatchObject({
      code: 'transition_refused',
    });
    await expect(updateBrand(handle, { changes: { displayName: 'Northwind Teeth' } })).rejects.toMatchObject({
      code: 'transition_refused',
    });
    await decideLetterByPerson({ db, letterId: first.letter!.letterId, approve: true, ...by });
    await decideBrand({ db, handle, approve: true, ...by });
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Northwind Smiles' });
    expect(await readBrand(db, handle)).toMatchObject({ profile: { contact }, pendingRevision: null });
  });

  it('of a brand that was rejected for its name goes to a person, since the letter that was approved does not show it', async () => {
    const { handle, phones } = fresh(1);
    await addBrand(
      handle,
      { brand: { ...profile, displayName: 'Meridian Bank' }, numbers: phones },
      { letter: signedForm(phones) },
    );
    await decideBrand({ db, handle, approve: false, ...by });
    expect(await updateBrand(handle, { changes: { displayName: 'Northwind Dental' }, numbers: phones })).toMatchObject({
      outcome: 'in_review',
      brand: { state: 'in_review' },
    });
    expect(await published(handle)).toEqual({});
    await decideBrand({ db, handle, approve: true, ...by });
    expect(await published(handle)).toEqual({ [phones[0]!]: 'Northwind Dental' });
  });
});

describe('a call reason', () => {
  it('of a brand in its own words goes to a person, also when it is changed later', async () => {
    const { handle, phones } = fresh(1);
    expect(
      await addBrand(
        handle,
        { brand: { ...profile, callReasons: ['PayPal Fraud Department'] }, numbers: phones },
        { letter: signedForm(phones) },
      ),
    ).toMatchObject({ outcome: 'in_review', letter: { state: 'approved' } });
    const other = await approvedBrand(1);
    expect(await updateBrand(other.handle, { changes: { callReasons: ['Your visit', 'Wells Fargo'] } })).toMatchObject({
      outcome: 'in_review',
      brand: { state: 'approved', pendingRevision: 2 },
    });
    const { rows } = await db.query('SELECT display_description FROM branded_number WHERE brand_handle = ANY ($1)', [
      [handle, other.handle],
    ]);
    expect(rows).toEqual([{ display_description: 'Appointment' }]);
  });

  it('of some numbers is refused, unless it is one of the brand', async () => {
    const { handle, phones } = await approvedBrand(1);
    const more = fresh(1).phones;
    await expect(
      addNumbers(handle, { numbers: more, callReason: 'Chase Bank' }, { letter: signedForm(more) }),
    ).rejects.toMatchObject({ code: 'brand_request_invalid' });
    await updateBrand(handle, { changes: { callReasons: ['Chase Bank'] } });
    await expect(
      addNumbers(handle, { numbers: more, callReason: 'Chase Bank' }, { letter: signedForm(more) }),
    ).rejects.toMatchObject({ code: 'brand_request_invalid' });
    await decideBrand({ db, handle, approve: true, ...by });
    expect(
      await addNumbers(handle, { numbers: more, callReason: 'Chase Bank' }, { letter: signedForm(more) }),
    ).toMatchObject({ outcome: 'approved' });
    expect(Object.keys(await published(handle))).toEqual([...phones, ...more].sort());
  });

  it('of some numbers is shown while it is one of those that were approved with the brand', async () => {
    const { handle, phones } = fresh(1);
    const described = async () =>
      (await db.query('SELECT display_description FROM branded_number WHERE phone = $1', phones)).rows;
    const brand = { ...profile, callReasons: ['Appointment', 'Survey'] };
    await addBrand(handle, { brand, numbers: phones, callReason: 'Survey' }, { letter: signedForm(phones) });
    expect(await described()).toEqual([{ display_description: 'Survey' }]);
    await updateBrand(handle, { changes: { callReasons: ['Appointment'] } });
    await decideBrand({ db, handle, approve: true, ...by });
    expect(await described()).toEqual([{ display_description: 'Appointment' }]);
  });
});

describe('a letter that comes with numbers', () => {
  it('and cannot be read leaves a brand that waits for another letter as it is', async () => {
    const { handle, phones } = fresh(2);
    const first = await addBrand(
      handle,
      { numbers: phones.slice(0, 1) },
      { letter: letterForReview(phones.slice(0, 1)) },
    );
    await addNumbers(
      handle,
      { numbers: phones.slice(1) },
      { letter: { kind: 'refused', code: 'letter_encrypted', problem: '' } },
    );
    expect(await readBrand(db, handle)).toMatchObject({ state: 'in_review' });
    await decideLetterByPerson({ db, letterId: first.letter!.letterId, approve: true, ...by });
    expect(await readBrand(db, handle)).toMatchObject({ state: 'approved', numbers: { verified: 1, unsuccessful: 1 } });
  });

  it('and is withdrawn leaves a brand with its own letter as it is', async () => {
    const { handle, phones } = await approvedBrand(1);
    const more = fresh(1).phones;
    const { letter } = await addNumbers(handle, { numbers: more }, { letter: signedForm(more) });
    await withdrawLetter({ db, letterId: letter!.letterId, ...by });
    expect(await readBrand(db, handle)).toMatchObject({ state: 'approved', numbers: { verified: 1, expired: 1 } });
    expect(Object.keys(await published(handle))).toEqual(phones);
    expect(await changeNumber({ db, handle, phone: phones[0]!, action: 'suspend', ...by })).toBe('suspended');
  });
});

describe('Add Phone number for Branding', () => {
  it('verifies a number that a letter in force names, and not one that none names', async () => {
    const { handle, phones } = fresh(3);
    const { letter } = await addBrand(
      handle,
      { numbers: phones.slice(0, 1) },
      { letter: signedForm(phones.slice(0, 2)) },
    );
    await decideLetterByPerson({ db, letterId: letter!.letterId, approve: true, ...by });
    const result = await addNumbers(handle, { numbers: phones.slice(1) });
    expect(result).toMatchObject({
      outcome: 'approved',
      numbers: { accepted: 2, states: { verified: 1, unsuccessful: 1 } },
    });
    expect(Object.keys(await published(handle))).toEqual(phones.slice(0, 2));
  });

  it('does not verify a number that is on an approved free letter, but was not requested with it', async () => {
    const { handle, phones } = fresh(2);
    const { letter } = await addBrand(handle, { numbers: phones.slice(0, 1) }, { letter: goodLetter(phones) });
    await decideLetterByPerson({ db, letterId: letter!.letterId, approve: true, ...by });
    const result = await addNumbers(handle, { numbers: phones.slice(1) });
    expect(result).toMatchObject({ numbers: { states: { unsuccessful: 1 } } });
    expect(Object.keys(await published(handle))).toEqual(phones.slice(0, 1));
  });

  it('takes numbers with a letter of their own', async () => {
    const { handle, phones } = await approvedBrand(1);
    const more = fresh(2).phones;
    const result = await addNumbers(handle, { numbers: more }, { letter: signedForm(more) });
    expect(result).toMatchObject({
      outcome: 'approved',
      letter: { state: 'approved' },
      numbers: { states: { verified: 2 } },
    });
    expect(Object.keys(await published(handle))).toEqual([...phones, ...more]);
  });

  it('reports each row of a CSV by its line', async () => {
    const first = await approvedBrand(1);
    const { handle, phones } = fresh(2);
    await addBrand(handle, { numbers: phones }, { letter: signedForm(phones) });
    const csv = `name,phone\nA,${phones[0]}\nB,not a number\nC,\nD,${first.phones[0]}\nE,${phones[0]}\nF,+1 (212) 555-${phones[1]!.slice(-4)}\n`;
    const result = await addNumbers(handle, {}, { numbersFile: csv });
    expect(result.numbers).toMatchObject({ given: 6, accepted: 0, known: 2, rejected: 4, states: { verified: 2 } });
    const rows = await listOperationRows(db, result.operationId, { refused: false, after: 0, limit: 100 });
    expect(rows.map(({ line, outcome }) => [line, outcome])).toEqual([
      [2, 'known'],
      [3, 'phone_invalid'],
      [4, 'phone_missing'],
      [5, 'number_of_other_brand'],
      [6, 'number_repeated'],
      [7, 'known'],
    ]);
    expect(await listOperationRows(db, result.operationId, { refused: true, after: 3, limit: 1 })).toMatchObject([
      { line: 4, phone: null },
    ]);
  });

  it('does not verify a known number again', async () => {
    const { handle, phones } = await approvedBrand(1);
    const before = (await db.query('SELECT * FROM brand_number WHERE phone = $1', [phones[0]])).rows;
    expect(await addNumbers(handle, { numbers: phones })).toMatchObject({
      outcome: 'approved',
      numbers: { known: 1, accepted: 0 },
    });
    expect((await db.query('SELECT * FROM brand_number WHERE phone = $1', [phones[0]])).rows).toEqual(before);
  });

  it('never takes a number again that was rejected permanently, with any brand', async () => {
    const { handle, phones } = await approvedBrand(1);
    expect(await changeNumber({ db, handle, phone: phones[0]!, action: 'reject', ...by })).toBe('permanently_rejected');
    expect(await published(handle)).toEqual({});
    const other = fresh(0).handle;
    const result = await addBrand(other, { numbers: phones });
    expect(result.numbers).toMatchObject({ rejected: 1, rejects: [{ code: 'number_permanently_rejected' }] });
    await expect(changeNumber({ db, handle, phone: phones[0]!, action: 'resume', ...by })).rejects.toMatchObject({
      code: 'transition_refused',
    });
  });

  it('takes a number over when the brand that had it is withdrawn', async () => {
    const first = await approvedBrand(1);
    await withdrawBrand({ db, handle: first.handle, ...by });
    const { handle } = fresh(0);
    expect(await addBrand(handle, { numbers: first.phones }, { letter: signedForm(first.phones) })).toMatchObject({
      outcome: 'approved',
    });
    expect([await published(first.handle), Object.keys(await published(handle))]).toEqual([{}, first.phones]);
  });
});

describe('a request', () => {
  it.each<[string, object]>([
    ['a NUL in a number', { numbers: ['+1212\u0000'] }],
    ['a lone surrogate in a number', { numbers: ['\uD800'] }],
    [
      'a NUL in an e-mail address',
      { brand: { ...profile, contact: { name: 'A', email: 'a\u0000b@northwind.example' } } },
    ],
    ['a number that is none', { numbers: [12125550100] }],
  ])('with %s is refused with a typed error', async (_what, changes) => {
    const request = { handle: fresh(0).handle, brand: profile, ...changes };
    await expect(ask(db, 'add_managed_brand', request as never)).rejects.toMatchObject({
      code: 'brand_request_invalid',
    });
  });
});

describe('an idempotency key', () => {
  it('gives the same answer and does nothing twice, also when both come at once', async () => {
    const { handle, phones } = fresh(1);
    const once = () => addBrand(handle, { numbers: phones }, { letter: goodLetter(phones), key: `key-${handle}` });
    const [first, second] = await Promise.all([once(), once()]);
    expect(second).toEqual(first);
    expect(await once()).toEqual(first);
    const {
      rows: [counts],
    } = await db.query(
      `SELECT (SELECT count(*) FROM branding_operation WHERE idempotency_key = $1) AS operations,
         (SELECT count(*) FROM document AS d WHERE EXISTS (SELECT FROM branding_operation AS o WHERE o.idempotency_key = $1 AND o.letter_document_id = d.document_id)) AS documents,
         (SELECT count(*) FROM letter JOIN brand USING (brand_id) WHERE handle = $2) AS letters`,
      [`key-${handle}`, handle],
    );
    expect(counts).toEqual({ operations: 1, documents: 1, letters: 1 });
  });

  it('is refused for another request, and is free for another owner', async () => {
    const { handle } = fresh(0);
    await addBrand(handle, {}, { key: `other-${handle}` });
    await expect(
      addBrand(handle, { brand: { ...profile, website: null } }, { key: `other-${handle}` }),
    ).rejects.toMatchObject({ code: 'idempotency_conflict' });
    await expect(addBrand(handle, {}, { key: `other-${handle}`, letter: signedForm([]) })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await addBrand(fresh(0).handle, {}, { key: `other-${handle}`, owner: 'Another' })).toMatchObject({
      outcome: 'accepted',
    });
  });

  it('keeps the answer of an operation that failed permanently', async () => {
    const submission: Submission<'add_phone_number'> = {
      kind: 'add_phone_number',
      request: { handle: 'no-such-brand', numbers: ['+12125550100'] },
      owner,
      key: 'failing',
      requestedBy: 'test',
    };
    const { operationId } = await submitOperation({ db, vault: testVault }, submission);
    const run = () =>
      runOperation({ db, operationId, ...operationSettings, readLetter: () => Promise.reject(new Error('no letter')) });
    await expect(run()).rejects.toMatchObject({ code: 'brand_unknown' });
    expect((await readOperation(db, operationId)).state).toBe('queued');
    await db.query(
      "UPDATE branding_operation SET state = 'failed', finished_at = now(), failure_code = 'brand_unknown', failure_reason = 'No brand.' WHERE operation_id = $1",
      [operationId],
    );
    await expect(run()).rejects.toMatchObject({ code: 'brand_unknown', problem: 'No brand.' });
    expect(await submitOperation({ db, vault: testVault }, submission)).toEqual({ operationId, repeated: true });
  });
});

describe('a person', () => {
  it('suspends and resumes a brand, and its numbers leave and come back', async () => {
    const { handle, phones } = await approvedBrand(2);
    expect(await suspendBrand({ db, handle, ...by })).toBe('suspended');
    expect(await published(handle)).toEqual({});
    await expect(suspendBrand({ db, handle, ...by })).rejects.toMatchObject({
      code: 'transition_refused',
      problem: 'The brand is suspended, and cannot become suspended from there.',
    });
    expect(await resumeBrand({ db, handle, ...by })).toBe('approved');
    expect(Object.keys(await published(handle))).toEqual(phones);
  });

  it('suspends, resumes and removes one number', async () => {
    const { handle, phones } = await approvedBrand(2);
    await changeNumber({ db, handle, phone: phones[0]!, action: 'suspend', ...by });
    expect(Object.keys(await published(handle))).toEqual(phones.slice(1));
    await changeNumber({ db, handle, phone: phones[0]!, action: 'resume', ...by });
    await changeNumber({ db, handle, phone: phones[1]!, action: 'remove', ...by });
    expect(Object.keys(await published(handle))).toEqual(phones.slice(0, 1));
    await expect(changeNumber({ db, handle, phone: '+12125559999', action: 'remove', ...by })).rejects.toMatchObject({
      code: 'phone_unknown',
    });
    expect(await addNumbers(handle, { numbers: phones.slice(1) })).toMatchObject({
      numbers: { accepted: 1, states: { verified: 1 } },
    });
  });

  it('withdraws a brand permanently', async () => {
    const { handle, phones } = await approvedBrand(1);
    expect(await withdrawBrand({ db, handle, ...by })).toBe('withdrawn');
    expect(await readBrand(db, handle)).toMatchObject({ state: 'withdrawn', numbers: { removed: 1 } });
    await expect(addNumbers(handle, { numbers: phones })).rejects.toMatchObject({ code: 'brand_withdrawn' });
    await expect(resumeBrand({ db, handle, ...by })).rejects.toMatchObject({ code: 'transition_refused' });
  });

  it('withdraws the letters of a brand with it', async () => {
    const { handle, letterId } = await approvedBrand(1);
    const waiting = await updateBrand(handle, {}, { letter: letterForReview([]) });
    await withdrawBrand({ db, handle, ...by });
    expect([await readLetterRecord(db, letterId), await readLetterRecord(db, waiting.letter!.letterId)]).toMatchObject([
      { state: 'withdrawn' },
      { state: 'withdrawn' },
    ]);
  });

  it('cannot decide a brand that was withdrawn', async () => {
    const { handle } = await approvedBrand(1);
    await updateBrand(handle, { changes: { displayName: 'Northwind Smiles' } });
    await withdrawBrand({ db, handle, ...by });
    await expect(decideBrand({ db, handle, approve: true, ...by })).rejects.toMatchObject({ code: 'brand_withdrawn' });
    expect(await readBrand(db, handle)).toMatchObject({ approvedRevision: 1, pendingRevision: null });
  });

  it('returns the outcome of a resumed number', async () => {
    const { handle, phones, letterId } = await approvedBrand(1);
    await changeNumber({ db, handle, phone: phones[0]!, action: 'suspend', ...by });
    await updateBrand(handle, {}, { letter: signedForm([]) });
    await withdrawLetter({ db, letterId, ...by });
    expect(await changeNumber({ db, handle, phone: phones[0]!, action: 'resume', ...by })).toBe('expired');
  });

  it('withdraws a letter: what no other letter names is not published any more', async () => {
    const { handle, phones, letterId } = await approvedBrand(2);
    await updateBrand(handle, {}, { letter: signedForm(phones.slice(0, 1)) });
    await withdrawLetter({ db, letterId, ...by });
    expect(Object.keys(await published(handle))).toEqual(phones.slice(0, 1));
    expect(await readBrand(db, handle)).toMatchObject({ state: 'approved', numbers: { verified: 1, expired: 1 } });
  });

  it('must give a reason', async () => {
    const { handle } = await approvedBrand(1);
    await expect(suspendBrand({ db, handle, actor: 'test', reason: ' ' })).rejects.toMatchObject({
      code: 'reason_required',
    });
  });
});

describe('time', () => {
  it('ends a letter at the end of the day 12 months after its signature, and its numbers with it', async () => {
    const { handle, phones, letterId } = await approvedBrand(1);
    const { validUntil } = await readLetterRecord(db, letterId);
    const justBefore = new Date(validUntil!.getTime() - 1);
    await expireLetters(db, new Date(validUntil!.getTime() - 30 * dayMs - 1));
    expect(await readLetterRecord(db, letterId)).toMatchObject({ state: 'approved' });
    await expireLetters(db, new Date(validUntil!.getTime() - 30 * dayMs));
    expect(await readLetterRecord(db, letterId)).toMatchObject({ state: 'expiring' });
    await expireLetters(db, justBefore);
    expect(await readLetterRecord(db, letterId)).toMatchObject({ state: 'expiring' });
    expect([
      Object.keys(await published(handle, justBefore)),
      Object.keys(await published(handle, validUntil!)),
    ]).toEqual([phones, []]);
    await expireLetters(db, validUntil!);
    expect(await readBrand(db, handle)).toMatchObject({
      state: 'expired',
      numbers: { expired: 1 },
      letters: [{ state: 'expired' }],
    });
    expect([
      Object.keys(await published(handle, justBefore)),
      Object.keys(await published(handle, validUntil!)),
    ]).toEqual([phones, []]);
  });

  it('renews brand and numbers with a new letter', async () => {
    const { handle, phones, letterId } = await approvedBrand(1);
    await db.query(
      "UPDATE letter SET valid_from = now() - interval '2 days', valid_until = now() - interval '1 day' WHERE letter_id = $1",
      [letterId],
    );
    await db.query("UPDATE brand_number SET verified_at = now() - interval '2 days' WHERE phone = $1", [phones[0]]);
    await expireLetters(db, new Date());
    expect([await readBrand(db, handle), await published(handle)]).toMatchObject([
      { state: 'expired', numbers: { expired: 1 } },
      {},
    ]);
    expect(await updateBrand(handle, {}, { letter: signedForm(phones) })).toMatchObject({
      outcome: 'approved',
      brand: { state: 'approved' },
    });
    expect(Object.keys(await published(handle))).toEqual(phones);
  });
});

describe('a number that has left its brand', () => {
  it('is not renewed when another brand has it now', async () => {
    const first = await approvedBrand(1);
    await withdrawLetter({ db, letterId: first.letterId, ...by });
    const { handle } = fresh(0);
    await addBrand(handle, { numbers: first.phones }, { letter: signedForm(first.phones) });
    const renewed = await updateBrand(first.handle, {}, { letter: signedForm(first.phones) });
    expect(renewed).toMatchObject({ outcome: 'approved', brand: { state: 'approved' } });
    expect([await readBrand(db, first.handle), await readBrand(db, handle)]).toMatchObject([
      { numbers: { expired: 1 } },
      { numbers: { verified: 1 } },
    ]);
    expect([await published(first.handle), Object.keys(await published(handle))]).toEqual([{}, first.phones]);
  });
});

describe('a number that was rejected permanently with another brand', () => {
  it('is not renewed with the one that had it before', async () => {
    const first = await approvedBrand(1);
    await withdrawLetter({ db, letterId: first.letterId, ...by });
    const { handle } = fresh(0);
    await addBrand(handle, { numbers: first.phones }, { letter: signedForm(first.phones) });
    await changeNumber({ db, handle, phone: first.phones[0]!, action: 'reject', ...by });
    await updateBrand(first.handle, {}, { letter: signedForm(first.phones) });
    expect([await published(first.handle), await published(handle)]).toEqual([{}, {}]);
  });
});

describe('a stored letter', () => {
  it('is sealed, and what was read from it is with it', async () => {
    const { letterId } = await approvedBrand(1);
    const { opened, document } = await readLetterRecord(db, letterId, testVault);
    expect(opened!.finds!.names[0]!.seen!.value).toBe(profile.legalName);
    expect((await openDocument({ db, vault: testVault }, document.documentId)).toString()).toMatch(/^%PDF/);
    const {
      rows: [row],
    } = await db.query(
      "SELECT encode(sealed_content, 'escape') AS content, encode(sealed_reading, 'escape') AS reading FROM document WHERE document_id = $1",
      [document.documentId],
    );
    expect(`${row.content}${row.reading}`).not.toMatch(/Jane|Sample|%PDF/);
    const {
      rows: [findings],
    } = await db.query('SELECT string_agg(message, $2) AS text FROM letter_finding WHERE letter_id = $1', [
      letterId,
      '\n',
    ]);
    expect(findings.text).not.toContain('Jane');
  });

  it('is deleted by destroying its key, and cannot be opened again', async () => {
    const { letterId } = await approvedBrand(1);
    const { document } = await readLetterRecord(db, letterId);
    await deleteLetterDocument({ db, letterId, ...by });
    await expect(openDocument({ db, vault: testVault }, document.documentId)).rejects.toMatchObject({
      code: 'document_destroyed',
    });
    expect(await readLetterRecord(db, letterId, testVault)).toMatchObject({
      state: 'approved',
      opened: null,
      document: { destroyedAt: expect.any(Date) },
    });
    const { rows } = await db.query(
      'SELECT sealed_content, sealed_reading, wrapped_key FROM document WHERE document_id = $1',
      [document.documentId],
    );
    expect(rows).toEqual([{ sealed_content: null, sealed_reading: null, wrapped_key: null }]);
    await expect(deleteLetterDocument({ db, letterId, ...by })).rejects.toMatchObject({ code: 'document_destroyed' });
  });

  it('is kept while it waits for a person', async () => {
    const { handle, phones } = fresh(1);
    const { letter } = await addBrand(handle, { numbers: phones }, { letter: letterForReview(phones) });
    await expect(deleteLetterDocument({ db, letterId: letter!.letterId, ...by })).rejects.toMatchObject({
      code: 'transition_refused',
    });
  });

  it('is destroyed when its time of retention is over, and not before', async () => {
    const live = await approvedBrand(1);
    const { letterId } = await approvedBrand(1);
    await withdrawLetter({ db, letterId, ...by });
    const { decidedAt } = await readLetterRecord(db, letterId);
    const opened = async (id: number) => (await readLetterRecord(db, id, testVault)).opened !== null;
    await destroyOldDocuments(db, { retentionDays: 10, at: new Date(decidedAt!.getTime() + 10 * dayMs) });
    expect(await opened(letterId)).toBe(true);
    await destroyOldDocuments(db, { retentionDays: 10, at: new Date(decidedAt!.getTime() + 10 * dayMs + 1) });
    expect([await opened(letterId), await opened(live.letterId)]).toEqual([false, true]);
  });
});

describe('the audit trail', () => {
  it('has who, when, why, before and after of every change', async () => {
    const { handle, phones, letterId } = await approvedBrand(1);
    await suspendBrand({ db, handle, ...by });
    const { brandId } = await readBrand(db, handle);
    const events = await listEvents(db, brandId, { after: 0, limit: 100 });
    expect(events.map(({ subject, action, before, after }) => `${subject} ${action}: ${before} > ${after}`)).toEqual([
      'brand add: null > draft',
      'number submit: null > submitted',
      'letter add: null > submitted',
      'letter approve: submitted > approved',
      'brand submit: draft > submitted',
      'brand approve: submitted > approved',
      'number verify: submitted > verified',
      'brand suspend: approved > suspended',
    ]);
    expect(events.map(({ actor }) => actor)).toEqual([
      'test',
      'test',
      'test',
      ...Array.from({ length: 4 }, () => letterRuleVersion),
      'test person',
    ]);
    expect(events[1]).toMatchObject({ phone: phones[0], operationId: expect.any(Number) });
    expect(events[3]).toMatchObject({ letterId, reason: 'Every rule passed.' });
    expect(events.at(-1)).toMatchObject({ reason: 'because', at: expect.any(Date), operationId: null });
  });

  it.each(['UPDATE branding_event SET actor = $$nobody$$', 'DELETE FROM branding_event', 'TRUNCATE branding_event'])(
    'refuses %s',
    async (statement) => {
      await expect(db.query(statement)).rejects.toMatchObject({ code: '42501' });
      await expect(db.query(`SET session_replication_role = replica; ${statement}`)).rejects.toMatchObject({
        code: '42501',
      });
    },
  );
});
