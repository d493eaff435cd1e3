import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
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

/** One transaction at a time changes brands, letters or numbers, so that two cannot take the same number. */
const changeLock = 7_224_203; // any constant

/** Waits until no other transaction changes brands. Before any row is locked. */
export async function takeChangeLock(client: Queryable): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [changeLock]);
}

/**
 * Locks a brand for the transaction. Another owner's brand counts as unknown.
 * @throws ServiceError `brand_unknown`
 */
export async function lockBrand(client: Queryable, handle: string, owner: string | null): Promise<LockedBrand> {
  await takeChangeLock(client);
  const brand = await queryRow<LockedBrand>(client, sql('branding/lock_brand'), [handle]);
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
