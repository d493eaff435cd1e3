import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { ServiceError } from '../../runtime/errors.ts';
import { connect, destroy } from '../../runtime/postgres.ts';
import { sqlWithLiterals } from '../../sql/sql.ts';
import type { ArtefactStore, UnfinishedFile } from './artefact-store.ts';
import { CopyOut } from './copy-out.ts';
import { findCache, formatArtefact, isCountryCode, type ArtefactName } from './definition.ts';
import { compressBlock, GzipMember, type CompressedBlock } from './gzip-member.ts';
import type { ArtefactFile } from './manifest.ts';
import { enterSnapshot } from './snapshot.ts';

/** How a build works; see the settings of the same names. */
export interface BuildSettings {
  readonly blockPlainBytes: number;
  readonly blockCompressionLevel: number;
  readonly blocksInFlight: number;
  readonly copyIdleSecondsMax: number;
}

export interface BuildOptions {
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  readonly artefact: ArtefactName;
  /** Snapshot of the night, held elsewhere for as long as the build runs. */
  readonly snapshotId: string;
  /** Instant at which brands must be live. */
  readonly evaluatedAt: Date;
  /** Rows that SQL counted in the same snapshot. */
  readonly rowsExpected: number;
  /** Name of this build among the unfinished files. */
  readonly owner: string;
  readonly settings: BuildSettings;
  readonly signal?: AbortSignal | undefined;
  /** Told the rows written so far, after each block. */
  readonly onProgress?: ((rows: number) => void) | undefined;
}

/** A stored file that nothing points to yet. */
export interface BuiltArtefact {
  readonly rows: number;
  readonly file: ArtefactFile;
}

/**
 * Builds one artefact: COPY in the night's snapshot, compression block by block, a stored file.
 *
 * The file gets its name only after the transaction has committed and the rows counted by SQL, the lines written and
 * COPY's own count agree. A connection whose stream was cut is destroyed, never used again.
 * @throws ServiceError `snapshot_gone`, `copy_cut`, `copy_stalled`, `rows_differ`, `artefact_not_stored`, `interrupted`,
 * `database_unavailable`
 */
export async function buildArtefact(options: BuildOptions): Promise<BuiltArtefact> {
  try {
    const file = await options.store.start(options.owner);
    try {
      return await buildFile(file, options);
    } catch (error) {
      await file.discard();
      throw error;
    }
  } catch (error) {
    throw asBuildError(error);
  }
}

async function buildFile(file: UnfinishedFile, options: BuildOptions): Promise<BuiltArtefact> {
  const client = await connect({ url: options.databaseUrl, applicationName: `caller-trust build ${formatArtefact(options.artefact)}` });
  const built = await writeRows(client, file, options).catch((error: unknown) => {
    destroy(client);
    throw error;
  });
  await client.end();
  await file.keep({ ...options.artefact, sha256: built.file.sha256 });
  return built;
}

async function writeRows(client: Client, file: UnfinishedFile, options: BuildOptions): Promise<BuiltArtefact> {
  await enterSnapshot(client, options.snapshotId);
  const { settings, signal } = options;
  const member = new GzipMember();
  await writeAll(file, member.begin());
  const copy = CopyOut.start({
    client,
    statement: copyStatement(options),
    blockBytes: settings.blockPlainBytes,
    idleSecondsMax: settings.copyIdleSecondsMax,
    signal,
  });
  const rows = await writeBlocks({ copy, file, member, options });
  await writeAll(file, member.end());
  await commitWithin(client, settings.copyIdleSecondsMax);
  requireSameCount({ artefact: options.artefact, expected: options.rowsExpected, written: rows, copied: copy.rowsCopied });
  return { rows, file: member.facts() };
}

/** @throws ServiceError `copy_stalled` if the database does not confirm the end of the transaction in time. */
async function commitWithin(client: Client, seconds: number): Promise<void> {
  const timer = new AbortController();
  const silence = sleep(seconds * 1000, undefined, { signal: timer.signal }).then(
    () => {
      throw new ServiceError('copy_stalled', { operation: 'commit', problem: `The database did not confirm the end of the transaction within ${seconds} s.` });
    },
    () => {}, // confirmed in time
  );
  try {
    await Promise.race([client.query('COMMIT'), silence]);
  } finally {
    timer.abort();
  }
}

/** Compresses up to `blocksInFlight` blocks at a time, and writes them in order. Returns the rows written. */
async function writeBlocks({ copy, file, member, options }: { copy: CopyOut; file: UnfinishedFile; member: GzipMember; options: BuildOptions }): Promise<number> {
  const { settings, onProgress } = options;
  const inFlight: Promise<CompressedBlock>[] = [];
  let rows = 0;

  const writeOldest = async () => {
    const block = await inFlight.shift()!;
    await writeAll(file, member.append(block));
    copy.recycle(block);
    onProgress?.(rows);
  };
  try {
    for await (const block of copy) {
      rows += block.rows;
      const compressing = compressBlock(block.plain, settings.blockCompressionLevel);
      compressing.catch(() => {}); // awaited in its turn
      inFlight.push(compressing);
      if (inFlight.length >= settings.blocksInFlight) await writeOldest();
    }
    while (inFlight.length > 0) await writeOldest();
  } finally {
    await Promise.allSettled(inFlight);
  }
  return rows;
}

async function writeAll({ handle }: UnfinishedFile, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
}

function copyStatement({ artefact, evaluatedAt }: BuildOptions): string {
  const { copyStatement: name, perCountry } = findCache(artefact.cache);
  if (perCountry && !isCountryCode(artefact.country)) {
    throw new ServiceError('country_invalid', { operation: 'build artefact', object: formatArtefact(artefact) });
  }
  return sqlWithLiterals(name, { country: artefact.country, evaluatedAt: evaluatedAt.toISOString() });
}

/**
 * The rule before a file gets its name: three independent counts agree.
 * @throws ServiceError `rows_differ`
 */
export function requireSameCount({ artefact, expected, written, copied }: { artefact: ArtefactName; expected: number; written: number; copied: number | undefined }): void {
  if (expected === written && written === copied) return;
  throw new ServiceError('rows_differ', {
    operation: 'build artefact',
    object: formatArtefact(artefact),
    problem: `SQL counted ${expected} rows, ${written} lines were written, COPY said ${copied ?? 'nothing'}.`,
  });
}

/** A file that cannot be written is told as that; anything else that breaks means that the rows cannot be trusted. */
function asBuildError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  return isFileError(error)
    ? new ServiceError('artefact_not_stored', { operation: 'build artefact', problem: `The file could not be written: ${error.code}.`, hint: 'Look at the disk of ARTEFACT_DIR.', cause: error })
    : new ServiceError('copy_cut', { operation: 'build artefact', cause: error });
}

/** Codes of file operations that those of a socket do not have. */
const fileErrors: unknown[] = ['EACCES', 'EDQUOT', 'EEXIST', 'EFBIG', 'EIO', 'EMFILE', 'ENFILE', 'ENOENT', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS'];

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && fileErrors.includes(error.code);
}
