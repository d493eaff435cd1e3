import { createHash } from 'node:crypto';
import type { DeltaCounts } from '../../../format/artefact/delta-lines.ts';
import { cutSegments, type CutSegment } from '../../../format/artefact/segment-cutter.ts';
import {
  compressSegment,
  notAsIndexed,
  SegmentIndexWriter,
  type IndexFacts,
  type Segment,
} from '../../../format/artefact/segment-index.ts';
import { crc32 } from '../../../format/gzip/crc32.ts';
import { gzipHeader, type CompressedBlock, type GzipFacts } from '../../../format/gzip/gzip-member.ts';
import { writeMember } from '../../../format/gzip/gzip-writing.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { isLost } from '../store/artefact-store.ts';
import { inflate, type PreviousRows, type RowsBefore } from './previous-rows.ts';
import { differenceOfRows, type LabelMoves, type RowDifference } from './row-difference.ts';

/** What a file was written from, and what was found on the way. */
export interface WrittenArtefact {
  readonly file: GzipFacts & { readonly plainSha256: string };
  readonly index: IndexFacts;
  readonly rows: number;
  /** How the rows differ from those of the published version; null without one, or where it is damaged. */
  readonly difference: (DeltaCounts & LabelMoves) | null;
}

interface WriteArtefactOptions {
  /** The text in chunks, its rows ascending by key. */
  readonly rows: AsyncIterable<Uint8Array>;
  /** Null: all is compressed, and there is no delta. */
  readonly previous: PreviousRows | null;
  /** The second column is a reputation level, whose moves are counted. */
  readonly hasLevels: boolean;
  readonly segmentRowsMax?: number | undefined;
  readonly writeFile: (bytes: Uint8Array) => Promise<void>;
  readonly writeIndex: (bytes: Uint8Array) => Promise<void>;
  /** Takes the next lines of the delta from the published version. */
  readonly addToDelta: (text: Uint8Array) => Promise<void>;
  /** Called with the rows written so far. */
  readonly onProgress: (rows: number) => void;
  /** Called once if the published version turns out to be damaged. */
  readonly onLost: (error: unknown) => void;
}

/** Segments that are compressed or compared at a time, on the threads of zlib. */
const inFlightMax = 12;

/**
 * Writes an artefact in one pass over its rows: they are cut into segments; the blocks of those whose text the published version has
 * are copied from it, the others are compressed and compared with the rows that they replace, which gives the delta.
 * @throws ClientError `rows_differ` unless the rows ascend, or the error of the rows or the disk
 */
export async function writeArtefact(options: WriteArtefactOptions): Promise<WrittenArtefact> {
  const pass = new Pass(options);
  const { writeFile } = options;
  const index = new SegmentIndexWriter();
  let rows = 0;
  let offset = gzipHeader.length;
  const file = await writeMember(pass.pieces(), {
    write: writeFile,
    compress: (piece) => pass.makeBlock(piece),
    inFlightMax,
    async onBlock({ segment, difference }) {
      if (segment !== null) {
        await options.writeIndex(index.add({ ...segment, offset }));
        offset += segment.bytes;
        rows += segment.rows;
        options.onProgress(rows);
      }
      if (difference !== null && difference.text.length > 0) await options.addToDelta(difference.text);
    },
  });
  const { bytes, facts } = index.end();
  await options.writeIndex(bytes);
  return { file: { ...file, plainSha256: pass.plainSha256() }, index: facts, rows, difference: pass.difference() };
}

/** The rows of one new segment, or of none, and those that they replace; null where nothing is compared. */
interface Piece {
  readonly cut: (CutSegment & { readonly sha256: string }) | null;
  readonly before: RowsBefore | null;
}

/** A compressed segment before it has a place; null for rows that are gone. */
interface SegmentBlock extends CompressedBlock {
  readonly segment: Omit<Segment, 'offset'> | null;
  readonly difference: RowDifference | null;
}

const differenceCounts = ['added', 'changed', 'removed', 'rises', 'falls', 'flips', 'recategorized'] as const;
const noRows = new Uint8Array(0);
const noBlock: CompressedBlock = { deflated: noRows, plainBytes: 0, crc: 0 };

/** One pass over the rows of an artefact. */
class Pass {
  readonly #options: WriteArtefactOptions;
  readonly #plain = createHash('sha256');
  /** Null once the published version is known to be damaged. */
  #previous: PreviousRows | null;
  readonly #total = { added: 0, changed: 0, removed: 0, rises: 0, falls: 0, flips: 0, recategorized: 0 };

  constructor(options: WriteArtefactOptions) {
    this.#options = options;
    this.#previous = options.previous;
  }

  /** After the last piece. */
  plainSha256(): string {
    return this.#plain.digest('hex');
  }

  difference(): WrittenArtefact['difference'] {
    return this.#previous === null ? null : this.#total;
  }

  /** The segments in order, and between them the rows that are gone. */
  async *pieces(): AsyncGenerator<Piece> {
    for await (const cut of cutSegments(this.#options.rows, this.#options.segmentRowsMax)) {
      this.#plain.update(cut.plain);
      const sha256 = sha256Of(cut.plain);
      yield* this.#removedBefore(cut.prefix);
      const before = await this.#unlessLost((previous) => previous.replacedBy(cut, sha256));
      yield { cut: { ...cut, sha256 }, before: before ?? null };
    }
    yield* this.#removedBefore(undefined);
  }

  async *#removedBefore(prefix: string | undefined): AsyncGenerator<Piece> {
    if (this.#previous === null) return;
    try {
      for await (const before of this.#previous.removedBefore(prefix)) yield { cut: null, before };
    } catch (error) {
      this.#lose(error);
    }
  }

  /** Copies or compresses a segment, and compares its rows. */
  async makeBlock({ cut, before }: Piece): Promise<SegmentBlock> {
    const same = before?.same ?? null;
    if (same !== null && crc32(same.deflated) === same.blockCrc)
      return { ...same, segment: same, difference: await this.#compare(before!, noRows) };
    if (same !== null) this.#lose(notAsIndexed());
    if (cut === null) return { ...noBlock, segment: null, difference: await this.#compare(before!, noRows) };
    const [block, difference] = await Promise.all([
      compressSegment(cut),
      before === null ? null : this.#compare(before, cut.plain),
    ]);
    return { ...block, difference };
  }

  /** The difference from the rows before; null once the published version is damaged. */
  async #compare({ plain, segments }: RowsBefore, after: Uint8Array): Promise<RowDifference | null> {
    if (plain.length === 0 && segments.length === 0 && after.length === 0) return null;
    const found = await this.#unlessLost(async () => {
      const parts = [...(plain.length === 0 ? [] : [plain]), ...(await Promise.all(segments.map(inflate)))];
      const before = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      return differenceOfRows(before, after, this.#options.hasLevels);
    });
    if (found === undefined) return null;
    for (const name of differenceCounts) this.#total[name] += found[name];
    return found;
  }

  /** Undefined if the published version is, or now turns out to be, damaged: that says nothing about the new rows. */
  async #unlessLost<Result>(read: (previous: PreviousRows) => Promise<Result>): Promise<Result | undefined> {
    if (this.#previous === null) return undefined;
    try {
      return await read(this.#previous);
    } catch (error) {
      this.#lose(error);
      return undefined;
    }
  }

  #lose(error: unknown): void {
    if (!isLost(error)) throw error;
    if (this.#previous !== null) this.#options.onLost(error);
    this.#previous = null;
  }
}
