import { open, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileHandle } from 'node:fs/promises';

/** Which file holds the bytes of an artefact: named by what it holds, so that it never changes. */
export interface StoredName {
  readonly cache: string;
  readonly country: string;
  readonly sha256: string;
}

/** A file that is being written and cannot be read by anyone yet. */
export interface UnfinishedFile {
  readonly handle: FileHandle;
  /** Makes the bytes durable and gives the file its name. The same content stored twice is one file. */
  keep(name: StoredName): Promise<void>;
  discard(): Promise<void>;
}

/** Artefact files in a directory: `<cache>[/<country>]/<sha256>.tsv.gz`, and unfinished ones in `unfinished/`. */
export class ArtefactStore {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Path of a stored file. */
  path({ cache, country, sha256 }: StoredName): string {
    return join(this.directory, cache, country, `${sha256}.tsv.gz`);
  }

  /** Opens a stored file for reading. Its bytes stay readable through the handle when the file is removed. */
  open(name: StoredName): Promise<FileHandle> {
    return open(this.path(name), 'r');
  }

  /** Starts a file. `owner` names the build that writes it. */
  async start(owner: string): Promise<UnfinishedFile> {
    await mkdir(this.unfinishedDirectory, { recursive: true });
    const path = join(this.unfinishedDirectory, owner);
    const handle = await open(path, 'w', 0o644);
    return {
      handle,
      keep: async (name) => {
        await handle.sync();
        await handle.close();
        const directory = join(this.directory, name.cache, name.country);
        await mkdir(directory, { recursive: true });
        await rename(path, this.path(name));
        for (const changed of [directory, join(this.directory, name.cache), this.directory]) await syncDirectory(changed);
      },
      discard: async () => {
        await handle.close().catch(() => {});
        await rm(path, { force: true });
      },
    };
  }

  /** The owners of all unfinished files. */
  listUnfinished(): Promise<string[]> {
    return readdir(this.unfinishedDirectory).catch(() => []);
  }

  removeUnfinished(owner: string): Promise<void> {
    return rm(join(this.unfinishedDirectory, owner), { force: true });
  }

  /** Every stored file. */
  async list(): Promise<(StoredName & { bytes: number })[]> {
    const paths = await readdir(this.directory, { recursive: true }).catch(() => []);
    const files = paths.flatMap((path) => {
      const match = /^([a-z_]+)\/(?:([A-Z]{2})\/)?([0-9a-f]{64})\.tsv\.gz$/.exec(path);
      return match === null ? [] : [{ cache: match[1]!, country: match[2] ?? '', sha256: match[3]! }];
    });
    return Promise.all(files.map(async (file) => ({ ...file, bytes: (await stat(this.path(file))).size })));
  }

  remove(name: StoredName): Promise<void> {
    return rm(this.path(name), { force: true });
  }

  private get unfinishedDirectory(): string {
    return join(this.directory, 'unfinished');
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  await directory.sync();
  await directory.close();
}
