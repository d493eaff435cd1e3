import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { findCache, isCountryCode, type CacheName } from '../definition.ts';
import type { NightState } from './night-report.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { isIdempotencyKey, idempotencyKeyForm, requireSameRequest } from '../../../runtime/idempotency-key.ts';

/** The artefacts that a night builds: all, those of one cache, or one. */
export interface NightScope {
  readonly cache: CacheName | null;
  readonly country: string | null;
}

export const everything: NightScope = { cache: null, country: null };

export interface NightRequest {
  /** `YYYY-MM-DD`, UTC. */
  readonly nightDate: string;
  readonly trigger: 'schedule' | 'operator';
  readonly scope: NightScope;
  readonly acceptShrink: boolean;
  /** Instant at which complaints decay and brands must be live; null: when the night opens. */
  readonly evaluatedAt: Date | null;
  readonly requestedBy: string;
}

/**
 * Requests a night. The row in the database is the request; a lost job is queued again from it.
 * Returns the id of the run, or undefined if the scheduled night of this date is requested already.
 */
export function requestNight(db: Queryable, request: NightRequest): Promise<number | undefined> {
  return insertNight(db, request, { key: null, digest: null });
}

/** A night that was requested with an idempotency key. */
export interface RequestedNight {
  readonly runId: number;
  /** True if it was requested before. */
  readonly repeated: boolean;
  readonly state: NightState['state'];
}

/**
 * Requests a night as {@link requestNight} does, once for each key of a requester: a repeated request returns the earlier
 * night, also on a later day. `key`: 1 to 128 printable ASCII characters without spaces.
 * @throws ServiceError `parameter_invalid`, `idempotency_conflict`
 */
export async function requestNightOnce(
  db: Queryable,
  { key, ...asked }: Omit<NightRequest, 'trigger'> & { readonly key: string },
): Promise<RequestedNight> {
  if (!isIdempotencyKey(key))
    throw new ServiceError('parameter_invalid', {
      operation: 'request night',
      problem: `The idempotency key is not ${idempotencyKeyForm}.`,
    });
  const request: NightRequest = { ...asked, trigger: 'operator' };
  const digest = requestDigest(request);
  const runId = await insertNight(db, request, { key, digest });
  if (runId !== undefined) return { runId, repeated: false, state: 'due' };
  const before = (await queryRow<{ runId: number; state: NightState['state']; requestSha256: string }>(
    db,
    sql('nights/find_requested_night'),
    [request.requestedBy, key],
  ))!; // otherwise it would have been inserted
  requireSameRequest(before, digest, {
    operation: 'request night',
    object: key,
    hint: `Its night is ${before.runId}. Use another key for another night.`,
  });
  return { runId: before.runId, repeated: true, state: before.state };
}

async function insertNight(
  db: Queryable,
  request: NightRequest,
  { key, digest }: { readonly key: string | null; readonly digest: string | null },
): Promise<number | undefined> {
  const { nightDate, trigger, scope, acceptShrink, evaluatedAt, requestedBy } = request;
  const values = [nightDate, trigger, scope.cache, scope.country, acceptShrink, evaluatedAt, requestedBy, key, digest];
  return (await queryRow<{ runId: number }>(db, sql('nights/insert_night_run'), values))?.runId;
}

/** Without the date: sent again after midnight, it is the same request. */
function requestDigest({ scope, acceptShrink, evaluatedAt }: NightRequest): string {
  return sha256Of(JSON.stringify([scope.cache, scope.country, acceptShrink, evaluatedAt]));
}

/**
 * Reads `phones`, `phones/US`, `spammer_phones`.
 * @throws ServiceError `cache_unknown`, `country_invalid`, `parameter_unknown`
 */
export function parseScope(text: string): NightScope {
  const [name = '', country, ...rest] = text.split('/');
  const cache = findCache(name);
  if (country === undefined) return { cache: cache.name, country: cache.perCountry ? null : '' };
  if (!cache.perCountry)
    throw new ServiceError('parameter_unknown', {
      operation: 'read scope',
      object: text,
      problem: `${cache.name} is not split by country.`,
    });
  if (!isCountryCode(country) || rest.length > 0)
    throw new ServiceError('country_invalid', {
      operation: 'read scope',
      object: text,
      hint: 'Write for example phones/US.',
    });
  return { cache: cache.name, country };
}

/**
 * The instant at which the night of a past date is evaluated: 01:00 UTC of that date; null for today, which is evaluated
 * when it opens.
 * @throws ServiceError `date_invalid` for a text that is not a calendar date, or one in the future.
 */
export function evaluationInstant(nightDate: string, now: Date): Date | null {
  const today = now.toISOString().slice(0, 10);
  const instant = new Date(`${nightDate}T01:00:00Z`);
  const isDate =
    /^\d{4}-\d{2}-\d{2}$/.test(nightDate) &&
    !Number.isNaN(instant.getTime()) &&
    instant.toISOString().startsWith(nightDate);
  if (!isDate || nightDate > today) {
    throw new ServiceError('date_invalid', {
      operation: 'read date',
      object: nightDate,
      hint: 'Write YYYY-MM-DD, today (UTC) or earlier.',
    });
  }
  return nightDate === today ? null : instant;
}
