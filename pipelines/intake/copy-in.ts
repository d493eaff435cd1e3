import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom, type CopyStreamQuery } from 'pg-copy-streams';

/**
 * Bytes of COPY text that are sent at a time. One row a write doubles the time of a load.
 * Counted in UTF-16 units, of which ASCII text has one a byte.
 */
const batchCharacters = 128 * 1024;

/** A value as COPY text. Text must be clean: no tab, line end or backslash. */
export function copyText(value: string | null): string {
  return value ?? '\\N';
}

/** Any text as COPY text. */
export function escapeCopyText(value: string): string {
  return value.replace(/[\\\t\n\r]/g, (character) => copyEscapes[character]!);
}

const copyEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Rows on their way into one table. */
export interface CopyTarget {
  /** Adds lines of COPY text, each with its line feed. Waits while the database is behind. */
  write(lines: string): Promise<void>;
  /** Sends what is left. Rows are only complete after it. */
  flush(): Promise<void>;
}

/** Bytes that one COPY holds in memory while the connection is behind. */
const queuedBytesMax = 1024 * 1024;

interface OpenCopy {
  readonly table: string;
  readonly stream: CopyStreamQuery;
  /** The driver reports an error once, maybe while nobody waits. */
  failure?: Error;
}

/**
 * COPY into several tables over one connection, inside its transaction: one COPY is open at a time, and a table whose
 * batch is full takes it over. The main table, with the bulk of the rows, so keeps one COPY for long stretches.
 */
export class CopyIn {
  private readonly client: ClientBase;
  private copy: OpenCopy | undefined;

  constructor(client: ClientBase) {
    this.client = client;
  }

  /** Rows for a table (a name with its column list). */
  into(table: string): CopyTarget {
    let batch = '';
    const flush = async () => {
      const lines = batch;
      batch = '';
      if (lines !== '') await this.send(table, lines);
    };
    return {
      flush,
      async write(lines) {
        batch += lines;
        if (batch.length >= batchCharacters) await flush();
      },
    };
  }

  /** Ends the open COPY; after it the connection takes other statements. */
  async end(): Promise<void> {
    const { copy } = this;
    this.copy = undefined;
    if (copy === undefined) return;
    if (copy.failure) throw copy.failure;
    copy.stream.end();
    await finished(copy.stream);
  }

  /** Gives up the open COPY, so that the connection takes a ROLLBACK. */
  async abandon(): Promise<void> {
    const { copy } = this;
    this.copy = undefined;
    if (copy === undefined || copy.failure) return;
    copy.stream.destroy();
    await finished(copy.stream).catch(() => {}); // the database answers with the error that was asked for
  }

  private async send(table: string, lines: string): Promise<void> {
    if (this.copy?.table !== table) {
      await this.end();
      this.copy = this.begin(table);
    }
    const { stream, failure } = this.copy;
    if (failure) throw failure;
    if (!stream.write(lines)) await once(stream, 'drain');
  }

  private begin(table: string): OpenCopy {
    const stream = this.client.query(copyFrom(`COPY ${table} FROM STDIN`, { highWaterMark: queuedBytesMax }));
    const copy: OpenCopy = { table, stream };
    stream.on('error', (error) => (copy.failure = error));
    return copy;
  }
}
