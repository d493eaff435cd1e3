import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { Vault } from '../../../runtime/secrets/vault.ts';
import type { BrandProfile } from '../brand-profile.ts';
import { openReading } from '../document-store.ts';
import type { Finding } from '../finding.ts';
import type { PublicFinding } from '../operation-result.ts';
import { listFindings, publicFinding } from './result-maker.ts';
import type { SealedReading } from './letter-record.ts';
import type { BrandState, LetterState, NumberState } from '../states.ts';
import { brandUnknown, type BrandStatus } from './locked-brand.ts';

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

/** A brand without private fields. The profile is that of the approved revision, or else of the pending one, or else of the latest. */
export interface BrandOverview
  extends
    Omit<BrandSummary, 'verifiedNumbers'>,
    Pick<BrandProfile, 'dba' | 'website' | 'country' | 'callReasons' | 'logo' | 'logoSha256' | 'relationship'>,
    Pick<BrandRecord, 'brandId' | 'approvedRevision' | 'pendingRevision' | 'createdAt' | 'approvedAt'> {
  /** Null if not counted. */
  readonly verifiedNumbers: number | null;
}

/** A brand with all fields. */
export interface BrandRecord extends BrandStatus {
  readonly createdAt: Date;
  readonly changedAt: Date;
  readonly approvedAt: Date | null;
  /** Of the approved revision, or else of the latest. */
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
  /** Until when it is in the branded cache; null if it is not. */
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

/** Which brands are listed; without a filter all of them. */
interface BrandFilter {
  readonly owner?: string | undefined;
  /** Null for all. */
  readonly owners?: readonly string[] | null;
  readonly state?: string | undefined;
  readonly handle?: string | undefined;
  readonly prefix?: string;
  /** Handle after which to begin. */
  readonly after: string;
  readonly limit: number;
}

/** Brands by handle, without counts of their numbers. */
export function listBrandOverviews(db: Queryable, filter: BrandFilter, counted = false): Promise<BrandOverview[]> {
  const { owner, owners, state, handle, prefix, after, limit } = filter;
  const values = [owner ?? null, owners ?? null, state ?? null, handle ?? null, prefix ?? '', after, limit, counted];
  return queryRows<BrandOverview>(db, sql('branding/list_brands'), values);
}

/** Brands by handle, after one of them. */
export async function listBrands(db: Queryable, filter: BrandFilter): Promise<BrandSummary[]> {
  const brands = await listBrandOverviews(db, filter, true);
  return brands.map(
    ({ handle, owner, state, displayName, legalName, pendingDisplayName, changedAt, verifiedNumbers }) => ({
      handle,
      owner,
      state,
      displayName,
      legalName,
      pendingDisplayName,
      changedAt,
      verifiedNumbers: verifiedNumbers!, // counted
    }),
  );
}

/** A brand with the profiles of its revisions alone. */
type BrandProfiles = Omit<BrandRecord, 'findings' | 'numbers' | 'letters'> & { readonly findings: readonly Finding[] };

/** @throws ServiceError `brand_unknown` */
export async function readBrandProfiles(db: Queryable, handle: string): Promise<BrandProfiles> {
  const row = await queryRow<BrandProfiles>(db, sql('branding/read_brand'), [handle]);
  if (row === undefined) throw brandUnknown(handle);
  return row;
}

/** @throws ServiceError `brand_unknown` */
export async function readBrand(db: Queryable, handle: string): Promise<BrandRecord> {
  const row = await readBrandProfiles(db, handle);
  const counts = await queryRows<{ state: NumberState; count: number }>(db, sql('branding/count_brand_numbers'), [
    row.brandId,
    null,
  ]);
  return {
    ...row,
    findings: row.findings.map(publicFinding),
    numbers: Object.fromEntries(counts.map(({ state, count }) => [state, count])),
    letters: await listLetters(db, { handle, limit: lettersShownMax }),
  };
}

const lettersShownMax = 100;

/** A number with its id, which can be part of an address where a phone number may not. */
export type IdentifiedNumber = BrandNumber & { readonly numberId: number };

/** Which numbers of a brand are listed: after a phone, or after the id of a number. */
interface NumberFilter {
  readonly state?: string | undefined;
  readonly after?: string | undefined;
  readonly afterId?: number | undefined;
  readonly limit: number;
}

/** Numbers of a brand in ascending order with their ids. */
export function listIdentifiedNumbers(
  db: Queryable,
  { brandId, handle }: Pick<BrandRecord, 'brandId' | 'handle'>,
  { state, after = '', afterId, limit }: NumberFilter,
): Promise<IdentifiedNumber[]> {
  const values = [brandId, after, limit, handle, afterId ?? null];
  return state === undefined
    ? queryRows(db, sql('branding/list_brand_numbers'), values)
    : queryRows(db, sql('branding/list_brand_numbers_in_state'), [...values, state]);
}

/** Numbers of a brand in ascending order, after one of them. */
export async function listBrandNumbers(
  db: Queryable,
  brand: Pick<BrandRecord, 'brandId' | 'handle'>,
  filter: NumberFilter,
): Promise<BrandNumber[]> {
  const numbers = await listIdentifiedNumbers(db, brand, filter);
  return numbers.map(({ numberId: _id, ...number }) => number);
}

/** Which letters are listed; without a filter all of them. */
interface LetterFilter {
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
 * A letter with its findings; `opened` adds the sealed reading, for those who may see its text.
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

/** The error for a letter that does not exist or that the caller may not see. */
export function letterUnknown(letterId: number): ServiceError {
  return new ServiceError('letter_unknown', {
    operation: 'find letter',
    object: String(letterId),
    hint: '`caller-trust letter list` lists the existing ones.',
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
