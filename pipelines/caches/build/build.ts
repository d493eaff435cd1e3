import { errorCodeOf, ServiceError, isServiceError } from '../../../runtime/errors.ts';
import type { ArtefactStore, UnfinishedFile } from '../store/artefact-store.ts';
import { storeBytes } from '../store/store-bytes.ts';
import { openBasis, SegmentIndexes, type OpenBasis } from './plan/basis.ts';
import { noBasis, unusableBasis, type BuildPlan, type RowCounts } from './plan/build-plan.ts';
import { formatArtefact, type ArtefactName } from '../definition.ts';
import { DeltaFile } from './delta-files.ts';
import { stepsOf, type BuildStep } from './plan/dirty-regions.ts';
import { areSplit, divide, keysApart, sharesOf, type KeyRange } from './plan/key-ranges.ts';
import { readMadeShare, type MadeShare } from './made-share.ts';
import { makeParts, type BuildPart, type MadeParts, type SharedRanges } from './part-making.ts';
import { allPhones } from '../../../format/artefact/key-range.ts';
import type { LevelCounts } from '../../../format/artefact/levels.ts';
import { fromUtf8 } from '../../../format/base/bytes.ts';
import { sumLevels } from '../../../format/artefact/level-counts.ts';
import type { BuildProfile } from '../format/row-deflate.ts';
import { formatSegmentIndex } from '../../../format/artefact/segment-index.ts';
import { SegmentWriter, type WrittenArtefact } from '../format/segment-writer.ts';
import { RowReaders, rowsDiffer } from './reading/row-reader.ts';

/**
 * A COPY that sends no byte for this many seconds is ended. A server is silent for less, except while it sorts, which has a limit
 * of its own.
 */
const copyIdleSecondsMax = 60;

/** See the settings of the same names. */
export interface BuildSettings {
  readonly segmentRowsMax: number;
  readonly buildProfile: BuildProfile;
  /** Default: {@link copyIdleSecondsMax}. */
  readonly copyIdleSecondsMax?: number;
  /** With 1 and no helpers, all rows are read with one COPY. */
  readonly buildStreams: number;
  /** Plain bytes of a range of keys that is read with one COPY. Default: 4 MiB. */
  readonly rangeBytes?: number;
}

/** What a build needs that reads rows, all of them or some. */
interface ReadingOptions {
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  /** Absent: read from the store. */
  readonly indexes?: SegmentIndexes;
  readonly artefact: ArtefactName;
  /** Absent: all rows are read. */
  readonly plan?: BuildPlan;
  /** Snapshot of the night; its holder keeps it open during the build. */
  readonly snapshotId: string;
  /** Rows counted by SQL in the same snapshot; for the copied and patched parts, those of the basis. Absent: ranges are read. */
  readonly rowsExpected?: number;
  /** Instant at which brands must be live. */
  readonly evaluatedAt: Date;
  /** Name of this build among the unfinished files. */
  readonly owner: string;
  readonly settings: BuildSettings;
  readonly signal?: AbortSignal | undefined;
  /** Called with the rows written so far, and waited for. */
  readonly onProgress?: ((rows: number) => unknown) | undefined;
}

export interface BuildOptions extends ReadingOptions {
  readonly rowsExpected: number;
  /** Rows by level. Absent: not compared. */
  readonly levelsExpected?: LevelCounts | undefined;
  /** Absent: all rows are read here. */
  readonly sharing?: BuildSharing | undefined;
}

/** How a build has some of its ranges made by other workers. */
export interface BuildSharing {
  /** Offers shares of the ranges, in the order of their keys. */
  offer(shares: readonly (readonly KeyRange[])[]): Promise<void>;
  /** Takes a share back, unless another worker has made it. */
  take(share: number): Promise<MadeShare | null>;
}

/** A stored, unpublished file with its stored index. */
export interface BuiltArtefact extends WrittenArtefact {
  readonly index: { readonly sha256: string; readonly bytes: number };
  /** Rows that were read from the database; the others were copied from the basis. */
  readonly rowsRead: number;
  /** The delta from the basis of the plan, which the caller must end or discard; null without a basis, or if it is kept. */
  readonly delta: DeltaFile | null;
}
const defaultRangeBytes = 4 * 1024 * 1024;

/** What divides a build without a basis: phones for each range, and the least plain bytes of a row. */
const sampling = { phonesOfRange: 100, rowBytes: 32 } as const;

/**
 * Builds one artefact: COPYs in the night's snapshot, compression segment by segment, a stored file. An incremental build
 * reads the regions and keys of its plan and takes the rest from the basis; the bytes are those of a full build. Rows are read in
 * ranges of keys, several at a time, and compared with those of the basis while they are in memory.
 *
 * The file gets its name only after the transactions have committed and three counts agree: rows counted by SQL, lines written,
 * and COPY's own counts. A connection whose stream broke is destroyed, never used again.
 * @throws ServiceError `snapshot_gone`, `copy_cut`, `copy_stalled`, `rows_differ`, `basis_unusable`, `share_unusable`,
 * `artefact_not_stored`, `interrupted`, `database_unavailable`
 */
export async function buildArtefact(options: BuildOptions): Promise<BuiltArtefact> {
  const { plan = noBasis } = options;
  try {
    const opened = await openStartingPoint(plan, options);
    try {
      if (plan.kind === 'keep') return await keepBasis(opened.basis!, options);
      const built = await buildFrom(opened, options);
      return built ?? (await buildFrom({ ...opened, isDivided: false }, options))!;
    } finally {
      await opened.basis?.close();
    }
  } catch (error) {
    throw asBuildError(error);
  }
}

/** What a build starts from. */
interface StartingPoint {
  readonly plan: BuildPlan;
  readonly basis: OpenBasis | null;
  /** Why a basis that is only compared could not be opened. */
  readonly lost?: unknown;
  readonly isDivided: boolean;
}

/** Opens the basis of a plan. All rows can be read without it. */
async function openStartingPoint(plan: BuildPlan, options: ReadingOptions): Promise<StartingPoint> {
  if (plan.basis === null) return { plan, basis: null, isDivided: true };
  const stores = { indexes: new SegmentIndexes(options.store), ...options };
  try {
    const basis = await openBasis(stores, options.artefact, plan.basis);
    return { plan, basis, isDivided: !isPlainDigestNeeded(plan, options) };
  } catch (error) {
    if (plan.kind !== 'full' || !unusableBasis.includes(errorCodeOf(error))) throw error;
    return { plan, basis: null, lost: error, isDivided: true };
  }
}

/** True if only the digest of the whole text, which a build in ranges does not have, shows whether the text is that of the basis. */
function isPlainDigestNeeded({ kind, basis }: BuildPlan, { settings }: ReadingOptions): boolean {
  if (kind !== 'full' || basis === null || basis.file.plainSha256 === null) return false;
  return basis.file.contentSha256 === null || basis.file.segmentRowsMax !== settings.segmentRowsMax;
}

/** The result is the stored file, after a check of its bytes; missing objects are uploaded again. */
async function keepBasis(basis: OpenBasis, { store, artefact }: BuildOptions): Promise<BuiltArtefact> {
  const { file, rows, levels, index, segments } = basis;
  await basis.check();
  await store.restore({ ...artefact, sha256: file.sha256 });
  await store.restore({ ...artefact, sha256: index.sha256, kind: 'index' });
  return { file, rows, levels, index, segments, rowsRead: 0, delta: null };
}

/** Undefined if the ranges were not cut where a full build splits: it must read them undivided. */
function buildFrom(start: StartingPoint, options: BuildOptions): Promise<BuiltArtefact | undefined> {
  return withFiles(start, options, async ({ file, delta }) => {
    const built = await writeArtefact({ start, file, delta, options });
    if (built === undefined) return undefined;
    await file.keep({ ...options.artefact, sha256: built.file.sha256 });
    return { ...built, index: await storeIndex(built, options), delta };
  });
}

/** Begins the files of a build, which are discarded unless it has a result. */
async function withFiles<Result>(
  start: StartingPoint,
  options: ReadingOptions,
  build: (files: BuildFiles) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const file = await options.store.start(options.owner);
  const delta = await beginDelta(start, options).catch(async (error: unknown) => {
    await file.discard();
    throw error;
  });
  const discard = () => Promise.all([file.discard(), delta?.discard()]);
  try {
    const result = await build({ file, delta });
    if (result === undefined) await discard();
    return result;
  } catch (error) {
    await discard();
    throw error;
  }
}

/**
 * Makes a share of a full build that another process joins: an artefact of the rows of its ranges, with the delta to them.
 * @throws as {@link buildArtefact}
 */
export async function buildShare({
  ranges,
  ...options
}: ReadingOptions & { readonly ranges: readonly KeyRange[] }): Promise<MadeShare> {
  try {
    const start = await openStartingPoint({ ...noBasis, basis: options.plan?.basis ?? null }, options);
    if (start.lost !== undefined) throw start.lost; // the build that joins the share may have it
    try {
      const made = await withFiles(start, options, async ({ file, delta }) => {
        const parts = ranges.map((range): BuildPart => ({ kind: 'read', range }));
        const { written } = await withReaders(options, (reading) =>
          writeParts({ ...reading, parts, basis: start.basis, file, delta, options }),
        );
        const { sha256, bytes } = written.file;
        const step = await delta?.end('share');
        await file.keep({ ...options.artefact, sha256, kind: 'share' });
        const index = fromUtf8(formatSegmentIndex(written.segments));
        return { sha256, bytes, index, delta: step?.sha256 ?? null };
      });
      return made!;
    } finally {
      await start.basis?.close();
    }
  } catch (error) {
    throw asBuildError(error);
  }
}

async function beginDelta(
  { plan, lost }: StartingPoint,
  { store, artefact, owner }: ReadingOptions,
): Promise<DeltaFile | null> {
  if (plan.basis === null) return null;
  const delta = await DeltaFile.begin({ store, artefact, owner: `${owner}.delta` }, plan.basis.version);
  if (lost !== undefined) delta.fail(lost);
  return delta;
}

function storeIndex(
  { segments }: WrittenArtefact,
  { store, artefact, owner }: BuildOptions,
): Promise<BuiltArtefact['index']> {
  return storeBytes(store, {
    name: { cache: artefact.cache, country: artefact.country, kind: 'index' },
    owner: `${owner}.index`,
    bytes: formatSegmentIndex(segments),
  });
}

interface BuildFiles {
  readonly file: UnfinishedFile;
  readonly delta: DeltaFile | null;
}

/** The readers of a build, and what ends their work. */
interface Reading {
  readonly readers: RowReaders;
  readonly stop: () => void;
}

interface Writing extends BuildFiles {
  readonly start: StartingPoint;
  readonly options: BuildOptions;
}

/** Undefined if the ranges were not divided where a full build splits. */
function writeArtefact({
  start: { plan, basis, isDivided },
  options,
  ...files
}: Writing): Promise<Omit<BuiltArtefact, 'index' | 'delta'> | undefined> {
  const { settings, artefact } = options;
  return withReaders(options, async (reading) => {
    const parts = await partsOf(plan, { basis, isDivided, readers: reading.readers, options });
    const shared = plan.kind === 'full' ? await offerShares(parts, options) : undefined;
    const { made, written } = await writeParts({ ...reading, ...files, parts, shared, basis, options });
    requireSameRows(artefact, made.counted, made.changedRows);
    requireSameCount({ ...options, ...expectedCounts(options, made) }, written);
    const borders = parts.flatMap((part) => (part.kind === 'read' ? part.range.borders : []));
    if (!areSplit(written.segments, borders, settings.segmentRowsMax)) return undefined;
    return { ...written, rowsRead: made.rowsRead + made.changedRows };
  });
}

async function withReaders<Result>(
  options: ReadingOptions,
  work: (reading: Reading) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  const readers = new RowReaders({
    ...options,
    copyIdleSecondsMax: options.settings.copyIdleSecondsMax ?? copyIdleSecondsMax,
    signal,
  });
  const stop = () => {
    abort.abort();
    readers.destroy();
  };
  try {
    return await work({ readers, stop });
  } finally {
    readers.destroy();
  }
}

interface PartsWriting extends Reading, BuildFiles {
  readonly parts: readonly BuildPart[];
  readonly shared?: SharedRanges | undefined;
  readonly basis: OpenBasis | null;
  readonly options: ReadingOptions;
}

/** Writes parts to a file, and ends the transactions that they were read in. */
async function writeParts({
  file,
  delta,
  options: { artefact, settings, onProgress },
  ...making
}: PartsWriting): Promise<{ made: MadeParts; written: WrittenArtefact }> {
  const writer = await SegmentWriter.begin(file.handle, settings.segmentRowsMax);
  const made = await makeParts({
    ...making,
    artefact,
    settings,
    write: async (block) => {
      await writer.append(block);
      if (block.delta === null) delta?.fail(basisNotRead(artefact));
      else await delta?.add(block.delta);
      await onProgress?.(writer.rows);
    },
  });
  const written = await writer.end(made.plainSha256);
  await making.readers.commit();
  return { made, written };
}

/** Offers the ranges of a full build to other workers, if they are enough for several. */
async function offerShares(
  parts: readonly BuildPart[],
  { sharing, store, artefact }: BuildOptions,
): Promise<SharedRanges | undefined> {
  const shares = sharesOf(parts.flatMap((part) => (part.kind === 'read' ? [part.range] : [])));
  if (sharing === undefined || shares.length < 2) return undefined;
  await sharing.offer(shares);
  return {
    sizes: shares.map((ranges) => ranges.length),
    take: async (share) => {
      const made = await sharing.take(share);
      return made === null ? undefined : readMadeShare({ store, artefact, ranges: shares[share]! }, made);
    },
  };
}

interface Dividing {
  readonly basis: OpenBasis | null;
  readonly isDivided: boolean;
  readonly readers: RowReaders;
  readonly options: BuildOptions;
}

/** The parts of a build in the order of their keys. What is read is divided by the basis, or else by some of the phones. */
async function partsOf(plan: BuildPlan, { basis, isDivided, readers, options }: Dividing): Promise<BuildPart[]> {
  const { rowsExpected, settings, sharing } = options;
  const rangeBytes = settings.rangeBytes ?? defaultRangeBytes;
  const steps: BuildStep[] =
    plan.kind === 'incremental' ? stepsOf(basis!.segments, plan.changes) : [{ kind: 'read', regions: [allPhones] }];
  const keysOf = async (regions: readonly string[]): Promise<string[]> => {
    if (!isDivided || (settings.buildStreams === 1 && sharing === undefined)) return [];
    if (basis !== null && basis.segments.length > 0) return keysApart(basis.segments, regions, rangeBytes);
    const ranges = Math.floor((rowsExpected * sampling.rowBytes) / rangeBytes);
    if (ranges < 2) return [];
    const phones = await readers.samplePhones(ranges * sampling.phonesOfRange, rowsExpected);
    return phones.filter((_phone, at) => at % sampling.phonesOfRange === 0);
  };
  const parts: BuildPart[] = [];
  for (const step of steps)
    if (step.kind !== 'read') parts.push(step);
    else for (const range of divide(step.regions, await keysOf(step.regions))) parts.push({ kind: 'read', range });
  return parts;
}

/** A delta that could not be made because rows of the basis are damaged. */
function basisNotRead(artefact: ArtefactName): ServiceError {
  return new ServiceError('basis_unusable', {
    operation: 'compare rows',
    object: formatArtefact(artefact),
    problem: 'Rows of the basis could not be read.',
  });
}

/** The counts that were expected, with the rows that the build replaced exchanged for those that SQL counted for the changed keys. */
function expectedCounts(
  { rowsExpected, levelsExpected }: Pick<BuildOptions, 'rowsExpected' | 'levelsExpected'>,
  { counted, replaced }: MadeParts,
): Pick<BuildOptions, 'rowsExpected' | 'levelsExpected'> {
  return {
    rowsExpected: rowsExpected + counted.rows - replaced.rows,
    levelsExpected: levelsExpected && sumLevels([levelsExpected, counted.levels], [replaced.levels]),
  };
}

/** @throws ServiceError `rows_differ` unless SQL counted as many rows of the changed keys as were read */
function requireSameRows(artefact: ArtefactName, counted: RowCounts, rows: number): void {
  if (counted.rows !== rows)
    throw rowsDiffer(artefact, `SQL counted ${counted.rows} rows of changed keys, ${rows} were read.`);
}

/**
 * The condition before a file gets its name: SQL counted as many rows as lines were written. `RowReader` compares with
 * COPY's own count.
 * @throws ServiceError `rows_differ`
 */
export function requireSameCount(
  { artefact, rowsExpected, levelsExpected }: Pick<BuildOptions, 'artefact' | 'rowsExpected' | 'levelsExpected'>,
  written: Pick<WrittenArtefact, 'rows' | 'levels'>,
): void {
  if (rowsExpected !== written.rows)
    throw rowsDiffer(artefact, `SQL counted ${rowsExpected} rows, ${written.rows} lines were written.`);
  const levels = (Object.keys({ ...levelsExpected, ...written.levels }) as (keyof LevelCounts)[]).filter(
    (level) => levelsExpected !== undefined && levelsExpected[level] !== written.levels[level],
  );
  if (levels.length > 0) throw rowsDiffer(artefact, `The rows of level ${levels.join(', ')} differ from SQL's count.`);
}

/** `artefact_not_stored` for an error of the file; `copy_cut` for other errors, after which the rows cannot be trusted. */
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
