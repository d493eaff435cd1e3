import type { FileHandle } from 'node:fs/promises';
import { contentSha256, type SegmentContent } from '../../../format/artefact/content-digest.ts';
import { crc32, joinCrc32 } from '../../../format/gzip/crc32.ts';
import { GzipMember } from '../../../format/gzip/gzip-member.ts';
import { sumLevels } from '../../../format/artefact/level-counts.ts';
import { notAsIndexed, type Segment } from '../../../format/artefact/segment-index.ts';
import type { ArtefactFile } from '../artefact-facts.ts';
import type { LevelCounts } from '../../../format/artefact/levels.ts';
import type { NewSegment, SegmentBlock } from './segment-work.ts';
import { writeAll } from '../../../runtime/files/whole-file.ts';

/** A complete artefact without a name. */
export interface WrittenArtefact {
  readonly file: ArtefactFile;
  readonly rows: number;
  readonly levels: LevelCounts;
  readonly segments: readonly Segment[];
}

/** Writes compressed segments to a file as one gzip member, in the given order. */
export class SegmentWriter {
  private readonly handle: FileHandle;
  private readonly segmentRowsMax: number;
  private readonly member = new GzipMember();
  private offset = 0;
  private readonly segments: (Segment & SegmentContent)[] = [];
  /** Rows in the file so far. */
  rows = 0;

  private constructor(handle: FileHandle, segmentRowsMax: number) {
    this.handle = handle;
    this.segmentRowsMax = segmentRowsMax;
  }

  /** Begins a file. `segmentRowsMax`: the rows by which the segments are cut. */
  static async begin(handle: FileHandle, segmentRowsMax: number): Promise<SegmentWriter> {
    const writer = new SegmentWriter(handle, segmentRowsMax);
    await writer.write(writer.member.begin());
    return writer;
  }

  /** Takes the next segments. */
  async append(block: SegmentBlock): Promise<void> {
    let { offset } = this;
    for (const segment of block.segments) {
      this.rows += segment.rows;
      this.segments.push({ ...segment, offset });
      offset += segment.bytes;
    }
    await this.write(this.member.append(block));
  }

  /** Ends the member. `plainSha256`: that of the whole text, if it is known. */
  async end(plainSha256: string | null): Promise<WrittenArtefact> {
    await this.write(this.member.end());
    return {
      file: {
        ...this.member.facts(),
        contentSha256: contentSha256(this.segments),
        segmentRowsMax: this.segmentRowsMax,
        plainSha256,
      },
      rows: this.rows,
      levels: sumLevels(this.segments.map(({ levels }) => levels)),
      segments: this.segments,
    };
  }

  private async write(bytes: Uint8Array): Promise<void> {
    await writeAll(this.handle, bytes);
    this.offset += bytes.length;
  }
}

/**
 * Adjacent segments of an earlier version with their deflate blocks, as they are.
 * @throws ServiceError `segment_index_invalid` unless the blocks match the index
 */
export function copySegments(segments: readonly Segment[], deflated: Buffer): SegmentBlock {
  return {
    deflated,
    plainBytes: segments.reduce((sum, segment) => sum + segment.plainBytes, 0),
    crc: segments.reduce((joined, segment) => joinCrc32(joined, segment.crc, segment.plainBytes), 0),
    segments: requireIntact(segments, deflated),
    delta: Buffer.alloc(0),
  };
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
