import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import { findCache, formatArtefact, type ArtefactName } from '../definition.ts';
import { inflateSegment, findSegment, parseSegmentIndex, type Segment } from '../format/segment-index.ts';
import { copyName } from './local-copy.ts';
import { manifestHref, readSignedManifest } from './manifest-source.ts';
import { PublicationTrust, type TrustReport } from './publication-trust.ts';
import { parseManifest, type ServedManifest, getStored } from './served-manifest.ts';
import type { ServiceClient } from './service-client.ts';
import { TrustStore, trustDirectory } from './trust-store.ts';
import { writeWholeFile } from '../../../runtime/whole-file.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { ifStill, versionChangesMax } from './download-file.ts';
import { isTargetHref, targetHref } from '../trust/targets.ts';

interface LookUpOptions {
  readonly client: ServiceClient;
  readonly artefact: ArtefactName;
  /** E.164. */
  readonly phone: string;
  /** Where manifest and index are stored for the next look-up; absent: nowhere. */
  readonly directory?: string | undefined;
  /** A root that the caller trusts. Without one, and without a directory that knows one, nothing is verified. */
  readonly trustAnchor?: Buffer | undefined;
  /** Called with what was verified; with undefined if nothing was. */
  readonly onTrust?: ((report: TrustReport | undefined) => void) | undefined;
}

/** The row of a number in an artefact. */
interface LookedUp {
  readonly version: number;
  /** The row by the columns of the manifest; null if the number is not listed. */
  readonly row: Readonly<Record<string, string>> | null;
}

/**
 * Looks a number up in a published artefact without downloading it: reads the manifest, the segment index, and the segment
 * that would contain the number's row; all of them as the signed list names them, where a root is known.
 * @throws ServiceError `download_failed`, `download_damaged`, `segment_index_invalid`, or the service's own error
 */
export async function lookUp(options: LookUpOptions): Promise<LookedUp> {
  const trust = await openTrust(options);
  options.onTrust?.(trust?.report);
  for (let changes = 0; ; changes++) {
    if (changes > 0) await trust?.refresh();
    const manifest = trust === undefined ? await readUnsigned(options) : await readSigned(options, trust);
    const found = manifest === 'changed' ? 'changed' : await lookUpIn(options, manifest);
    if (manifest !== 'changed' && found !== 'changed') return { version: manifest.version, row: found };
    if (changes === versionChangesMax)
      throw new ServiceError('download_failed', {
        operation: 'look number up',
        object: formatArtefact(options.artefact),
        problem: 'New versions are published faster than they can be read.',
      });
  }
}

/** Without a directory there is no memory, and a root that the service itself gives vouches for nothing. */
async function openTrust({ client, directory, trustAnchor }: LookUpOptions): Promise<PublicationTrust | undefined> {
  if (directory === undefined && trustAnchor === undefined) return undefined;
  const store = new TrustStore(directory === undefined ? undefined : join(directory, trustDirectory));
  return PublicationTrust.open({ client, store, anchor: trustAnchor });
}

function readUnsigned({ client, artefact, directory }: LookUpOptions): Promise<ServedManifest> {
  return getStored(client, {
    href: manifestHref(artefact),
    path: directory === undefined ? undefined : join(directory, '.lookup', `${copyName(artefact)}.json`),
    parse: parseManifest,
  });
}

async function readSigned(
  { client, artefact, directory }: LookUpOptions,
  trust: PublicationTrust,
): Promise<ServedManifest | 'changed'> {
  const { path, target } = trust.findManifest(artefact);
  const { sha256 } = target.hashes;
  const keptAt = directory === undefined ? undefined : join(directory, '.lookup', `${copyName(artefact)}.signed.json`);
  const kept = keptAt === undefined ? undefined : await readFile(keptAt).catch(() => undefined);
  if (kept !== undefined && sha256Of(kept) === sha256) return readSignedManifest(kept, artefact, target);
  const bytes = await client.findBytes(targetHref(path, sha256), { bytesMax: target.length });
  if (bytes === undefined) return 'changed';
  const manifest = readSignedManifest(bytes, artefact, target);
  if (keptAt !== undefined) await writeWholeFile(keptAt, bytes, { durable: false });
  return manifest;
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

/** Bytes of an index that is named by its version's cache alone, so that a newer one may come: 100,000 segments have 12 MB. */
const indexBytesMax = 64 * 1024 * 1024;

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
  const bytes = await client.findBytes(index.href, {
    bytesMax: isTargetHref(index.href) ? index.bytes : indexBytesMax,
  });
  if (bytes === undefined || sha256Of(bytes) !== index.sha256) return 'changed';
  if (path !== undefined) await writeWholeFile(path, bytes, { durable: false });
  return parseSegmentIndex(bytes.toString());
}

/** The rows of a segment of the manifest's version. */
async function readRows(
  { client }: LookUpOptions,
  { file }: ServedManifest,
  segment: Segment,
): Promise<Buffer | 'changed'> {
  const range = { Range: `bytes=${segment.offset}-${segment.offset + segment.bytes - 1}`, ...ifStill(file) };
  return client.getResumable(file.href, {
    headers: () => range,
    missing: isTargetHref(file.href),
    async take({ status, chunks }) {
      if (status !== 206) return 'changed';
      const deflated = await collectUpTo(chunks, segment.bytes);
      const rows = await inflateSegment(deflated, segment).catch((error: unknown) => {
        throw isServiceError(error, 'segment_index_invalid') && deflated.length !== segment.bytes
          ? new ServiceError('download_failed', {
              operation: 'look number up',
              problem: 'The service sends another number of bytes than was requested.',
              cause: error,
            })
          : error;
      });
      requireDigest(rows, segment, isTargetHref(file.href));
      return rows;
    },
  });
}

/** One chunk more at most: a server may send without end. */
async function collectUpTo(chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) break;
  }
  return Buffer.concat(parts);
}

/** A CRC finds damage, but whoever changes rows can make others with the same one. */
function requireDigest(rows: Buffer, { sha256 }: Segment, isSigned: boolean): void {
  if (sha256 === null ? !isSigned : sha256Of(rows) === sha256) return;
  throw new ServiceError('segment_index_invalid', {
    operation: 'look number up',
    problem: 'The rows of the segment are not those of the segment index.',
    hint: 'Download the file instead.',
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
