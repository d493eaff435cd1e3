import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { ServiceError } from '../../../runtime/errors.ts';
import { isLost, type ArtefactStore, type UnfinishedFile } from '../store/artefact-store.ts';
import type { StoredName } from '../store/stored-name.ts';
import { formatArtefact, type ArtefactName } from '../definition.ts';
import { applyDelta, OperationCounter } from '../../../format/artefact/delta-lines.ts';
import { differenceOf } from '../../../format/artefact/row-difference.ts';
import { joinGzip } from '../../../format/gzip/gzip-joining.ts';
import { readGzip } from '../../../format/gzip/gzip-reading.ts';
import { writeGzip } from '../../../format/gzip/gzip-writing.ts';
import { inThread } from '../format/segment-threads.ts';
import type { GzipFacts } from '../../../format/gzip/gzip-member.ts';
import { inflateSegment, type Segment } from '../../../format/artefact/segment-index.ts';
import type { StoredDelta } from '../artefact-facts.ts';
import { sha256OfStream } from '../../../runtime/digest.ts';
import { writeAll } from '../../../runtime/files/whole-file.ts';

/** A stored artefact with its segment index. */
export interface IndexedFile {
  readonly sha256: string;
  readonly segments: readonly Segment[];
}

/** Where deltas are written. */
export interface DeltaPlace {
  readonly store: ArtefactStore;
  readonly artefact: ArtefactName;
  /** Prefix of the names of unfinished files. */
  readonly owner: string;
  /**
   * Called for an earlier delta that is missing or damaged. Returns the file of the version that it led from, so that the delta
   * is made again; undefined if there is none: then no delta leads from that version. Absent: as undefined.
   */
  readonly onLost?: ((from: number, error: unknown) => Promise<IndexedFile | undefined>) | undefined;
}

interface WriteDeltasOptions extends DeltaPlace {
  /** The delta from the version that was published before. */
  readonly step: DeltaStep;
  readonly built: IndexedFile;
  /** The deltas to that version. */
  readonly earlier: readonly StoredDelta[];
}

/**
 * Writes the further deltas to a new version: from each version that has a delta to the previous version, by appending the new
 * delta to it, or from that version's file if its delta is lost. The work depends on the size of the deltas, not of the files.
 * Returns all of them, newest first.
 * @throws ServiceError `delta_invalid` or `segment_index_invalid` as {@link compareFiles}, or the error of the disk.
 */
export async function writeDeltas({ step, built, earlier, ...place }: WriteDeltasOptions): Promise<StoredDelta[]> {
  const chains = await keepOrRemake(place, { deltas: earlier, built }, (delta) => chainDeltas(place, delta, step));
  return [toStored(step), ...chains];
}

interface CheckDeltasOptions extends DeltaPlace {
  readonly deltas: readonly StoredDelta[];
  /** The version that they lead to. */
  readonly built: IndexedFile;
}

/**
 * Reads the deltas of a version that stays published. One that is missing or damaged is made again from the file of the version
 * that it leads from, or left out if that is lost too. Returns them newest first.
 * @throws as {@link writeDeltas}, or ServiceError `storage_unavailable`
 */
export function checkDeltas({ deltas, built, ...place }: CheckDeltasOptions): Promise<StoredDelta[]> {
  return keepOrRemake(place, { deltas, built }, async (delta) => {
    const name: StoredName = { ...place.artefact, sha256: delta.sha256, kind: 'delta' };
    for await (const _ of readDeltaBytes(place.store, name)); // checks the digest
    await place.store.restore(name);
    return delta;
  });
}

async function keepOrRemake(
  place: DeltaPlace,
  { deltas, built }: Pick<CheckDeltasOptions, 'deltas' | 'built'>,
  keep: (delta: StoredDelta) => Promise<StoredDelta>,
): Promise<StoredDelta[]> {
  const kept = await Promise.all(
    [...deltas]
      .sort((a, b) => b.from - a.from)
      .map((delta) =>
        keep(delta).catch((error: unknown) => {
          if (!isLost(error)) throw error;
          return remakeDelta(place, { from: delta.from, built }, error);
        }),
      ),
  );
  return kept.filter((delta) => delta !== undefined);
}

async function remakeDelta(
  place: DeltaPlace,
  { from, built }: { from: number; built: IndexedFile },
  lost: unknown,
): Promise<StoredDelta | undefined> {
  const older = await place.onLost?.(from, lost);
  if (older === undefined) return undefined;
  try {
    const owner = `${place.owner}-${from}`;
    return toStored(await compareFiles({ ...place, owner }, { ...older, version: from }, built));
  } catch (error) {
    if (isLost(error)) return undefined; // the file of that version, or else the caller finds the damage of the new one
    throw error;
  }
}

/** A stored delta from one version to the next. */
interface DeltaStep extends StoredDelta {
  readonly plainBytes: number;
}

function toStored({ from, sha256, bytes, added, changed, removed }: StoredDelta): StoredDelta {
  return { from, sha256, bytes, added, changed, removed };
}

const compressInThread = (plain: Uint8Array) =>
  inThread({ kind: 'compress', cut: { prefix: '', plain, rows: 0, levels: {} }, before: null, profile: 'compact' });

/** Bytes of text that wait to be compressed. */
const textBytesWaiting = 1024 * 1024;

/** A delta in the making, which is compressed and written while its text is given. One of {@link end} and {@link discard} must follow. */
export class DeltaFile {
  readonly #place: DeltaPlace;
  readonly #from: number;
  readonly #file: UnfinishedFile;
  readonly #texts = new PassThrough({ highWaterMark: textBytesWaiting });
  readonly #counter = new OperationCounter();
  readonly #written: Promise<GzipFacts | undefined>;
  #failure: { readonly error: unknown } | undefined;

  private constructor(place: DeltaPlace, from: number, file: UnfinishedFile) {
    this.#place = place;
    this.#from = from;
    this.#file = file;
    this.#texts.on('error', () => {}); // that of the writing, which `end` throws
    const write = (bytes: Uint8Array) => writeAll(file.handle, bytes);
    this.#written = writeGzip(this.#counter.watch(this.#texts), { write, compress: compressInThread }).catch(
      (error: unknown) => void this.fail(error),
    );
  }

  /** Begins the delta from a version. */
  static async begin(place: DeltaPlace, from: number): Promise<DeltaFile> {
    return new DeltaFile(place, from, await place.store.start(place.owner));
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

  /** Stores the delta, or that of a share. @throws the error that ended it; then nothing is stored */
  async end(kind: 'delta' | 'share' = 'delta'): Promise<DeltaStep> {
    this.#texts.end();
    const facts = await this.#written;
    try {
      if (facts === undefined) throw this.#failure!.error;
      const { sha256, bytes, plainBytes } = facts;
      await this.#file.keep({ ...this.#place.artefact, sha256, kind });
      const { added, changed, removed } = this.#counter;
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

/**
 * Makes the delta between two stored files from the segments that differ, and checks it against them; two segments of each are
 * held in memory.
 * @throws ServiceError `delta_invalid` if the delta does not give the new rows, `segment_index_invalid` if a file does not match
 * its index, or the error of the disk.
 */
export async function compareFiles(
  place: DeltaPlace,
  basis: IndexedFile & { readonly version: number },
  built: IndexedFile,
): Promise<DeltaStep> {
  const { store, artefact } = place;
  const old = await store.open({ ...artefact, sha256: basis.sha256 });
  const fresh = await store.open({ ...artefact, sha256: built.sha256 }).catch(async (error: unknown) => {
    await old.close();
    throw error;
  });
  try {
    const { before, after } = await differingSegments(
      { handle: old, segments: basis.segments },
      { handle: fresh, segments: built.segments },
    );
    const expected = createHash('sha256');
    const rows = hashing(readSegmentRows({ handle: fresh, segments: after }), expected);
    const step = await writeDelta(
      place,
      basis.version,
      differenceOf(readSegmentRows({ handle: old, segments: before }), rows),
    );
    await requireLeadsTo(place, step, { before: { handle: old, segments: before }, expected: expected.digest('hex') });
    return step;
  } finally {
    await Promise.all([old.close(), fresh.close()]);
  }
}

/** Segments of an open file. */
export interface OpenSegments {
  readonly handle: FileHandle;
  readonly segments: readonly Segment[];
}

/** The segments of each file that are not in the other with the same bytes. */
async function differingSegments(
  before: OpenSegments,
  after: OpenSegments,
): Promise<{ before: Segment[]; after: Segment[] }> {
  const candidates = new Map(after.segments.map((segment) => [segment.prefix, segment]));
  const same = new Set<string>();
  for (const segment of before.segments) {
    const candidate = candidates.get(segment.prefix);
    if (
      candidate !== undefined &&
      sameFacts(segment, candidate) &&
      ((segment.sha256 !== null && segment.sha256 === candidate.sha256) ||
        (await sameBytes({ handle: before.handle, segment }, { handle: after.handle, segment: candidate })))
    )
      same.add(segment.prefix);
  }
  const differs = ({ prefix }: Segment) => !same.has(prefix);
  return { before: before.segments.filter(differs), after: after.segments.filter(differs) };
}

function sameFacts(a: Segment, b: Segment): boolean {
  return a.crc === b.crc && a.bytes === b.bytes && a.plainBytes === b.plainBytes && a.rows === b.rows;
}

interface OneSegment {
  readonly handle: FileHandle;
  readonly segment: Segment;
}

async function sameBytes(a: OneSegment, b: OneSegment): Promise<boolean> {
  const [first, second] = await Promise.all([readSegment(a), readSegment(b)]);
  return first.equals(second);
}

/** The compressed bytes of a segment. */
async function readSegment({ handle, segment }: OneSegment): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(segment.bytes);
  const { bytesRead } = await handle.read(bytes, 0, segment.bytes, segment.offset);
  if (bytesRead < segment.bytes)
    throw new ServiceError('segment_index_invalid', {
      operation: 'read segment',
      problem: 'The file ends within a segment.',
    });
  return bytes;
}

/** The rows of segments, which ascend. The next segment is decompressed while one is read. */
export async function* readSegmentRows({ handle, segments }: OpenSegments): AsyncGenerator<Uint8Array> {
  const inflate = async (segment: Segment | undefined) =>
    segment === undefined ? undefined : inflateSegment(await readSegment({ handle, segment }), segment);
  let next = inflate(segments[0]);
  for (let at = 1; at <= segments.length; at++) {
    const rows = await next;
    next = inflate(segments[at]);
    next.catch(() => {}); // awaited in the next round
    yield rows!;
  }
}

/** Stores the text of a delta. */
async function writeDelta(place: DeltaPlace, from: number, texts: AsyncIterable<Uint8Array>): Promise<DeltaStep> {
  const delta = await DeltaFile.begin(place, from);
  try {
    for await (const text of texts) await delta.add(text);
  } catch (error) {
    await delta.discard();
    throw error;
  }
  return delta.end();
}

/** Applies a stored delta to the compared segments of the basis, and compares the digest of the rows with that of the new ones. */
async function requireLeadsTo(
  { store, artefact }: DeltaPlace,
  delta: StoredDelta,
  { before, expected }: { before: OpenSegments; expected: string },
): Promise<void> {
  const text = readDeltaText(store, { ...artefact, sha256: delta.sha256, kind: 'delta' });
  const made = await sha256OfStream(applyDelta(readSegmentRows(before), text));
  if (made === expected) return;
  throw new ServiceError('delta_invalid', {
    operation: 'check delta',
    object: formatArtefact(artefact),
    problem: `The delta from version ${delta.from} does not give the rows of the new version.`,
  });
}

/** The text of a stored delta. @throws as {@link readDeltaBytes} */
function readDeltaText(store: ArtefactStore, name: StoredName): AsyncGenerator<Uint8Array> {
  return readGzip(readDeltaBytes(store, name));
}

const readBytesMax = 1 << 18;

/** The bytes of a stored delta. @throws ServiceError `delta_invalid` at the end if their digest is not the name of the file */
async function* readDeltaBytes(store: ArtefactStore, name: StoredName): AsyncGenerator<Uint8Array> {
  const handle = await store.open(name);
  const hash = createHash('sha256');
  try {
    const { size } = await handle.stat();
    const highWaterMark = Math.min(Math.max(size, 1), readBytesMax); // each read allocates as much
    yield* hashing(handle.createReadStream({ autoClose: false, highWaterMark }), hash);
  } finally {
    await handle.close();
  }
  if (hash.digest('hex') !== name.sha256)
    throw new ServiceError('delta_invalid', {
      operation: 'read delta',
      problem: 'The digest of the file is not its name.',
    });
}

async function* hashing(
  chunks: AsyncIterable<Uint8Array>,
  hash: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Appends a delta to an earlier one that leads to its basis: the compressed bytes of both, as one gzip member. */
async function chainDeltas(
  { store, artefact, owner }: DeltaPlace,
  earlier: StoredDelta,
  step: DeltaStep,
): Promise<StoredDelta> {
  const file = await store.start(`${owner}-${earlier.from}`);
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    const read = (sha256: string) => readDeltaBytes(store, { ...artefact, sha256, kind: 'delta' });
    for await (const chunk of joinGzip(read(earlier.sha256), read(step.sha256), step.plainBytes)) {
      hash.update(chunk);
      bytes += chunk.length;
      await writeAll(file.handle, chunk);
    }
    const sha256 = hash.digest('hex');
    await file.keep({ ...artefact, sha256, kind: 'delta' });
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
