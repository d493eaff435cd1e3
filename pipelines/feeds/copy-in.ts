import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom, type CopyStreamQuery } from 'pg-copy-streams';

/**
 * Bytes of COPY text that are sent at a time. One row a write doubles the time of a load.
 * Counted in UTF-16 units: ASCII text has one per byte.
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

/** A table that rows are copied into. */
export interface CopyTarget {
  /** Adds lines of COPY text, each with its line feed. Waits for a slow database. */
  write(lines: string): Promise<void>;
  /** Sends the buffered rows; required after the last one. */
  flush(): Promise<void>;
}

/** Bytes that a COPY holds in memory while the connection is slow. */
const queuedBytesMax = 1024 * 1024;

interface OpenCopy {
  readonly table: string;
  readonly stream: CopyStreamQuery;
  /** The driver reports an error once, possibly while nothing is awaited. */
  failure?: Error;
}

/**
 * COPY into several tables over one connection, inside its transaction. One COPY is open at a time; a full batch of another
 * table ends it and starts the next. So the main table, with most rows, keeps one COPY for long.
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

  /** Ends the open COPY, after which the connection accepts other statements. */
  async end(): Promise<void> {
    const { copy } = this;
    this.copy = undefined;
    if (copy === undefined) return;
    if (copy.failure) throw copy.failure;
    copy.stream.end();
    await finished(copy.stream);
  }

  /** Aborts the open COPY, so that the connection accepts a ROLLBACK. */
  async abandon(): Promise<void> {
    const { copy } = this;
    this.copy = undefined;
    if (copy === undefined || copy.failure) return;
    copy.stream.destroy();
    await finished(copy.stream).catch(() => {}); // the database answers with the error of the abort
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
