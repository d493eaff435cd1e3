import type { Client } from 'pg';
import type { LevelCounts } from '../../phone/reputation-level.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { connect, destroy, queryRow, queryRows } from '../../../runtime/postgres.ts';
import { within } from '../../../runtime/processes/repeat.ts';
import { findCache, formatArtefact, isCountryCode, type ArtefactName } from '../definition.ts';
import { copyOut } from './copy-out.ts';
import { enterSnapshot } from './snapshot.ts';

interface ArtefactRowsOptions {
  readonly databaseUrl: string;
  readonly artefact: ArtefactName;
  readonly snapshotId: string;
  /** Instant at which brands must be live. */
  readonly evaluatedAt: Date;
  /** Seconds without a byte from the server after which a statement is ended. */
  readonly idleSecondsMax: number;
  readonly signal: AbortSignal | undefined;
}

/** Rows, and those of each level. */
export interface RowCounts {
  readonly rows: number;
  readonly levels: LevelCounts;
}

/**
 * Rows are read in the order of the table and sorted. The planner takes the table for cached and prefers the order of an index, in
 * which each row is on another page: 5 million rows in random order took 22 s, and 4.2 s sorted (bench/night.ts).
 */
const inTableOrder = 'SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off';

/** Rows that a server sorts in a second at least, before it sends the first one: a twentieth of what a quiet machine sorts. */
const rowsSortedPerSecond = 50_000;

/**
 * The rows of one artefact in the snapshot of a night: a connection reads them, another one counts them meanwhile. The statements are
 * made from the definition of the cache. Ends with `commit` or `destroy`.
 */
export class ArtefactRows {
  readonly #options: ArtefactRowsOptions;
  readonly #reading: Client;
  readonly #counting: Client;

  private constructor(options: ArtefactRowsOptions, [reading, counting]: readonly [Client, Client]) {
    this.#options = options;
    this.#reading = reading;
    this.#counting = counting;
  }

  /** @throws ServiceError `database_unavailable`, `snapshot_gone`, `country_invalid` */
  static async open(options: ArtefactRowsOptions): Promise<ArtefactRows> {
    const { cache, country } = options.artefact;
    if (findCache(cache).perCountry && !isCountryCode(country))
      throw new ServiceError('country_invalid', {
        operation: 'build artefact',
        object: formatArtefact(options.artefact),
      });
    const reading = await openConnection(options, 'build');
    try {
      return new ArtefactRows(options, [reading, await openConnection(options, 'count')]);
    } catch (error) {
      destroy(reading);
      throw error;
    }
  }

  /** The planner's estimate of the rows. */
  async estimate(): Promise<number> {
    const query = queryRow<{ 'QUERY PLAN': readonly [{ readonly Plan: { readonly 'Plan Rows': number } }] }>(
      this.#reading,
      `EXPLAIN (FORMAT JSON) ${selectRows(this.#options.artefact)}`,
    );
    return (await this.#answered('estimate rows', query))!['QUERY PLAN'][0].Plan['Plan Rows'];
  }

  /**
   * Reads all rows with one COPY, ascending by key in byte order. Returns COPY's own count of them.
   * @throws as `copyOut`
   */
  read(rowsEstimated: number): AsyncGenerator<Buffer, number> {
    const { artefact, idleSecondsMax, signal } = this.#options;
    return copyOut({
      client: this.#reading,
      statement: `COPY (${selectRows(artefact)}) TO STDOUT WITH (FORMAT text, NULL '', ENCODING 'UTF8')`,
      firstSecondsMax: idleSecondsMax + Math.floor(rowsEstimated / rowsSortedPerSecond),
      idleSecondsMax,
      signal,
    });
  }

  /** Counts the rows by SQL. */
  async count(): Promise<RowCounts> {
    const rows = await queryRows<{ level: keyof LevelCounts | null; rows: number }>(
      this.#counting,
      countRows(this.#options.artefact),
    );
    const levels: LevelCounts = {};
    for (const { level, rows: counted } of rows) if (level !== null) levels[level] = counted;
    return { rows: rows.reduce((sum, { rows: counted }) => sum + counted, 0), levels };
  }

  /** What the second connection has counted, which is to be ready when all rows are read. @throws ServiceError `copy_stalled` */
  counted(count: Promise<RowCounts>): Promise<RowCounts> {
    return this.#answered('count rows', count);
  }

  /** Ends the transactions and the connections. @throws ServiceError `copy_stalled` */
  async commit(): Promise<void> {
    for (const client of [this.#reading, this.#counting]) {
      await this.#answered('commit', client.query('COMMIT'));
      await client.end();
    }
  }

  /** Closes the connections, which may be in any state. */
  destroy(): void {
    destroy(this.#reading);
    destroy(this.#counting);
  }

  async #answered<Answer>(operation: string, answer: Promise<Answer>): Promise<Answer> {
    const { idleSecondsMax } = this.#options;
    const given = await within(
      idleSecondsMax * 1000,
      answer.then((value) => ({ value })),
    );
    if (given !== undefined) return given.value;
    throw new ServiceError('copy_stalled', {
      operation,
      problem: `The database did not answer within ${idleSecondsMax} s.`,
    });
  }
}

/** A connection within the snapshot, in which views of caches are evaluated at the instant. */
async function openConnection(
  { databaseUrl, artefact, snapshotId, evaluatedAt }: ArtefactRowsOptions,
  purpose: 'build' | 'count',
): Promise<Client> {
  const client = await connect({
    url: databaseUrl,
    applicationName: `caller-trust ${purpose} ${formatArtefact(artefact)}`,
    idleTransactionSecondsMax: 0, // it waits for the writer, or for the other connection
  });
  try {
    await enterSnapshot(client, snapshotId);
    await client.query(inTableOrder);
    await client.query("SELECT set_config('caller_trust.evaluated_at', $1, true)", [evaluatedAt.toISOString()]);
    return client;
  } catch (error) {
    destroy(client);
    throw error;
  }
}

/** The statement that selects the rows of an artefact, whose country has been checked. */
function selectRows({ cache, country }: ArtefactName): string {
  const { columns } = findCache(cache);
  const names = columns.map(({ name }) => name);
  return `SELECT ${names.join(', ')} FROM ${fromView({ cache, country })} ORDER BY ${names[0]}`;
}

/** The statement that counts them by level. */
function countRows({ cache, country }: ArtefactName): string {
  const level = findCache(cache).columns.find(({ type }) => type === 'level')?.name ?? 'NULL';
  return `SELECT ${level} AS level, count(*) AS rows FROM ${fromView({ cache, country })} GROUP BY 1`;
}

function fromView({ cache, country }: ArtefactName): string {
  const { view, perCountry } = findCache(cache);
  return perCountry ? `${view} WHERE country = '${country}'` : view;
}
