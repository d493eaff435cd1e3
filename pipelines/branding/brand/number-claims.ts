import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { Finding } from '../finding.ts';
import { brandFinding, findingAbout } from './brand-check.ts';
import type { NumberRow } from '../number-list.ts';
import type { OperationRecord } from '../operation.ts';
import { causeValues, type Cause } from './settle.ts';
import { allows, NUMBER_TRANSITIONS, type BrandState, type NumberState } from '../states.ts';

/** The outcomes of a row of numbers, besides the codes of rows that name no number. Closed list. */
export const NUMBER_OUTCOMES = {
  accepted: 'The number was submitted with the brand.',
  known: 'The brand has this number already; it is not verified again.',
  number_repeated: 'An earlier row of the request names this number.',
  number_of_other_brand: 'Another live brand has this number.',
  number_permanently_rejected: 'This number was permanently rejected.',
} as const satisfies Record<string, string>;

/** A row with its outcome. */
export interface ClaimedRow {
  readonly line: number;
  readonly phone: string | null;
  readonly country: string | null;
  /** State that the number had with the brand. */
  readonly before: NumberState | null;
  readonly outcome: keyof typeof NUMBER_OUTCOMES | (string & {});
  readonly reason: string;
}

/** The outcomes of a request's numbers. */
export interface NumberClaims {
  readonly rows: readonly ClaimedRow[];
  /** Each number of the request once, in order, whatever its outcome. */
  readonly phones: readonly string[];
  /** Those of {@link phones} that another live brand has. */
  readonly ofOtherBrands: readonly string[];
  /** Those that another brand claims whose letter, or name, waits for a person. */
  readonly claimedByOthers: readonly string[];
}

interface Conflict {
  phone: string;
  ownState: NumberState | null;
  ofOtherBrand: boolean;
  claimedByOtherBrand: boolean;
  permanentlyRejected: boolean;
}

/** The outcome of each row, by what other brands have at the moment. */
export async function judgeClaims(
  client: Queryable,
  brandId: number,
  rows: readonly NumberRow[],
): Promise<NumberClaims> {
  const phones = [...new Set(rows.flatMap(({ phone }) => (phone === null ? [] : [phone])))];
  const conflicts = await findConflicts(client, brandId, phones);
  const seen = new Set<string>();
  const judged = rows.map((row): ClaimedRow => {
    if (row.phone === null)
      return { line: row.line, phone: null, country: null, before: null, outcome: row.code, reason: row.reason };
    const conflict = conflicts.get(row.phone);
    const outcome = seen.has(row.phone) ? 'number_repeated' : judgeConflict(conflict);
    seen.add(row.phone);
    return {
      line: row.line,
      phone: row.phone,
      country: row.country,
      before: conflict?.ownState ?? null,
      outcome,
      reason: NUMBER_OUTCOMES[outcome],
    };
  });
  return {
    rows: judged,
    phones,
    ofOtherBrands: phones.filter((phone) => conflicts.get(phone)?.ofOtherBrand === true),
    claimedByOthers: claimedAmong(phones, conflicts),
  };
}

async function findConflicts(
  client: Queryable,
  brandId: number,
  phones: readonly string[],
): Promise<ReadonlyMap<string, Conflict>> {
  const conflicts = await queryRows<Conflict>(client, sql('branding/find_number_conflicts'), [brandId, phones]);
  return new Map(conflicts.map((conflict) => [conflict.phone, conflict]));
}

function claimedAmong(phones: readonly string[], conflicts: ReadonlyMap<string, Conflict>): readonly string[] {
  return phones.filter((phone) => conflicts.get(phone)?.claimedByOtherBrand === true);
}

/**
 * The finding on numbers that another brand claims too, by a letter or a name that waits for a person: among the requested ones and
 * those of a form, which the brand may have claimed before.
 */
export async function judgeRivalClaims(
  client: Queryable,
  { brandId, claims, formPhones }: { brandId: number; claims: NumberClaims; formPhones: readonly string[] },
): Promise<Finding> {
  const requested = new Set(claims.phones);
  const others = formPhones.filter((phone) => !requested.has(phone));
  const ofForm = others.length === 0 ? [] : claimedAmong(others, await findConflicts(client, brandId, others));
  const claimed = [...claims.claimedByOthers, ...ofForm];
  if (claimed.length === 0) return brandFinding('numbers_claimed_once', 'pass');
  const numbers = String(claims.phones.length + others.length);
  return findingAbout('numbers_claimed_once', { claimed: String(claimed.length), numbers });
}

function judgeConflict(conflict: Conflict | undefined): keyof typeof NUMBER_OUTCOMES {
  if (conflict === undefined) return 'accepted';
  if (conflict.permanentlyRejected) return 'number_permanently_rejected';
  if (conflict.ofOtherBrand) return 'number_of_other_brand';
  return conflict.ownState === null || allows(NUMBER_TRANSITIONS, conflict.ownState, 'submit') ? 'accepted' : 'known';
}

/** Another brand with numbers that a brand in review claims. */
export interface RivalClaim {
  readonly handle: string;
  readonly owner: string;
  readonly state: BrandState;
  /** Numbers of both, and those of them that the other brand has live. */
  readonly numbers: number;
  readonly live: number;
}

/** The brands whose claims a person sees beside the one to decide; none where no number of it waits. */
export function listRivalClaims(db: Queryable, handle: string): Promise<RivalClaim[]> {
  return queryRows<RivalClaim>(db, sql('branding/list_rival_claims'), [handle]);
}

/**
 * Requires that an owner has no more numbers waiting than the limit once those of a request are added.
 * @throws ServiceError `numbers_waiting_too_many`
 */
export async function requireRoomForClaims(
  client: Queryable,
  { owner, claims, limit }: { owner: string; claims: NumberClaims; limit: number },
): Promise<void> {
  const accepted = claims.rows.filter(({ outcome }) => outcome === 'accepted').length;
  if (accepted === 0) return;
  const { numbers } = (await queryRow<{ numbers: number }>(client, sql('branding/count_waiting_numbers'), [owner]))!;
  if (numbers + accepted <= limit) return;
  throw new ServiceError('numbers_waiting_too_many', {
    operation: 'add numbers',
    object: owner,
    problem: `${numbers} numbers of this owner wait for a letter or a decision; with the ${accepted} of this request they are more than ${limit}.`,
    hint: 'Send the signed letter with the numbers, or remove those that are not needed.',
  });
}

/** Submits the accepted numbers with the brand, and stores every row with its outcome. */
export async function claimNumbers(
  client: Queryable,
  {
    brandId,
    operation,
    claims,
    cause,
  }: { brandId: number; operation: OperationRecord; claims: NumberClaims; cause: Cause },
): Promise<void> {
  const { rows } = claims;
  if (rows.length === 0) return;
  const accepted = rows.filter(({ outcome }) => outcome === 'accepted');
  await client.query(sql('branding/submit_numbers'), [
    brandId,
    accepted.map(({ phone }) => phone),
    accepted.map(({ country }) => country),
    accepted.map(({ before }) => before),
    operation.request.callReason,
    ...causeValues(cause),
  ]);
  await client.query(sql('branding/insert_operation_rows'), [
    operation.operationId,
    rows.map(({ line }) => line),
    rows.map(({ phone }) => phone),
    rows.map(({ outcome }) => outcome),
    rows.map(({ reason }) => reason),
  ]);
}
