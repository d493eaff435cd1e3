import { createReadStream } from 'node:fs';
import { open, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fromUtf8, joinBytes } from '../../../format/base/bytes.ts';
import { decompressGzip } from '../../../format/base/compression.ts';
import { ClientError } from '../../../format/base/errors.ts';
import { copyName, findPublishedCache, formatArtefact, type ArtefactName } from '../../../format/artefact/caches.ts';
import {
  findSegment,
  inflateSegment,
  notAsIndexed,
  parseSegmentIndex,
  type Segment,
} from '../../../format/artefact/segment-index.ts';
import { findRow, type Row } from '../../../format/artefact/find-row.ts';
import { copyFiles, readCopyState } from './copy-state.ts';

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
 * Looks a number up in a copy that `pull` keeps, without the service: reads one segment of the file, by its index. A run of `pull`
 * that replaces the copy meanwhile changes nothing.
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
  const rows = await readRowsAround(version, key);
  const { version: number, columns } = state.manifest;
  return {
    version: number,
    row: rows === undefined ? null : findRow(rows, key, columns),
    isVerified: state.isVerified,
  };
}

/** The rows among which a key would be; undefined if there are none. */
async function readRowsAround(directory: string, key: string): Promise<Uint8Array | undefined> {
  const index = await readFile(join(directory, copyFiles.index)).catch(() => undefined);
  const rows = join(directory, copyFiles.rows);
  if (index === undefined) return readAllRows(rows); // a copy from before copies had an index
  const segment = findSegment(parseSegmentIndex(fromUtf8(index)), key);
  return segment && inflateSegment(await readBlock(rows, segment), segment);
}

async function readBlock(path: string, { offset, bytes }: Segment): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(new Uint8Array(bytes), 0, bytes, offset);
    if (bytesRead < bytes) throw notAsIndexed();
    return buffer;
  } finally {
    await file.close();
  }
}

async function readAllRows(path: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of decompressGzip(createReadStream(path))) parts.push(part);
  return joinBytes(parts);
}
