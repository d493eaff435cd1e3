import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { sha256Of } from '../../../runtime/digest.ts';
import { contentSha256, type SegmentContent } from './content-digest.ts';
import { crc32, joinCrc32 } from './crc32.ts';
import { compressBlock, GzipMember, type CompressedBlock } from './gzip-member.ts';
import { sumLevels } from './level-counts.ts';
import { notAsIndexed, type Segment } from './segment-index.ts';
import type { ArtefactFile, LevelCounts } from '../artefact-facts.ts';
import type { BuildProfile } from './row-deflate.ts';
import type { CutSegment } from './segment-cutter.ts';
import { writeAll } from '../../../runtime/whole-file.ts';

/** How blocks are compressed, and how many at a time. */
export interface SegmentWriterLimits {
  readonly blocksInFlight: number;
  readonly profile: BuildProfile;
  /** The rows by which the segments are cut. */
  readonly segmentRowsMax: number;
}

/** A complete artefact without a name. */
export interface WrittenArtefact {
  readonly file: ArtefactFile;
  readonly rows: number;
  readonly levels: LevelCounts;
  readonly segments: readonly Segment[];
}

/** A segment with its content. */
type WrittenSegment = Segment & SegmentContent;

/** Compressed bytes and their segments, in order. */
interface SegmentBlock extends CompressedBlock {
  readonly segments: readonly Omit<WrittenSegment, 'offset'>[];
  /** Of new rows; absent if the segments are copied. */
  readonly plain?: Buffer;
}

/** Plain bytes in flight, unless a single segment is larger: so the memory of a build does not grow with its rows. */
const plainBytesInFlightMax = 8 * 1024 * 1024;

/**
 * Writes segments to a file as one gzip member, in the given order: new ones are compressed, those of an earlier version are
 * copied byte for byte, after a check of their CRC.
 */
export class SegmentWriter {
  private readonly handle: FileHandle;
  private readonly limits: SegmentWriterLimits;
  private readonly member = new GzipMember();
  private readonly inFlight: Promise<SegmentBlock>[] = [];
  private readonly plainBytes: number[] = [];
  private plainInFlight = 0;
  private offset = 0;
  private readonly segments: WrittenSegment[] = [];
  /** Of the whole text, until a segment is copied. */
  private plainHash: ReturnType<typeof createHash> | null = createHash('sha256');

  private constructor(handle: FileHandle, limits: SegmentWriterLimits) {
    this.handle = handle;
    this.limits = limits;
  }

  /** Begins a file. */
  static async begin(handle: FileHandle, limits: SegmentWriterLimits): Promise<SegmentWriter> {
    const writer = new SegmentWriter(handle, limits);
    await writer.write(writer.member.begin());
    return writer;
  }

  /** Takes new rows. Resolves when there is room for more. */
  async add({ prefix, plain, rows, levels }: CutSegment): Promise<void> {
    await this.enqueue(plain.length, async () => {
      const block = await compressBlock(plain, this.limits.profile);
      const { deflated, plainBytes, crc } = block;
      const content = { prefix, rows, plainBytes, sha256: sha256Of(plain) };
      return {
        ...block,
        plain,
        segments: [{ ...content, bytes: deflated.length, crc, levels, blockCrc: crc32(deflated) }],
      };
    });
  }

  /**
   * Takes adjacent segments of an earlier version with their deflate blocks.
   * @throws ServiceError `segment_index_invalid`, here or from a later call, if the blocks do not match the index.
   */
  async copy(segments: readonly Segment[], deflated: Buffer): Promise<void> {
    const plainBytes = segments.reduce((sum, segment) => sum + segment.plainBytes, 0);
    const crc = segments.reduce((joined, segment) => joinCrc32(joined, segment.crc, segment.plainBytes), 0);
    await this.enqueue(deflated.length, async () => ({
      deflated,
      plainBytes,
      crc,
      segments: requireIntact(segments, deflated),
    }));
  }

  /** Rows in the file so far. */
  rows = 0;

  /** Ends the member. */
  async end(): Promise<WrittenArtefact> {
    while (this.inFlight.length > 0) await this.writeOldest();
    await this.write(this.member.end());
    return {
      file: {
        ...this.member.facts(),
        contentSha256: contentSha256(this.segments),
        segmentRowsMax: this.limits.segmentRowsMax,
        plainSha256: this.plainHash?.digest('hex') ?? null,
      },
      rows: this.rows,
      levels: sumLevels(this.segments.map(({ levels }) => levels)),
      segments: this.segments,
    };
  }

  /** Waits until all work on the file has ended, also with an error. */
  async whenIdle(): Promise<void> {
    await Promise.allSettled(this.inFlight);
  }

  private async enqueue(plainBytes: number, work: () => Promise<SegmentBlock>): Promise<void> {
    const working = work();
    working.catch(() => {}); // awaited by writeOldest
    this.inFlight.push(working);
    this.plainBytes.push(plainBytes);
    this.plainInFlight += plainBytes;
    while (
      this.inFlight.length >= this.limits.blocksInFlight ||
      (this.inFlight.length > 1 && this.plainInFlight > plainBytesInFlightMax)
    )
      await this.writeOldest();
  }

  private async writeOldest(): Promise<void> {
    const block = await this.inFlight[0]!;
    void this.inFlight.shift();
    this.plainInFlight -= this.plainBytes.shift()!;
    if (block.plain === undefined) this.plainHash = null;
    else this.plainHash?.update(block.plain);
    let { offset } = this;
    for (const segment of block.segments) {
      this.rows += segment.rows;
      this.segments.push({ ...segment, offset });
      offset += segment.bytes;
    }
    await this.write(this.member.append(block));
  }

  private async write(bytes: Buffer): Promise<void> {
    await writeAll(this.handle, bytes);
    this.offset += bytes.length;
  }
}

/** The segments of an index with their digests. @throws ServiceError `segment_index_invalid` unless the blocks are as indexed */
function requireIntact(segments: readonly Segment[], deflated: Buffer): WrittenSegment[] {
  let at = 0;
  return segments.map((segment) => {
    const block = deflated.subarray(at, (at += segment.bytes));
    if (segment.sha256 === null || block.length < segment.bytes || crc32(block) !== segment.blockCrc)
      throw notAsIndexed();
    return { ...segment, sha256: segment.sha256 };
  });
}
