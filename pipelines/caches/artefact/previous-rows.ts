import type { FileHandle } from 'node:fs/promises';
import { findKey } from '../../../format/artefact/find-row.ts';
import { endOfKey, endOfPrefix } from '../../../format/artefact/key-range.ts';
import type { CutSegment } from '../../../format/artefact/segment-cutter.ts';
import {
  inflateSegment,
  notAsIndexed,
  parseDirectory,
  parsePage,
  type IndexPage,
  type Segment,
} from '../../../format/artefact/segment-index.ts';
import type { VersionFacts } from '../artefact-facts.ts';
import type { ArtefactName } from '../definition.ts';
import { isLost, type ArtefactStore } from '../store/artefact-store.ts';

/** A segment of the published version with its deflate block. */
export interface StoredSegment extends Segment {
  readonly deflated: Buffer;
}

/** The rows of the published version that a new segment replaces. */
export interface RowsBefore {
  /** The segment with the same text, whose block can be copied. */
  readonly same: StoredSegment | null;
  /** The other rows: some that are decompressed already, then those of segments. */
  readonly plain: Uint8Array;
  readonly segments: readonly StoredSegment[];
}

/** Bytes of the file that are read at a time. */
const windowBytes = 1024 * 1024;

/** Segments without a successor that are given at a time: where all rows of a large range are gone, they are many. */
const segmentsAtOnceMax = 64;

const tab = 0x09;
const noRows = new Uint8Array(0);

/**
 * Reads the published version of an artefact beside the new rows, in the order of the keys, a page of the index and a window of the
 * file at a time.
 */
export class PreviousRows {
  readonly #file: FileHandle;
  readonly #index: FileHandle;
  readonly #pages: readonly IndexPage[];
  #nextPage = 0;
  #segments: readonly Segment[] = [];
  #nextSegment = 0;
  #window: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };
  /** Rows of segments that were taken apart, which belong to later ones. */
  #rest: Uint8Array = noRows;

  private constructor(file: FileHandle, index: FileHandle, pages: readonly IndexPage[]) {
    this.#file = file;
    this.#index = index;
    this.#pages = pages;
  }

  /**
   * Opens a published version; null if its file or its index is missing or damaged.
   * @throws ServiceError `storage_unavailable`, or the error of the disk
   */
  static async open(
    store: ArtefactStore,
    artefact: ArtefactName,
    { file, index }: Pick<VersionFacts, 'file' | 'index'>,
    onLost: (error: unknown) => void,
  ): Promise<PreviousRows | null> {
    const opened: FileHandle[] = [];
    const open = async (name: Parameters<ArtefactStore['open']>[0]) => {
      const handle = await store.open(name);
      opened.push(handle);
      return handle;
    };
    try {
      const rows = await open({ ...artefact, sha256: file.sha256 });
      const segments = await open({ ...artefact, sha256: index.sha256, kind: 'index' });
      const directory = await readExactly(segments, index.directory.offset, index.directory.bytes);
      return new PreviousRows(rows, segments, parseDirectory(directory, index));
    } catch (error) {
      await Promise.all(opened.map((handle) => handle.close()));
      if (!isLost(error)) throw error;
      onLost(error);
      return null;
    }
  }

  /**
   * The rows that a new segment replaces: those after the segment before it, up to its own last key. So each row of the published
   * version belongs to one segment, wherever that was cut. To be called for one segment after the other.
   * @throws an error that {@link isLost} knows, if the version is damaged
   */
  async replacedBy(cut: CutSegment, sha256: string): Promise<RowsBefore> {
    const end = endOfSegment(cut);
    const segments: StoredSegment[] = [];
    for (let next = await this.#peek(); next !== undefined && next.prefix < end; next = await this.#peek())
      segments.push(await this.#take(next));
    const last = segments.at(-1);
    const same = last?.prefix === cut.prefix && last.sha256 === sha256 ? last : null;
    if (same !== null) segments.pop();
    if (this.#rest.length === 0 && !segments.some(({ prefix }) => reachesBeyond(prefix, cut.prefix, end)))
      return { same, plain: noRows, segments };
    const plain = Buffer.concat([this.#rest, ...(await Promise.all(segments.map(inflate)))]);
    const at = findKey(plain, 0, end);
    this.#rest = plain.subarray(at);
    return { same, plain: plain.subarray(0, at), segments: [] };
  }

  /**
   * Rows with no successor in a new segment: those before a key, or with none the rest. Empty lists at a time mean that there are no
   * more. To be called before {@link replacedBy}.
   * @throws as {@link replacedBy}
   */
  async *removedBefore(prefix: string | undefined): AsyncGenerator<RowsBefore> {
    if (prefix === undefined && this.#rest.length > 0) {
      yield { same: null, plain: this.#rest, segments: [] };
      this.#rest = noRows;
    }
    if (this.#rest.length > 0) return;
    const isBefore = (next: Segment) =>
      prefix === undefined || (next.prefix < prefix && !prefix.startsWith(next.prefix));
    let segments: StoredSegment[] = [];
    for (let next = await this.#peek(); next !== undefined && isBefore(next); next = await this.#peek()) {
      segments.push(await this.#take(next));
      if (segments.length < segmentsAtOnceMax) continue;
      yield { same: null, plain: noRows, segments };
      segments = [];
    }
    if (segments.length > 0) yield { same: null, plain: noRows, segments };
  }

  async close(): Promise<void> {
    await Promise.all([this.#file.close(), this.#index.close()]);
  }

  async #peek(): Promise<Segment | undefined> {
    while (this.#nextSegment === this.#segments.length) {
      const page = this.#pages[this.#nextPage];
      if (page === undefined) return undefined;
      this.#segments = parsePage(await readExactly(this.#index, page.offset, page.bytes), page);
      this.#nextSegment = 0;
      this.#nextPage++;
    }
    return this.#segments[this.#nextSegment];
  }

  async #take(segment: Segment): Promise<StoredSegment> {
    this.#nextSegment++;
    const { offset, bytes } = segment;
    if (offset + bytes > this.#window.start + this.#window.bytes.length || offset < this.#window.start)
      this.#window = { start: offset, bytes: await readUpTo(this.#file, offset, Math.max(bytes, windowBytes)) };
    const from = offset - this.#window.start;
    const deflated = this.#window.bytes.subarray(from, from + bytes);
    if (deflated.length < bytes) throw notAsIndexed();
    return { ...segment, deflated };
  }
}

/** The rows of a segment. @throws ClientError `segment_index_invalid` if they are not as indexed */
export function inflate(segment: StoredSegment): Promise<Uint8Array> {
  return inflateSegment(segment.deflated, segment);
}

/** The exclusive upper limit of the keys of a segment. Of one row, it may be the prefix of others: those are in the next. */
function endOfSegment({ prefix, rows, plain }: CutSegment): string {
  return rows === 1 && plain.indexOf(tab) === prefix.length ? endOfKey(prefix) : endOfPrefix(prefix);
}

/** True if a segment of the published version may have keys from an end on that lies within it. */
function reachesBeyond(prefix: string, cut: string, end: string): boolean {
  return cut.startsWith(prefix) && (prefix !== cut || end === endOfKey(cut));
}

async function readUpTo(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  const { bytesRead } = await handle.read(bytes, 0, length, offset);
  return bytes.subarray(0, bytesRead);
}

async function readExactly(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = await readUpTo(handle, offset, length);
  if (bytes.length < length) throw notAsIndexed();
  return bytes;
}
