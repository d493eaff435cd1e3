import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { contentSha256, type SegmentContent } from './content-digest.ts';
import { crc32, joinCrc32 } from './crc32.ts';
import { GzipMember } from './gzip-member.ts';
import { sumLevels } from './level-counts.ts';
import { notAsIndexed, type Segment } from './segment-index.ts';
import type { ArtefactFile, LevelCounts } from '../artefact-facts.ts';
import type { BuildProfile } from './row-deflate.ts';
import type { CutSegment } from './segment-cutter.ts';
import { inThread } from './segment-threads.ts';
import type { ChangedRows, NewSegment, PatchedBlock, SegmentBlock } from './segment-work.ts';
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

/** A block in the making. */
interface InFlight {
  readonly block: Promise<SegmentBlock>;
  readonly plainBytes: number;
  readonly onWritten?: ((block: SegmentBlock) => void) | undefined;
}

/** Plain bytes in flight, unless a single segment is larger: so the memory of a build does not grow with its rows. */
const plainBytesInFlightMax = 8 * 1024 * 1024;

/**
 * Writes segments to a file as one gzip member, in the given order: new ones are compressed in threads, those of an earlier
 * version are copied byte for byte, after a check of their CRC, or changed in threads.
 */
export class SegmentWriter {
  private readonly handle: FileHandle;
  private readonly limits: SegmentWriterLimits;
  private readonly member = new GzipMember();
  private readonly inFlight: InFlight[] = [];
  private plainInFlight = 0;
  private offset = 0;
  private readonly segments: (Segment & SegmentContent)[] = [];
  /** Of the whole text, until rows of an earlier version are taken. */
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
  async add(cut: CutSegment): Promise<void> {
    this.plainHash?.update(cut.plain);
    const plainBytes = cut.plain.length;
    const block = inThread({ kind: 'compress', cut, profile: this.limits.profile }); // takes the bytes away
    await this.enqueue({ block, plainBytes });
  }

  /** Takes a segment of an earlier version with its changes; `onWritten` gets what became of it. */
  async patch(
    changed: Pick<ChangedRows, 'region' | 'segment' | 'deflated' | 'keys' | 'rows' | 'hasLevels'>,
    onWritten: (block: PatchedBlock) => void,
  ): Promise<void> {
    const { profile, segmentRowsMax } = this.limits;
    this.plainHash = null;
    const plainBytes = (changed.segment?.plainBytes ?? 0) + changed.rows.length;
    const block = inThread({ kind: 'patch', ...changed, rowsMax: segmentRowsMax, profile });
    await this.enqueue({ block, plainBytes, onWritten: (written) => onWritten(written as PatchedBlock) });
  }

  /**
   * Takes adjacent segments of an earlier version with their deflate blocks.
   * @throws ServiceError `segment_index_invalid`, here or from a later call, if the blocks do not match the index.
   */
  async copy(segments: readonly Segment[], deflated: Buffer): Promise<void> {
    const plainBytes = segments.reduce((sum, segment) => sum + segment.plainBytes, 0);
    const crc = segments.reduce((joined, segment) => joinCrc32(joined, segment.crc, segment.plainBytes), 0);
    this.plainHash = null;
    const copied = async () => ({ deflated, plainBytes, crc, segments: requireIntact(segments, deflated) });
    await this.enqueue({ block: copied(), plainBytes: deflated.length });
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
    await Promise.allSettled(this.inFlight.map(({ block }) => block));
  }

  private async enqueue(made: InFlight): Promise<void> {
    made.block.catch(() => {}); // awaited by writeOldest
    this.inFlight.push(made);
    this.plainInFlight += made.plainBytes;
    while (
      this.inFlight.length >= this.limits.blocksInFlight ||
      (this.inFlight.length > 1 && this.plainInFlight > plainBytesInFlightMax)
    )
      await this.writeOldest();
  }

  private async writeOldest(): Promise<void> {
    const { plainBytes, onWritten } = this.inFlight[0]!;
    const block = await this.inFlight[0]!.block;
    this.inFlight.shift();
    this.plainInFlight -= plainBytes;
    let { offset } = this;
    for (const segment of block.segments) {
      this.rows += segment.rows;
      this.segments.push({ ...segment, offset });
      offset += segment.bytes;
    }
    await this.write(this.member.append(block));
    onWritten?.(block);
  }

  private async write(bytes: Buffer): Promise<void> {
    await writeAll(this.handle, bytes);
    this.offset += bytes.length;
  }
}

/** The segments of an index with their digests. @throws ServiceError `segment_index_invalid` unless the blocks are as indexed */
function requireIntact(segments: readonly Segment[], deflated: Buffer): NewSegment[] {
  let at = 0;
  return segments.map((segment) => {
    const block = deflated.subarray(at, (at += segment.bytes));
    if (segment.sha256 === null || block.length < segment.bytes || crc32(block) !== segment.blockCrc)
      throw notAsIndexed();
    return { ...segment, sha256: segment.sha256 };
  });
}
