import { describe, expect, it } from 'vitest';
import { listEvents, readBrand, readLetterRecord } from '../../pipelines/branding/brand-record.ts';
import { expireLetters } from '../../pipelines/branding/expiry.ts';
import { submitOperation } from '../../pipelines/branding/operation.ts';
import { changeNumber, decideBrand, decideLetter, withdrawBrand, withdrawLetter } from '../../pipelines/branding/person-actions.ts';
import { ask, fresh, goodLetter, letterForReview, owner, profile, testVault } from '../support/branding.ts';
import { useTestDatabase } from '../support/database.ts';

const { db } = await useTestDatabase();
const by = { actor: 'test person', reason: 'because' };
const say = (what: string, value: unknown) => process.stderr.write(`\n## ${what}: ${JSON.stringify(value)}\n`);
async function live(handle: string) {
  const { rows } = await db.query('SELECT phone, display_name FROM branded_number WHERE brand_handle = $1 AND live_from <= now() AND live_until > now() ORDER BY phone', [handle]);
  return rows;
}
const brief = async (handle: string) => { const b = await readBrand(db, handle); return { state: b.state, a: b.approvedRevision, p: b.pendingRevision, n: b.numbers, l: b.letters.map((l) => [l.letterId, l.state, l.revision]) }; };
async function approved(n = 1) {
  const { handle, phones } = fresh(n);
  const r = await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones }, { letter: goodLetter(phones) });
  expect(r.outcome).toBe('approved');
  return { handle, phones, letterId: r.letter!.letterId };
}

it('H2: letter for another name covers numbers under the approved name, also after rejection', async () => {
  const { handle } = await approved();
  const more = fresh(2).phones;
  const r = await ask(db, 'update_managed_brand', { handle, changes: { legalName: 'Meridian Bank Inc', displayName: 'Acme Loans' }, numbers: more }, { letter: goodLetter(more, { brand: 'Meridian Bank Inc' }) });
  say('H2 result', [r.outcome, r.brand, r.letter?.state, r.letter?.findings.filter((f) => f.severity !== 'pass'), r.numbers?.states]);
  say('H2 live', await live(handle));
  await decideBrand({ db, handle, approve: false, ...by }).catch((e) => say('H2 dec', e.code));
  say('H2 live after reject', [await live(handle), await brief(handle)]);
});
it('H3: add number with a bad letter rejects brand in review', async () => {
  const { handle, phones } = fresh(2);
  const r = await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones }, { letter: letterForReview(phones) });
  say('H3 first', await brief(handle));
  const more = fresh(1).phones;
  const r2 = await ask(db, 'add_phone_number', { handle, numbers: more }, { letter: { kind: 'refused', code: 'letter_encrypted', problem: 'x' } });
  say('H3 after', [r2.outcome, await brief(handle)]);
  await decideLetter({ db, letterId: r.letter!.letterId, approve: true, ...by });
  say('H3 after approving letter 1', [await brief(handle), await live(handle)]);
  await decideBrand({ db, handle, approve: true, ...by }).catch((e) => say('H3 dec', [e.code, e.problem]));
  const u = await ask(db, 'update_managed_brand', { handle, changes: { website: 'https://northwind.example/2' } });
  say('H3 update without letter', [u.outcome, await brief(handle)]);
  const u2 = await ask(db, 'add_phone_number', { handle, numbers: phones }).catch((e) => [e.code, e.problem]);
  say('H3 resubmit', u2);
});
it('H3b: bad second letter for a draft', async () => {
  const { handle, phones } = fresh(1);
  await ask(db, 'add_managed_brand', { handle, brand: { ...profile, displayName: 'Meridian Bank' }, numbers: phones }, { letter: goodLetter(phones) });
  const more = fresh(1).phones;
  const r2 = await ask(db, 'add_phone_number', { handle, numbers: more }, { letter: goodLetter(more) });
  say('H3b', await brief(handle));
  await withdrawLetter({ db, letterId: r2.letter!.letterId, ...by });
  say('H3b after withdrawing second', await brief(handle));
});
it('H4 renew of a number rejected for good with another brand', async () => {
  const a = await approved();
  await withdrawLetter({ db, letterId: a.letterId, ...by });
  const b = fresh(0);
  await ask(db, 'add_managed_brand', { handle: b.handle, brand: profile, numbers: a.phones }, { letter: goodLetter(a.phones) });
  await changeNumber({ db, handle: b.handle, phone: a.phones[0]!, action: 'reject', ...by });
  await ask(db, 'update_managed_brand', { handle: a.handle }, { letter: goodLetter(a.phones) });
  say('H4', [await brief(a.handle), await brief(b.handle), await live(a.handle)]);
});
it('H22 bad letter drops a pending rename', async () => {
  const a = await approved();
  const r = await ask(db, 'update_managed_brand', { handle: a.handle, changes: { displayName: 'Northwind Smiles' } }, { letter: letterForReview(a.phones) });
  say('H22 before', [r.outcome, await brief(a.handle)]);
  await ask(db, 'update_managed_brand', { handle: a.handle, changes: { website: 'https://northwind.example/x' } }, { letter: { kind: 'refused', code: 'letter_encrypted', problem: 'x' } });
  say('H22 after bad letter', await brief(a.handle));
  await decideLetter({ db, letterId: r.letter!.letterId, approve: true, ...by });
  say('H22 after approval of the first', [await brief(a.handle), (await readBrand(db, a.handle)).profile.displayName]);
});
it('H22b website change during review of a rename with letter orphans the letter', async () => {
  const a = await approved();
  const r = await ask(db, 'update_managed_brand', { handle: a.handle, changes: { displayName: 'Northwind Smiles' } }, { letter: letterForReview(a.phones) });
  await ask(db, 'update_managed_brand', { handle: a.handle, changes: { website: 'https://northwind.example/y' } });
  say('H22b', await brief(a.handle));
  await decideBrand({ db, handle: a.handle, approve: true, ...by }).then((s) => say('H22b brand decided while letter waits', s), (e) => say('H22b refused', e.problem));
  await decideLetter({ db, letterId: r.letter!.letterId, approve: false, ...by });
  say('H22b letter rejected', [await brief(a.handle), await live(a.handle)]);
});
it('H24 decide on withdrawn', async () => {
  const a = await approved();
  await ask(db, 'update_managed_brand', { handle: a.handle, changes: { displayName: 'Northwind Smiles' } });
  await withdrawBrand({ db, handle: a.handle, ...by });
  await decideBrand({ db, handle: a.handle, approve: true, ...by }).then((s) => say('H24 accepted', s), (e) => say('H24 refused', e.code));
  say('H24', await brief(a.handle));
});
it('H26 resume of an uncovered number', async () => {
  const a = await approved(2);
  await ask(db, 'update_managed_brand', { handle: a.handle }, { letter: goodLetter(a.phones.slice(1)) });
  await changeNumber({ db, handle: a.handle, phone: a.phones[0]!, action: 'suspend', ...by });
  await withdrawLetter({ db, letterId: a.letterId, ...by });
  say('H26', [await changeNumber({ db, handle: a.handle, phone: a.phones[0]!, action: 'resume', ...by }), await brief(a.handle)]);
});
it('NUL and lone surrogates in a request', async () => {
  const bad = [
    { numbers: ['+1212555\u00001000'] }, { numbers: ['\uD800'] }, { brand: { ...profile, contact: { name: 'Jane', email: 'a\u0000b@example.com' } } }, { brand: { ...profile, contact: { name: 'Jane', email: 'a\uD800b@example.com' } } },
    { brand: { ...profile, website: 'https://a.example/\uD800' } }, { brand: { ...profile, website: 'https://a.example/\u00e9'.normalize('NFD') } },{ brand: { ...profile, displayName: 'A\u0378B' } },
  ];
  for (const change of bad) {
    const { handle } = fresh(0);
    await ask(db, 'add_managed_brand', { handle, brand: profile, ...change } as never).then((r) => say('ok', r.outcome), (e) => say('NUL', [e.constructor.name, e.code, e.message, e.where, e.detail]));
  }
  await submitOperation({ db, vault: testVault }, { kind: 'add_phone_number', request: { handle: 'aa', numbers: ['+12125550100'] }, owner, key: 'k1', requestedBy: 'a\u0000b' }).catch((e) => say('by', [e.constructor.name, e.message]));
});
it('H12 outcome of expired brand', async () => {
  const a = await approved();
  await withdrawLetter({ db, letterId: a.letterId, ...by });
  const r = await ask(db, 'update_managed_brand', { handle: a.handle, changes: { website: 'https://northwind.example/z' } });
  say('outcome of an update on an expired brand', [r.outcome, r.brand]);
});
it('roles', async () => {
  const c = await db.connect();
  try {
    await c.query('SET ROLE caller_trust_reader');
    for (const t of ['document', 'branding_operation', 'branding_operation_row', 'brand', 'brand_revision', 'branding_event', 'letter', 'letter_finding', 'letter_number', 'brand_number', 'brand_overview'])
      say(t, await c.query(`SELECT count(*) FROM ${t}`).then(() => 'readable', (e) => e.code));
    for (const w of ["UPDATE letter SET state='approved'", 'DELETE FROM brand_overview', 'UPDATE brand_overview SET state = state']) say(w, await c.query(w).then(() => 'DONE', (e) => e.code));
  } finally { await c.query('RESET ROLE'); c.release(); }
});
