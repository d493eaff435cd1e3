import { ServiceError, isServiceError, factsOf } from '../../runtime/errors.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import type { Metrics } from './metrics.ts';
import type { ReaderDatabase } from './reader-database.ts';

/** Requests that may read the database or wait for a connection at a time; further ones get 503. */
export const requestReadsMax = 64;

/**
 * Database access for requests. While the polls cannot reach the database, requests are refused immediately instead of
 * waiting for a connection.
 */
export class RequestReads {
  readonly #opened: () => ReaderDatabase | undefined;
  readonly #metrics: Metrics;
  #running = 0;

  constructor({ opened, metrics }: { opened: () => ReaderDatabase | undefined; metrics: Metrics }) {
    this.#opened = opened;
    this.#metrics = metrics;
  }

  /**
   * Runs `work` on one connection.
   * @throws ServiceError `database_unavailable` if the database is unreachable or too slow, `database_unsuitable` if its schema
   * lacks what is read, `not_ready` if too many requests wait; and what `work` throws.
   */
  async read<Result>(work: (db: Queryable) => Promise<Result>): Promise<Result> {
    const reader = this.#admit();
    this.#running++;
    const startedAt = performance.now();
    let outcome: 'answered' | 'failed' = 'answered';
    try {
      return await reader.readForRequest(work);
    } catch (error) {
      if (!isServiceError(error) || factsOf(error).http >= 500) outcome = 'failed';
      throw error;
    } finally {
      this.#running--;
      this.#metrics.databaseReadEnded(outcome, (performance.now() - startedAt) / 1000);
    }
  }

  #admit(): ReaderDatabase {
    const operation = 'read for a request';
    const reader = this.#opened();
    const full = this.#running >= requestReadsMax;
    if (reader !== undefined && !full) return reader;
    this.#metrics.databaseReadEnded('refused', 0);
    throw full
      ? new ServiceError('not_ready', { operation, problem: 'Too many requests wait for the database.' })
      : new ServiceError('database_unavailable', { operation });
  }
}
