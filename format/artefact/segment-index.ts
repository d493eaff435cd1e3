import { fromUtf8, joinBytes, toUtf8 } from '../base/bytes.ts';
import { inflateBlocks } from '../base/compression.ts';
import { ClientError } from '../base/errors.ts';
import { beginSha256, sha256Of } from '../base/sha256.ts';
import { crc32, formatCrc32 } from '../gzip/crc32.ts';
import type { CompressedBlock } from '../gzip/gzip-member.ts';
import { compressBlock } from '../gzip/gzip-writing.ts';
import { firstNotBefore } from './key-range.ts';
import type { CutSegment } from './segment-cutter.ts';

/**
 * An independently compressed range of rows: those whose longest listed prefix is this one. Its deflate block can be
 * decompressed alone.
 */
export interface Segment {
  readonly prefix: string;
  /** Offset of its deflate block in the artefact, in bytes. */
  readonly offset: number;
  /** Bytes of its deflate block. */
  readonly bytes: number;
  readonly plainBytes: number;
  readonly rows: number;
  /** CRC-32 of its plain bytes. */
  readonly crc: number;
  /** CRC-32 of its deflate block. */
  readonly blockCrc: number;
  /** SHA-256 of its plain bytes. */
  readonly sha256: string;
}

/** Columns of a segment in an index, in order; numbers in decimal, CRCs as 8 hex digits. */
export const segmentColumns = [
  'prefix',
  'offset',
  'bytes',
  'plain_bytes',
  'rows',
  'crc32',
  'block_crc32',
  'sha256',
] as const;

/** Adjacent segments of an index, which are read together. */
export interface IndexPage {
  /** Of its first segment. */
  readonly prefix: string;
  /** Offset in the index, in bytes. */
  readonly offset: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** Columns of a page in the directory of an index, in order. */
export const pageColumns = ['prefix', 'offset', 'bytes', 'sha256'] as const;

/** A stored index, and where its directory begins. */
export interface IndexFacts {
  readonly sha256: string;
  readonly bytes: number;
  readonly segments: number;
  /** Bytes of the largest deflate block. */
  readonly blockBytesMax: number;
  /** The last bytes of the index: a line for each page. */
  readonly directory: { readonly offset: number; readonly bytes: number; readonly sha256: string };
}

/** Segments of a page: with 5 million rows, directory, page and segment have some 12 kB each. */
const segmentsOfPage = 96;

/**
 * Writes the index of an artefact as stored and served: a line for each segment, tab separated, ascending by prefix, then the
 * directory, a line for each page of them. So a look-up reads directory, page and segment alone, each checked by a digest that
 * was read before it, and neither writer nor reader holds more than a page.
 */
export class SegmentIndexWriter {
  private readonly hash = beginSha256();
  private readonly pages: IndexPage[] = [];
  private waiting: Segment[] = [];
  private segments = 0;
  private bytes = 0;
  private blockBytesMax = 0;

  /** Takes the next segment; returns the next bytes of the index, often none. */
  add(segment: Segment): Uint8Array {
    this.segments++;
    this.blockBytesMax = Math.max(this.blockBytesMax, segment.bytes);
    this.waiting.push(segment);
    return this.waiting.length < segmentsOfPage ? new Uint8Array(0) : this.endPage();
  }

  /** The last bytes of the index, and its facts. */
  end(): { readonly bytes: Uint8Array; readonly facts: IndexFacts } {
    const page = this.endPage();
    const offset = this.bytes;
    const directory = this.emit(
      this.pages.map(({ prefix, offset, bytes, sha256 }) => `${prefix}\t${offset}\t${bytes}\t${sha256}\n`).join(''),
    );
    return {
      bytes: joinBytes([page, directory]),
      facts: {
        sha256: this.hash.digest('hex'),
        bytes: this.bytes,
        segments: this.segments,
        blockBytesMax: this.blockBytesMax,
        directory: { offset, bytes: directory.length, sha256: sha256Of(directory) },
      },
    };
  }

  private endPage(): Uint8Array {
    if (this.waiting.length === 0) return new Uint8Array(0);
    const { prefix } = this.waiting[0]!;
    const offset = this.bytes;
    const page = this.emit(this.waiting.map(formatSegment).join(''));
    this.pages.push({ prefix, offset, bytes: page.length, sha256: sha256Of(page) });
    this.waiting = [];
    return page;
  }

  private emit(text: string): Uint8Array {
    const bytes = toUtf8(text);
    this.hash.update(bytes);
    this.bytes += bytes.length;
    return bytes;
  }
}

function formatSegment({ prefix, offset, bytes, plainBytes, rows, crc, blockCrc, sha256 }: Segment): string {
  return `${prefix}\t${offset}\t${bytes}\t${plainBytes}\t${rows}\t${formatCrc32(crc)}\t${formatCrc32(blockCrc)}\t${sha256}\n`;
}

const pagePattern = /^(\+\d*)\t(\d{1,15})\t(\d{1,15})\t([0-9a-f]{64})$/;

/**
 * Reads the directory of an index.
 * @throws ClientError `segment_index_invalid` unless it is that of the facts, well formed, ascending and without gaps
 */
export function parseDirectory(bytes: Uint8Array, { directory }: Pick<IndexFacts, 'directory'>): IndexPage[] {
  if (sha256Of(bytes) !== directory.sha256) throw invalidIndex('The digest of the directory is wrong.');
  const pages = linesOf(bytes).map((line, at): IndexPage => {
    const match = pagePattern.exec(line);
    if (match === null) throw invalidIndex(`Line ${at + 1} of the directory is not a page.`);
    const [, prefix, offset, length, sha256] = match;
    return { prefix: prefix!, offset: Number(offset), bytes: Number(length), sha256: sha256! };
  });
  requireOrder(pages);
  return pages;
}

const segmentPattern =
  /^(\+\d*)\t(\d{1,15})\t(\d{1,15})\t(\d{1,15})\t(\d{1,15})\t([0-9a-f]{8})\t([0-9a-f]{8})\t([0-9a-f]{64})$/;

/**
 * Reads a page of an index.
 * @throws ClientError `segment_index_invalid` unless it is the page of the directory, well formed, ascending and without gaps
 */
export function parsePage(bytes: Uint8Array, { sha256 }: Pick<IndexPage, 'sha256'>): Segment[] {
  if (sha256Of(bytes) !== sha256) throw invalidIndex('The digest of a page is wrong.');
  const segments = linesOf(bytes).map((line, at): Segment => {
    const match = segmentPattern.exec(line);
    if (match === null) throw invalidIndex(`Line ${at + 1} of a page is not a segment.`);
    const [, prefix, offset, length, plainBytes, rows, crc, blockCrc, digest] = match;
    return {
      prefix: prefix!,
      offset: Number(offset),
      bytes: Number(length),
      plainBytes: Number(plainBytes),
      rows: Number(rows),
      crc: Number.parseInt(crc!, 16),
      blockCrc: Number.parseInt(blockCrc!, 16),
      sha256: digest!,
    };
  });
  requireOrder(segments);
  return segments;
}

/**
 * Reads a whole index.
 * @throws ClientError as {@link parseDirectory} and {@link parsePage}
 */
export function parseSegmentIndex(index: Uint8Array, facts: Pick<IndexFacts, 'directory'>): Segment[] {
  const pages = parseDirectory(index.subarray(facts.directory.offset), facts);
  return pages.flatMap((page) => parsePage(index.subarray(page.offset, page.offset + page.bytes), page));
}

function linesOf(bytes: Uint8Array): string[] {
  const lines = fromUtf8(bytes).split('\n');
  if (lines.pop() !== '') throw invalidIndex('The last line has no end.');
  return lines;
}

function requireOrder(items: readonly Pick<IndexPage, 'prefix' | 'offset' | 'bytes'>[]): void {
  items.forEach(({ prefix, offset }, at) => {
    const before = items[at - 1];
    if (before !== undefined && (before.prefix >= prefix || before.offset + before.bytes !== offset))
      throw invalidIndex(`Line ${at + 1} does not follow the one before it.`);
  });
}

function invalidIndex(problem: string): ClientError {
  return new ClientError('segment_index_invalid', { operation: 'read segment index', problem });
}

/** The page with the segment that would have the row of a key; undefined if no page can have it. */
export function findPage(pages: readonly IndexPage[], key: string): IndexPage | undefined {
  return lastNotAfter(pages, key);
}

/**
 * The segment that would have the row of a key: the last one whose prefix does not sort after the key, if the key begins with that
 * prefix. It is the longest listed prefix of the key: one that sorts between another prefix P and the key begins with P, and where
 * there is one, the segment of P has a single row, whose key is P itself.
 */
export function findSegment(segments: readonly Segment[], key: string): Segment | undefined {
  const found = lastNotAfter(segments, key);
  return found !== undefined && key.startsWith(found.prefix) ? found : undefined;
}

function lastNotAfter<Item extends { readonly prefix: string }>(items: readonly Item[], key: string): Item | undefined {
  return items[firstNotBefore(items, ({ prefix }) => prefix <= key) - 1];
}

/** A compressed segment, before it has a place in the file. */
export interface SegmentBlock extends CompressedBlock {
  readonly segment: Omit<Segment, 'offset'>;
}

/** Compresses a segment, whose SHA-256 is known. Not in browsers. */
export async function compressSegment({
  prefix,
  plain,
  rows,
  sha256,
}: CutSegment & { readonly sha256: string }): Promise<SegmentBlock> {
  const block = await compressBlock(plain);
  const { deflated, plainBytes, crc } = block;
  const [bytes, blockCrc] = [deflated.length, crc32(deflated)];
  return { ...block, segment: { prefix, bytes, plainBytes, rows, crc, blockCrc, sha256 } };
}

/**
 * The rows of a segment, from its bytes in the artefact alone.
 * @throws ClientError `segment_index_invalid` if they do not match the index: the bytes are damaged, or of another version.
 */
export async function inflateSegment(
  deflated: Uint8Array,
  segment: Pick<Segment, 'plainBytes' | 'crc'>,
): Promise<Uint8Array> {
  const plain = await inflateBlocks(deflated, segment.plainBytes).catch((cause: unknown) => {
    throw notAsIndexed(cause);
  });
  if (plain.length !== segment.plainBytes || crc32(plain) !== segment.crc) throw notAsIndexed();
  return plain;
}

/** The error of bytes that do not match their index. */
export function notAsIndexed(cause?: unknown): ClientError {
  return new ClientError('segment_index_invalid', {
    operation: 'read segment',
    problem: 'The bytes of a segment do not match the segment index.',
    cause,
  });
}
