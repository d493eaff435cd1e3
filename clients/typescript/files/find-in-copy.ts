import { open, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ClientError } from '../../../format/base/errors.ts';
import { copyName, findPublishedCache, formatArtefact, type ArtefactName } from '../../../format/artefact/caches.ts';
import {
  findPage,
  findSegment,
  inflateSegment,
  notAsIndexed,
  parseDirectory,
  parsePage,
  type Segment,
} from '../../../format/artefact/segment-index.ts';
import { findRow, type Row } from '../../../format/artefact/find-row.ts';
import { copyFiles, readCopyState, type CopyState } from './copy-state.ts';

interface FindInCopyOptions {
  /** Directory of the copies, as `pull` keeps it. */
  readonly directory: string;
  readonly artefact: ArtefactName;
  /** E.164. */
  readonly phone: string;
}

/** The row of a number in a copy; null if it is not listed. */
interface FoundRow {
  readonly version: number;
  readonly row: Row | null;
  /** A signature vouched for the version when it was pulled. */
  readonly isVerified: boolean;
}

/**
 * Looks a number up in a copy that `pull` keeps, without the service: reads the directory and a page of the index, and one segment of
 * the file. A run of `pull` that replaces the copy meanwhile changes nothing.
 * @throws ClientError `artefact_not_found` if there is no copy; `segment_index_invalid`, `download_damaged` if it is damaged
 */
export async function findInCopy({ directory, artefact, phone }: FindInCopyOptions): Promise<FoundRow> {
  const version = await realpath(join(directory, copyName(artefact))).catch(() => undefined);
  const state = version === undefined ? undefined : await readCopyState(version);
  if (version === undefined || state === undefined)
    throw new ClientError('artefact_not_found', {
      operation: 'look number up',
      object: formatArtefact(artefact),
      problem: 'The directory has no copy of it.',
      hint: 'Run `caller-trust pull` first.',
    });
  const key = findPublishedCache(artefact.cache).keyOf(phone);
  const segment = await findInIndex(join(version, copyFiles.index), state, key);
  const rows = segment && (await readSegment(join(version, copyFiles.rows), segment));
  const { version: number, columns } = state.manifest;
  return {
    version: number,
    row: rows === undefined ? null : findRow(rows, key, columns),
    isVerified: state.isVerified,
  };
}

/** The segment that would have a key; undefined if none can. */
async function findInIndex(path: string, { directory }: CopyState, key: string): Promise<Segment | undefined> {
  return withFile(path, async (index) => {
    const page = findPage(parseDirectory(await readBytes(index, directory), { directory }), key);
    return page && findSegment(parsePage(await readBytes(index, page), page), key);
  });
}

function readSegment(path: string, segment: Segment): Promise<Uint8Array> {
  return withFile(path, async (rows) => inflateSegment(await readBytes(rows, segment), segment));
}

async function withFile<Result>(path: string, work: (file: FileHandle) => Promise<Result>): Promise<Result> {
  const file = await open(path).catch(notThere);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

function notThere(cause: unknown): never {
  throw notAsIndexed(cause);
}

async function readBytes(
  file: FileHandle,
  { offset, bytes }: { readonly offset: number; readonly bytes: number },
): Promise<Uint8Array> {
  const { bytesRead, buffer } = await file.read(new Uint8Array(bytes), 0, bytes, offset);
  if (bytesRead < bytes) throw notAsIndexed();
  return buffer;
}
