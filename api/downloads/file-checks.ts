import { setTimeout as pause } from 'node:timers/promises';
import { formatArtefact } from '../../pipelines/caches/definition.ts';
import { isLost, type ArtefactStore } from '../../pipelines/caches/store/artefact-store.ts';
import { readWhole } from '../../pipelines/caches/store/stored-file.ts';
import type { StoredName } from '../../pipelines/caches/store/stored-name.ts';
import { sha256OfStream } from '../../runtime/digest.ts';
import { isServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { SharedFile } from './shared-file.ts';

/** A file of a published version. */
export interface PublishedFile {
  readonly name: StoredName;
  /** Newest night that published or confirmed the version: after it the file is read again. */
  readonly confirmedAsOf: Date;
}

/** Pause between two looks for files that were removed or put back. */
const presenceMs = 30_000;

/** Time that a check is idle, of the time that it reads: answers come first. */
const idleShare = 3;

interface Checked {
  readonly confirmedAsOf: number;
  readonly present: boolean;
  readonly state: 'intact' | 'missing' | 'damaged';
}

/**
 * Compares the published files with their digests, in the background: each once, and again after a night has confirmed it, after
 * it was removed from the store or put back, and while it is damaged. What was removed while it is open is compared too.
 */
export class FileChecks {
  readonly #store: ArtefactStore;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #published: () => ReadonlyMap<string, PublishedFile>;
  readonly #openFile: (name: StoredName) => SharedFile | undefined;
  readonly #checked = new Map<string, Checked>();
  #listedAt = -Infinity;

  /** `published`: the files by their path in the store; `openFile`: one that is open for answers. */
  constructor(options: {
    readonly store: ArtefactStore;
    readonly log: Log;
    readonly now: () => number;
    readonly published: () => ReadonlyMap<string, PublishedFile>;
    readonly openFile: (name: StoredName) => SharedFile | undefined;
  }) {
    this.#store = options.store;
    this.#log = options.log;
    this.#now = options.now;
    this.#published = options.published;
    this.#openFile = options.openFile;
  }

  /** True if the file was found damaged, and must not be served. */
  isDamaged(name: StoredName): boolean {
    return this.#checked.get(this.#store.path(name))?.state === 'damaged';
  }

  /** True if the file was found damaged or missing. */
  isLost(name: StoredName): boolean {
    return (this.#checked.get(this.#store.path(name))?.state ?? 'intact') !== 'intact';
  }

  /** The number of files that must be read. */
  get due(): number {
    return [...this.#published()].filter((file) => this.#isDue(file)).length;
  }

  /** The number of damaged and missing files. */
  get lost(): number {
    return [...this.#checked.values()].filter(({ state }) => state !== 'intact').length;
  }

  /**
   * Reads the files that must be read now. One call at a time.
   * @throws the error of a store that cannot be asked: the next call continues; the reason of the signal
   */
  async run(signal: AbortSignal): Promise<void> {
    const published = this.#published();
    for (const path of this.#checked.keys()) if (!published.has(path)) this.#checked.delete(path);
    if (this.#now() - this.#listedAt < presenceMs && this.due === 0) return;
    const failures: unknown[] = [];
    const stored = new Set((await this.#store.list()).map((name) => this.#store.path(name)));
    for (const [path, file] of published) {
      const present = stored.has(path);
      const before = this.#checked.get(path);
      if (!this.#isDue([path, file]) && before?.present === present && before.state !== 'damaged') continue;
      try {
        await this.#check(path, { ...file, present, signal });
      } catch (error) {
        if (signal.aborted || isServiceError(error, 'storage_unavailable')) throw error;
        failures.push(error); // of this file: the others are read all the same
      }
    }
    this.#listedAt = this.#now();
    if (failures.length > 0) throw failures[0];
  }

  #isDue([path, { name, confirmedAsOf }]: [string, PublishedFile]): boolean {
    const before = this.#checked.get(path);
    if (before?.confirmedAsOf !== confirmedAsOf.getTime()) return true;
    return before.state === 'missing' && this.#openFile(name) !== undefined;
  }

  async #check(
    path: string,
    {
      name,
      confirmedAsOf,
      present,
      signal,
    }: PublishedFile & { readonly present: boolean; readonly signal: AbortSignal },
  ): Promise<void> {
    const state = await this.#inspect(name, { present, signal });
    if (!this.#published().has(path)) return; // replaced meanwhile, and perhaps removed
    const before = this.#checked.get(path)?.state ?? 'intact';
    this.#checked.set(path, { confirmedAsOf: confirmedAsOf.getTime(), present, state });
    if (state === before) return;
    const facts = { artefact: formatArtefact(name), kind: name.kind ?? 'artefact', path };
    if (state === 'intact') this.#log.info(facts, 'a published file that was lost is intact again');
    else this.#log.error(facts, `a published file is ${state}; it is withheld`);
  }

  async #inspect(
    name: StoredName,
    { present, signal }: { readonly present: boolean; readonly signal: AbortSignal },
  ): Promise<Checked['state']> {
    const open = this.#openFile(name);
    if (open === undefined && !present) return 'missing';
    try {
      const file = open ?? new SharedFile(await this.#store.openToServe(name));
      const release = file.hold();
      if (open === undefined) file.retire(); // closes when it is released
      try {
        const digest = await sha256OfStream(unhurried(readWhole(file.stored), signal));
        return digest === name.sha256 ? 'intact' : 'damaged';
      } finally {
        release();
      }
    } catch (error) {
      if (!isLost(error)) throw error;
      return error.code === 'ENOENT' ? 'missing' : 'damaged';
    }
  }
}

/** Pauses after each chunk, in proportion to the time that it took. */
async function* unhurried(chunks: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  let since = performance.now();
  for await (const chunk of chunks) {
    yield chunk;
    await pause(idleShare * (performance.now() - since), undefined, { signal });
    since = performance.now();
  }
}
