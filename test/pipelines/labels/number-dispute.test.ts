import { beforeEach, describe, expect, it } from 'vitest';
import { listLabelEvents } from '../../../pipelines/labels/label-history.ts';
import {
  decideDispute,
  destroyOldContacts,
  disputeContactCharactersMax,
  disputeReasonCharactersMax,
  disputesOpenOfContactMax,
  disputesOpenOfNumberMax,
  fileDispute,
  listDisputes,
  openDisputeContact,
  readDispute,
} from '../../../pipelines/labels/number-dispute.ts';
import { clearNumber, readNumber } from '../../../pipelines/labels/number-record.ts';
import { Vault } from '../../../runtime/secrets/vault.ts';
import { useTestDatabase } from '../../support/database.ts';
import { putNumbers } from '../../support/numbers.ts';

const { db } = await useTestDatabase();
const vault = new Vault(Buffer.alloc(32, 7));
const eyes = { twoPairsOfEyes: 'on', samePersons: undefined } as const;
const phone = '+12025550143';
const request = { phone: '+1 202 555 0143', reason: 'The number is ours since May.', contact: 'office@clinic.example' };
const file = (changes: object = {}, options: { filedBy?: string; key?: string } = {}) =>
  fileDispute({ db, vault }, { request: { ...request, ...changes }, filedBy: 'cli ada', ...options });
const decide = (disputeId: number, clear: boolean, changes: object = {}) =>
  decideDispute({ db, disputeId, clear, reason: 'Seen the contract', actor: 'cli ben', eyes, ...changes });
const numbers = Array.from(
  { length: disputesOpenOfContactMax + 1 },
  (_, at) => `+120255501${String(at + 50).padStart(2, '0')}`,
);

beforeEach(async () => {
  await db.query('TRUNCATE number_dispute, redress, phone_number RESTART IDENTITY CASCADE');
  await putNumbers(
    db,
    [phone, ...numbers].map((each) => ({ phone: each, level: 'SPAM' as const, category: 6 })),
  );
});

describe('a dispute', () => {
  it('waits with the label that it is about, and its contact is sealed', async () => {
    const filed = await file();
    expect(filed).toMatchObject({
      phone,
      reason: request.reason,
      filedBy: 'cli ada',
      label: { level: 'SPAM', category: 6 },
      state: 'open',
      hasContact: true,
      decision: null,
      repeated: false,
    });
    expect(await listDisputes(db, { state: 'open', limit: 10 })).toMatchObject([{ disputeId: filed.disputeId }]);
    expect(JSON.stringify(filed)).not.toContain('clinic');
    expect(
      (await db.query<{ row: string }>('SELECT number_dispute::text AS row FROM number_dispute')).rows[0]!.row,
    ).not.toContain('clinic');
    expect(await openDisputeContact({ db, vault }, filed.disputeId)).toBe(request.contact);
  });

  it('that is decided for the number clears it, with its reason in the history', async () => {
    const { disputeId } = await file();
    expect(await decide(disputeId, true)).toMatchObject({
      state: 'cleared',
      decision: { by: 'cli ben', reason: 'Seen the contract' },
    });
    expect(await readNumber(db, phone)).toMatchObject({ reputation: { level: 'NEUTRAL', source: 'redress' } });
    expect(await listLabelEvents(db, phone, { limit: 1 })).toMatchObject([
      { cause: 'dispute', to: { level: 'NEUTRAL' }, redress: { by: 'cli ben', reason: 'Seen the contract' } },
    ]);
  });

  it('that is decided against it leaves the label, and the decision is kept', async () => {
    const { disputeId } = await file();
    await decide(disputeId, false);
    expect(await readNumber(db, phone)).toMatchObject({ reputation: { level: 'SPAM' } });
    expect(await readDispute(db, disputeId)).toMatchObject({ state: 'upheld', decision: { redressId: null } });
  });

  it('is decided once, for a reason, and by another person than who filed it', async () => {
    const { disputeId } = await file();
    await expect(decide(disputeId, true, { reason: ' ' })).rejects.toMatchObject({ code: 'reason_required' });
    await expect(decide(disputeId, true, { actor: 'console Ada' })).rejects.toMatchObject({
      code: 'decided_by_requester',
    });
    expect(await readDispute(db, disputeId)).toMatchObject({ state: 'open' });
    await decide(disputeId, true, { actor: 'cli ada', eyes: { twoPairsOfEyes: 'off' } });
    await expect(decide(disputeId, false)).rejects.toMatchObject({ code: 'dispute_decided' });
    await expect(decide(99, true)).rejects.toMatchObject({ code: 'dispute_unknown' });
  });

  it('is decided once by two at the same moment', async () => {
    const { disputeId } = await file();
    const ends = await Promise.allSettled([decide(disputeId, true), decide(disputeId, false)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('changes nothing when its record cannot be written', async () => {
    const { disputeId } = await file();
    await expect(decide(disputeId, true, { record: () => Promise.reject(new Error('no trail')) })).rejects.toThrow(
      'no trail',
    );
    expect(await readDispute(db, disputeId)).toMatchObject({ state: 'open' });
    expect(await readNumber(db, phone)).toMatchObject({ reputation: { level: 'SPAM' } });
  });
});

describe('a request to dispute a label', () => {
  it('is the same dispute when it comes again, by its key or by what it says', async () => {
    const { disputeId } = await file();
    expect(await file()).toMatchObject({ disputeId, repeated: true });
    const keyed = await file({ reason: 'Another reason' }, { key: 'ticket-1' });
    expect(await file({ reason: 'Another reason' }, { key: 'ticket-1' })).toMatchObject({
      disputeId: keyed.disputeId,
      repeated: true,
    });
    await expect(file({ reason: 'A third reason' }, { key: 'ticket-1' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await file({}, { filedBy: 'cli cleo' })).toMatchObject({ repeated: false });
  });

  it('filed by many at the same moment is one dispute', async () => {
    const filed = await Promise.all(Array.from({ length: 5 }, () => file()));
    expect(new Set(filed.map(({ disputeId }) => disputeId)).size).toBe(1);
  });

  it('is refused with the field that is wrong', async () => {
    for (const [changes, code] of [
      [{ phone: '12' }, 'phone_invalid'],
      [{ phone: 12 }, 'dispute_invalid'],
      [{ reason: ' \n' }, 'dispute_invalid'],
      [{ reason: undefined }, 'dispute_invalid'],
      [{ extra: 1 }, 'dispute_invalid'],
      [{ reason: 'x'.repeat(disputeReasonCharactersMax + 1) }, 'dispute_invalid'],
      [{ contact: 'x'.repeat(disputeContactCharactersMax + 1) }, 'dispute_invalid'],
      [{ phone: '+12025550199' }, 'dispute_unneeded'],
    ] as const)
      await expect(file(changes), JSON.stringify(changes).slice(0, 60)).rejects.toMatchObject({ code });
    await expect(file({}, { key: 'a b' })).rejects.toMatchObject({ code: 'dispute_invalid' });
    await expect(
      file({ reason: 'x'.repeat(disputeReasonCharactersMax), contact: 'x'.repeat(disputeContactCharactersMax) }),
    ).resolves.toBeDefined();
  });

  it('has its text cleaned', async () => {
    expect(await file({ reason: ' It is\tours\n\u202e now\\ ' })).toMatchObject({ reason: 'It is ours now/' });
  });

  it('is refused for a number that was cleared already', async () => {
    await clearNumber({ db, eyes, phone, reason: 'x', actor: 'ben' });
    await expect(file()).rejects.toMatchObject({ code: 'dispute_unneeded' });
  });

  it('is refused at the limit of open ones of the number, and accepted again after a decision', async () => {
    const filed = await Promise.all(
      Array.from({ length: disputesOpenOfNumberMax }, (_, at) => file({ contact: undefined }, { key: `k${at}` })),
    );
    await expect(file({}, { key: 'one-more' })).rejects.toMatchObject({ code: 'disputes_too_many' });
    await decide(filed[0]!.disputeId, false);
    await expect(file({}, { key: 'one-more' })).resolves.toMatchObject({ state: 'open' });
  });

  it('is refused at the limit of open ones from the contact, however it is written', async () => {
    for (const each of numbers.slice(0, disputesOpenOfContactMax)) await file({ phone: each });
    await expect(file({ phone: numbers.at(-1)!, contact: 'Office@Clinic.example' })).rejects.toMatchObject({
      code: 'disputes_too_many',
    });
    await expect(file({ phone: numbers.at(-1)!, contact: 'another@clinic.example' })).resolves.toBeDefined();
  });
});

describe('the contact of a dispute', () => {
  it('is destroyed some days after the decision, and not before', async () => {
    const { disputeId } = await file();
    const later = (days: number) => new Date(Date.now() + days * 86_400_000);
    expect(await destroyOldContacts(db, { retentionDays: 90, at: later(400) })).toBe(0);
    await decide(disputeId, false);
    expect(await destroyOldContacts(db, { retentionDays: 90, at: later(89) })).toBe(0);
    expect(await destroyOldContacts(db, { retentionDays: 90, at: later(91) })).toBe(1);
    expect(await openDisputeContact({ db, vault }, disputeId)).toBeNull();
    expect(await readDispute(db, disputeId)).toMatchObject({ hasContact: false, state: 'upheld' });
  });
});
