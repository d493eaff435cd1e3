import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ByteStore } from '../service/byte-store.ts';
import { writeWholeFile } from '../../../runtime/files/whole-file.ts';

/** Directory of the trusted metadata, below that of the copies. */
export const trustDirectory = '.trust';

/** Small files in a directory, which is made with the first of them. */
export class DirectoryStore implements ByteStore {
  readonly #directory: string;
  readonly #durable: boolean;

  /** `durable`: what is written survives a crash of the machine. */
  constructor(directory: string, { durable }: { readonly durable: boolean }) {
    this.#directory = directory;
    this.#durable = durable;
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    return readFile(join(this.#directory, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error; // an unreadable root must not look like a first use
    });
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await writeWholeFile(join(this.#directory, name), bytes, { durable: this.#durable });
  }
}
