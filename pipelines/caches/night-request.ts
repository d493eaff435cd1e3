import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { findCache, isCountryCode, type CacheName } from './definition.ts';

/** Which artefacts a night builds: all, those of one cache, or one. */
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
  /** Reads all rows, where else only those would be read that changed. */
  readonly fullBuild: boolean;
  /** Instant at which complaints decay and brands must be live; null: when the night opens. */
  readonly evaluatedAt: Date | null;
  readonly requestedBy: string;
}

/**
 * Asks for a night. The row in the database is the request; a job that gets lost is enqueued again from it.
 * Returns the id of the run, or undefined if the scheduled night of this date was asked for before.
 */
export async function requestNight(db: Queryable, request: NightRequest): Promise<number | undefined> {
  const row = await queryRow<{ run_id: number }>(db, sql('nights/insert_night_run'), [
    request.nightDate,
    request.trigger,
    request.scope.cache,
    request.scope.country,
    request.acceptShrink,
    request.fullBuild,
    request.evaluatedAt,
    request.requestedBy,
  ]);
  return row?.run_id;
}

/**
 * Reads `phones`, `phones/US`, `spammer_phones`.
 * @throws ServiceError `cache_unknown`, `country_invalid`, `parameter_unknown`
 */
export function parseScope(text: string): NightScope {
  const [name = '', country, ...rest] = text.split('/');
  const cache = findCache(name);
  if (country === undefined) return { cache: cache.name, country: cache.perCountry ? null : '' };
  if (!cache.perCountry) throw new ServiceError('parameter_unknown', { operation: 'read scope', object: text, problem: `${cache.name} is not split by country.` });
  if (!isCountryCode(country) || rest.length > 0) throw new ServiceError('country_invalid', { operation: 'read scope', object: text, hint: 'Write for example phones/US.' });
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
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(nightDate) && !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(nightDate);
  if (!isDate || nightDate > today) {
    throw new ServiceError('date_invalid', { operation: 'read date', object: nightDate, hint: 'Write YYYY-MM-DD, today (UTC) or earlier.' });
  }
  return nightDate === today ? null : instant;
}
