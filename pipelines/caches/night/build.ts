import type { Client } from 'pg';
import { ServiceError } from '../../../runtime/errors.ts';
import { connect, destroy } from '../../../runtime/postgres.ts';
import { sqlWithLiterals } from '../../../sql/sql.ts';
import type { ArtefactStore, UnfinishedFile } from '../store/artefact-store.ts';
import { openBasis, SegmentIndexes, type OpenBasis } from './basis.ts';
import { noBasis, type BuildPlan, type RowCounts } from './build-plan.ts';
import { copyOut } from './copy-out.ts';
import { findCache, formatArtefact, isCountryCode, type ArtefactName } from '../definition.ts';
import { ChangedKeys } from './changed-keys.ts';
import { stepsOf, type BuildStep, type Changes } from './dirty-regions.ts';
import { allPhones, endOfKey, endOfPrefix } from '../format/key-range.ts';
import type { LevelCounts } from '../artefact-facts.ts';
import { sumLevels } from '../format/level-counts.ts';
import type { RowBlock } from '../format/row-block.ts';
import type { BuildProfile } from '../format/row-deflate.ts';
import { SegmentCutter } from '../format/segment-cutter.ts';
import { formatSegmentIndex } from '../format/segment-index.ts';
import type { PatchedBlock } from '../format/segment-work.ts';
import { SegmentWriter, type WrittenArtefact } from '../format/segment-writer.ts';
import { enterSnapshot } from './snapshot.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { within } from '../../../runtime/processes/repeat.ts';

/** See the settings of the same names. */
export interface BuildSettings {
  readonly segmentRowsMax: number;
  readonly buildProfile: BuildProfile;
  /** Default: 4. */
  readonly blocksInFlight?: number;
  readonly copyIdleSecondsMax: number;
}

export interface BuildOptions {
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  /** Absent: read from the store. */
  readonly indexes?: SegmentIndexes;
  readonly artefact: ArtefactName;
  /** Absent: all rows are read. */
  readonly plan?: BuildPlan;
  /** Snapshot of the night; its holder keeps it open during the build. */
  readonly snapshotId: string;
  /** Instant at which brands must be live. */
  readonly evaluatedAt: Date;
  /** Rows counted by SQL in the same snapshot; for the copied and patched parts, those of the basis. */
  readonly rowsExpected: number;
  /** Rows by level. Absent: not compared. */
  readonly levelsExpected?: LevelCounts | undefined;
  /** Name of this build among the unfinished files. */
  readonly owner: string;
  readonly settings: BuildSettings;
  readonly signal?: AbortSignal | undefined;
  /** Called with the rows written so far. */
  readonly onProgress?: ((rows: number) => void) | undefined;
}

/** A stored, unpublished file with its stored index. */
export interface BuiltArtefact extends WrittenArtefact {
  readonly index: { readonly sha256: string; readonly bytes: number };
  /** Rows that were read from the database; the others were copied from the basis. */
  readonly rowsRead: number;
  /** Outside these regions the segments were copied from the basis; null if none were. */
  readonly touched: readonly TouchedRegion[] | null;
}

/** A region in which rows may differ from those of the basis. */
export interface TouchedRegion {
  readonly prefix: string;
  /** The text of the delta within it; null if it is not known. */
  readonly delta: Buffer | null;
}

/** Segments of a build that are deflated at a time: the number of threads in Node's pool. */
const blocksInFlight = 4;

/** Bytes of deltas that are kept in memory; those of further patches are made from the files. */
const deltaBytesMax = 32 * 1024 * 1024;

/** Plain bytes of the blocks that are cut into segments. */
const copyBlockBytes = 1024 * 1024;

/**
 * Builds one artefact: COPY in the night's snapshot, compression segment by segment, a stored file. An incremental build
 * reads the regions and keys of its plan and takes the rest from the basis; the bytes are those of a full build.
 *
 * The file gets its name only after the transaction has committed and three counts agree: rows counted by SQL, lines written,
 * and COPY's own count. A connection whose stream broke is destroyed, never used again.
 * @throws ServiceError `snapshot_gone`, `copy_cut`, `copy_stalled`, `rows_differ`, `basis_unusable`, `artefact_not_stored`,
 * `interrupted`, `database_unavailable`
 */
export async function buildArtefact(options: BuildOptions): Promise<BuiltArtefact> {
  const { plan = noBasis } = options;
  try {
    if (plan.kind === 'full') return await buildFrom(undefined, options);
    const basis = await openBasis(
      { indexes: new SegmentIndexes(options.store), ...options },
      options.artefact,
      plan.basis,
    );
    try {
      return plan.kind === 'keep' ? await keepBasis(basis, options) : await buildFrom({ ...plan, basis }, options);
    } finally {
      await basis.close();
    }
  } catch (error) {
    throw asBuildError(error);
  }
}

/** The result is the stored file, after a check of its bytes; missing objects are uploaded again. */
async function keepBasis(basis: OpenBasis, { store, artefact }: BuildOptions): Promise<BuiltArtefact> {
  const { file, rows, levels, index, segments } = basis;
  await basis.check();
  await store.restore({ ...artefact, sha256: file.sha256 });
  await store.restore({ ...artefact, sha256: index.sha256, kind: 'index' });
  return { file, rows, levels, index, segments, rowsRead: 0, touched: [] };
}

/** The part of the basis that is copied. */
interface CopiedPart {
  readonly basis: OpenBasis;
  readonly changes: Changes;
  readonly keyRows: RowCounts;
}

async function buildFrom(unchanged: CopiedPart | undefined, options: BuildOptions): Promise<BuiltArtefact> {
  const file = await options.store.start(options.owner);
  try {
    return await buildFile(file, unchanged, options);
  } catch (error) {
    await file.discard();
    throw error;
  }
}

async function buildFile(
  file: UnfinishedFile,
  unchanged: CopiedPart | undefined,
  options: BuildOptions,
): Promise<BuiltArtefact> {
  const client = await connect({
    url: options.databaseUrl,
    applicationName: `caller-trust build ${formatArtefact(options.artefact)}`,
    idleTransactionSecondsMax: 0, // between two ranges it copies segments
  });
  const built = await writeArtefact({ client, file, unchanged, options }).catch((error: unknown) => {
    destroy(client);
    throw error;
  });
  await client.end();
  await file.keep({ ...options.artefact, sha256: built.file.sha256 });
  return { ...built, index: await storeIndex(built, options) };
}

async function storeIndex(
  { segments }: WrittenArtefact,
  { store, artefact, owner }: BuildOptions,
): Promise<BuiltArtefact['index']> {
  const bytes = formatSegmentIndex(segments);
  const sha256 = sha256Of(bytes);
  const file = await store.start(`${owner}.index`);
  try {
    await file.handle.writeFile(bytes);
    await file.keep({ ...artefact, sha256, kind: 'index' });
  } catch (error) {
    await file.discard();
    throw error;
  }
  return { sha256, bytes: bytes.length };
}

interface Writing {
  readonly client: Client;
  readonly file: UnfinishedFile;
  readonly unchanged: CopiedPart | undefined;
  readonly options: BuildOptions;
}

async function writeArtefact({ client, file, unchanged, options }: Writing): Promise<Omit<BuiltArtefact, 'index'>> {
  const { settings, snapshotId } = options;
  await enterSnapshot(client, snapshotId);
  const writer = await SegmentWriter.begin(file.handle, {
    blocksInFlight: settings.blocksInFlight ?? blocksInFlight,
    profile: settings.buildProfile,
    segmentRowsMax: settings.segmentRowsMax,
  });
  const changed = new ChangedKeys(unchanged?.changes.patches ?? [], (keys, take) =>
    readRows({ client, options }, { from: keys[0]!, to: endOfKey(keys.at(-1)!), keys }, take),
  );
  const patched = new PatchedParts();
  try {
    let rowsRead = 0;
    for (const step of steps(unchanged)) {
      if (step.kind === 'copy') await writer.copy(step.segments, await unchanged!.basis.read(step.segments));
      else if (step.kind === 'read') rowsRead += await readRegions({ client, writer, options }, step.regions);
      else await patchSegments({ writer, basis: unchanged!.basis, changed, patched, options }, step);
    }
    const written = await writer.end();
    await commitWithin(client, settings.copyIdleSecondsMax);
    if (unchanged !== undefined) requireSameRows(options.artefact, unchanged.keyRows, changed);
    requireSameCount({ ...options, ...patched.expected(options, unchanged?.keyRows) }, written);
    const touched = unchanged === undefined ? null : patched.touched(unchanged.changes.regions);
    return { ...written, rowsRead: rowsRead + changed.rows, touched };
  } finally {
    await writer.whenIdle(); // before the file may be discarded
  }
}

function steps(unchanged: CopiedPart | undefined): BuildStep[] {
  return unchanged === undefined
    ? [{ kind: 'read', regions: [allPhones] }]
    : stepsOf(unchanged.basis.segments, unchanged.changes);
}

interface Patching {
  readonly writer: SegmentWriter;
  readonly basis: OpenBasis;
  readonly changed: ChangedKeys;
  readonly patched: PatchedParts;
  readonly options: BuildOptions;
}

/** Replaces the rows of the changed keys in adjacent segments of the basis. */
async function patchSegments(
  { writer, basis, changed, patched, options: { artefact, onProgress } }: Patching,
  { segments, patches }: Extract<BuildStep, { kind: 'patch' }>,
): Promise<void> {
  const blocks = segments.length === 0 ? Buffer.alloc(0) : await basis.read(segments);
  for (const { region, keys } of patches) {
    const segment = segments.find(({ prefix }) => prefix === region) ?? null;
    const from = segment === null ? 0 : segment.offset - segments[0]!.offset;
    await writer.patch(
      {
        region,
        segment,
        deflated: Buffer.from(blocks.subarray(from, from + (segment?.bytes ?? 0))),
        keys,
        rows: await changed.rowsOf(region),
        hasLevels: hasLevels(artefact),
      },
      (block) => patched.add(region, block),
    );
    onProgress?.(writer.rows);
  }
}

/** What the patches of a build replaced, and their deltas. */
class PatchedParts {
  #rows = 0;
  readonly #levels: LevelCounts[] = [];
  readonly #deltas: TouchedRegion[] = [];
  #deltaBytes = 0;

  add(prefix: string, { replaced, delta }: PatchedBlock): void {
    this.#rows += replaced.rows;
    this.#levels.push(replaced.levels);
    this.#deltaBytes += delta.length;
    this.#deltas.push({ prefix, delta: this.#deltaBytes > deltaBytesMax ? null : delta });
  }

  /** With the rows that the keys have now, by SQL's count, in the place of those before. */
  expected(
    { rowsExpected, levelsExpected }: Pick<BuildOptions, 'rowsExpected' | 'levelsExpected'>,
    now: RowCounts = { rows: 0, levels: {} },
  ): Pick<BuildOptions, 'rowsExpected' | 'levelsExpected'> {
    return {
      rowsExpected: rowsExpected + now.rows - this.#rows,
      levelsExpected: levelsExpected && sumLevels([levelsExpected, now.levels], this.#levels),
    };
  }

  /** With the regions that were read. */
  touched(regions: readonly string[]): TouchedRegion[] {
    return [...regions.map((prefix) => ({ prefix, delta: null })), ...this.#deltas].sort((a, b) =>
      a.prefix < b.prefix ? -1 : 1,
    );
  }
}

/** Reads the rows of adjacent regions with one COPY. Returns their number. */
async function readRegions(
  { client, writer, options }: { client: Client; writer: SegmentWriter; options: BuildOptions },
  regions: readonly string[],
): Promise<number> {
  const { settings, artefact, onProgress } = options;
  const cutter = new SegmentCutter({ regions, rowsMax: settings.segmentRowsMax, hasLevels: hasLevels(artefact) });
  const range = { from: regions[0]!, to: endOfPrefix(regions.at(-1)!) };
  const rows = await readRows({ client, options }, range, async (block) => {
    for (const segment of cutter.push(block)) await writer.add(segment);
    onProgress?.(writer.rows);
  });
  for (const segment of cutter.end()) await writer.add(segment);
  return rows;
}

/** Rows to be read: those of a range, or of some keys in it. */
interface RowsWanted {
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  readonly keys?: readonly string[];
}

/**
 * Reads rows with one COPY. Returns their number, which is COPY's own count.
 * @throws ServiceError `rows_differ`, or as `copyOut`
 */
async function readRows(
  { client, options }: { client: Client; options: BuildOptions },
  wanted: RowsWanted,
  take: (block: RowBlock) => Promise<void>,
): Promise<number> {
  const { settings, signal, artefact } = options;
  const statement = copyStatement(options, wanted);
  const { copyIdleSecondsMax: idleSecondsMax } = settings;
  let rows = 0;
  const rowsCopied = await copyOut(
    { client, statement, blockBytes: copyBlockBytes, idleSecondsMax, signal },
    (block) => {
      rows += block.rows;
      return take(block);
    },
  );
  if (rowsCopied !== rows) throw rowsDiffer(artefact, `${rows} lines arrived, COPY counted ${rowsCopied}.`);
  return rows;
}

function hasLevels({ cache }: ArtefactName): boolean {
  return findCache(cache).columns.some(({ type }) => type === 'level');
}

/** @throws ServiceError `copy_stalled` if the database does not confirm the end of the transaction in time. */
async function commitWithin(client: Client, seconds: number): Promise<void> {
  const confirmed = await within(
    seconds * 1000,
    client.query('COMMIT').then(() => true),
  );
  if (confirmed === undefined)
    throw new ServiceError('copy_stalled', {
      operation: 'commit',
      problem: `The database did not confirm the end of the transaction within ${seconds} s.`,
    });
}

function copyStatement({ artefact, evaluatedAt }: BuildOptions, { from, to, keys }: RowsWanted): string {
  const { copyStatement: name, perCountry } = findCache(artefact.cache);
  if (perCountry && !isCountryCode(artefact.country)) {
    throw new ServiceError('country_invalid', { operation: 'build artefact', object: formatArtefact(artefact) });
  }
  return sqlWithLiterals(name, {
    country: artefact.country,
    evaluatedAt: evaluatedAt.toISOString(),
    from,
    to,
    keys: keys === undefined ? null : `{${keys.join()}}`,
  });
}

/** @throws ServiceError `rows_differ` unless SQL counted as many rows of the changed keys as were read */
function requireSameRows(artefact: ArtefactName, counted: RowCounts, { rows }: ChangedKeys): void {
  if (counted.rows !== rows)
    throw rowsDiffer(artefact, `SQL counted ${counted.rows} rows of changed keys, ${rows} were read.`);
}

/**
 * The condition before a file gets its name: SQL counted as many rows as lines were written. {@link readRows} compares with
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

function rowsDiffer(artefact: ArtefactName, problem: string): ServiceError {
  return new ServiceError('rows_differ', { operation: 'build artefact', object: formatArtefact(artefact), problem });
}

/** `artefact_not_stored` for an error of the file; `copy_cut` for other errors, after which the rows cannot be trusted. */
function asBuildError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
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
