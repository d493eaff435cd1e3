import { ServiceError } from '../../../runtime/errors.ts';
import type { LevelCounts } from '../artefact-facts.ts';

/**
 * One independently compressed range of rows: all rows whose phone begins with the prefix and with no longer listed prefix.
 * Its deflate block can be decompressed alone.
 */
export interface Segment {
  readonly prefix: string;
  /** Place of its deflate block in the artefact, in bytes. */
  readonly offset: number;
  /** Bytes of its deflate block. */
  readonly bytes: number;
  readonly plainBytes: number;
  readonly rows: number;
  /** CRC-32 of its plain bytes. */
  readonly crc: number;
  readonly levels: LevelCounts;
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
] as const;

const levelNames = ['NEUTRAL', 'SPAM', 'FRAUD'] as const;

/** The index of an artefact as it is stored and served: a line a segment, tab separated, ascending by prefix. */
export function formatSegmentIndex(segments: readonly Segment[]): Buffer {
  return Buffer.from(segments.map((segment) => `${fieldsOf(segment).join('\t')}\n`).join(''));
}

function fieldsOf({ prefix, offset, bytes, plainBytes, rows, crc, levels }: Segment): (string | number)[] {
  return [
    prefix,
    offset,
    bytes,
    plainBytes,
    rows,
    crc.toString(16).padStart(8, '0'),
    ...levelNames.map((level) => levels[level] ?? 0),
  ];
}

const linePattern = /^\+\d*(?:\t\d{1,15}){4}\t[0-9a-f]{8}(?:\t\d{1,15}){3}$/;

/**
 * Reads a segment index.
 * @throws ServiceError `segment_index_invalid` unless the lines are well formed, ascending and without gaps between the blocks.
 */
export function parseSegmentIndex(text: string): Segment[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw invalid('The last line has no end.');
  const segments = lines.map(parseLine);
  segments.forEach((segment, at) => {
    const before = segments[at - 1];
    if (before !== undefined && (before.prefix >= segment.prefix || before.offset + before.bytes !== segment.offset))
      throw invalid(`Line ${at + 1} does not follow the one before it.`);
  });
  return segments;
}

function parseLine(line: string, at: number): Segment {
  if (!linePattern.test(line)) throw invalid(`Line ${at + 1} is not a segment.`);
  const [prefix = '', offset, bytes, plainBytes, rows, crc = '', ...counts] = line.split('\t');
  const levels: Partial<Record<(typeof levelNames)[number], number>> = {};
  counts.forEach((count, level) => {
    if (count !== '0') levels[levelNames[level]!] = Number(count);
  });
  return {
    prefix,
    offset: Number(offset),
    bytes: Number(bytes),
    plainBytes: Number(plainBytes),
    rows: Number(rows),
    crc: Number.parseInt(crc, 16),
    levels,
  };
}

function invalid(problem: string): ServiceError {
  return new ServiceError('segment_index_invalid', { operation: 'read segment index', problem });
}

/** The segment that a phone's row is in if it is in the artefact: the one with the longest prefix of the phone. */
export function findSegment(segments: readonly Segment[], phone: string): Segment | undefined {
  for (let length = phone.length; length > 0; length--) {
    const found = bisect(segments, phone.slice(0, length));
    if (found !== undefined) return found;
  }
  return undefined;
}

function bisect(segments: readonly Segment[], prefix: string): Segment | undefined {
  let from = 0;
  let to = segments.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (segments[middle]!.prefix < prefix) from = middle + 1;
    else to = middle;
  }
  return segments[from]?.prefix === prefix ? segments[from] : undefined;
}
