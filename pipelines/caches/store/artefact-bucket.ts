import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ServiceError } from '../../../runtime/errors.ts';
import { ArtefactDirectory, requireDigest } from './artefact-directory.ts';
import type { ArtefactStore, UnfinishedFile } from './artefact-store.ts';
import { ObjectFile } from './object-file.ts';
import type { ObjectStore } from './object-store.ts';
import type { StoredFile } from './stored-file.ts';
import { formatStoredName, parseStoredName, type StoredKind, type StoredName } from './stored-name.ts';
import { keepWholeFile } from '../../../runtime/files/whole-file.ts';

/** Local copies of the newest files of one artefact: the basis of the next build, and the previous version. */
const copiesKept: Readonly<Record<StoredKind, number>> = { artefact: 2, index: 2, filter: 2, delta: 32 };

/** Settings and stores of {@link ArtefactBucket}. */
interface ArtefactBucketOptions {
  readonly objects: ObjectStore;
  /** Prefix of every key: '' or a text that ends with a slash. */
  readonly prefix: string;
  /** Unfinished files, and copies for builds. May be lost at any time. */
  readonly copies: ArtefactDirectory;
}

/**
 * Files of artefacts in a bucket of an object store. A build writes its file locally; the complete file is uploaded, and a copy
 * stays for the next build, which reads the previous version.
 */
export class ArtefactBucket implements ArtefactStore {
  readonly #options: ArtefactBucketOptions;

  constructor(options: ArtefactBucketOptions) {
    this.#options = options;
  }

  get directory(): string {
    return this.#options.copies.directory;
  }

  path(name: StoredName): string {
    return `s3://${this.#options.objects.bucket}/${this.#key(name)}`;
  }

  /** @throws ServiceError `storage_unavailable`; `artefact_damaged` if the digest of the object is not its name. */
  async open(name: StoredName): Promise<FileHandle> {
    const { copies } = this.#options;
    try {
      return await copies.open(name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    await this.#fetch(name);
    return copies.open(name);
  }

  /** @throws ServiceError `storage_unavailable` */
  async openToServe(name: StoredName): Promise<StoredFile> {
    const { objects } = this.#options;
    const key = this.#key(name);
    return new ObjectFile({ name, objects, key, size: await this.#sizeOf(name) });
  }

  async start(owner: string): Promise<UnfinishedFile> {
    const file = await this.#options.copies.start(owner);
    return {
      ...file,
      keep: async (name) => {
        if (copiesKept[name.kind ?? 'artefact'] === 0) {
          await requireDigest(file.handle, name);
          await this.#uploadUnlessThere(name, file.handle);
          return file.discard();
        }
        await file.keep(name);
        await this.restore(name);
        await this.#removeOldCopies(name).catch(() => {}); // the file is stored; the next one removes old copies
      },
    };
  }

  async restore(name: StoredName): Promise<void> {
    const handle = await this.#options.copies.open(name);
    try {
      await this.#uploadUnlessThere(name, handle);
    } finally {
      await handle.close();
    }
  }

  listUnfinished(): Promise<string[]> {
    return this.#options.copies.listUnfinished();
  }

  removeUnfinished(owner: string): Promise<void> {
    return this.#options.copies.removeUnfinished(owner);
  }

  async list(): Promise<(StoredName & { readonly bytes: number })[]> {
    const { objects, prefix } = this.#options;
    return (await objects.list(prefix)).flatMap(({ key, bytes }) => {
      const name = parseStoredName(key.slice(prefix.length));
      return name === undefined ? [] : [{ ...name, bytes }];
    });
  }

  async remove(name: StoredName): Promise<void> {
    await this.#options.objects.remove(this.#key(name));
    await this.#options.copies.remove(name);
  }

  #key(name: StoredName): string {
    return `${this.#options.prefix}${formatStoredName(name)}`;
  }

  /** Names are digests, so an object of the same name and size has the same bytes. */
  async #uploadUnlessThere(name: StoredName, handle: FileHandle): Promise<void> {
    const { objects } = this.#options;
    const key = this.#key(name);
    const { size } = await handle.stat();
    if ((await objects.size(key)) !== size) await objects.upload(key, { handle, size });
  }

  async #sizeOf(name: StoredName): Promise<number> {
    const size = await this.#options.objects.size(this.#key(name));
    if (size !== undefined) return size;
    throw Object.assign(new Error(`the object store has no ${this.path(name)}`), { code: 'ENOENT' });
  }

  /** Fetches a file and keeps it only if its digest is its name. */
  async #fetch(name: StoredName): Promise<void> {
    const { objects, copies } = this.#options;
    const unfinished = join(copies.directory, 'fetching', randomBytes(12).toString('hex'));
    await mkdir(dirname(unfinished), { recursive: true });
    await removeLeftovers(dirname(unfinished));
    const size = await this.#sizeOf(name);
    const reader = new ObjectFile({ name, objects, key: this.#key(name), size }).readSpan({ start: 0, length: size });
    const digest = createHash('sha256');
    const handle = await open(unfinished, 'wx', 0o644);
    try {
      const buffer = Buffer.allocUnsafe(fetchBufferBytes);
      for (let left = size; left > 0;) {
        const bytes = buffer.subarray(0, await reader.read(buffer));
        digest.update(bytes);
        await handle.writeFile(bytes);
        left -= bytes.length;
      }
      await handle.close();
      if (digest.digest('hex') !== name.sha256)
        throw new ServiceError('artefact_damaged', {
          operation: 'fetch artefact',
          object: this.path(name),
          problem: 'The digest of the object is not its name.',
        });
      // A copy that a crash of the machine damages is fetched again.
      await keepWholeFile(unfinished, copies.path(name), { durable: false });
    } finally {
      reader.close();
      await handle.close().catch(() => {}); // already closed if it was kept
      await rm(unfinished, { force: true });
    }
  }

  /** In one directory only: builds of other artefacts write and remove copies at the same time. */
  async #removeOldCopies({ kind = 'artefact', ...name }: StoredName): Promise<void> {
    const { copies } = this.#options;
    const files = await readdir(dirname(copies.path(name)));
    const names = files
      .map((file) => parseStoredName(`${dirname(formatStoredName(name))}/${file}`))
      .filter((each) => each !== undefined);
    const same = names.filter((each) => each.kind === kind);
    const dated = await Promise.all(
      same.map(async (each) => ({
        name: each,
        at: (await stat(copies.path(each)).catch(() => undefined))?.mtimeMs ?? 0,
      })),
    );
    const old = dated.sort((a, b) => b.at - a.at).slice(copiesKept[kind]);
    await Promise.all(old.map((each) => copies.remove(each.name)));
  }
}

const fetchBufferBytes = 1024 * 1024;

/** A fetch that has not written for this long was killed. */
const fetchSilentMsMax = 3_600_000;

async function removeLeftovers(directory: string): Promise<void> {
  for (const file of await readdir(directory)) {
    const written = await stat(join(directory, file)).catch(() => undefined); // undefined if another fetch has ended meanwhile
    if (written !== undefined && Date.now() - written.mtimeMs > fetchSilentMsMax)
      await rm(join(directory, file), { force: true });
  }
}
