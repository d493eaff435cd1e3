import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { StoredName } from './stored-name.ts';

/** A range of bytes of a stored file. */
export interface FileSpan {
  readonly start: number;
  readonly length: number;
}

/** Reads a span from its start to its end. */
export interface SpanReader {
  /**
   * Reads the next bytes into a buffer, as many as fit or fewer, and returns their number; 0 at the end. Synchronous if they
   * are in memory, so that they are sent from the processor's cache.
   */
  read(into: Buffer): number | Promise<number>;
  /**
   * Waits until the first bytes are here. Undefined where they are on this machine.
   * @throws ServiceError `storage_unavailable`
   */
  begin?(): Promise<void>;
  /** Leaves out the next bytes, which the caller has. Undefined where bytes come in order only. */
  skip?(bytes: number): void;
  /** Ends the reading early. */
  close(): void;
}

/** A stored file that is open for serving. */
export interface StoredFile {
  readonly name: StoredName;
  readonly size: number;
  readSpan(span: FileSpan): SpanReader;
  /** A URL of the same bytes that is valid for some time without a key; undefined if the store has none. */
  signUrl?(options: SignedUrlOptions): Promise<string>;
  close(): Promise<void>;
}

/** The parameters of a signed URL. */
export interface SignedUrlOptions {
  readonly seconds: number;
  readonly contentType: string;
  readonly contentDisposition: string;
}

const wholeReadBytes = 1024 * 1024;

/** All bytes of a stored file, in chunks that are not reused. Yields to the event loop before each, also if reads are synchronous. */
export async function* readWhole(file: StoredFile): AsyncGenerator<Buffer> {
  const reader = file.readSpan({ start: 0, length: file.size });
  try {
    for (let left = file.size; left > 0;) {
      await setImmediate();
      const buffer = Buffer.allocUnsafe(Math.min(left, wholeReadBytes));
      const bytes = await reader.read(buffer);
      if (bytes === 0) return; // shorter than when it was opened; the caller's comparison fails
      left -= bytes;
      yield buffer.subarray(0, bytes);
    }
  } finally {
    reader.close();
  }
}

/**
 * A read that took longer than this did not come from memory. One of 256 KiB from the page cache takes 0.05 ms; a disk
 * takes 0.1 ms and more, and a busy processor can add some.
 */
const memoryReadMsMax = 2;

/** Reads through Node's thread pool after a slow one, so that a cold disk does not delay other answers. */
const pooledReadsAfterSlowOne = 64;

/**
 * A local file. Bytes in the page cache are read synchronously, without the thread pool, which takes half the processor
 * time (measured at commit 96725380).
 */
export class LocalFile implements StoredFile {
  readonly name: StoredName;
  readonly size: number;
  readonly #handle: FileHandle;
  #pooledReads = 0;

  constructor({ name, handle, size }: { name: StoredName; handle: FileHandle; size: number }) {
    this.name = name;
    this.size = size;
    this.#handle = handle;
  }

  readSpan({ start, length }: FileSpan): SpanReader {
    let position = start;
    const end = start + length;
    const move = (bytes: number) => {
      position += bytes;
      return bytes;
    };
    return {
      read: (into) => {
        const at = { position, length: Math.min(into.length, end - position) };
        return this.#pooledReads > 0 ? this.#readPooled(into, at).then(move) : move(this.#readNow(into, at));
      },
      skip: move,
      close: () => {},
    };
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  #readNow(into: Buffer, { position, length }: { position: number; length: number }): number {
    const startedAt = performance.now();
    const bytes = readSync(this.#handle.fd, into, 0, length, position);
    if (performance.now() - startedAt > memoryReadMsMax) this.#pooledReads = pooledReadsAfterSlowOne;
    return bytes;
  }

  async #readPooled(into: Buffer, { position, length }: { position: number; length: number }): Promise<number> {
    this.#pooledReads--;
    return (await this.#handle.read(into, 0, length, position)).bytesRead;
  }
}
