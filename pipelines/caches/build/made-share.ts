import { isLost, type ArtefactStore } from '../store/artefact-store.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { formatArtefact, type ArtefactName } from '../definition.ts';
import { notAsIndexed, parseSegmentIndex } from '../format/segment-index.ts';
import type { SegmentBlock } from '../format/segment-work.ts';
import { copySegments } from '../format/segment-writer.ts';
import { readDeltaText } from './delta-files.ts';
import { stepsOf } from './dirty-regions.ts';
import type { KeyRange } from './key-ranges.ts';

/** What a worker has made of a share: a stored artefact of its rows alone. */
export interface MadeShare {
  readonly sha256: string;
  readonly bytes: number;
  /** The text of its segment index. */
  readonly index: string;
  /** Digest of the stored delta from the rows that the basis has there; null if there is no basis, or its rows are lost. */
  readonly delta: string | null;
}

/** Where a share is stored, and the ranges that it was made of. */
export interface SharePlace {
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
  try {
    const segments = parseSegmentIndex(index);
    const [from, to] = [ranges[0]!.from, ranges.at(-1)!.to];
    if (!segments.every(({ prefix }) => prefix >= from && prefix < to)) throw notAsIndexed();
    const file = await store.openToServe({ ...artefact, sha256, kind: 'share' });
    const blockBytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
    const reader = file.readSpan({ start: segments[0]?.offset ?? 0, length: blockBytes });
    try {
      if (file.size !== bytes) throw notAsIndexed();
      for (const step of stepsOf(segments, { regions: [], patches: [] })) {
        if (step.kind !== 'copy') continue; // it has no other
        const blocks = Buffer.allocUnsafeSlow(step.segments.reduce((sum, segment) => sum + segment.bytes, 0));
        for (let at = 0; at < blocks.length;) {
          const read = await reader.read(blocks.subarray(at));
          if (read === 0) throw notAsIndexed();
          at += read;
        }
        yield copySegments(step.segments, blocks);
      }
    } finally {
      reader.close();
      await file.close();
    }
    if (delta === null) yield { ...noRows, delta };
    else
      for await (const text of readDeltaText(store, { ...artefact, sha256: delta, kind: 'delta' }))
        yield { ...noRows, delta: text };
  } catch (error) {
    throw isLost(error) ? shareUnusable(artefact, error) : error;
  }
}

const noRows = { deflated: Buffer.alloc(0), plainBytes: 0, crc: 0, segments: [] };

function shareUnusable(artefact: ArtefactName, cause: Error): ServiceError {
  return new ServiceError('share_unusable', { operation: 'join shares', object: formatArtefact(artefact), cause });
}
