import { ServiceError } from '../../../runtime/errors.ts';
import {
  inTransaction,
  queryRow,
  queryRows,
  sqlStateOf,
  violatedConstraintOf,
  type Pool,
  type Queryable,
} from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { BrandProfile } from '../brand-profile.ts';
import type { BrandState } from '../states.ts';

/** A brand with its state and the revisions that count. */
export interface BrandStatus {
  readonly brandId: number;
  readonly handle: string;
  readonly owner: string;
  readonly state: BrandState;
  readonly approvedRevision: number | null;
  readonly pendingRevision: number | null;
}

/** A brand that is locked by its transaction. */
export interface LockedBrand extends BrandStatus {
  /** Of the pending revision, or of the approved one where none is pending. */
  readonly profile: BrandProfile;
  readonly approvedProfile: BrandProfile | null;
  readonly lastRevision: number;
  /** Of the same revision as `profile`. */
  readonly needsDecision: boolean;
}

/** Attempts at a transaction that another brand's got in the way of; each loses only to one that was committed. */
const attemptsMax = 5;

/**
 * Runs `work` in a transaction, again if it is {@link isContended}. What changes a brand, its letters and its numbers holds the lock of
 * that brand and no other, so that a request of 100,000 numbers is waited for by no one else.
 */
export async function inBrandTransaction<Result>(
  db: Pool,
  work: (client: Queryable) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(db, work);
    } catch (error) {
      if (!isContended(error) || attempt >= attemptsMax) throw error;
    }
  }
}

/** True if two brands took the same number at a time, or waited for each other: the one that lost decides again by what is there now. */
export function isContended(error: unknown): boolean {
  return sqlStateOf(error) === deadlock || violatedConstraintOf(error) === 'brand_number_one_live_brand';
}

const deadlock = '40P01';

/**
 * Locks a brand for the transaction. Another owner's brand counts as unknown.
 * @throws ServiceError `brand_unknown`
 */
export async function lockBrand(client: Queryable, handle: string, owner: string | null): Promise<LockedBrand> {
  await client.query(sql('branding/lock_brand'), [handle]);
  const brand = await queryRow<LockedBrand>(client, sql('branding/read_locked_brand'), [handle]);
  if (brand === undefined || (owner !== null && brand.owner !== owner)) throw brandUnknown(handle);
  return brand;
}

/** The error for a brand that does not exist or that the caller may not see. */
export function brandUnknown(handle: string): ServiceError {
  return new ServiceError('brand_unknown', {
    operation: 'find brand',
    object: handle,
    hint: '`caller-trust brand list` lists the existing ones.',
  });
}

/**
 * A pending revision cannot be replaced while a person has yet to decide a letter of it.
 * @throws ServiceError `transition_refused`
 */
export async function requireDecidedLetters(client: Queryable, brand: LockedBrand): Promise<void> {
  const [letter] = await queryRows<{ letterId: number }>(client, sql('branding/find_pending_letters'), [brand.brandId]);
  if (letter === undefined) return;
  throw new ServiceError('transition_refused', {
    operation: 'change brand',
    object: brand.handle,
    problem: `Letter ${letter.letterId} of the brand waits for a person.`,
    hint: `It is decided first: \`caller-trust letter decide ${letter.letterId}\`.`,
  });
}
