import { writeAll } from '../../../runtime/files/whole-file.ts';
import { ServiceError, isServiceError } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import { categoriesVersion, type StoredDelta, type VersionFacts } from '../artefact-facts.ts';
import { findCache, formatArtefact, type ArtefactName } from '../definition.ts';
import type { ArtefactStore, UnfinishedFile } from '../store/artefact-store.ts';
import { ArtefactRows, type RowCounts } from './artefact-rows.ts';
import { chainDeltas, DeltaFile, keepDeltas } from './delta-files.ts';
import { filterOf } from './filter-file.ts';
import { PreviousRows } from './previous-rows.ts';
import type { LabelMoves } from './row-difference.ts';
import { writeArtefact, type WrittenArtefact } from './write-artefact.ts';

/** A COPY that sends no byte for this many seconds is ended. A server is silent for less, but while it sorts, which has its own limit. */
const copyIdleSecondsMax = 60;

/** See the settings of the same names. */
export interface BuildSettings {
  readonly versionsKept: number;
  readonly filterBits: '8' | '16';
  /** Default: that of the format. */
  readonly segmentRowsMax?: number;
  /** Default: {@link copyIdleSecondsMax}. */
  readonly copyIdleSecondsMax?: number;
}

export interface BuildOptions {
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  readonly artefact: ArtefactName;
  /** Null if nothing was published yet. */
  readonly published: ({ readonly version: number } & VersionFacts) | null;
  /** Snapshot of the night; its holder keeps it open during the build. */
  readonly snapshotId: string;
  /** Instant at which brands must be live. */
  readonly evaluatedAt: Date;
  /** Name of this build among the unfinished files. */
  readonly owner: string;
  readonly settings: BuildSettings;
  readonly signal?: AbortSignal | undefined;
  /** Called with the rows written so far, and those that are expected. */
  readonly onProgress?: ((rows: number, rowsExpected: number) => void) | undefined;
  readonly log: Log;
}

/** The stored files of a build, unpublished. */
export interface BuiltArtefact {
  readonly facts: VersionFacts;
  /** How many labels differ from those of the published version; null if that is not known. */
  readonly moves: LabelMoves | null;
}

/**
 * Builds one artefact: one COPY of all rows in the night's snapshot passes through to a stored file with its index, the delta from
 * the published version and the filter, while a second connection counts the rows. What has not changed keeps its compressed bytes.
 *
 * The files get their names only after the transactions have committed and three counts agree: rows counted by SQL, lines written, and
 * COPY's own count. A published version that is missing or damaged means that all is compressed and the delta is absent.
 * @throws ServiceError `snapshot_gone`, `copy_cut`, `copy_stalled`, `rows_differ`, `artefact_not_stored`, `interrupted`,
 * `database_unavailable`, `storage_unavailable`
 */
export async function buildArtefact(options: BuildOptions): Promise<BuiltArtefact> {
  try {
    const files = await UnfinishedFiles.begin(options);
    try {
      const { written, counted } = await readAndWrite(options, files);
      await files.keep(written);
      const deltas = await finishDeltas(options, files, written);
      return {
        facts: {
          rows: counted.rows,
          levels: counted.levels,
          categoriesVersion,
          file: written.file,
          index: written.index,
          filter: await makeFilter(options, written),
          deltas,
        },
        moves: written.difference && labelMovesOf(written.difference),
      };
    } finally {
      await files.close();
    }
  } catch (error) {
    throw asBuildError(error);
  }
}

function labelMovesOf({ rises, falls, flips, recategorized }: LabelMoves): LabelMoves {
  return { rises, falls, flips, recategorized };
}

/** What a build writes, and what it compares with. Everything that was not kept is discarded by `close`. */
class UnfinishedFiles {
  readonly rows: UnfinishedFile;
  readonly index: UnfinishedFile;
  readonly delta: DeltaFile | null;
  readonly previous: PreviousRows | null;
  readonly #artefact: ArtefactName;

  private constructor(
    artefact: ArtefactName,
    { rows, index, delta, previous }: Pick<UnfinishedFiles, 'rows' | 'index' | 'delta' | 'previous'>,
  ) {
    this.#artefact = artefact;
    this.rows = rows;
    this.index = index;
    this.delta = delta;
    this.previous = previous;
  }

  static async begin(options: BuildOptions): Promise<UnfinishedFiles> {
    const { store, artefact, published, owner, log } = options;
    const rows = await store.start(owner);
    const index = await store.start(`${owner}.index`);
    const onLost = (error: unknown) => log.error({ err: error, ...artefact }, lostMessage);
    const previous = published === null ? null : await PreviousRows.open(store, artefact, published, onLost);
    const delta = previous === null ? null : await DeltaFile.begin(deltaPlace(options), published!.version);
    return new UnfinishedFiles(artefact, { rows, index, delta, previous });
  }

  /** Gives rows and index their names. @throws ServiceError `artefact_not_stored` */
  async keep({ file, index }: WrittenArtefact): Promise<void> {
    const { cache, country } = this.#artefact;
    await this.rows.keep({ cache, country, sha256: file.sha256 });
    await this.index.keep({ cache, country, sha256: index.sha256, kind: 'index' });
  }

  async close(): Promise<void> {
    await Promise.all([this.rows.discard(), this.index.discard(), this.delta?.discard(), this.previous?.close()]);
  }
}

const lostMessage = 'a file of the published version is lost: all rows are compressed, and there is no delta from it';

/** Reads and writes the rows while they are counted, and compares the counts. */
async function readAndWrite(
  { log, ...options }: BuildOptions,
  { rows: file, index, delta, previous }: UnfinishedFiles,
): Promise<{ written: WrittenArtefact; counted: RowCounts }> {
  const { artefact, settings, signal, onProgress } = options;
  const abort = new AbortController();
  const reading = await ArtefactRows.open({
    ...options,
    idleSecondsMax: settings.copyIdleSecondsMax ?? copyIdleSecondsMax,
    signal: AbortSignal.any([abort.signal, ...(signal === undefined ? [] : [signal])]),
  });
  try {
    const estimated = await reading.estimate();
    let rowsExpected = estimated;
    const counting = reading.count();
    counting.then(
      ({ rows }) => (rowsExpected = rows),
      (error: unknown) => abort.abort(error), // which `counted` throws
    );
    let copied: number | undefined;
    const [fileWriter, indexWriter] = [new BatchWriter(file), new BatchWriter(index)];
    const written = await writeArtefact({
      rows: watchCount(reading.read(estimated), (rows) => (copied = rows)),
      previous,
      hasLevels: findCache(artefact.cache).columns.some(({ type }) => type === 'level'),
      segmentRowsMax: settings.segmentRowsMax,
      writeFile: (bytes) => fileWriter.write(bytes),
      writeIndex: (bytes) => indexWriter.write(bytes),
      addToDelta: async (text) => delta?.add(text),
      onProgress: (rows) => onProgress?.(rows, Math.max(rows, rowsExpected)),
      onLost(error) {
        log.error({ err: error, ...artefact }, lostMessage);
        delta?.fail(error);
      },
    }).catch(async (error: unknown) => {
      throw abort.signal.aborted
        ? await counting.then(
            () => error,
            (failure: unknown) => failure,
          )
        : error;
    });
    await Promise.all([fileWriter.flush(), indexWriter.flush()]);
    const counted = await reading.counted(counting);
    requireSameCounts(artefact, { counted: counted.rows, written: written.rows, copied });
    await reading.commit();
    return { written, counted };
  } finally {
    reading.destroy();
  }
}

/** The chunks of a COPY, and its own count of rows after the last of them. */
async function* watchCount(
  chunks: AsyncGenerator<Buffer, number>,
  onCounted: (rows: number) => void,
): AsyncGenerator<Buffer> {
  onCounted(yield* chunks);
}

const batchBytes = 1024 * 1024;

/** Writes small pieces to a file together: a call a segment would take a sixth of a night without changes. */
class BatchWriter {
  readonly #file: UnfinishedFile;
  #waiting: Uint8Array[] = [];
  #bytes = 0;

  constructor(file: UnfinishedFile) {
    this.#file = file;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= batchBytes) await this.flush();
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting, this.#bytes);
    this.#waiting = [];
    this.#bytes = 0;
    await writeAll(this.#file.handle, bytes);
  }
}

interface Counts {
  readonly counted: number;
  readonly written: number;
  readonly copied: number | undefined;
}

/** @throws ServiceError `rows_differ` unless SQL, the lines and COPY count the same */
export function requireSameCounts(artefact: ArtefactName, { counted, written, copied }: Counts): void {
  if (counted === written && written === copied) return;
  throw new ServiceError('rows_differ', {
    operation: 'build artefact',
    object: formatArtefact(artefact),
    problem: `SQL counts ${counted} rows, ${written} lines were written, COPY counted ${copied}.`,
  });
}

function deltaPlace({ store, artefact, owner, log }: BuildOptions) {
  return {
    store,
    artefact,
    owner,
    onLost: (from: number, error: unknown) =>
      log.warn({ err: error, ...artefact, from }, 'a delta is lost; clients of that version take the whole file'),
  };
}

/**
 * The deltas to the built version. If they cannot be made, it is published without.
 * @throws ServiceError `storage_unavailable`
 */
async function finishDeltas(
  options: BuildOptions,
  { delta }: UnfinishedFiles,
  { file, rows, difference }: WrittenArtefact,
): Promise<StoredDelta[]> {
  const { published, settings, artefact, log } = options;
  if (published === null) return [];
  try {
    if (file.plainSha256 === published.file.plainSha256) return await keepDeltas(deltaPlace(options), published.deltas);
    if (delta === null || difference === null) return [];
    if (published.rows + difference.added - difference.removed !== rows)
      throw new ServiceError('delta_invalid', { operation: 'make delta', object: formatArtefact(artefact) });
    const earlier = published.deltas.slice(0, settings.versionsKept - 1);
    return await chainDeltas(deltaPlace(options), await delta.end(difference), earlier);
  } catch (error) {
    if (isServiceError(error, 'storage_unavailable')) throw error; // the build is tried again
    log.error({ err: error, ...artefact }, 'the deltas could not be made; clients take the whole file');
    return [];
  }
}

/**
 * The filter of a cache that has one. If it cannot be made, the version is published without.
 * @throws ServiceError `storage_unavailable`, `interrupted`
 */
async function makeFilter(
  { store, artefact, published, settings, owner, signal, log }: BuildOptions,
  { file, rows }: WrittenArtefact,
): Promise<VersionFacts['filter']> {
  const { filterKeys: keyType } = findCache(artefact.cache);
  if (keyType === null) return null;
  try {
    return await filterOf({
      store,
      artefact,
      kind: { keyType, bits: settings.filterBits === '8' ? 8 : 16 },
      known: published?.file.plainSha256 === file.plainSha256 ? published.filter : null,
      built: { sha256: file.sha256, rows },
      owner: `${owner}.filter`,
      signal,
    });
  } catch (error) {
    if (isServiceError(error, 'storage_unavailable') || isServiceError(error, 'interrupted')) throw error;
    log.error({ err: error, ...artefact }, 'the filter could not be made; the artefact is published without it');
    return null;
  }
}

function asBuildError(error: unknown): unknown {
  if (isServiceError(error)) return error;
  return isFileError(error)
    ? new ServiceError('artefact_not_stored', {
        operation: 'build artefact',
        problem: `The file could not be written: ${error.code}.`,
        hint: 'Look at the disk of ARTEFACT_DIR.',
        cause: error,
      })
    : new ServiceError('copy_cut', { operation: 'build artefact', cause: error });
}

/** Error codes of file operations that sockets do not have. */
const fileErrors: unknown[] = [
  'EACCES',
  'EDQUOT',
  'EEXIST',
  'EFBIG',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOENT',
  'ENOSPC',
  'ENOTDIR',
  'EPERM',
  'EROFS',
];

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && fileErrors.includes(error.code);
}
