import type { FileHandle } from 'node:fs/promises';
import { joinCrc32 } from './crc32.ts';
import { compressBlock, GzipMember, type CompressedBlock } from './gzip-member.ts';
import { sumLevels } from './level-counts.ts';
import { inflateSegments } from './inflate-segment.ts';
import type { ArtefactFile, LevelCounts } from '../artefact-facts.ts';
import type { BuildProfile } from './row-deflate.ts';
import type { CutSegment } from './segment-cutter.ts';
import type { Segment } from './segment-index.ts';

/** How much is compressed at the same time. */
export interface SegmentWriterLimits {
  readonly blocksInFlight: number;
  readonly profile: BuildProfile;
}

/** A finished artefact that has no name yet. */
export interface WrittenArtefact {
  readonly file: ArtefactFile;
  readonly rows: number;
  readonly levels: LevelCounts;
  readonly segments: readonly Segment[];
}

/** Bytes to write, and the segments that they are, in order. */
interface WorkedBlock extends CompressedBlock {
  readonly segments: readonly Omit<Segment, 'offset'>[];
}

/** Plain bytes in work at the same time, unless a single segment is larger: the memory of a build does not grow with its rows. */
const plainBytesInFlightMax = 8 * 1024 * 1024;

/**
 * Writes segments to a file as one gzip member, in the order in which they are given: new ones are compressed, those of an
 * earlier version are copied byte for byte. Both need their plain bytes for the digest of the whole, so a copied block is
 * decompressed, which checks it as well.
 */
export class SegmentWriter {
  private readonly handle: FileHandle;
  private readonly limits: SegmentWriterLimits;
  private readonly member = new GzipMember();
  private readonly inFlight: Promise<WorkedBlock>[] = [];
  private readonly plainBytes: number[] = [];
  private plainInFlight = 0;
  private offset = 0;
  private readonly segments: Segment[] = [];

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

  /** Takes rows that were read. Resolves when there is room for more. */
  async add({ prefix, plain, rows, levels }: CutSegment): Promise<void> {
    await this.enqueue(plain.length, async () => {
      const block = await compressBlock(plain, this.limits.profile);
      return {
        ...block,
        segments: [{ prefix, bytes: block.deflated.length, plainBytes: plain.length, rows, crc: block.crc, levels }],
      };
    });
  }

  /**
   * Takes segments of an earlier version that follow one another, with their deflate blocks.
   * @throws ServiceError `segment_index_invalid`, here or from a later call, if the blocks are not what the index says.
   */
  async copy(segments: readonly Segment[], deflated: Buffer): Promise<void> {
    const plainBytes = segments.reduce((sum, segment) => sum + segment.plainBytes, 0);
    const crc = segments.reduce((joined, segment) => joinCrc32(joined, segment.crc, segment.plainBytes), 0);
    await this.enqueue(plainBytes, async () => ({
      plain: await inflateSegments(deflated, segments),
      deflated,
      crc,
      segments,
    }));
  }

  /** Rows in the file so far. */
  rows = 0;

  /** Ends the member. */
  async end(): Promise<WrittenArtefact> {
    while (this.inFlight.length > 0) await this.writeOldest();
    await this.write(this.member.end());
    return {
      file: this.member.facts(),
      rows: this.rows,
      levels: sumLevels(this.segments.map(({ levels }) => levels)),
      segments: this.segments,
    };
  }

  /** Waits until nothing works on the file any more, whatever came of it. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.inFlight);
  }

  private async enqueue(plainBytes: number, work: () => Promise<WorkedBlock>): Promise<void> {
    const working = work();
    working.catch(() => {}); // awaited in its turn
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
    let { offset } = this;
    for (const segment of block.segments) {
      this.rows += segment.rows;
      this.segments.push({ ...segment, offset });
      offset += segment.bytes;
    }
    await this.write(this.member.append(block));
  }

  private async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) at += (await this.handle.write(bytes, at)).bytesWritten;
    this.offset += bytes.length;
  }
}
