import { fromUtf8, joinBytes } from '../base/bytes.ts';
import { ClientError, isClientError } from '../base/errors.ts';
import { copyName, findPublishedCache, formatArtefact, type ArtefactName } from '../format/caches.ts';
import { findSegment, inflateSegment, parseSegmentIndex, type Segment } from '../format/segment-index.ts';
import { sha256Of } from '../base/sha256.ts';
import type { PublicationTrust } from './publication-trust.ts';
import { isTargetHref, targetHref } from '../trust/targets.ts';
import type { ByteStore } from './byte-store.ts';
import { findRow, type Row } from './find-row.ts';
import { getStored, parseManifest, type ServedManifest } from './manifest.ts';
import { manifestHref, readSignedManifest } from './manifest-source.ts';
import { fetchIndex, ifStill, versionChangesMax } from './served-file.ts';
import type { ServiceClient } from './service-client.ts';

interface LookUpOptions {
  readonly client: ServiceClient;
  readonly artefact: ArtefactName;
  /** E.164. */
  readonly phone: string;
  /** Where manifest and index are kept for the next look-up; absent: nowhere. */
  readonly store?: ByteStore | undefined;
  /** What is signed, from {@link PublicationTrust.open}; absent: nothing is verified. */
  readonly trust?: PublicationTrust | undefined;
}

/** The row of a number in an artefact. */
export interface LookedUp {
  readonly version: number;
  /** The row by the columns of the manifest; null if the number is not listed. */
  readonly row: Row | null;
}

/**
 * Looks a number up in a published artefact without downloading it: reads the manifest, the segment index, and the segment
 * that would contain the number's row; all of them as the signed list names them, where a root is known.
 * @throws ClientError `download_failed`, `download_damaged`, `segment_index_invalid`, or the service's own error
 */
export async function lookUp(options: LookUpOptions): Promise<LookedUp> {
  const { trust } = options;
  for (let changes = 0; ; changes++) {
    if (changes > 0) await trust?.refresh();
    const manifest = trust === undefined ? await readUnsigned(options) : await readSigned(options, trust);
    const found = manifest === 'changed' ? 'changed' : await lookUpIn(options, manifest);
    if (manifest !== 'changed' && found !== 'changed') return { version: manifest.version, row: found };
    if (changes === versionChangesMax)
      throw new ClientError('download_failed', {
        operation: 'look number up',
        object: formatArtefact(options.artefact),
        problem: 'New versions are published faster than they can be read.',
      });
  }
}

/** Name of a file that is kept for an artefact: `phones-US.json`. */
function keptName(artefact: ArtefactName, ending: string): string {
  return `${copyName(artefact)}.${ending}`;
}

function readUnsigned({ client, artefact, store }: LookUpOptions): Promise<ServedManifest> {
  return getStored(client, {
    href: manifestHref(artefact),
    store,
    name: keptName(artefact, 'json'),
    parse: parseManifest,
  });
}

async function readSigned(
  { client, artefact, store }: LookUpOptions,
  trust: PublicationTrust,
): Promise<ServedManifest | 'changed'> {
  const { path, target } = trust.findManifest(artefact);
  const { sha256 } = target.hashes;
  const name = keptName(artefact, 'signed.json');
  const kept = await store?.read(name);
  if (kept !== undefined && sha256Of(kept) === sha256) return readSignedManifest(kept, artefact, target);
  const bytes = await client.findBytes(targetHref(path, sha256), { bytesMax: target.length });
  if (bytes === undefined) return 'changed';
  const manifest = readSignedManifest(bytes, artefact, target);
  await store?.write(name, bytes);
  return manifest;
}

async function lookUpIn(options: LookUpOptions, manifest: ServedManifest): Promise<Row | null | 'changed'> {
  const index = await readIndex(options, manifest);
  if (index === 'changed') return 'changed';
  const key = findPublishedCache(options.artefact.cache).keyOf(options.phone);
  const segment = findSegment(index, key);
  if (segment === undefined) return null;
  const rows = await readRows(options, manifest, segment);
  return rows === 'changed' ? 'changed' : findRow(rows, key, manifest.columns);
}

/** The index that a manifest names, from the directory or the service. */
async function readIndex(
  { client, artefact, store }: LookUpOptions,
  { index }: ServedManifest,
): Promise<Segment[] | 'changed'> {
  if (index === null)
    throw new ClientError('segment_index_invalid', {
      operation: 'look number up',
      object: formatArtefact(artefact),
      problem: 'The published version has no segment index.',
      hint: 'Download the file instead.',
    });
  const name = keptName(artefact, 'index.tsv');
  const kept = await store?.read(name);
  if (kept !== undefined && sha256Of(kept) === index.sha256) return parseSegmentIndex(fromUtf8(kept));
  const bytes = await fetchIndex(client, index);
  if (bytes === undefined) return 'changed';
  await store?.write(name, bytes);
  return parseSegmentIndex(fromUtf8(bytes));
}

/** The rows of a segment of the manifest's version. */
async function readRows(
  { client }: LookUpOptions,
  { file }: ServedManifest,
  segment: Segment,
): Promise<Uint8Array | 'changed'> {
  const range = { Range: `bytes=${segment.offset}-${segment.offset + segment.bytes - 1}`, ...ifStill(file) };
  return client.getResumable(file.href, {
    headers: () => range,
    missing: isTargetHref(file.href),
    async take({ status, chunks }) {
      if (status !== 206) return 'changed';
      const deflated = await collectUpTo(chunks, segment.bytes);
      const rows = await inflateSegment(deflated, segment).catch((error: unknown) => {
        throw isClientError(error, 'segment_index_invalid') && deflated.length !== segment.bytes
          ? new ClientError('download_failed', {
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
async function collectUpTo(chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) break;
  }
  return joinBytes(parts);
}

/** A CRC finds damage, but whoever changes rows can make others with the same one. */
function requireDigest(rows: Uint8Array, { sha256 }: Segment, isSigned: boolean): void {
  if (sha256 === null ? !isSigned : sha256Of(rows) === sha256) return;
  throw new ClientError('segment_index_invalid', {
    operation: 'look number up',
    problem: 'The rows of the segment are not those of the segment index.',
    hint: 'Download the file instead.',
  });
}
