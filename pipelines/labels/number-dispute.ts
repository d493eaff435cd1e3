import { z } from 'zod';
import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { cleanText } from '../phone/text-cleaning.ts';
import { requireAnotherPerson, type EyesPolicy } from '../access/two-pairs-of-eyes.ts';
import type { Vault } from '../../runtime/secrets/vault.ts';
import { listLabelEvents, type LabelEvent } from './label-history.ts';
import { clearLockedNumber, requirePhone } from './number-record.ts';
import { sha256Of } from '../../runtime/digest.ts';
import { isIdempotencyKey, idempotencyKeyForm, requireSameRequest } from '../../runtime/idempotency-key.ts';

/** Longest texts of a request, in characters. */
export const disputeReasonCharactersMax = 2000;
export const disputeContactCharactersMax = 200;

/** Open disputes of one number, and from one contact, at a time: more do not help a reviewer. */
export const disputesOpenOfNumberMax = 3;
export const disputesOpenOfContactMax = 20;

/** States of a dispute. `cleared`: the number is published as NEUTRAL; `upheld`: its label stays. Both are final. */
export const DISPUTE_STATES = ['open', 'cleared', 'upheld'] as const;

export type DisputeState = (typeof DISPUTE_STATES)[number];

const cleaned = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax, `has more than ${charactersMax} characters`)
    .transform((text) => cleanText(text))
    .refine((text) => text !== null, 'is blank');

/** The request form: a number in international form, why its label is wrong, and a contact. */
const disputeForm = z.strictObject({
  phone: z.string().max(64),
  reason: cleaned(disputeReasonCharactersMax),
  contact: cleaned(disputeContactCharactersMax).optional(),
});

/** A dispute to be filed. The same key of the same person gives the same dispute. */
interface DisputeSubmission {
  /** Unchecked fields of {@link disputeForm}. */
  readonly request: unknown;
  readonly filedBy: string;
  /** Printable ASCII without spaces, at most 128 characters; default: the digest of the request. */
  readonly key?: string | undefined;
  /** Writes further records in the transaction that files it. */
  readonly record?: (client: Queryable, disputeId: number) => Promise<void>;
}

/** A dispute, without its contact. */
export interface Dispute {
  readonly disputeId: number;
  readonly phone: string;
  readonly reason: string;
  readonly filedBy: string;
  readonly filedAt: Date;
  readonly key: string;
  readonly hasContact: boolean;
  /** The label when it was filed. */
  readonly label: { readonly level: string; readonly category: number | null; readonly source: string | null };
  readonly state: DisputeState;
  readonly decision: {
    readonly at: Date;
    readonly by: string;
    readonly reason: string;
    readonly redressId: number | null;
  } | null;
}

export const contactPurpose = 'contact of a dispute';

const dayMs = 86_400_000;

/**
 * Files a dispute of the published label of a number, for a person to decide. A repeated key returns the same dispute.
 * @throws ServiceError `dispute_invalid`, `phone_invalid`, `dispute_unneeded` for a number without a label, `disputes_too_many`,
 * `idempotency_conflict`
 */
export async function fileDispute(
  { db, vault }: { db: Pool; vault: Vault },
  submission: DisputeSubmission,
): Promise<Dispute & { repeated: boolean }> {
  const { phone, reason, contact } = parseDispute(submission.request);
  const filedBy = cleanText(submission.filedBy) ?? 'unknown';
  const digest = sha256Of(JSON.stringify([phone, reason, contact ?? null]));
  const key = submission.key ?? digest;
  if (!isIdempotencyKey(key)) throw invalidDispute('key', `is not ${idempotencyKeyForm}`);
  return inTransaction(db, async (client) => {
    await client.query(sql('labels/lock_disputes'));
    const before = await queryRow<{ disputeId: number; requestSha256: string }>(
      client,
      sql('labels/find_repeated_dispute'),
      [filedBy, key],
    );
    if (before !== undefined) {
      requireSameRequest(before, digest, { operation: 'file dispute', object: `dispute ${before.disputeId}` });
      return { ...(await readDispute(client, before.disputeId)), repeated: true };
    }
    const contactDigest = contact === undefined ? null : digestContact(vault, contact);
    await refuseTooMany(client, phone, contactDigest);
    const sealed = contact === undefined ? null : sealContact(vault, contact);
    const row = await queryRow<{ disputeId: number }>(client, sql('labels/insert_dispute'), [
      phone,
      reason,
      filedBy,
      key,
      digest,
      sealed?.content ?? null,
      sealed?.wrapped ?? null,
      sealed?.masterKeyId ?? null,
      contactDigest,
    ]);
    if (row === undefined) throw new ServiceError('dispute_unneeded', { operation: 'file dispute' });
    await submission.record?.(client, row.disputeId);
    return { ...(await readDispute(client, row.disputeId)), repeated: false };
  });
}

/** Which disputes to list: by default, those of all states and numbers. */
interface DisputeQuery {
  readonly state?: DisputeState | undefined;
  readonly phone?: string | undefined;
  readonly after?: number;
  readonly limit: number;
}

/** Disputes, oldest first. */
export async function listDisputes(
  db: Queryable,
  { state, phone, after = 0, limit }: DisputeQuery,
): Promise<Dispute[]> {
  return queryRows<Dispute>(db, sql('labels/list_disputes'), [state ?? null, phone ?? null, after, limit]);
}

/** @throws ServiceError `dispute_unknown` */
export async function readDispute(db: Queryable, disputeId: number): Promise<Dispute> {
  const [dispute] = await listDisputes(db, { after: disputeId - 1, limit: 1 });
  if (dispute?.disputeId !== disputeId) throw unknownDispute(disputeId);
  return dispute;
}

/** Changes of the label of a number, newest first, and its disputes, oldest first. */
interface NumberHistory {
  readonly changes: readonly LabelEvent[];
  readonly disputes: readonly Dispute[];
}

/** The history of a number, written in any international form. @throws ServiceError `phone_invalid` */
export async function readNumberHistory(
  db: Queryable,
  phoneText: string,
  { limit }: { limit: number },
): Promise<NumberHistory> {
  const phone = requirePhone('show history', phoneText);
  return { changes: await listLabelEvents(db, phone, { limit }), disputes: await listDisputes(db, { phone, limit }) };
}

/** The contact of a dispute; null if not given, or destroyed. @throws ServiceError `document_sealed` */
export async function openDisputeContact(
  { db, vault }: { db: Queryable; vault: Vault },
  disputeId: number,
): Promise<string | null> {
  const row = await queryRow<{ sealedContact: Buffer; wrappedKey: Buffer; masterKeyId: string }>(
    db,
    sql('labels/read_dispute_contact'),
    [disputeId],
  );
  if (row === undefined) return null;
  const of = { kind: 'contact', id: String(disputeId) } as const;
  return vault
    .unwrapKey({ wrapped: row.wrappedKey, masterKeyId: row.masterKeyId }, contactPurpose, of)
    .open(row.sealedContact, contactPurpose, of)
    .toString('utf8');
}

/** A decision on a dispute. */
interface DisputeVerdict {
  readonly db: Pool;
  readonly disputeId: number;
  /** True clears the number, false leaves its label. */
  readonly clear: boolean;
  readonly reason: string;
  readonly actor: string;
  readonly eyes: EyesPolicy;
  /** Writes further records in the transaction of the decision, which fails with it. */
  readonly record?: (client: Queryable) => Promise<void>;
}

/**
 * Decides an open dispute. Clearing has the effect of `clearNumber`.
 * @throws ServiceError `dispute_unknown`, `dispute_decided`, `reason_required`, `decided_by_requester`
 */
export async function decideDispute({
  db,
  disputeId,
  clear,
  reason: reasonText,
  actor: actorText,
  eyes,
  record,
}: DisputeVerdict): Promise<Dispute> {
  const [reason, actor] = [cleanText(reasonText), cleanText(actorText) ?? 'unknown'];
  if (reason === null) throw new ServiceError('reason_required', { operation: 'decide dispute', hint: 'Say why.' });
  return inTransaction(db, async (client) => {
    const row = await queryRow<{ phone: string; state: DisputeState }>(client, sql('labels/lock_dispute'), [disputeId]);
    if (row === undefined) throw unknownDispute(disputeId);
    if (row.state !== 'open')
      throw new ServiceError('dispute_decided', {
        operation: 'decide dispute',
        object: String(disputeId),
        problem: `The dispute is ${row.state} already.`,
      });
    await requireAnotherPerson(client, { eyes, actor, of: { kind: 'label', value: row.phone, isPrefix: false } });
    const redress = clear ? await clearLockedNumber(client, row.phone, { reason, actor, cause: 'dispute' }) : null;
    await client.query(sql('labels/decide_dispute'), [
      disputeId,
      clear ? 'cleared' : 'upheld',
      actor,
      reason,
      redress?.redressId ?? null,
    ]);
    await record?.(client);
    return readDispute(client, disputeId);
  });
}

/** Destroys the contacts of disputes that were decided more than `retentionDays` ago; returns their number. */
export async function destroyOldContacts(
  db: Queryable,
  { retentionDays, at }: { retentionDays: number; at: Date },
): Promise<number> {
  const row = await queryRow<{ destroyed: number }>(db, sql('labels/destroy_dispute_contacts'), [
    new Date(at.getTime() - retentionDays * dayMs),
  ]);
  return row!.destroyed; // the statement returns one row
}

function parseDispute(request: unknown): { phone: string; reason: string; contact: string | undefined } {
  const read = disputeForm.safeParse(request);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw invalidDispute(
      issue?.path.join('.') || 'request',
      issue?.code === 'unrecognized_keys'
        ? 'has a field that the form does not have'
        : (issue?.message ?? 'is not valid'),
    );
  }
  const { phone, reason, contact } = read.data;
  return { phone: requirePhone('file dispute', phone), reason: reason!, contact: contact ?? undefined }; // a blank reason was refused
}

function invalidDispute(field: string, problem: string): ServiceError {
  return new ServiceError('dispute_invalid', {
    operation: 'file dispute',
    problem: `The field ${field} ${problem}.`,
    hint: 'The form has phone, reason and contact.',
  });
}

async function refuseTooMany(client: Queryable, phone: string, contactDigest: Buffer | null): Promise<void> {
  const open = await queryRow<{ ofNumber: number; ofContact: number }>(client, sql('labels/count_open_disputes'), [
    phone,
    contactDigest,
  ]);
  const { ofNumber, ofContact } = open!; // the statement returns one row
  if (ofNumber < disputesOpenOfNumberMax && ofContact < disputesOpenOfContactMax) return;
  const [what, most] =
    ofNumber < disputesOpenOfNumberMax
      ? ['from this contact', disputesOpenOfContactMax]
      : ['of this number', disputesOpenOfNumberMax];
  throw new ServiceError('disputes_too_many', {
    operation: 'file dispute',
    problem: `${most} disputes ${what} are open.`,
  });
}

/** A digest by which the disputes of one contact are counted. */
export function digestContact(vault: Vault, contact: string): Buffer {
  return vault.digest(contact.toLowerCase(), contactPurpose);
}

function sealContact(vault: Vault, contact: string): { content: Buffer; wrapped: Buffer; masterKeyId: string } {
  const { key, wrapped, masterKeyId } = vault.makeKey(contactPurpose);
  return { content: key.seal(Buffer.from(contact), contactPurpose), wrapped, masterKeyId };
}

function unknownDispute(disputeId: number): ServiceError {
  return new ServiceError('dispute_unknown', { operation: 'read dispute', object: String(disputeId) });
}
