import { crc32, createInflate } from 'node:zlib';
import { LetterRefused } from '../gate/letter-refused.ts';
import { undoPngFilter } from '../pdf/pdf-file.ts';
import { pngSignature, type GrayImage } from './png.ts';

interface PngHeader {
  readonly width: number;
  readonly height: number;
  /** Bits of a sample. */
  readonly depth: number;
  readonly colour: 'gray' | 'rgb' | 'palette' | 'gray-alpha' | 'rgba';
  readonly channels: number;
  readonly interlaced: boolean;
}

interface PngParts {
  readonly header: PngHeader;
  /** Grey on white of each entry of the palette. */
  readonly palette: Uint8Array;
  readonly data: readonly Buffer[];
}

/** Kinds of colour by their number, with the depths that each allows (W3C PNG table 11.1). */
const kinds: Readonly<
  Record<
    number,
    { readonly colour: PngHeader['colour']; readonly channels: number; readonly depths: readonly number[] }
  >
> = {
  0: { colour: 'gray', channels: 1, depths: [1, 2, 4, 8, 16] },
  2: { colour: 'rgb', channels: 3, depths: [8, 16] },
  3: { colour: 'palette', channels: 1, depths: [1, 2, 4, 8] },
  4: { colour: 'gray-alpha', channels: 2, depths: [8, 16] },
  6: { colour: 'rgba', channels: 4, depths: [8, 16] },
};

const chunksMax = 10_000;
const headBytes = 33;
const endBytes = 12;

function pngDamaged(what: string): LetterRefused {
  return new LetterRefused('letter_damaged', `The PNG is damaged: ${what}.`);
}

/**
 * Decodes a PNG to grey on white, with one row in memory besides the result; data beyond the last row is refused.
 * @throws LetterRefused `letter_damaged`, `letter_page_too_large`, `letter_polyglot` for bytes after the end
 */
export async function decodePng(bytes: Uint8Array, { pixelsMax }: { pixelsMax: number }): Promise<GrayImage> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const header = readHeader(buffer);
  const { width, height } = header;
  if (width * height > pixelsMax)
    throw new LetterRefused(
      'letter_page_too_large',
      `The picture has ${width} x ${height} pixels, more than ${pixelsMax}.`,
    );
  const parts = readParts(buffer, header);
  const image = { width, height, gray: new Uint8Array(width * height).fill(255) };
  const rows = new PngRowReader(parts, image.gray);
  const inflate = createInflate({ chunkSize: 256 * 1024 });
  for (const part of parts.data) inflate.write(part);
  inflate.end();
  try {
    for await (const chunk of inflate) rows.add(chunk as Buffer);
  } catch (error) {
    throw error instanceof LetterRefused ? error : pngDamaged('its data cannot be unpacked');
  }
  if (!rows.isDone()) throw pngDamaged('rows are missing');
  return image;
}

function readHeader(bytes: Buffer): PngHeader {
  if (bytes.length < headBytes + endBytes || bytes.compare(pngSignature, 0, 8, 0, 8) !== 0)
    throw pngDamaged('it is cut off');
  if (
    bytes.readUInt32BE(8) !== 13 ||
    bytes.toString('latin1', 12, 16) !== 'IHDR' ||
    crc32(bytes.subarray(12, 29)) !== bytes.readUInt32BE(29)
  )
    throw pngDamaged('it has no head');
  const [width, height, depth, kind, interlace] = [
    bytes.readUInt32BE(16),
    bytes.readUInt32BE(20),
    bytes[24]!,
    kinds[bytes[25]!],
    bytes[28]!,
  ];
  if (width === 0 || height === 0 || width > 0x7fffffff || height > 0x7fffffff) throw pngDamaged('it has no size');
  if (kind === undefined || !kind.depths.includes(depth) || bytes[26] !== 0 || bytes[27] !== 0 || interlace > 1)
    throw pngDamaged('its head names a form that does not exist');
  return { width, height, depth, colour: kind.colour, channels: kind.channels, interlaced: interlace === 1 };
}

function readParts(bytes: Buffer, header: PngHeader): PngParts {
  const data: Buffer[] = [];
  let [colours, alphas]: [Uint8Array, Uint8Array] = [new Uint8Array(), new Uint8Array()];
  let at = headBytes;
  for (let count = 0; ; count++) {
    const chunk = readChunk(bytes, at, count);
    at = chunk.end;
    if (chunk.type === 'IEND') break;
    if (chunk.type === 'IDAT') data.push(chunk.data);
    else if (chunk.type === 'PLTE') colours = chunk.data;
    else if (chunk.type === 'tRNS') alphas = chunk.data;
    else if (/^[A-Z]/.test(chunk.type)) throw pngDamaged('it has a part that does not exist');
  }
  if (at !== bytes.length) throw new LetterRefused('letter_polyglot', 'Other bytes follow the end of the PNG.');
  if (header.colour === 'palette' && (colours.length < 3 || colours.length % 3 !== 0))
    throw pngDamaged('it has no palette');
  return { header, data, palette: grayPalette(colours, alphas) };
}

function readChunk(bytes: Buffer, at: number, count: number): { type: string; data: Buffer; end: number } {
  if (count > chunksMax) throw new LetterRefused('letter_limit_exceeded', `The PNG has more than ${chunksMax} parts.`);
  if (at + endBytes > bytes.length) throw pngDamaged('it is cut off');
  const length = bytes.readUInt32BE(at);
  const end = at + endBytes + length;
  if (end > bytes.length) throw pngDamaged('it is cut off');
  if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) throw pngDamaged('a checksum is wrong');
  return { type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, end - 4), end };
}

function grayPalette(colours: Uint8Array, alphas: Uint8Array): Uint8Array {
  const palette = new Uint8Array(256);
  for (let at = 0; at * 3 + 2 < colours.length && at < 256; at++)
    palette[at] = onWhite(luma(colours[at * 3]!, colours[at * 3 + 1]!, colours[at * 3 + 2]!), alphas[at] ?? 255);
  return palette;
}

/** Grey of a colour with the weights of ITU-R BT.601. */
function luma(red: number, green: number, blue: number): number {
  return (red * 77 + green * 150 + blue * 29) >> 8;
}

function onWhite(gray: number, alpha: number): number {
  return 255 - Math.round(((255 - gray) * alpha) / 255);
}

interface Pass {
  readonly left: number;
  readonly top: number;
  readonly stepX: number;
  readonly stepY: number;
}

/** The seven passes of Adam7 (W3C PNG section 8.2). */
const adam7: readonly Pass[] = [
  { left: 0, top: 0, stepX: 8, stepY: 8 },
  { left: 4, top: 0, stepX: 8, stepY: 8 },
  { left: 0, top: 4, stepX: 4, stepY: 8 },
  { left: 2, top: 0, stepX: 4, stepY: 4 },
  { left: 0, top: 2, stepX: 2, stepY: 4 },
  { left: 1, top: 0, stepX: 2, stepY: 2 },
  { left: 0, top: 1, stepX: 1, stepY: 2 },
];
const plain: readonly Pass[] = [{ left: 0, top: 0, stepX: 1, stepY: 1 }];

/** Assembles unpacked bytes into rows, and rows into the picture. */
class PngRowReader {
  private readonly parts: PngParts;
  private readonly gray: Uint8Array;
  private readonly passes: Pass[];
  private readonly pixelBytes: number;
  private y = 0;
  private row = Buffer.alloc(0);
  private above = Buffer.alloc(0);
  private filled = 0;

  constructor(parts: PngParts, gray: Uint8Array) {
    const { width, height, depth, channels, interlaced } = parts.header;
    this.parts = parts;
    this.gray = gray;
    this.pixelBytes = Math.max(1, (depth * channels) >> 3);
    this.passes = (interlaced ? adam7 : plain).filter(({ left, top }) => left < width && top < height);
    this.startPass();
  }

  isDone(): boolean {
    return this.passes.length === 0;
  }

  add(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.isDone()) throw pngDamaged('it has more data than rows');
      const taken = chunk.copy(this.row, this.filled, at);
      at += taken;
      this.filled += taken;
      if (this.filled === this.row.length) this.endRow();
    }
  }

  private startPass(): void {
    const pass = this.passes[0];
    if (pass === undefined) return;
    const { width, depth, channels } = this.parts.header;
    const pixels = Math.ceil((width - pass.left) / pass.stepX);
    this.row = Buffer.alloc(1 + Math.ceil((pixels * depth * channels) / 8));
    this.above = Buffer.alloc(this.row.length);
    [this.y, this.filled] = [pass.top, 0];
  }

  private endRow(): void {
    const pass = this.passes[0]!;
    undoPngFilter(this.row[0]!, this.row.subarray(1), this.above.subarray(1), this.pixelBytes);
    this.paint(pass);
    [this.row, this.above, this.filled] = [this.above, this.row, 0];
    this.y += pass.stepY;
    if (this.y < this.parts.header.height) return;
    this.passes.shift();
    this.startPass();
  }

  private paint({ left, stepX }: Pass): void {
    const { width, channels } = this.parts.header;
    const start = this.y * width;
    for (let x = left, sample = 0; x < width; x += stepX, sample += channels)
      this.gray[start + x] = this.grayAt(sample);
  }

  private grayAt(sample: number): number {
    const { colour } = this.parts.header;
    if (colour === 'palette') return this.parts.palette[this.raw(sample)]!;
    if (colour === 'gray') return this.sample(sample);
    if (colour === 'gray-alpha') return onWhite(this.sample(sample), this.sample(sample + 1));
    const gray = luma(this.sample(sample), this.sample(sample + 1), this.sample(sample + 2));
    return colour === 'rgb' ? gray : onWhite(gray, this.sample(sample + 3));
  }

  /** A sample as 0 to 255. */
  private sample(index: number): number {
    const { depth } = this.parts.header;
    if (depth === 8) return this.row[1 + index]!;
    if (depth === 16) return this.row[1 + 2 * index]!;
    return Math.round((this.raw(index) * 255) / ((1 << depth) - 1));
  }

  private raw(index: number): number {
    const { depth } = this.parts.header;
    if (depth === 8) return this.row[1 + index]!;
    const bit = index * depth;
    return (this.row[1 + (bit >> 3)]! >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
  }
}
