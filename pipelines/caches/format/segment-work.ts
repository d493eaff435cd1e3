import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import type { LevelCounts } from '../../../format/artefact/levels.ts';
import type { SegmentContent } from '../../../format/artefact/content-digest.ts';
import { crc32, joinCrc32 } from '../../../format/gzip/crc32.ts';
import { applyDelta } from '../../../format/artefact/delta-lines.ts';
import { differenceOfRows } from '../../../format/artefact/row-difference.ts';
import { compressBlock } from './compressed-block.ts';
import type { CompressedBlock } from '../../../format/gzip/gzip-member.ts';
import { countLevels } from '../../../format/artefact/level-counts.ts';
import { findKey } from '../../../format/artefact/find-row.ts';
import { bufferOf } from '../../../runtime/buffer-of.ts';
import { mergeRows } from './merge-rows.ts';
import { findRows } from '../../../format/artefact/row-block.ts';
import type { BuildProfile } from './row-deflate.ts';
import { SegmentCutter, type CutSegment } from '../../../format/artefact/segment-cutter.ts';
import { inflateSegment, inflateSegments, type Segment } from '../../../format/artefact/segment-index.ts';

/** A segment with its content, before it has a place in a file. */
export type NewSegment = Omit<Segment, 'offset'> & SegmentContent;

/** Compressed bytes and their segments, in order. */
export interface SegmentBlock extends CompressedBlock {
  readonly deflated: Buffer;
  readonly segments: readonly NewSegment[];
  /** The delta from the rows before; null if they were not given, or are lost. */
  readonly delta: Buffer | null;
}

/** The rows that an earlier version has in a range of keys. */
export interface RowsBefore {
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  /** All that may have rows of the range. */
  readonly segments: readonly Segment[];
  /** Their deflate blocks. */
  readonly deflated: Buffer;
}

/** Rows to be compressed as a segment, and compared with those before. */
export interface NewRows {
  readonly kind: 'compress';
  /** Null: no rows, where there were some. */
  readonly cut: CutSegment | null;
  readonly before: RowsBefore | null;
  readonly profile: BuildProfile;
}

/** A segment of the basis, or an empty region, in which the rows of some keys are replaced. */
export interface ChangedRows {
  readonly kind: 'patch';
  readonly region: string;
  /** Null if there is none. */
  readonly segment: Segment | null;
  /** Its deflate block. */
  readonly deflated: Buffer;
  /** Ascending. */
  readonly keys: readonly string[];
  /** The rows that the keys have now. */
  readonly rows: Buffer;
  readonly rowsMax: number;
  readonly hasLevels: boolean;
  readonly profile: BuildProfile;
}

/** Result of {@link ChangedRows}. */
export interface PatchedBlock extends SegmentBlock {
  readonly delta: Buffer;
  /** The rows before that had one of the keys. */
  readonly replaced: { readonly rows: number; readonly levels: LevelCounts };
}

/** A message to a thread. */
export interface SegmentTask {
  readonly id: number;
  readonly work: NewRows | ChangedRows;
}

/** The answer of a thread: the block, a typed error, or another one. */
export interface SegmentAnswer {
  readonly id: number;
  readonly block?: SegmentBlock | PatchedBlock | undefined;
  readonly failure?: Pick<ServiceError, 'code' | 'operation' | 'problem' | 'hint'> | undefined;
  readonly error?: unknown;
}

/** The memory of buffers that do not share it, which a message can transfer; that of others is copied. */
export function wholeBuffers(buffers: readonly (Uint8Array | undefined)[]): ArrayBuffer[] {
  return buffers.flatMap((each) =>
    each !== undefined && each.byteLength > 0 && each.byteLength === each.buffer.byteLength
      ? [each.buffer as ArrayBuffer]
      : [],
  );
}

/** No rows. */
const noBlock = { deflated: Buffer.alloc(0), plainBytes: 0, crc: 0, segments: [] };

/**
 * Compresses a segment, and compares its rows with those before.
 * @throws ServiceError `artefact_not_stored`
 */
export async function compressSegment({ cut, before, profile }: Omit<NewRows, 'kind'>): Promise<SegmentBlock> {
  if (cut === null) return { ...noBlock, delta: await deltaFrom(before, { plain: Buffer.alloc(0), sha256: '' }) };
  const { prefix, rows, levels } = cut;
  const plain = bufferOf(cut.plain);
  const block = await compressBlock(plain, profile);
  const { deflated, plainBytes, crc } = block;
  const segment = { prefix, rows, plainBytes, sha256: sha256Of(plain), bytes: deflated.length, crc, levels };
  const delta = await deltaFrom(before, { plain, sha256: segment.sha256 });
  return { ...block, segments: [{ ...segment, blockCrc: crc32(deflated) }], delta };
}

/** The delta, which has been applied; null where the rows before are damaged, which says nothing about the new ones. */
async function deltaFrom(
  before: RowsBefore | null,
  { plain, sha256 }: { readonly plain: Buffer; readonly sha256: string },
): Promise<Buffer | null> {
  if (before === null) return null;
  const { from, to, segments } = before;
  if (segments.length === 1 && segments[0]!.sha256 === sha256) return Buffer.alloc(0);
  try {
    const rows = bufferOf(await inflateSegments(before.deflated, segments));
    const start = findKey(rows, 0, from);
    const old = rows.subarray(start, findKey(rows, start, to));
    const delta = differenceOfRows(old, plain);
    await requireLeadsTo(old, delta, plain);
    return delta;
  } catch (error) {
    if (isServiceError(error)) return null;
    throw error;
  }
}

/**
 * Merges changed rows into those of a segment, and compresses the result, which may be several segments now, or none.
 * @throws ServiceError `segment_index_invalid`, `rows_differ`, `artefact_not_stored`, `delta_invalid`
 */
export async function patchSegment(changed: Omit<ChangedRows, 'kind'>): Promise<PatchedBlock> {
  const { region, segment, keys, rowsMax, hasLevels, profile } = changed;
  const before = segment === null ? Buffer.alloc(0) : bufferOf(await inflateSegment(changed.deflated, segment));
  const merged = mergeRows(before, keys, bufferOf(changed.rows));
  await requireLeadsTo(before, merged.delta, merged.plain);
  const cutter = new SegmentCutter({ regions: [region], rowsMax, hasLevels });
  const blocks: SegmentBlock[] = [];
  for (const cut of [...cutter.push(findRows(merged.plain)), ...cutter.end()])
    blocks.push(await compressSegment({ cut, before: null, profile }));
  const replaced = findRows(merged.replaced);
  return {
    deflated: Buffer.concat(blocks.map((block) => block.deflated)),
    plainBytes: merged.plain.length,
    crc: blocks.reduce((crc, block) => joinCrc32(crc, block.crc, block.plainBytes), 0),
    segments: blocks.flatMap((block) => block.segments),
    delta: merged.delta,
    replaced: { rows: replaced.rows, levels: hasLevels ? countLevels(replaced, { from: 0, to: replaced.rows }) : {} },
  };
}

async function requireLeadsTo(before: Buffer, delta: Buffer, after: Buffer): Promise<void> {
  let at = 0;
  let isSame = true;
  for await (const rows of applyDelta([before], [delta]))
    isSame = after.subarray(at, (at += rows.length)).equals(rows) && isSame;
  if (!isSame || at !== after.length)
    throw new ServiceError('delta_invalid', {
      operation: 'merge rows',
      problem: 'The delta does not give the new rows.',
    });
}
