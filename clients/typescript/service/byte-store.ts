/**
 * Where a client keeps small files between two runs: metadata that it trusts, manifests, indexes. Node has a directory for it
 * (`DirectoryStore` of `caller-trust-client/node`); a page can keep them in IndexedDB.
 */
export interface ByteStore {
  /** Undefined if there is none. Must throw if it cannot be read: an unreadable root must not look like a first use. */
  read(name: string): Promise<Uint8Array | undefined>;
  /** Replaces the file in one step. */
  write(name: string, bytes: Uint8Array): Promise<void>;
}

/** A store for the life of the page or process. */
export class MemoryStore implements ByteStore {
  readonly #files = new Map<string, Uint8Array>();

  async read(name: string): Promise<Uint8Array | undefined> {
    return this.#files.get(name);
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    this.#files.set(name, bytes);
  }
}
