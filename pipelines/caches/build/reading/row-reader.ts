import type { Client } from 'pg';
import { ServiceError } from '../../../../runtime/errors.ts';
import { connect, destroy, queryRow } from '../../../../runtime/postgres.ts';
import { within } from '../../../../runtime/processes/repeat.ts';
import { sql, sqlWithLiterals } from '../../../../sql/sql.ts';
import { findCache, formatArtefact, isCountryCode, type ArtefactName } from '../../definition.ts';
import type { RowBlock } from '../../../../format/artefact/row-block.ts';
import type { RowCounts } from '../plan/build-plan.ts';
import { copyOut } from './copy-out.ts';
import { RowCounter } from './row-counter.ts';
import { enterSnapshot } from './snapshot.ts';

interface RowReaderOptions {
  readonly databaseUrl: string;
  readonly artefact: ArtefactName;
  readonly snapshotId: string;
  /** Instant at which brands must be live. */
  readonly evaluatedAt: Date;
  readonly copyIdleSecondsMax: number;
  /** Rows of the artefact. Absent: a share of it is read. */
  readonly rowsExpected?: number;
  readonly signal: AbortSignal;
}

/** Rows to be read: those of a range, or of some keys in it. */
interface RowsWanted {
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  readonly keys?: readonly string[];
}

/** Plain bytes of the blocks that are cut into segments. */
const copyBlockBytes = 1024 * 1024;

/**
 * Rows are read in the order of the table, or by bitmap where a range or keys leave most of it out, and sorted. The planner takes
 * the table for cached and prefers the order of an index, in which each row is on another page: 5 million rows in random order
 * took 22 s, and 4.2 s sorted (bench/night.ts).
 */
const withoutIndexOrder = 'SET LOCAL enable_indexscan = off';

/** Rows that a server sorts in a second at least, before it sends the first one: a twentieth of what a quiet machine sorts. */
const rowsSortedPerSecond = 50_000;

/** Keys for which a count may take `copyIdleSecondsMax`, hundreds of times what a quiet machine takes. */
const keysPerSilence = 10_000;

/** Reads rows of one artefact in the snapshot of a night, over a connection of its own. Ends with `commit` or `destroy`. */
export class RowReader {
  readonly #client: Client;
  readonly #options: RowReaderOptions;

  private constructor(client: Client, options: RowReaderOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** @throws ServiceError `database_unavailable`, `snapshot_gone` */
  static async open(options: RowReaderOptions): Promise<RowReader> {
    const client = await connect({
      url: options.databaseUrl,
      applicationName: `caller-trust build ${formatArtefact(options.artefact)}`,
      idleTransactionSecondsMax: 0, // it waits for the writer between two ranges
    });
    try {
      await enterSnapshot(client, options.snapshotId);
      await client.query(withoutIndexOrder);
    } catch (error) {
      destroy(client);
      throw error;
    }
    return new RowReader(client, options);
  }

  /** A few phones from all over the artefact, ascending: of about `count` rows in blocks of the table. */
  async samplePhones(count: number, rowsExpected: number): Promise<string[]> {
    const { cache, country } = this.#options.artefact;
    if (cache !== 'phones' && cache !== 'spammer_phones') return [];
    const percent = Math.min(100, (100 * count) / rowsExpected);
    const values = [country === '' ? null : country, percent];
    const row = queryRow<{ phones: string[] }>(this.#client, sql('caches/sample_phones'), values);
    return (await this.#answered('sample phones', row))!.phones;
  }

  /**
   * Reads rows with one COPY. Returns their number, which is COPY's own count.
   * @throws ServiceError `rows_differ`, or as `copyOut`
   */
  async read(wanted: RowsWanted, take: (block: RowBlock) => Promise<void>): Promise<number> {
    const { artefact, copyIdleSecondsMax: idleSecondsMax, rowsExpected, signal } = this.#options;
    const statement = await this.#copyStatement(wanted);
    const rowsSorted = wanted.keys?.length ?? rowsExpected ?? 0;
    const firstSecondsMax = idleSecondsMax + Math.floor(rowsSorted / rowsSortedPerSecond);
    let rows = 0;
    const rowsCopied = await copyOut(
      { client: this.#client, statement, blockBytes: copyBlockBytes, firstSecondsMax, idleSecondsMax, signal },
      (block) => {
        rows += block.rows;
        return take(block);
      },
    );
    if (rowsCopied !== rows) throw rowsDiffer(artefact, `${rows} lines arrived, COPY counted ${rowsCopied}.`);
    return rows;
  }

  /** Counts the rows of some keys by SQL. @throws ServiceError `copy_stalled` */
  count(keys: readonly string[]): Promise<RowCounts> {
    const { artefact, evaluatedAt } = this.#options;
    const counted = new RowCounter(this.#client, artefact, evaluatedAt).countRows(keys);
    return this.#answered('count changed keys', counted, Math.ceil(keys.length / keysPerSilence));
  }

  async #copyStatement({ from, to, keys }: RowsWanted): Promise<string> {
    const { artefact, evaluatedAt } = this.#options;
    const { copyStatement, unbrandedCopyStatement, perCountry } = findCache(artefact.cache);
    if (perCountry && !isCountryCode(artefact.country)) {
      throw new ServiceError('country_invalid', { operation: 'build artefact', object: formatArtefact(artefact) });
    }
    const isUnbranded = unbrandedCopyStatement !== null && !(await this.#hasLiveBrand(from, to));
    return sqlWithLiterals(isUnbranded ? unbrandedCopyStatement : copyStatement, {
      country: artefact.country,
      evaluatedAt: evaluatedAt.toISOString(),
      from,
      to,
      keys: keys === undefined ? null : `{${keys.join()}}`,
    });
  }

  async #hasLiveBrand(from: string, to: string): Promise<boolean> {
    const values = [this.#options.evaluatedAt, from, to];
    const row = queryRow<{ isLive: boolean }>(this.#client, sql('caches/has_live_brand'), values);
    return (await this.#answered('look for brands', row))!.isLive;
  }

  /** Ends the transaction and the connection. @throws ServiceError `copy_stalled` */
  async commit(): Promise<void> {
    await this.#answered('commit', this.#client.query('COMMIT'));
    await this.#client.end();
  }

  /** @throws ServiceError `copy_stalled` if the database does not answer within `times` times `copyIdleSecondsMax` */
  async #answered<Answer>(operation: string, answer: Promise<Answer>, times = 1): Promise<Answer> {
    const seconds = times * this.#options.copyIdleSecondsMax;
    const given = await within(
      seconds * 1000,
      answer.then((value) => ({ value })),
    );
    if (given !== undefined) return given.value;
    throw new ServiceError('copy_stalled', { operation, problem: `The database did not answer within ${seconds} s.` });
  }

  /** Closes the connection, which may be in any state. */
  destroy(): void {
    destroy(this.#client);
  }
}

/** The readers of one build. */
export class RowReaders {
  readonly #options: RowReaderOptions;
  readonly #opened: RowReader[] = [];
  #spare: RowReader | undefined;

  constructor(options: RowReaderOptions) {
    this.#options = options;
  }

  /** @throws as `RowReader.open` */
  async open(): Promise<RowReader> {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined) return spare;
    const reader = await RowReader.open(this.#options);
    this.#opened.push(reader);
    return reader;
  }

  /** As {@link RowReader.samplePhones}, by a reader that is opened next. */
  async samplePhones(count: number, rowsExpected: number): Promise<string[]> {
    const reader = await this.open();
    const phones = await reader.samplePhones(count, rowsExpected);
    this.#spare = reader;
    return phones;
  }

  /** Ends all transactions. @throws ServiceError `copy_stalled` */
  async commit(): Promise<void> {
    await Promise.all(this.#opened.map((reader) => reader.commit()));
  }

  /** Closes all connections, which may be in any state. */
  destroy(): void {
    for (const reader of this.#opened) reader.destroy();
  }
}

export function rowsDiffer(artefact: ArtefactName, problem: string): ServiceError {
  return new ServiceError('rows_differ', { operation: 'build artefact', object: formatArtefact(artefact), problem });
}
