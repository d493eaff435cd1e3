import { createInflate, constants, inflateSync } from 'node:zlib';
import { LetterRefused } from '../gate/letter-refused.ts';
import { fromHex, isPdfSpace } from './pdf-syntax.ts';

/** Filters of one stream; more in a row are a decompression bomb, not a letter (two are common). */
export const filtersMax = 3;

/** By the names of ISO 32000-1 table 6 and their abbreviations. */
const decoders: Readonly<Record<string, Decoder>> = {
  FlateDecode: inflate,
  Fl: inflate,
  LZWDecode: decodeLzw,
  LZW: decodeLzw,
  RunLengthDecode: decodeRunLength,
  RL: decodeRunLength,
  ASCIIHexDecode: fromHex,
  AHx: fromHex,
  ASCII85Decode: decode85,
  A85: decode85,
};

/** Pictures: their size is bounded by the pixels that the dictionary says, and they are not decoded here. */
const pictureFilters = new Set(['DCTDecode', 'DCT', 'JPXDecode', 'CCITTFaxDecode', 'CCF', 'JBIG2Decode']);

type Decoder = (raw: Uint8Array, bytesMax: number, filter: StreamFilter) => Uint8Array;

/** One filter of a stream. */
export interface StreamFilter {
  readonly name: string;
  /** Of LZW: codes grow by a bit when the table is full, not one code before (/EarlyChange 0). */
  readonly isLate?: boolean;
}

/** True for a filter whose output is a picture. */
export function isPictureFilter({ name }: StreamFilter): boolean {
  return pictureFilters.has(name);
}

/**
 * The bytes of a stream after its filters, up to a picture filter, which is not decoded.
 * @throws LetterRefused `letter_limit_exceeded` when a step makes more than `bytesMax` bytes, `letter_damaged`
 */
export function decodeFilters(raw: Uint8Array, filters: readonly StreamFilter[], bytesMax: number): Uint8Array {
  let bytes = raw;
  for (const filter of filters) {
    if (isPictureFilter(filter)) return bytes;
    bytes = decoderOf(filter.name)(bytes, bytesMax, filter);
    if (bytes.length > bytesMax) throw streamTooLarge(bytesMax);
  }
  return bytes;
}

/**
 * How many bytes a stream has after its filters, without keeping them where the last filter is Flate.
 * @throws LetterRefused as {@link decodeFilters}
 */
export async function measureFilters(
  raw: Uint8Array,
  filters: readonly StreamFilter[],
  { stepBytesMax, bytesMax }: { stepBytesMax: number; bytesMax: number },
): Promise<number> {
  const last = filters.at(-1)?.name;
  if (last !== 'FlateDecode' && last !== 'Fl') return decodeFilters(raw, filters, stepBytesMax).length;
  return countInflated(decodeFilters(raw, filters.slice(0, -1), stepBytesMax), bytesMax);
}

function decoderOf(name: string): Decoder {
  if (name === 'Crypt') throw new LetterRefused('letter_encrypted', 'A stream of the PDF is encrypted.');
  const decoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (decoder === undefined)
    throw new LetterRefused('letter_damaged', 'A stream of the PDF has a filter that does not exist.');
  return decoder;
}

function streamTooLarge(bytesMax: number): LetterRefused {
  return new LetterRefused('letter_limit_exceeded', `A stream of the PDF unpacks to more than ${bytesMax} bytes.`);
}

function streamDamaged(): LetterRefused {
  return new LetterRefused('letter_damaged', 'A compressed stream of the PDF is damaged.');
}

/** Streams that were cut short are read up to there, as PDF readers do. */
const tolerant = { finishFlush: constants.Z_SYNC_FLUSH } as const;

function inflate(raw: Uint8Array, bytesMax: number): Uint8Array {
  if (raw.length === 0) return raw;
  try {
    return inflateSync(raw, { ...tolerant, maxOutputLength: bytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw streamTooLarge(bytesMax);
    throw streamDamaged();
  }
}

async function countInflated(raw: Uint8Array, bytesMax: number): Promise<number> {
  if (raw.length === 0) return 0;
  let count = 0;
  const inflating = createInflate({ ...tolerant, chunkSize: 256 * 1024 });
  inflating.end(raw);
  try {
    for await (const chunk of inflating)
      if ((count += (chunk as Buffer).length) > bytesMax) throw streamTooLarge(bytesMax);
  } catch (error) {
    throw error instanceof LetterRefused ? error : streamDamaged();
  }
  return count;
}

const lzwClear = 256;
const lzwEnd = 257;

/** LZW (ISO 32000-1 section 7.4.4.2); the table holds places in the output. */
function decodeLzw(raw: Uint8Array, bytesMax: number, { isLate = false }: StreamFilter): Uint8Array {
  const output = new GrowingBytes(bytesMax);
  const early = isLate ? 0 : 1;
  const starts = new Int32Array(4097);
  const lengths = new Int32Array(4097);
  let [width, next, bits, held, previous] = [9, 258, 0, 0, -1];
  for (const byte of raw) {
    held = ((held << 8) | byte) & 0xffffff;
    bits += 8;
    if (bits < width) continue;
    bits -= width;
    const code = (held >> bits) & ((1 << width) - 1);
    if (code === lzwEnd) break;
    if (code === lzwClear) {
      [width, next, previous] = [9, 258, -1];
      continue;
    }
    if (code > next || (code === next && previous < 0)) throw streamDamaged();
    const at = output.length;
    if (previous >= 0 && next < 4096) {
      // The entry is the string before and the first byte of this one: consecutive bytes of the output.
      starts[next] = at - lengths[previous]!;
      lengths[next] = lengths[previous]! + 1;
      next++;
    }
    if (code < 256) {
      output.push(code);
      lengths[code] = 1;
    } else output.repeat(starts[code]!, lengths[code]!);
    if (next + early >= 1 << width && width < 12) width++;
    previous = code;
  }
  return output.bytes();
}

function decodeRunLength(raw: Uint8Array, bytesMax: number): Uint8Array {
  const output = new GrowingBytes(bytesMax);
  for (let at = 0; at < raw.length;) {
    const length = raw[at++]!;
    if (length === 128) break;
    if (length < 128) for (const stop = Math.min(raw.length, at + length + 1); at < stop; at++) output.push(raw[at]!);
    else for (let left = 257 - length, byte = raw[at++] ?? 0; left > 0; left--) output.push(byte);
  }
  return output.bytes();
}

function decode85(raw: Uint8Array, bytesMax: number): Uint8Array {
  const output = new GrowingBytes(bytesMax);
  let [value, digits] = [0, 0];
  for (const code of raw) {
    if (isPdfSpace(code)) continue;
    if (code === 0x7e /* ~ */) break;
    if (code === 0x7a /* z */ && digits === 0) {
      for (let left = 4; left > 0; left--) output.push(0);
      continue;
    }
    if (code < 0x21 || code > 0x75) throw new LetterRefused('letter_damaged', 'A stream of the PDF is not ASCII85.');
    value = value * 85 + code - 0x21;
    if (++digits === 5) {
      for (const shift of [24, 16, 8, 0]) output.push(Math.floor(value / 2 ** shift) & 0xff);
      [value, digits] = [0, 0];
    }
  }
  if (digits > 1) {
    for (let left = digits; left < 5; left++) value = value * 85 + 84;
    for (let place = 0; place < digits - 1; place++) output.push(Math.floor(value / 2 ** (24 - 8 * place)) & 0xff);
  }
  return output.bytes();
}

/** Bytes that grow up to a limit. */
class GrowingBytes {
  length = 0;
  private buffer = new Uint8Array(16 * 1024);
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  push(byte: number): void {
    this.reserve(1);
    this.buffer[this.length++] = byte;
  }

  /** Appends bytes of the output itself; they may reach into what is being written. */
  repeat(start: number, count: number): void {
    this.reserve(count);
    for (let at = 0; at < count; at++) this.buffer[this.length++] = this.buffer[start + at]!;
  }

  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  private reserve(count: number): void {
    const needed = this.length + count;
    if (needed > this.bytesMax) throw streamTooLarge(this.bytesMax);
    if (needed <= this.buffer.length) return;
    const larger = new Uint8Array(Math.max(needed, this.buffer.length * 2));
    larger.set(this.buffer.subarray(0, this.length));
    this.buffer = larger;
  }
}
