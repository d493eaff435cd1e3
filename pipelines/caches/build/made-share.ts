import { bufferOf } from '../../../runtime/buffer-of.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { isLost, type ArtefactStore } from '../store/artefact-store.ts';
import { readWhole, type StoredFile } from '../store/stored-file.ts';
import { formatArtefact, type ArtefactName } from '../definition.ts';
import { readGzip } from '../../../format/gzip/gzip-reading.ts';
import { notAsIndexed, parseSegmentIndex, type Segment } from '../../../format/artefact/segment-index.ts';
import type { SegmentBlock } from '../format/segment-work.ts';
import { copySegments } from '../format/segment-writer.ts';
import { stepsOf } from './plan/dirty-regions.ts';
import type { KeyRange } from './plan/key-ranges.ts';

/** What a worker has made of a share: a stored artefact of its rows alone. */
export interface MadeShare {
  readonly sha256: string;
  readonly bytes: number;
  /** The text of its segment index. */
  readonly index: string;
  /** Digest of the stored delta from the rows that the basis has there; null if there is no basis. */
  readonly delta: string | null;
}

/** Where a share is stored, and the ranges that it was made of. */
interface SharePlace {
  readonly store: ArtefactStore;
  readonly artefact: ArtefactName;
  readonly ranges: readonly KeyRange[];
}

/**
 * The blocks of a share and the delta to it. Each block is compared with the index, as those that a build copies from its basis.
 * @throws ServiceError `share_unusable` if the file is missing or damaged, or has rows outside of the ranges
 */
export async function* readMadeShare(
  { store, artefact, ranges }: SharePlace,
  { sha256, bytes, index, delta }: MadeShare,
): AsyncGenerator<SegmentBlock> {
  const opened = (digest: string) => store.openToServe({ ...artefact, sha256: digest, kind: 'share' });
  try {
    const segments = parseSegmentIndex(index);
    const [from, to] = [ranges[0]!.from, ranges.at(-1)!.to];
    if (!segments.every(({ prefix }) => prefix >= from && prefix < to)) throw notAsIndexed();
    const file = await opened(sha256);
    yield* closing(file, readBlocks(file, segments, bytes));
    if (delta === null) return yield { ...noRows, delta };
    const text = await opened(delta);
    for await (const lines of closing(text, readGzip(readWhole(text)))) yield { ...noRows, delta: bufferOf(lines) };
  } catch (error) {
    throw isLost(error) ? shareUnusable(artefact, error) : error;
  }
}

/** Closes a file when what is read from it has ended. */
async function* closing<Item>(file: StoredFile, items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } finally {
    await file.close();
  }
}

/** All blocks of a file, in runs of adjacent ones. @throws ServiceError `segment_index_invalid` unless they are as indexed */
async function* readBlocks(
  file: StoredFile,
  segments: readonly Segment[],
  fileBytes: number,
): AsyncGenerator<SegmentBlock> {
  if (file.size !== fileBytes) throw notAsIndexed();
  const reader = file.readSpan({ start: segments[0]?.offset ?? 0, length: bytesOf(segments) });
  try {
    for (const step of stepsOf(segments, { regions: [], patches: [] })) {
      if (step.kind !== 'copy') continue; // where nothing has changed, there is no other
      const blocks = Buffer.allocUnsafeSlow(bytesOf(step.segments));
      for (let at = 0; at < blocks.length;) {
        const read = await reader.read(blocks.subarray(at));
        if (read === 0) throw notAsIndexed();
        at += read;
      }
      yield copySegments(step.segments, blocks);
    }
  } finally {
    reader.close();
  }
}

function bytesOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0);
}

const noRows = { deflated: Buffer.alloc(0), plainBytes: 0, crc: 0, segments: [] };

function shareUnusable(artefact: ArtefactName, cause: Error): ServiceError {
  return new ServiceError('share_unusable', { operation: 'join shares', object: formatArtefact(artefact), cause });
}
