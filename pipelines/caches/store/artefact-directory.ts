import { open, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileHandle } from 'node:fs/promises';
import type { ArtefactStore, UnfinishedFile } from './artefact-store.ts';
import { LocalFile, type StoredFile } from './stored-file.ts';
import { formatStoredName, parseStoredName, type StoredName } from './stored-name.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { sha256OfFile } from '../../../runtime/digest.ts';
import { keepWholeFile } from '../../../runtime/files/whole-file.ts';
import { ifExists } from '../../../runtime/files/if-exists.ts';

/** Files of artefacts in a directory: `<cache>[/<country>]/<sha256>` with the ending of its kind, and unfinished ones in `unfinished/`. */
export class ArtefactDirectory implements ArtefactStore {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  path(name: StoredName): string {
    return join(this.directory, formatStoredName(name));
  }

  /** The bytes stay readable after the file is removed. */
  open(name: StoredName): Promise<FileHandle> {
    return open(this.path(name), 'r');
  }

  async openToServe(name: StoredName): Promise<StoredFile> {
    const handle = await this.open(name);
    return new LocalFile({ name, handle, size: (await handle.stat()).size });
  }

  async start(owner: string): Promise<UnfinishedFile> {
    await mkdir(this.unfinishedDirectory, { recursive: true });
    const path = join(this.unfinishedDirectory, owner);
    const handle = await open(path, 'w+', 0o644);
    return {
      handle,
      keep: async (name) => {
        await requireDigest(handle, name);
        await handle.close();
        await keepWholeFile(path, this.path(name), { durable: true });
      },
      discard: async () => {
        await handle.close().catch(() => {});
        await rm(path, { force: true });
      },
    };
  }

  listUnfinished(): Promise<string[]> {
    return readdir(this.unfinishedDirectory).catch(() => []);
  }

  removeUnfinished(owner: string): Promise<void> {
    return rm(join(this.unfinishedDirectory, owner), { force: true });
  }

  async list(): Promise<(StoredName & { readonly bytes: number })[]> {
    const paths = (await ifExists(readdir(this.directory, { recursive: true }))) ?? [];
    const names = paths.map(parseStoredName).filter((name) => name !== undefined);
    const files = await Promise.all(
      names.map(async (name) => ({ name, stats: await ifExists(stat(this.path(name))) })),
    );
    return files.flatMap(({ name, stats }) => (stats === undefined ? [] : [{ ...name, bytes: stats.size }])); // one may have been removed meanwhile
  }

  /** Nothing to do: there is no other copy. */
  async restore(): Promise<void> {}

  remove(name: StoredName): Promise<void> {
    return rm(this.path(name), { force: true });
  }

  private get unfinishedDirectory(): string {
    return join(this.directory, 'unfinished');
  }
}

/** Reads a new file back. @throws ServiceError `artefact_not_stored` unless the digest of its bytes is that of its name */
export async function requireDigest(handle: FileHandle, name: StoredName): Promise<void> {
  if ((await sha256OfFile(handle)) === name.sha256) return;
  throw new ServiceError('artefact_not_stored', {
    operation: 'store file',
    object: formatStoredName(name),
    problem: 'The bytes read back from the new file are not those that were written.',
    hint: 'Check the memory of the machine and the disk of ARTEFACT_DIR.',
  });
}
