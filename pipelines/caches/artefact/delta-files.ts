import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { DeltaCounts } from '../../../format/artefact/delta-lines.ts';
import type { GzipFacts } from '../../../format/gzip/gzip-member.ts';
import { writeGzip } from '../../../format/gzip/gzip-writing.ts';
import { sha256OfStream } from '../../../runtime/digest.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { writeAll } from '../../../runtime/files/whole-file.ts';
import type { StoredDelta } from '../artefact-facts.ts';
import type { ArtefactName } from '../definition.ts';
import { isLost, type ArtefactStore, type UnfinishedFile } from '../store/artefact-store.ts';
import type { StoredName } from '../store/stored-name.ts';
import { joinGzip } from './gzip-joining.ts';

/** Where deltas are written. */
export interface DeltaPlace {
  readonly store: ArtefactStore;
  readonly artefact: ArtefactName;
  /** Prefix of the names of unfinished files. */
  readonly owner: string;
  /** Called for an earlier delta that is missing or damaged: none leads from that version any more. */
  readonly onLost: (from: number, error: unknown) => void;
}

/** A stored delta from one version to the next. */
interface DeltaStep extends StoredDelta {
  readonly plainBytes: number;
}

/**
 * The deltas to a new version, newest first: the one from the version before, and from each version that has a delta to that one, by
 * appending the new delta to it. The work depends on the size of the deltas, not of the files.
 * @throws ServiceError `storage_unavailable`, or the error of the disk
 */
export async function chainDeltas(
  place: DeltaPlace,
  { plainBytes, ...step }: DeltaStep,
  earlier: readonly StoredDelta[],
): Promise<StoredDelta[]> {
  return [step, ...(await unlessLost(place, earlier, (delta) => appendDelta(place, delta, { ...step, plainBytes })))];
}

/** The deltas to a version that stays published, less those that are missing or damaged. @throws as {@link chainDeltas} */
export function keepDeltas(place: DeltaPlace, deltas: readonly StoredDelta[]): Promise<StoredDelta[]> {
  return unlessLost(place, deltas, async (delta) => {
    const name = deltaName(place, delta);
    await sha256OfStream(readDelta(place.store, name)); // which checks the digest
    await place.store.restore(name);
    return delta;
  });
}

async function unlessLost(
  { onLost }: DeltaPlace,
  deltas: readonly StoredDelta[],
  keep: (delta: StoredDelta) => Promise<StoredDelta>,
): Promise<StoredDelta[]> {
  const kept = await Promise.all(
    deltas.map((delta) =>
      keep(delta).catch((error: unknown) => {
        if (!isLost(error)) throw error;
        onLost(delta.from, error);
        return undefined;
      }),
    ),
  );
  return kept.filter((delta) => delta !== undefined);
}

/** Bytes of text that wait to be compressed. */
const textBytesWaiting = 1024 * 1024;

/** A delta in the making, which is compressed and written while its text is given. One of {@link end} and {@link discard} must follow. */
export class DeltaFile {
  readonly #place: DeltaPlace;
  readonly #from: number;
  readonly #file: UnfinishedFile;
  readonly #texts = new PassThrough({ highWaterMark: textBytesWaiting });
  readonly #written: Promise<GzipFacts | undefined>;
  #failure: { readonly error: unknown } | undefined;

  private constructor(place: DeltaPlace, from: number, file: UnfinishedFile) {
    this.#place = place;
    this.#from = from;
    this.#file = file;
    this.#texts.on('error', () => {}); // that of the writing, which `end` throws
    this.#written = writeGzip(this.#texts, (bytes) => writeAll(file.handle, bytes)).catch(
      (error: unknown) => void this.fail(error),
    );
  }

  /** Begins the delta from a version. */
  static async begin(place: DeltaPlace, from: number): Promise<DeltaFile> {
    return new DeltaFile(place, from, await place.store.start(`${place.owner}.delta`));
  }

  /** Takes the next lines. Does nothing after a failure. */
  async add(text: Uint8Array): Promise<void> {
    if (this.#failure !== undefined || text.length === 0) return;
    if (!this.#texts.write(text)) await Promise.race([once(this.#texts, 'drain'), this.#written]);
  }

  /** Gives the delta up: `end` throws the error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#texts.destroy();
  }

  /** Stores the delta. @throws the error that ended it; then nothing is stored */
  async end({ added, changed, removed }: DeltaCounts): Promise<DeltaStep> {
    this.#texts.end();
    const facts = await this.#written;
    try {
      if (facts === undefined) throw this.#failure!.error;
      const { sha256, bytes, plainBytes } = facts;
      await this.#file.keep(deltaName(this.#place, { sha256 }));
      return { from: this.#from, sha256, bytes, plainBytes, added, changed, removed };
    } catch (error) {
      await this.#file.discard();
      throw error;
    }
  }

  async discard(): Promise<void> {
    this.fail(new Error('The delta is discarded.'));
    await this.#written;
    await this.#file.discard();
  }
}

function deltaName({ artefact }: Pick<DeltaPlace, 'artefact'>, { sha256 }: Pick<StoredDelta, 'sha256'>): StoredName {
  return { cache: artefact.cache, country: artefact.country, sha256, kind: 'delta' };
}

/** The bytes of a stored delta. @throws ServiceError `delta_invalid` at the end if their digest is not the name of the file */
async function* readDelta(store: ArtefactStore, name: StoredName): AsyncGenerator<Uint8Array> {
  const file = await store.open(name);
  const hash = createHash('sha256');
  try {
    for await (const chunk of file.createReadStream({
      autoClose: false,
      highWaterMark: 256 * 1024,
    }) as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      yield chunk;
    }
  } finally {
    await file.close();
  }
  if (hash.digest('hex') !== name.sha256)
    throw new ServiceError('delta_invalid', {
      operation: 'read delta',
      problem: 'The digest of the file is not its name.',
    });
}

/** Appends a delta to an earlier one that leads to its basis: the compressed bytes of both, as one gzip member. */
async function appendDelta(place: DeltaPlace, earlier: StoredDelta, step: DeltaStep): Promise<StoredDelta> {
  const { store, owner } = place;
  const file = await store.start(`${owner}.delta-${earlier.from}`);
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    const read = (delta: StoredDelta) => readDelta(store, deltaName(place, delta));
    for await (const chunk of joinGzip(read(earlier), read(step), step.plainBytes)) {
      hash.update(chunk);
      bytes += chunk.length;
      await writeAll(file.handle, chunk);
    }
    const sha256 = hash.digest('hex');
    await file.keep(deltaName(place, { sha256 }));
    return {
      from: earlier.from,
      sha256,
      bytes,
      added: earlier.added + step.added,
      changed: earlier.changed + step.changed,
      removed: earlier.removed + step.removed,
    };
  } catch (error) {
    await file.discard();
    throw error;
  }
}
