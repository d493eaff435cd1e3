import { ServiceError } from '../../../../runtime/errors.ts';
import { isLost, type ArtefactStore } from '../../store/artefact-store.ts';
import type { Basis } from './build-plan.ts';
import { formatArtefact, type ArtefactName } from '../../definition.ts';
import { parseSegmentIndex, type Segment } from '../../../../format/artefact/segment-index.ts';
import { sha256Of, sha256OfFile } from '../../../../runtime/digest.ts';

/** The opened files of the published version that a build copies from. */
export interface OpenBasis extends Basis {
  readonly segments: readonly Segment[];
  /** The deflate blocks of adjacent segments. */
  read(segments: readonly Segment[]): Promise<Buffer>;
  /** Compares the digest of the file. @throws ServiceError `basis_unusable` */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the file and the index of a basis. The index is checked against its digest.
 * @throws ServiceError `basis_unusable` if one of them is missing or damaged, or the error of the store
 */
export async function openBasis(
  { store, indexes }: { readonly store: ArtefactStore; readonly indexes: SegmentIndexes },
  artefact: ArtefactName,
  basis: Basis,
): Promise<OpenBasis> {
  const unusable = (problem: string, cause?: unknown) =>
    new ServiceError('basis_unusable', {
      operation: 'open basis',
      object: `${formatArtefact(artefact)} v${basis.version}`,
      problem,
      cause,
    });
  const lost = (problem: string) => (cause: unknown) => {
    throw isLost(cause) ? unusable(problem, cause) : cause;
  };
  const segments = await indexes.read(artefact, basis.index.sha256).catch(lost('The segment index is lost.'));
  const handle = await store.open({ ...artefact, sha256: basis.file.sha256 }).catch(lost('The file is lost.'));
  return {
    ...basis,
    segments,
    read: async (run) => {
      const blocks = Buffer.allocUnsafeSlow(run.reduce((sum, { bytes }) => sum + bytes, 0));
      const { bytesRead } = await handle.read(blocks, 0, blocks.length, run[0]!.offset);
      if (bytesRead !== blocks.length) throw unusable('The file ends early.');
      return blocks;
    },
    check: async () => {
      if ((await sha256OfFile(handle)) !== basis.file.sha256) throw unusable('The file is damaged.');
    },
    close: () => handle.close(),
  };
}

/** Stored segment indexes, read and parsed once each. */
export class SegmentIndexes {
  readonly #store: ArtefactStore;
  readonly #read = new Map<string, Promise<readonly Segment[]>>();

  constructor(store: ArtefactStore) {
    this.#store = store;
  }

  /** As {@link readIndex}; errors are remembered too. */
  read(artefact: ArtefactName, sha256: string): Promise<readonly Segment[]> {
    const key = `${formatArtefact(artefact)} ${sha256}`;
    const known = this.#read.get(key) ?? readIndex(this.#store, artefact, sha256);
    this.#read.set(key, known);
    return known;
  }
}

/**
 * The segments of a stored index.
 * @throws ServiceError `segment_index_invalid`, or the error of the store
 */
export async function readIndex(store: ArtefactStore, artefact: ArtefactName, sha256: string): Promise<Segment[]> {
  const handle = await store.open({ ...artefact, sha256, kind: 'index' });
  try {
    const bytes = await handle.readFile();
    if (sha256Of(bytes) !== sha256)
      throw new ServiceError('segment_index_invalid', {
        operation: 'read segment index',
        problem: 'Its digest is wrong.',
      });
    return parseSegmentIndex(bytes.toString('latin1'));
  } finally {
    await handle.close();
  }
}
