import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { Vault } from '../../../runtime/vault.ts';
import type { BrandProfile } from '../brand-profile.ts';
import { openReading } from '../document-store.ts';
import type { Finding } from '../finding.ts';
import type { PublicFinding } from '../operation-result.ts';
import { listFindings, publicFinding } from './result-maker.ts';
import type { SealedReading } from './letter-record.ts';
import type { BrandState, LetterState, NumberState } from '../states.ts';

/** A brand in a list. */
export interface BrandSummary {
  readonly handle: string;
  readonly owner: string;
  readonly state: BrandState;
  readonly displayName: string;
  readonly legalName: string;
  /** The display name of the revision that waits for a decision. */
  readonly pendingDisplayName: string | null;
  readonly changedAt: Date;
  readonly verifiedNumbers: number;
}

/** Everything that is known of a brand. */
export interface BrandRecord {
  readonly brandId: number;
  readonly handle: string;
  readonly owner: string;
  readonly state: BrandState;
  readonly approvedRevision: number | null;
  readonly pendingRevision: number | null;
  readonly createdAt: Date;
  readonly changedAt: Date;
  readonly approvedAt: Date | null;
  /** Of the approved revision; of the last one where none was approved. */
  readonly profile: BrandProfile;
  readonly pendingProfile: BrandProfile | null;
  readonly findings: readonly PublicFinding[];
  readonly numbers: Partial<Record<NumberState, number>>;
  readonly letters: readonly LetterRecord[];
}

/** A number of a brand. */
export interface BrandNumber {
  readonly phone: string;
  readonly country: string | null;
  readonly state: NumberState;
  readonly callReason: string | null;
  readonly submittedAt: Date;
  readonly changedAt: Date;
  readonly verifiedAt: Date | null;
  /** End of the time in which the branded cache has it; null if it is not there. */
  readonly liveUntil: Date | null;
}

/** A letter without its text. */
export interface LetterRecord {
  readonly letterId: number;
  readonly handle: string;
  readonly owner: string;
  readonly revision: number;
  readonly operationId: number;
  readonly state: LetterState;
  readonly submittedAt: Date;
  readonly ruleVersion: string;
  readonly format: string | null;
  readonly pages: number | null;
  readonly signedOn: string | null;
  readonly decidedAt: Date | null;
  readonly decidedBy: string | null;
  readonly decisionReason: string | null;
  readonly validFrom: Date | null;
  readonly validUntil: Date | null;
  /** Numbers that it authorizes. */
  readonly numbers: number;
  readonly document: {
    readonly documentId: number;
    readonly sha256: string;
    readonly bytes: number;
    readonly destroyedAt: Date | null;
  };
}

/** One entry of the audit trail. */
export interface BrandingEvent {
  readonly eventId: number;
  readonly at: Date;
  readonly subject: 'brand' | 'letter' | 'number';
  readonly letterId: number | null;
  readonly phone: string | null;
  readonly action: string;
  readonly before: string | null;
  readonly after: string;
  readonly actor: string;
  readonly reason: string;
  readonly operationId: number | null;
}

/** Brands by handle, after one of them. */
export async function listBrands(
  db: Queryable,
  {
    owner,
    state,
    after,
    limit,
  }: { owner?: string | undefined; state?: string | undefined; after: string; limit: number },
): Promise<BrandSummary[]> {
  return queryRows<BrandSummary>(db, sql('branding/list_brands'), [owner ?? null, state ?? null, after, limit]);
}

/** @throws ServiceError `brand_unknown` */
export async function readBrand(db: Queryable, handle: string): Promise<BrandRecord> {
  const row = await queryRow<Omit<BrandRecord, 'findings'> & { findings: Finding[] }>(db, sql('branding/read_brand'), [
    handle,
  ]);
  if (row === undefined) throw brandUnknown(handle);
  const counts = await queryRows<{ state: NumberState; count: number }>(db, sql('branding/count_brand_numbers'), [
    row.brandId,
  ]);
  return {
    ...row,
    findings: row.findings.map(publicFinding),
    numbers: Object.fromEntries(counts.map(({ state, count }) => [state, count])),
    letters: await listLetters(db, { handle, limit: lettersShownMax }),
  };
}

/** The error for a brand that is not there, or that who asks may not see. */
export function brandUnknown(handle: string): ServiceError {
  return new ServiceError('brand_unknown', {
    operation: 'show brand',
    object: handle,
    hint: '`caller-trust brand list` shows those there are.',
  });
}

const lettersShownMax = 100;

/** Numbers of a brand in ascending order, after one of them. */
export async function listBrandNumbers(
  db: Queryable,
  brandId: number,
  { state, after, limit }: { state?: string | undefined; after: string; limit: number },
): Promise<BrandNumber[]> {
  return queryRows<BrandNumber>(db, sql('branding/list_brand_numbers'), [brandId, state ?? null, after, limit]);
}

export interface LetterFilter {
  readonly handle?: string | undefined;
  /** Only those of these owners; null for all. */
  readonly owners?: readonly string[] | null;
  readonly state?: string | undefined;
  /** Only letters in force that end at this instant or earlier. */
  readonly endingBy?: Date | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Letters, newest first. */
export async function listLetters(
  db: Queryable,
  { handle, owners, state, endingBy, before, limit }: LetterFilter,
): Promise<LetterRecord[]> {
  const values = [null, handle ?? null, state ?? null, endingBy ?? null, before ?? null, limit, owners ?? null];
  return queryRows<LetterRecord>(db, sql('branding/list_letters'), values);
}

/**
 * A letter with its findings; `opened` adds what was sealed beside it, for those who may see its text.
 * @throws ServiceError `letter_unknown`, `document_sealed`
 */
export async function readLetterRecord(
  db: Queryable,
  letterId: number,
  vault?: Vault,
): Promise<LetterRecord & { findings: readonly PublicFinding[]; opened: SealedReading | null }> {
  const values = [letterId, null, null, null, null, 1, null];
  const letter = await queryRow<LetterRecord>(db, sql('branding/list_letters'), values);
  if (letter === undefined) throw letterUnknown(letterId);
  const mayOpen = vault !== undefined && letter.document.destroyedAt === null;
  const opened = mayOpen
    ? ((await openReading({ db, vault }, letter.document.documentId)) as SealedReading | null)
    : null;
  return { ...letter, findings: await listFindings(db, letterId), opened };
}

/** The error for a letter that is not there, or that who asks may not see. */
export function letterUnknown(letterId: number): ServiceError {
  return new ServiceError('letter_unknown', {
    operation: 'show letter',
    object: String(letterId),
    hint: '`caller-trust letter list` shows those there are.',
  });
}

/** The audit trail of a brand, oldest first, after one event. */
export async function listEvents(
  db: Queryable,
  brandId: number,
  { after, limit }: { after: number; limit: number },
): Promise<BrandingEvent[]> {
  return queryRows<BrandingEvent>(db, sql('branding/list_events'), [brandId, after, limit]);
}
