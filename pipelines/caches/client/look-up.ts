import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import { findCache, formatArtefact, type ArtefactName } from '../definition.ts';
import { inflateSegment, findSegment, parseSegmentIndex, type Segment } from '../format/segment-index.ts';
import { copyName } from './local-copy.ts';
import { parseManifest, type ServedManifest, getStored } from './served-manifest.ts';
import type { ServiceClient } from './service-client.ts';
import { manifestHref } from './update-copy.ts';
import { writeWholeFile } from '../../../runtime/whole-file.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { versionChangesMax } from './download-file.ts';

export interface LookUpOptions {
  readonly client: ServiceClient;
  readonly artefact: ArtefactName;
  /** E.164. */
  readonly phone: string;
  /** Where manifest and index are stored for the next look-up; absent: nowhere. */
  readonly directory?: string | undefined;
}

/** The row of a number in an artefact. */
export interface LookedUp {
  readonly version: number;
  /** The row by the columns of the manifest; null if the number is not listed. */
  readonly row: Readonly<Record<string, string>> | null;
}

/**
 * Looks a number up in a published artefact without downloading it: reads the manifest, the segment index, and the segment
 * that would contain the number's row.
 * @throws ServiceError `download_failed`, `download_damaged`, `segment_index_invalid`, or the service's own error
 */
export async function lookUp(options: LookUpOptions): Promise<LookedUp> {
  for (let changes = 0; ; changes++) {
    const { client, artefact, directory } = options;
    const manifest = await getStored(client, {
      href: manifestHref(artefact),
      path: directory === undefined ? undefined : join(directory, '.lookup', `${copyName(artefact)}.json`),
      parse: parseManifest,
    });
    const found = await lookUpIn(options, manifest);
    if (found !== 'changed') return { version: manifest.version, row: found };
    if (changes === versionChangesMax)
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
): Promise<Record<string, string> | null | 'changed'> {
  const index = await readIndex(options, manifest);
  if (index === 'changed') return 'changed';
  const key = findCache(options.artefact.cache).keyOf(options.phone);
  const segment = findSegment(index, key);
  if (segment === undefined) return null;
  const rows = await readRows(options, manifest, segment);
  return rows === 'changed' ? 'changed' : findRow(rows, key, manifest);
}

/** The index that a manifest names, from the directory or the service. */
async function readIndex(
  { client, artefact, directory }: LookUpOptions,
  { index }: ServedManifest,
): Promise<Segment[] | 'changed'> {
  if (index === undefined || index === null)
    throw new ServiceError('segment_index_invalid', {
      operation: 'look number up',
      object: formatArtefact(artefact),
      problem: 'The published version has no segment index.',
      hint: 'Download the file instead.',
    });
  const path = directory === undefined ? undefined : join(directory, '.lookup', `${copyName(artefact)}.index.tsv`);
  const kept = path === undefined ? undefined : await readFile(path).catch(() => undefined);
  if (kept !== undefined && sha256Of(kept) === index.sha256) return parseSegmentIndex(kept.toString());
  const { bytes } = await client.getBytes(index.href);
  if (sha256Of(bytes) !== index.sha256) return 'changed';
  if (path !== undefined) await writeWholeFile(path, bytes, { durable: false });
  return parseSegmentIndex(bytes.toString());
}

/** The rows of a segment of the manifest's version. */
async function readRows(
  { client }: LookUpOptions,
  { file }: ServedManifest,
  segment: Segment,
): Promise<Buffer | 'changed'> {
  const range = {
    Range: `bytes=${segment.offset}-${segment.offset + segment.bytes - 1}`,
    'If-Range': `"${file.sha256}"`,
  };
  return client.getResumable(file.href, {
    headers: () => range,
    async take({ status, chunks }) {
      if (status !== 206) return 'changed';
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(chunk);
      const deflated = Buffer.concat(parts);
      return inflateSegment(deflated, segment).catch((error: unknown) => {
        throw isServiceError(error, 'segment_index_invalid') && deflated.length !== segment.bytes
          ? new ServiceError('download_failed', {
              operation: 'look number up',
              problem: 'The service sends another number of bytes than was requested.',
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
      problem: 'The row does not have the columns of the manifest.',
    });
  return Object.fromEntries(columns.map(({ name }, at) => [name, values[at]!]));
}
