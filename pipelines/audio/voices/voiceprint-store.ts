import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { cleanText } from '../../phone/text-cleaning.ts';
import type { SealedName, SealingKey, Vault } from '../../../runtime/secrets/vault.ts';

/** Longest name of an owner or a subject, in characters. */
export const voiceprintNameCharactersMax = 128;

/** Longest reference of a consent, in characters. */
export const consentReferenceCharactersMax = 256;

/** A consent may be dated so far ahead of this machine's clock, and no further. */
const clockDifferenceMsMax = 24 * 3_600_000;

/** The person's agreement that a voiceprint is made: where it is kept, when it was given, and who entered it here. */
export interface Consent {
  readonly reference: string;
  readonly at: Date;
  readonly recordedBy: string;
}

/** Whose voiceprint it is. */
export interface VoiceprintSubject {
  /** The client that asked for it, as API keys name it. */
  readonly owner: string;
  /** The client's reference for the person, not a name. */
  readonly subject: string;
}

/** A voiceprint to store. */
export interface NewVoiceprint extends VoiceprintSubject {
  readonly consent: Consent;
  readonly model: string;
  /** Digest of the model's manifest: embeddings of different models cannot be compared. */
  readonly modelSha256: string;
  readonly recordings: number;
  readonly voiceSeconds: number;
  /** The embedding of the voice. It is stored sealed, and nowhere else. */
  readonly embedding: Float32Array;
}

/** The facts of a voiceprint without its embedding. */
export interface VoiceprintRecord extends VoiceprintSubject {
  readonly id: string;
  readonly model: string;
  readonly modelSha256: string;
  readonly recordings: number;
  readonly voiceSeconds: number;
  readonly consent: Consent;
  readonly enrolledAt: Date;
  readonly deletedAt: Date | null;
  readonly deletedWhy: string | null;
  /** Recordings that were compared with it. */
  readonly verifications: number;
}

export interface VoiceprintStore {
  readonly db: Pool;
  readonly vault: Vault;
  /** Writes the caller's record in the transaction that stores a voiceprint or a comparison; if it fails, nothing is stored. */
  readonly record?: ((client: Queryable, id: string) => Promise<void>) | undefined;
}

/** Who did what to a voiceprint, and why; kept permanently. */
export interface VoiceprintEvent {
  readonly eventId: number;
  readonly at: Date;
  readonly action: 'enrolled' | 'verified' | 'deleted';
  readonly actor: string;
  readonly reason: string;
}

/** A voiceprint that was opened to compare a recording with it. */
export interface OpenedVoiceprint {
  readonly model: string;
  readonly modelSha256: string;
  readonly embedding: Float32Array;
}

/**
 * Checks names and consent before a person's voice is processed; returns them cleaned.
 * @throws ServiceError `consent_required`, `usage_invalid`
 */
export function checkEnrolment(
  { owner, subject, consent }: VoiceprintSubject & { readonly consent: Partial<Consent> },
  now: Date,
): VoiceprintSubject & { readonly consent: Consent } {
  const reference = cleanText(consent.reference ?? '');
  const recordedBy = cleanText(consent.recordedBy ?? '');
  if (reference === null || recordedBy === null || consent.at === undefined)
    throw consentRequired('Say where the consent is kept, when it was given, and who enters it.');
  if (reference.length > consentReferenceCharactersMax)
    throw consentRequired(`The reference of the consent is longer than ${consentReferenceCharactersMax} characters.`);
  if (consent.at.getTime() > now.getTime() + clockDifferenceMsMax)
    throw consentRequired('The consent is dated in the future.');
  return {
    owner: requireVoiceprintName('owner', owner),
    subject: requireVoiceprintName('subject', subject),
    consent: { reference, at: consent.at, recordedBy },
  };
}

/**
 * Fails early if the person has a voiceprint; the insert decides.
 * @throws ServiceError `voiceprint_exists`
 */
export async function requireNoVoiceprint(db: Queryable, { owner, subject }: VoiceprintSubject): Promise<void> {
  const row = await queryRow<{ publicId: string }>(db, sql('audio/find_voiceprint'), [owner, subject]);
  if (row !== undefined) throw voiceprintExists(row.publicId);
}

/**
 * Seals and stores a voiceprint with its consent and the first row of its audit trail in one transaction. Names and consent are
 * those of `checkEnrolment`.
 * @throws ServiceError `voiceprint_exists`
 */
export async function storeVoiceprint(
  { db, vault, record }: VoiceprintStore,
  voiceprint: NewVoiceprint,
): Promise<{ id: string; enrolledAt: Date }> {
  const { owner, subject, model, modelSha256, recordings, voiceSeconds, consent, embedding } = voiceprint;
  const id = randomUUID();
  const { key, wrapped, masterKeyId } = vault.makeKey(voiceprintKeyPurpose(id));
  const sealed = key.seal(bytesOf(embedding), embeddingPurpose(id, modelSha256));
  const values = [
    id,
    owner,
    subject,
    model,
    modelSha256,
    recordings,
    voiceSeconds,
    consent.reference,
    consent.at,
    consent.recordedBy,
    sealed,
    wrapped,
    masterKeyId,
  ];
  return inTransaction(db, async (client) => {
    const row = await queryRow<{ voiceprintId: number; enrolledAt: Date }>(
      client,
      sql('audio/insert_voiceprint'),
      values,
    );
    if (row === undefined) {
      await requireNoVoiceprint(client, voiceprint);
      throw voiceprintExists(subject); // the other one was deleted in between
    }
    await recordEvent(client, {
      voiceprintId: row.voiceprintId,
      action: 'enrolled',
      actor: consent.recordedBy,
      reason: `Consent ${consent.reference}`,
    });
    await record?.(client, id);
    return { id, enrolledAt: row.enrolledAt };
  });
}

/**
 * Opens a voiceprint.
 * @throws ServiceError `voiceprint_unknown` also if it was deleted, `document_sealed`
 */
export async function openVoiceprint({ db, vault }: VoiceprintStore, id: string): Promise<OpenedVoiceprint> {
  const row = isId(id) ? await queryRow<SealedRow>(db, sql('audio/read_voiceprint'), [id]) : undefined;
  if (row === undefined) throw unknown(id);
  const key = openKey(vault, id, row);
  const bytes = key.open(row.sealedEmbedding!, embeddingPurpose(id.toLowerCase(), row.modelSha256), thing(id));
  return { model: row.model, modelSha256: row.modelSha256, embedding: new Float32Array(new Uint8Array(bytes).buffer) };
}

/** Which voiceprints are listed. */
export interface VoiceprintFilter {
  readonly owner?: string | undefined;
  readonly withDeleted: boolean;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly before?: number | undefined;
}

/** Voiceprints without the voice, newest first. */
export async function listVoiceprints(db: Queryable, filter: VoiceprintFilter): Promise<VoiceprintRecord[]> {
  return (await listVoiceprintPage(db, filter)).voiceprints;
}

/** A page of them, with the `next` of the page after it; null for the last one. */
export async function listVoiceprintPage(
  db: Queryable,
  { owner, withDeleted, limit, before }: VoiceprintFilter,
): Promise<{ voiceprints: VoiceprintRecord[]; next: number | null }> {
  const rows = await queryRows<StoredVoiceprint>(db, sql('audio/list_voiceprints'), [
    null,
    owner ?? null,
    withDeleted,
    before ?? null,
    limit + 1,
  ]);
  const shown = rows.slice(0, limit);
  return { voiceprints: shown.map(withoutRowId), next: rows.length > limit ? shown.at(-1)!.voiceprintId : null };
}

/**
 * A voiceprint without the voice, also one that was deleted.
 * @throws ServiceError `voiceprint_unknown`
 */
export async function readVoiceprint(db: Queryable, id: string): Promise<VoiceprintRecord> {
  const row = isId(id)
    ? await queryRow<StoredVoiceprint>(db, sql('audio/list_voiceprints'), [id, null, true, null, 1])
    : undefined;
  if (row === undefined) throw unknown(id);
  return withoutRowId(row);
}

/** The audit trail of a voiceprint, oldest first; it stays when the voiceprint is deleted. */
export function listVoiceprintEvents(db: Queryable, id: string): Promise<VoiceprintEvent[]> {
  return queryRows<VoiceprintEvent>(db, sql('audio/list_voiceprint_events'), [id]);
}

/**
 * Destroys the key and the sealed bytes of a voiceprint, which takes no master key. The row stays with its consent and its trail.
 * @throws ServiceError `voiceprint_unknown` also if it was deleted before, `reason_required`
 */
export async function deleteVoiceprint(
  db: Pool,
  id: string,
  { actor, reason, record }: { actor: string; reason: string; record?: (client: Queryable) => Promise<void> },
): Promise<{ deletedAt: Date }> {
  if (!/\S/.test(reason)) throw new ServiceError('reason_required', { operation: 'delete voiceprint', object: id });
  const deleted = await inTransaction(db, async (client) => {
    const row = isId(id)
      ? await queryRow<{ voiceprintId: number; deletedAt: Date }>(client, sql('audio/delete_voiceprint'), [id, reason])
      : undefined;
    if (row === undefined) throw deletedBefore(await readVoiceprint(client, id));
    await recordEvent(client, { voiceprintId: row.voiceprintId, action: 'deleted', actor, reason });
    await record?.(client);
    return row.deletedAt;
  });
  await db.query(sql('audio/vacuum_voiceprints')).catch(() => {}); // autovacuum comes later: what is left in the table is sealed, and its key is gone from the row
  return { deletedAt: deleted };
}

/** The result of comparing a recording with a voiceprint. */
interface VoiceVerification {
  readonly audioSha256: string;
  /** Null with a reason. */
  readonly identity: number | null;
  readonly decision: object | null;
  readonly reason: string | null;
}

/**
 * Stores the result of a comparison, with a row of the audit trail. The recording itself is not kept.
 * @throws ServiceError `voiceprint_unknown` if it was deleted meanwhile
 */
export async function recordVoiceVerification(
  { db, record }: Pick<VoiceprintStore, 'db' | 'record'>,
  id: string,
  { verification, actor }: { verification: VoiceVerification; actor: string },
): Promise<{ verificationId: string; verifiedAt: Date }> {
  const { audioSha256, identity, decision, reason } = verification;
  return inTransaction(db, async (client) => {
    const row = await queryRow<SealedRow>(client, sql('audio/read_voiceprint'), [id]);
    if (row === undefined || row.wrappedKey === null) throw unknown(id);
    const values = [row.voiceprintId, audioSha256, identity, decision && JSON.stringify(decision), reason, actor];
    const stored = await queryRow<{ publicId: string; verifiedAt: Date }>(
      client,
      sql('audio/insert_voice_verification'),
      values,
    );
    await recordEvent(client, {
      voiceprintId: row.voiceprintId,
      action: 'verified',
      actor,
      reason: `Verification ${stored!.publicId}`,
    });
    await record?.(client, stored!.publicId);
    return { verificationId: stored!.publicId, verifiedAt: stored!.verifiedAt };
  });
}

/** A voiceprint with its id within the database. */
type StoredVoiceprint = VoiceprintRecord & { readonly voiceprintId: number };

function withoutRowId({ voiceprintId: _row, ...record }: StoredVoiceprint): VoiceprintRecord {
  return record;
}

interface SealedRow {
  readonly voiceprintId: number;
  readonly model: string;
  readonly modelSha256: string;
  readonly sealedEmbedding: Buffer | null;
  readonly wrappedKey: Buffer | null;
  readonly masterKeyId: string;
}

async function recordEvent(
  client: Queryable,
  {
    voiceprintId,
    action,
    actor,
    reason,
  }: { voiceprintId: number } & Pick<VoiceprintEvent, 'action' | 'actor' | 'reason'>,
): Promise<void> {
  await client.query(sql('audio/record_voiceprint_event'), [voiceprintId, action, actor, reason]);
}

function openKey(vault: Vault, id: string, { wrappedKey, masterKeyId }: SealedRow): SealingKey {
  if (wrappedKey === null)
    throw new ServiceError('voiceprint_unknown', {
      operation: 'open voiceprint',
      object: id,
      problem: 'The voiceprint was deleted.',
      hint: 'Enrol the person again, with consent.',
    });
  return vault.unwrapKey({ wrapped: wrappedKey, masterKeyId }, voiceprintKeyPurpose(id.toLowerCase()), thing(id));
}

/** Little-endian, as on every platform of Node. */
function bytesOf(embedding: Float32Array): Uint8Array {
  return new Uint8Array(embedding.buffer, embedding.byteOffset, embedding.byteLength);
}

/** Binds the key of a voiceprint to its id. */
export const voiceprintKeyPurpose = (id: string) => `voiceprint key ${id}`;

/** Binds the sealed bytes to the voiceprint and its model: they cannot be opened in another row or for another model. */
const embeddingPurpose = (id: string, modelSha256: string) => `voiceprint embedding ${id} ${modelSha256}`;

const thing = (id: string): SealedName => ({ kind: 'voiceprint', id });

function isId(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}

function requireVoiceprintName(field: 'owner' | 'subject', text: string): string {
  const name = cleanText(text);
  if (name !== null && name.length <= voiceprintNameCharactersMax) return name;
  throw new ServiceError('usage_invalid', {
    operation: 'enrol voice',
    object: field,
    problem: `The ${field} is missing or longer than ${voiceprintNameCharactersMax} characters.`,
  });
}

function consentRequired(problem: string): ServiceError {
  return new ServiceError('consent_required', {
    operation: 'enrol voice',
    problem,
    hint: 'docs/voiceprints.md says what a consent needs.',
  });
}

function voiceprintExists(of: string): ServiceError {
  return new ServiceError('voiceprint_exists', {
    operation: 'enrol voice',
    object: of,
    hint: 'Delete it first with `caller-trust voice delete`, to make a new one.',
  });
}

function deletedBefore({ id, deletedAt, deletedWhy }: VoiceprintRecord): ServiceError {
  const problem = `The voiceprint was deleted on ${deletedAt?.toISOString().slice(0, 10)}: ${deletedWhy}`;
  return new ServiceError('voiceprint_unknown', {
    operation: 'delete voiceprint',
    object: id,
    problem,
    hint: `\`caller-trust voice show ${id}\` shows what is kept of it.`,
  });
}

function unknown(id: string): ServiceError {
  return new ServiceError('voiceprint_unknown', {
    operation: 'open voiceprint',
    object: id,
    hint: '`caller-trust voice list` lists the existing ones.',
  });
}
