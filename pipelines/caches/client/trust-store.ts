import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWholeFile } from '../../../runtime/whole-file.ts';

/** Directory of the trusted metadata, below that of the copies. */
export const trustDirectory = '.trust';

/** The root that was trusted first, the newest root, and the metadata of the last refresh. */
export type TrustFile = 'anchor.json' | 'root.json' | 'timestamp.json' | 'snapshot.json' | 'targets.json';

/** The metadata that a client has verified, in a directory; without one, for the life of the process. */
export class TrustStore {
  readonly #directory: string | undefined;
  readonly #memory = new Map<TrustFile, Buffer>();

  constructor(directory: string | undefined) {
    this.#directory = directory;
  }

  /** Undefined if there is none. */
  async read(name: TrustFile): Promise<Buffer | undefined> {
    if (this.#directory === undefined) return this.#memory.get(name);
    return readFile(join(this.#directory, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error; // an unreadable root must not look like a first use
    });
  }

  async write(name: TrustFile, bytes: Buffer): Promise<void> {
    if (this.#directory === undefined) this.#memory.set(name, bytes);
    else await writeWholeFile(join(this.#directory, name), bytes, { durable: true });
  }
}
