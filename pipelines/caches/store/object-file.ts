import { ServiceError } from '../../../runtime/errors.ts';
import type { ObjectStore } from './object-store.ts';
import type { FileSpan, SignedUrlOptions, SpanReader, StoredFile } from './stored-file.ts';
import type { StoredName } from './stored-name.ts';

/** Times that reading a span resumes after its connection broke, without a byte in between. */
const resumptionsMax = 5;

/** A file of an object store. A span is read by one request, which is resumed after a broken connection. */
export class ObjectFile implements StoredFile {
  readonly name: StoredName;
  readonly size: number;
  readonly #objects: ObjectStore;
  readonly #key: string;

  constructor({ name, objects, key, size }: { name: StoredName; objects: ObjectStore; key: string; size: number }) {
    this.name = name;
    this.size = size;
    this.#objects = objects;
    this.#key = key;
  }

  readSpan(span: FileSpan): SpanReader {
    return new ObjectSpanReader((rest) => this.#objects.read(this.#key, rest), span);
  }

  signUrl(options: SignedUrlOptions): Promise<string> {
    return this.#objects.sign(this.#key, options);
  }

  async close(): Promise<void> {}
}

type OpenSpan = Awaited<ReturnType<ObjectStore['read']>>;

class ObjectSpanReader implements SpanReader {
  readonly #openSpan: (span: FileSpan) => Promise<OpenSpan>;
  readonly #end: number;
  #position: number;
  #open: OpenSpan | undefined;
  #rest: Uint8Array = new Uint8Array(0);
  #resumptions = 0;

  constructor(openSpan: (span: FileSpan) => Promise<OpenSpan>, { start, length }: FileSpan) {
    this.#openSpan = openSpan;
    this.#position = start;
    this.#end = start + length;
  }

  async begin(): Promise<void> {
    while (this.#rest.length === 0 && this.#position < this.#end) this.#rest = await this.#nextChunk();
  }

  /** @throws ServiceError `storage_unavailable` if the connection breaks too often. */
  async read(into: Buffer): Promise<number> {
    await this.begin();
    const bytes = Math.min(this.#rest.length, into.length);
    into.set(this.#rest.subarray(0, bytes));
    this.#rest = this.#rest.subarray(bytes);
    this.#position += bytes;
    return bytes;
  }

  close(): void {
    this.#open?.stop();
  }

  async #nextChunk(): Promise<Uint8Array> {
    this.#open ??= await this.#openSpan({ start: this.#position, length: this.#end - this.#position });
    const next = await this.#open.chunks.next().catch(() => ({ done: true, value: undefined }) as const);
    if (next.done !== true) {
      this.#resumptions = 0;
      return next.value;
    }
    this.#open.stop();
    this.#open = undefined;
    if (++this.#resumptions > resumptionsMax)
      throw new ServiceError('storage_unavailable', {
        operation: 'read object',
        problem: 'The connection broke repeatedly.',
      });
    return new Uint8Array(0);
  }
}
