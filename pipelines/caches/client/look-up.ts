import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import { findCache, formatArtefact, type ArtefactName } from '../definition.ts';
import { inflateSegment } from '../format/inflate-segment.ts';
import { findSegment, parseSegmentIndex, type Segment } from '../format/segment-index.ts';
import { nameOf } from './local-copy.ts';
import { parseManifest, type ServedManifest } from './served-manifest.ts';
import type { ServiceClient } from './service-client.ts';
import { manifestHref } from './update-copy.ts';
import { writeWholeFile } from '../../../runtime/whole-file.ts';
import { sha256Of } from '../../../runtime/digest.ts';

export interface LookUpOptions {
  readonly client: ServiceClient;
  readonly artefact: ArtefactName;
  /** E.164. */
  readonly phone: string;
  /** Where manifest and index are kept for the next look-up, if anywhere. */
  readonly directory?: string | undefined;
}

/** What an artefact says about a number. */
export interface LookedUp {
  readonly version: number;
  /** The row by the columns of the manifest; null if the number is not listed. */
  readonly row: Readonly<Record<string, string>> | null;
}

/** So many new versions may be published during one look-up. */
const movesMax = 3;

/**
 * Looks a number up in a published artefact without downloading it: the manifest, the segment index, and the one range of the
 * file in which the number's row is if it has one.
 * @throws ServiceError `download_failed`, `download_damaged`, `segment_index_invalid`, or what the service answers
 */
export async function lookUp(options: LookUpOptions): Promise<LookedUp> {
  for (let moves = 0; ; moves++) {
    const manifest = await readManifest(options);
    const found = await lookUpIn(options, manifest);
    if (found !== 'moved') return { version: manifest.version, row: found };
    if (moves === movesMax)
      throw new ServiceError('download_failed', {
        operation: 'look number up',
        object: formatArtefact(options.artefact),
        problem: 'New versions are published faster than they can be read.',
      });
  }
}

async function lookUpIn(
  options: LookUpOptions,
  manifest: ServedManifest,
): Promise<Record<string, string> | null | 'moved'> {
  const index = await readIndex(options, manifest);
  if (index === 'moved') return 'moved';
  const key = findCache(options.artefact.cache).keyOf(options.phone);
  const segment = findSegment(index, key);
  if (segment === undefined) return null;
  const rows = await readRows(options, manifest, segment);
  return rows === 'moved' ? 'moved' : findRow(rows, key, manifest);
}

async function readManifest({ client, artefact, directory }: LookUpOptions): Promise<ServedManifest> {
  const path = directory === undefined ? undefined : join(directory, '.lookup', `${nameOf(artefact)}.json`);
  const known = path === undefined ? undefined : await readKept(path);
  const answer = await client.getDocument(manifestHref(artefact), known?.etag);
  if (answer.isKnown) return parseManifest(known!.body);
  if (path !== undefined)
    await writeWholeFile(path, JSON.stringify({ etag: answer.etag, body: answer.body }), { durable: false });
  return parseManifest(answer.body);
}

async function readKept(path: string): Promise<{ etag: string; body: unknown } | undefined> {
  try {
    const kept = JSON.parse(await readFile(path, 'utf8')) as { etag?: unknown; body?: unknown };
    return typeof kept.etag === 'string' ? { etag: kept.etag, body: parseManifest(kept.body) } : undefined;
  } catch {
    return undefined; // there is none, or it is not whole
  }
}

/** The index that a manifest names: from the directory if it is there, else from the service. */
async function readIndex(
  { client, artefact, directory }: LookUpOptions,
  { index }: ServedManifest,
): Promise<Segment[] | 'moved'> {
  if (index === undefined || index === null)
    throw new ServiceError('segment_index_invalid', {
      operation: 'look number up',
      object: formatArtefact(artefact),
      problem: 'The published version has no segment index.',
      hint: 'Download the file instead.',
    });
  const path = directory === undefined ? undefined : join(directory, '.lookup', `${nameOf(artefact)}.index.tsv`);
  const kept = path === undefined ? undefined : await readFile(path).catch(() => undefined);
  if (kept !== undefined && sha256Of(kept) === index.sha256) return parseSegmentIndex(kept.toString());
  const { bytes } = await client.getBytes(index.href);
  if (sha256Of(bytes) !== index.sha256) return 'moved';
  if (path !== undefined) await writeWholeFile(path, bytes, { durable: false });
  return parseSegmentIndex(bytes.toString());
}

/** One range of the file, of the version of the manifest or of none. */
async function readRows(
  { client }: LookUpOptions,
  { file }: ServedManifest,
  segment: Segment,
): Promise<Buffer | 'moved'> {
  const range = {
    Range: `bytes=${segment.offset}-${segment.offset + segment.bytes - 1}`,
    'If-Range': `"${file.sha256}"`,
  };
  return client.getInPieces(file.href, {
    headers: () => range,
    async take({ status, chunks }) {
      if (status !== 206) return 'moved';
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(chunk);
      const deflated = Buffer.concat(parts);
      return inflateSegment(deflated, segment).catch((error: unknown) => {
        throw isServiceError(error, 'segment_index_invalid') && deflated.length !== segment.bytes
          ? new ServiceError('download_failed', {
              operation: 'look number up',
              problem: 'The service sends another number of bytes than was asked for.',
              cause: error,
            })
          : error;
      });
    },
  });
}

function findRow(rows: Buffer, key: string, { columns }: ServedManifest): Record<string, string> | null {
  const beginning = Buffer.from(`${key}\t`);
  const isFirst = rows.subarray(0, beginning.length).equals(beginning);
  const start = isFirst ? 0 : rows.indexOf(`\n${key}\t`) + 1;
  if (start === 0 && !isFirst) return null;
  const values = rows.subarray(start, rows.indexOf(0x0a, start)).toString().split('\t');
  if (values.length !== columns.length)
    throw new ServiceError('download_damaged', {
      operation: 'look number up',
      problem: 'The row has other columns than the manifest says.',
    });
  return Object.fromEntries(columns.map(({ name }, at) => [name, values[at]!]));
}
