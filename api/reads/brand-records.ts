import {
  LETTER_TRANSITIONS,
  NUMBER_TRANSITIONS,
  type BrandState,
  type LetterState,
  type NumberState,
} from '../../pipelines/branding/states.ts';
import {
  listBrandNumbers,
  listBrandOverviews,
  type BrandOverview,
  type LetterRecord,
} from '../../pipelines/branding/brand/brand-record.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { timeOrNull } from '../http/json-document.ts';
import { sql } from '../../sql/sql.ts';
import type { BrandAnswer, BrandDetailAnswer, BrandNumberAnswer, LetterAnswer } from './branding-schemas.ts';

/** A brand by its handle, which is unique within a client. */
export interface BrandName {
  readonly client: string;
  readonly handle: string;
}

interface LetterSummaryRow {
  state: LetterState;
  count: number;
  newestLetterId: number;
  inForceUntil: Date | null;
}

/** The columns of sql/api/list_brand_letters.sql, with times as dates. */
type LetterTime = 'submittedAt' | 'validFrom' | 'validUntil' | 'decidedAt';
type LetterRow = Omit<LetterAnswer, LetterTime | 'links'> & Pick<LetterRecord, LetterTime>;

/** Brands of a client by handle, after the given one ('' for the first page); with `brand` only that one. */
export async function listBrands(
  db: Queryable,
  {
    client,
    brand,
    state,
    after,
    rows,
  }: { client: string; brand: string | null; state: BrandState | undefined; after: string; rows: number },
): Promise<BrandAnswer[]> {
  const handle = brand ?? undefined;
  return (await listBrandOverviews(db, { owner: client, handle, state, after, limit: rows })).map(brandOf);
}

/** The key of a brand for reads of its numbers and letters. */
interface FoundBrand {
  readonly brandId: number;
  readonly brand: BrandAnswer;
}

/**
 * Finds a brand.
 * @throws ServiceError `brand_unknown` if the client has no brand of this handle, even if another client has.
 */
export async function findBrand(db: Queryable, { client, handle }: BrandName): Promise<FoundBrand> {
  const [found] = await listBrandOverviews(db, { owner: client, handle, after: '', limit: 1 });
  if (found === undefined) throw unknownBrand();
  return { brandId: found.brandId, brand: brandOf(found) };
}

/** A brand with its counts. @throws ServiceError `brand_unknown` */
export async function readBrand(db: Queryable, name: BrandName): Promise<BrandDetailAnswer> {
  const { brandId, brand } = await findBrand(db, name);
  const numbers = await queryRows<{ state: NumberState; count: number }>(db, sql('branding/count_brand_numbers'), [
    brandId,
    null,
  ]);
  const letters = await queryRows<LetterSummaryRow>(db, sql('api/summarize_brand_letters'), [brandId]);
  return {
    ...brand,
    numbers: countStates(NUMBER_TRANSITIONS.states, numbers),
    letters: summarizeLetters(letters, name.handle),
  };
}

/** Which numbers of a brand to list; without a state, those in any state. */
interface NumbersAsked {
  readonly state: NumberState | undefined;
  readonly after: string;
  readonly rows: number;
}

/** Numbers of a brand by phone, after the given one ('' for the first page). */
export async function listNumbers(
  db: Queryable,
  { brandId, brand }: FoundBrand,
  { state, after, rows }: NumbersAsked,
): Promise<BrandNumberAnswer[]> {
  const found = await listBrandNumbers(db, { brandId, handle: brand.handle }, { state, after, limit: rows });
  return found.map(({ submittedAt, changedAt, verifiedAt, liveUntil, ...number }) => ({
    ...number,
    submittedAt: submittedAt.toISOString(),
    changedAt: changedAt.toISOString(),
    verifiedAt: timeOrNull(verifiedAt),
    liveUntil: timeOrNull(liveUntil),
  }));
}

/** Letters of a brand, newest first, from the given id downwards. */
export async function listLetters(
  db: Queryable,
  { brandId, brand }: FoundBrand,
  { newest, rows }: { newest: number; rows: number },
): Promise<LetterAnswer[]> {
  return (await queryRows<LetterRow>(db, sql('api/list_brand_letters'), [brandId, newest, rows])).map((row) =>
    letterOf(row, brand.handle),
  );
}

/** One letter of a brand. @throws ServiceError `letter_unknown` if the brand has no letter of this id. */
export async function readLetter(db: Queryable, brand: FoundBrand, letterId: number): Promise<LetterAnswer> {
  const [letter] = await listLetters(db, brand, { newest: letterId, rows: 1 });
  if (letter?.letterId !== letterId) throw unknownLetter();
  return letter;
}

export function unknownBrand(): ServiceError {
  return new ServiceError('brand_unknown', { operation: 'find brand' });
}

export function unknownLetter(): ServiceError {
  return new ServiceError('letter_unknown', { operation: 'find letter' });
}

function brandOf(row: BrandOverview): BrandAnswer {
  const self = `/v1/brands/${row.handle}`;
  return {
    handle: row.handle,
    state: row.state,
    displayName: row.displayName,
    legalName: row.legalName,
    dba: row.dba,
    website: row.website,
    country: row.country,
    callReasons: row.callReasons,
    logo: row.logo,
    logoSha256: row.logoSha256,
    relationship: row.relationship,
    pendingRevision: pendingRevisionOf(row),
    createdAt: row.createdAt.toISOString(),
    changedAt: row.changedAt.toISOString(),
    approvedAt: timeOrNull(row.approvedAt),
    links: { self, numbers: `${self}/numbers`, letters: `${self}/letters` },
  };
}

/**
 * A revision is pending only if there is an approved one: before an approval the brand itself is pending, and a withdrawn brand has
 * nothing pending.
 */
function pendingRevisionOf({
  state,
  approvedRevision,
  pendingRevision,
  pendingDisplayName,
}: BrandOverview): BrandAnswer['pendingRevision'] {
  if (state === 'withdrawn' || approvedRevision === null || pendingRevision === null || pendingDisplayName === null)
    return null;
  return { revision: pendingRevision, displayName: pendingDisplayName };
}

function letterOf(row: LetterRow, handle: string): LetterAnswer {
  return {
    ...row,
    submittedAt: row.submittedAt.toISOString(),
    validFrom: timeOrNull(row.validFrom),
    validUntil: timeOrNull(row.validUntil),
    decidedAt: timeOrNull(row.decidedAt),
    links: { self: letterPath(handle, row.letterId), brand: `/v1/brands/${handle}` },
  };
}

function letterPath(handle: string, letterId: number): string {
  return `/v1/brands/${handle}/letters/${letterId}`;
}

function summarizeLetters(rows: readonly LetterSummaryRow[], handle: string): BrandDetailAnswer['letters'] {
  const newest = rows.reduce<LetterSummaryRow | undefined>(
    (best, row) => (best === undefined || row.newestLetterId > best.newestLetterId ? row : best),
    undefined,
  );
  const ends = rows.flatMap(({ inForceUntil }) => (inForceUntil === null ? [] : [inForceUntil.getTime()]));
  return {
    ...countStates(LETTER_TRANSITIONS.states, rows),
    inForceUntil: ends.length === 0 ? null : new Date(Math.max(...ends)).toISOString(),
    newest:
      newest === undefined
        ? null
        : {
            letterId: newest.newestLetterId,
            state: newest.state,
            links: { self: letterPath(handle, newest.newestLetterId) },
          },
  };
}

function countStates<State extends string>(
  states: readonly State[],
  rows: readonly { state: State; count: number }[],
): { total: number; states: Record<State, number> } {
  const all = Object.fromEntries(
    states.map((state) => [state, rows.find((row) => row.state === state)?.count ?? 0]),
  ) as Record<State, number>; // the states are its keys
  return { total: rows.reduce((sum, { count }) => sum + count, 0), states: all };
}
