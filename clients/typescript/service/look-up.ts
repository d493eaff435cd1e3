import { ClientError } from '../../../format/base/errors.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import { findPublishedCache } from '../../../format/artefact/caches.ts';
import { findRow, type Row } from '../../../format/artefact/find-row.ts';
import { firstNotBefore } from '../../../format/artefact/key-range.ts';
import { paddedRange } from '../../../format/artefact/padded-range.ts';
import {
  findPage,
  findSegment,
  inflateSegment,
  parseDirectory,
  parsePage,
  parseSegmentIndex,
  type Segment,
} from '../../../format/artefact/segment-index.ts';
import type { ServedManifest } from './manifest.ts';
import { readKept, readPresentManifest, type PublishedSource } from './present-manifest.ts';
import { filterOfManifest } from './read-filter.ts';
import { onPresentVersion, readRange } from './served-file.ts';

interface LookUpOptions extends PublishedSource {
  /** E.164. */
  readonly phone: string;
  /**
   * Least bytes of a request for rows: all of a version then have one length and begin on one grid, so that the length reveals
   * nothing of the number (`paddedRange`). The index is read whole then, since the page that is asked for would reveal something
   * too. Absent: exactly one page of the index and the segment are requested.
   */
  readonly padTo?: number | undefined;
  /**
   * True: the filter of the version is read first, and the service is asked for index and rows only if that finds the number. Of a
   * version without a filter, as all of profile and branded phones are, nothing is asked: the look-up fails with
   * `artefact_not_found`.
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
 * Looks a number up in a published artefact without downloading it: reads the manifest, the directory and one page of the segment
 * index, and the segment that would contain the number's row; all of them as the signed list names them, where a root is known.
 * @throws ClientError `download_failed`, `download_damaged`, `segment_index_invalid`, `filter_invalid`, `artefact_not_found`, or the
 * service's own error
 */
export function lookUp(options: LookUpOptions): Promise<LookedUp> {
  return onPresentVersion(options, async () => {
    const manifest = await readPresentManifest(options);
    return { version: manifest.version, row: await lookUpIn(options, manifest) };
  });
}

async function lookUpIn(options: LookUpOptions, manifest: ServedManifest): Promise<Row | null> {
  if (options.filterFirst === true && !(await filterOfManifest(options, manifest)).has(options.phone)) return null;
  const key = findPublishedCache(options.artefact.cache).keyOf(options.phone);
  const { padTo } = options;
  const segments =
    padTo === undefined ? await readPageOf(options, manifest, key) : await readAllSegments(options, manifest);
  const segment = findSegment(segments, key);
  const asked = segment ?? (padTo === undefined ? undefined : neighbourOf(segments, key));
  if (asked === undefined) return null;
  const rows = await readRows(options, manifest, asked);
  return segment === undefined ? null : findRow(rows, key, manifest.columns);
}

/** The segments of the page of the index that would have that of a key; none if no page can have it. */
async function readPageOf(source: PublishedSource, { index }: ServedManifest, key: string): Promise<Segment[]> {
  const directory = await readKept(source, index, { ...index.directory, ending: 'directory.tsv' });
  const pages = parseDirectory(directory, index);
  const page = findPage(pages, key);
  if (page === undefined) return [];
  // Named by its place, so that the pages of later versions replace it.
  return parsePage(await readKept(source, index, { ...page, ending: `page-${pages.indexOf(page)}.tsv` }), page);
}

async function readAllSegments(source: PublishedSource, { index }: ServedManifest): Promise<Segment[]> {
  return parseSegmentIndex(await readKept(source, index, { ...index, offset: 0, ending: 'index.tsv' }), index);
}

/** A neighbouring segment to request when no segment can have the number: leaving the request out would reveal that. */
function neighbourOf(segments: readonly Segment[], key: string): Segment | undefined {
  return segments[Math.max(0, firstNotBefore(segments, ({ prefix }) => prefix < key) - 1)];
}

/** The rows of a segment of the manifest's version. */
async function readRows(
  { client, padTo }: LookUpOptions,
  { file, index }: ServedManifest,
  segment: Segment,
): Promise<Uint8Array> {
  const { offset, bytes } = segment;
  const range =
    padTo === undefined
      ? { start: offset, end: offset + bytes }
      : paddedRange(segment, { blockBytesMax: index.blockBytesMax, fileBytes: file.bytes, padTo });
  const received = await readRange(client, file, range);
  const rows = await inflateSegment(received.subarray(offset - range.start, offset - range.start + bytes), segment);
  // A CRC finds damage, but not forgery: rows can be changed so that it stays the same.
  if (sha256Of(rows) === segment.sha256) return rows;
  throw new ClientError('segment_index_invalid', {
    operation: 'look number up',
    problem: 'The rows of the segment are not those of the segment index.',
    hint: 'Download the file instead.',
  });
}
