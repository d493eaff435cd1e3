import { bufferOf } from '../../../runtime/buffer-of.ts';
import { sha256OfFile } from '../../../runtime/digest.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { answerOfThread } from '../../../runtime/processes/one-answer-thread.ts';
import { filterKeysMax } from '../../../format/artefact/number-filter.ts';
import type { FilterFile } from '../artefact-facts.ts';
import { formatArtefact, type ArtefactName } from '../definition.ts';
import type { FilterKind } from './filter-building.ts';
import { readGzip } from '../../../format/gzip/gzip-reading.ts';
import { isLost, type ArtefactStore } from '../store/artefact-store.ts';
import { storeBytes } from '../store/store-bytes.ts';

interface FilterOptions {
  readonly store: ArtefactStore;
  readonly artefact: ArtefactName;
  readonly kind: FilterKind;
  /** The filter of the published version, if that has the same rows; else null. */
  readonly known: FilterFile | null;
  readonly built: { readonly sha256: string; readonly rows: number };
  /** Name among the unfinished files. */
  readonly owner: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The stored filter of a built artefact: the known one where it is whole and of this kind, else one made from the rows of the
 * built file. Some 32 bytes a key are in memory meanwhile.
 * @throws ServiceError `filter_not_made`, `rows_differ`, `interrupted`, `storage_unavailable`, or what reading the built file throws
 */
export async function filterOf(options: FilterOptions): Promise<FilterFile> {
  const { store, artefact, kind, known, owner } = options;
  if (known !== null && known.bits === kind.bits && (await isWhole(store, artefact, known))) return known;
  const bytes = await buildFilterInThread(await readKeys(options), kind, options.signal);
  const stored = await storeBytes(store, { name: { ...artefact, kind: 'filter' }, owner, bytes });
  return { ...stored, bits: kind.bits };
}

/** A filter of 16 million keys takes some 20 s on a core of its own. */
const filterSecondsMax = 600;

/**
 * Makes a filter in a thread, as `buildFilter` does: 3 million keys take seconds. The array of the keys is empty afterwards.
 * @throws ServiceError `interrupted` when the signal fires, `filter_not_made` if the thread fails or takes too long
 */
async function buildFilterInThread(
  keys: Float64Array<ArrayBuffer>,
  kind: FilterKind,
  signal?: AbortSignal,
): Promise<Buffer> {
  const made = await answerOfThread<Uint8Array>(
    {
      module: 'pipelines/caches/artefact/filter-thread',
      data: { keys, kind },
      transfer: [keys.buffer],
      heapMib: 64, // the keys are outside of the heap
      secondsMax: filterSecondsMax,
      failure: { code: 'filter_not_made', operation: 'make filter' },
    },
    signal,
  );
  return bufferOf(made);
}

/** True if the stored filter has its digest; a missing object is uploaded again then. */
async function isWhole(store: ArtefactStore, artefact: ArtefactName, { sha256 }: FilterFile): Promise<boolean> {
  const name = { ...artefact, sha256, kind: 'filter' } as const;
  try {
    const handle = await store.open(name);
    try {
      if ((await sha256OfFile(handle)) !== sha256) return false;
    } finally {
      await handle.close();
    }
    await store.restore(name);
    return true;
  } catch (error) {
    if (!isLost(error)) throw error;
    return false;
  }
}

const [plus, tab, newline, zero] = [0x2b, 0x09, 0x0a, 0x30];

/** The keys of a file's rows, as integers. */
async function readKeys({ store, artefact, built }: FilterOptions): Promise<Float64Array<ArrayBuffer>> {
  if (built.rows > filterKeysMax)
    throw new ServiceError('filter_not_made', {
      operation: 'make filter',
      problem: `A filter holds ${filterKeysMax} keys at most, and there are ${built.rows} rows.`,
    });
  const keys = new Float64Array(built.rows);
  let rows = 0;
  const file = await store.open({ ...artefact, sha256: built.sha256 });
  try {
    let [key, isInKey] = [0, true];
    for await (const text of readGzip(file.createReadStream({ autoClose: false, highWaterMark: 256 * 1024 })))
      for (const byte of text) {
        if (byte === newline) [key, isInKey] = [0, true];
        else if (isInKey && byte === tab) {
          keys[rows++] = key;
          isInKey = false;
        } else if (isInKey && byte !== plus) key = 10 * key + byte - zero;
      }
  } finally {
    await file.close();
  }
  if (rows === built.rows) return keys;
  throw new ServiceError('rows_differ', {
    operation: 'make filter',
    object: formatArtefact(artefact),
    problem: `The file has ${rows} rows, ${built.rows} were written.`,
  });
}
