import { toUtf8 } from '../base/bytes.ts';
import { inflateBlocks } from '../base/compression.ts';
import { ClientError } from '../base/errors.ts';
import { crc32, formatCrc32 } from '../gzip/crc32.ts';
import { firstNotBefore } from './key-range.ts';
import { LEVELS, type LevelCounts } from './levels.ts';

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
  readonly levels: LevelCounts;
  /** SHA-256 of its plain bytes, and CRC-32 of its deflate block; null in indexes that were made before they were recorded. */
  readonly sha256: string | null;
  readonly blockCrc: number | null;
}

/** Columns of a segment index, in order; numbers in decimal, the CRC as 8 hex digits. */
export const segmentColumns = [
  'prefix',
  'offset',
  'bytes',
  'plain_bytes',
  'rows',
  'crc32',
  'neutral',
  'spam',
  'fraud',
  'sha256',
  'block_crc32',
] as const;

/** The index of an artefact as stored and served: a line for each segment, tab separated, ascending by prefix. */
export function formatSegmentIndex(segments: readonly Segment[]): Uint8Array {
  return toUtf8(segments.map((segment) => `${fieldsOf(segment).join('\t')}\n`).join(''));
}

function fieldsOf(segment: Segment): (string | number)[] {
  const { prefix, offset, bytes, plainBytes, rows, crc, levels, sha256, blockCrc } = segment;
  return [
    prefix,
    offset,
    bytes,
    plainBytes,
    rows,
    formatCrc32(crc),
    ...LEVELS.map((level) => levels[level] ?? 0),
    ...(sha256 === null || blockCrc === null ? [] : [sha256, formatCrc32(blockCrc)]),
  ];
}

const linePattern = /^\+\d*(?:\t\d{1,15}){4}\t[0-9a-f]{8}(?:\t\d{1,15}){3}(?:\t[0-9a-f]{64}\t[0-9a-f]{8})?$/;

/**
 * Reads a segment index.
 * @throws ClientError `segment_index_invalid` unless the lines are well formed, ascending and without gaps between the blocks.
 */
export function parseSegmentIndex(text: string): Segment[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw invalidIndex('The last line has no end.');
  const segments = lines.map(parseLine);
  segments.forEach((segment, at) => {
    const before = segments[at - 1];
    if (before !== undefined && (before.prefix >= segment.prefix || before.offset + before.bytes !== segment.offset))
      throw invalidIndex(`Line ${at + 1} does not follow the one before it.`);
  });
  return segments;
}

function parseLine(line: string, at: number): Segment {
  if (!linePattern.test(line)) throw invalidIndex(`Line ${at + 1} is not a segment.`);
  const [prefix = '', offset, bytes, plainBytes, rows, crc = '', ...rest] = line.split('\t');
  const [sha256 = null, blockCrc] = rest.slice(LEVELS.length);
  const levels: LevelCounts = {};
  rest.slice(0, LEVELS.length).forEach((count, level) => {
    if (count !== '0') levels[LEVELS[level]!] = Number(count);
  });
  return {
    prefix,
    offset: Number(offset),
    bytes: Number(bytes),
    plainBytes: Number(plainBytes),
    rows: Number(rows),
    crc: Number.parseInt(crc, 16),
    levels,
    sha256,
    blockCrc: blockCrc === undefined ? null : Number.parseInt(blockCrc, 16),
  };
}

function invalidIndex(problem: string): ClientError {
  return new ClientError('segment_index_invalid', { operation: 'read segment index', problem });
}

/** The segment that would contain the row of a phone: the one with the longest prefix of the phone. */
export function findSegment(segments: readonly Segment[], phone: string): Segment | undefined {
  for (let length = phone.length; length > 0; length--) {
    const prefix = phone.slice(0, length);
    const found = segments[firstNotBefore(segments, (segment) => segment.prefix < prefix)];
    if (found?.prefix === prefix) return found;
  }
  return undefined;
}

/** The facts about the rows of a segment. */
type PlainFacts = Pick<Segment, 'plainBytes' | 'crc'>;

/**
 * The rows of a segment, from its bytes in the artefact alone.
 * @throws ClientError `segment_index_invalid` if they do not match the index: the bytes are damaged, or of another version.
 */
export function inflateSegment(deflated: Uint8Array, segment: PlainFacts): Promise<Uint8Array> {
  return inflateSegments(deflated, [segment]);
}

/**
 * The rows of adjacent segments, from their bytes in the artefact.
 * @throws ClientError as {@link inflateSegment}, for each of them
 */
export async function inflateSegments(deflated: Uint8Array, segments: readonly PlainFacts[]): Promise<Uint8Array> {
  const plainBytes = segments.reduce((sum, segment) => sum + segment.plainBytes, 0);
  const plain = await inflateBlocks(deflated, plainBytes).catch((cause: unknown) => {
    throw notAsIndexed(cause);
  });
  if (plain.length !== plainBytes || !areAsIndexed(plain, segments)) throw notAsIndexed();
  return plain;
}

function areAsIndexed(plain: Uint8Array, segments: readonly PlainFacts[]): boolean {
  let at = 0;
  return segments.every(({ plainBytes, crc }) => crc32(plain.subarray(at, (at += plainBytes))) === crc);
}

/** The error of bytes that do not match their index. */
export function notAsIndexed(cause?: unknown): ClientError {
  return new ClientError('segment_index_invalid', {
    operation: 'read segment',
    problem: 'The bytes of a segment do not match the segment index.',
    cause,
  });
}
