import { collectBytes, fromUtf8 } from '../../../format/base/bytes.ts';
import { ClientError } from '../../../format/base/errors.ts';
import { findPublishedCache, formatArtefact } from '../../../format/artefact/caches.ts';
import { firstNotBefore } from '../../../format/artefact/key-range.ts';
import { paddedRange } from '../../../format/artefact/padded-range.ts';
import {
  findSegment,
  inflateSegment,
  parseSegmentIndex,
  type Segment,
} from '../../../format/artefact/segment-index.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import { isTargetHref } from '../../../format/trust/targets.ts';
import { findRow, type Row } from '../../../format/artefact/find-row.ts';
import type { ServedManifest } from './manifest.ts';
import { keptName, onPresentVersion, type PublishedSource } from './present-manifest.ts';
import { filterOfManifest } from './read-filter.ts';
import { fetchIndex, ifStill } from './served-file.ts';

interface LookUpOptions extends PublishedSource {
  /** E.164. */
  readonly phone: string;
  /**
   * Least bytes of a request for rows: all of a version then have one length and begin on one grid, so that the length reveals
   * nothing of the number (`paddedRange`). Absent: exactly the segment is requested.
   */
  readonly padTo?: number | undefined;
  /**
   * True: the filter of the version is read first, and the service is asked for rows only if that finds the number. Of a version
   * without a filter, as all of profile and branded phones are, nothing is asked: the look-up fails with `artefact_not_found`.
   */
  readonly filterFirst?: boolean | undefined;
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
 * @throws ClientError `download_failed`, `download_damaged`, `segment_index_invalid`, `filter_invalid`, `artefact_not_found`, or the
 * service's own error
 */
export function lookUp(options: LookUpOptions): Promise<LookedUp> {
  return onPresentVersion(options, async (manifest) => {
    const row = await lookUpIn(options, manifest);
    return row === 'changed' ? row : { version: manifest.version, row };
  });
}

async function lookUpIn(options: LookUpOptions, manifest: ServedManifest): Promise<Row | null | 'changed'> {
  if (options.filterFirst === true) {
    const filter = await filterOfManifest(options, manifest);
    if (filter === 'changed') return filter;
    if (!filter.has(options.phone)) return null;
  }
  const index = await readIndex(options, manifest);
  if (index === 'changed') return 'changed';
  const key = findPublishedCache(options.artefact.cache).keyOf(options.phone);
  const segment = findSegment(index, key);
  const asked = segment ?? (options.padTo === undefined ? undefined : neighbourOf(index, key));
  if (asked === undefined) return null;
  const rows = await readRows(options, { manifest, index, segment: asked });
  if (rows === 'changed') return rows;
  return segment === undefined ? null : findRow(rows, key, manifest.columns);
}

/** A neighbouring segment to request when no segment can have the number: leaving the request out would reveal that. */
function neighbourOf(index: readonly Segment[], key: string): Segment | undefined {
  return index[Math.max(0, firstNotBefore(index, ({ prefix }) => prefix < key) - 1)];
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

interface AskedSegment {
  readonly manifest: ServedManifest;
  readonly index: readonly Segment[];
  readonly segment: Segment;
}

/** The rows of a segment of the manifest's version. */
async function readRows(
  { client, padTo }: LookUpOptions,
  { manifest: { file }, index, segment }: AskedSegment,
): Promise<Uint8Array | 'changed'> {
  const { start, end } =
    padTo === undefined
      ? { start: segment.offset, end: segment.offset + segment.bytes }
      : paddedRange(segment, { segments: index, fileBytes: file.bytes, padTo });
  const range = { Range: `bytes=${start}-${end - 1}`, ...ifStill(file) };
  return client.getResumable(file.href, {
    headers: () => range,
    missing: isTargetHref(file.href),
    async take({ status, chunks }) {
      if (status !== 206) return 'changed';
      const received = await collectBytes(chunks, end - start);
      if (padTo !== undefined && received.length !== end - start)
        throw new ClientError('download_failed', {
          operation: 'look number up',
          problem: 'The service sends another number of bytes than was requested.',
        });
      const at = segment.offset - start;
      const block = padTo === undefined ? received : received.subarray(at, at + segment.bytes);
      const rows = await inflateSegment(block, segment);
      requireDigest(rows, segment, isTargetHref(file.href));
      return rows;
    },
  });
}

/** A CRC finds damage, but not forgery: rows can be changed so that it stays the same. */
function requireDigest(rows: Uint8Array, { sha256 }: Segment, isSigned: boolean): void {
  if (sha256 === null ? !isSigned : sha256Of(rows) === sha256) return;
  throw new ClientError('segment_index_invalid', {
    operation: 'look number up',
    problem: 'The rows of the segment are not those of the segment index.',
    hint: 'Download the file instead.',
  });
}
