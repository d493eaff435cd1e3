import { inflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { LetterRefused } from '../gate/letter-refused.ts';
import type { GrayImage } from './picture.ts';

const gray = { colorType: 0, inputColorType: 0, inputHasAlpha: false, bitDepth: 8 } as const;

/** A picture as a PNG of 8-bit grey. The same picture gives the same bytes. */
export function encodeGrayPng({ width, height, gray: pixels }: GrayImage): Uint8Array {
  const png = new PNG({ width, height });
  png.data = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.length);
  return PNG.sync.write(png, gray);
}

/**
 * Decodes a PNG to grey on white. Its size and its data are checked first: the decoder takes data that cannot be unpacked, or are too
 * short, for a picture.
 * @throws LetterRefused `letter_damaged`, `letter_page_too_large`, `letter_polyglot` for bytes after the end
 */
export function decodePng(bytes: Uint8Array, { pixelsMax }: { pixelsMax: number }): GrayImage {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  checkSize(file, pixelsMax);
  checkData(file, packedData(file));
  try {
    const { width, height, data } = PNG.sync.read(file);
    return { width, height, gray: grayOnWhite(data) };
  } catch {
    throw pngDamaged('its data cannot be unpacked');
  }
}

function pngDamaged(what: string): LetterRefused {
  return new LetterRefused('letter_damaged', `The PNG is damaged: ${what}.`);
}

/** The first part of a PNG begins with its width and height (W3C PNG section 11.2.1). */
function checkSize(file: Buffer, pixelsMax: number): void {
  if (file.length < 33 || file.toString('latin1', 12, 16) !== 'IHDR') throw pngDamaged('it has no head');
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  if (width === 0 || height === 0) throw pngDamaged('it has no size');
  if (width * height > pixelsMax)
    throw new LetterRefused(
      'letter_page_too_large',
      `The picture has ${width} x ${height} pixels, more than ${pixelsMax}.`,
    );
}

/** The parts IDAT; nothing may follow the part IEND, behind which could be another file. */
function packedData(file: Buffer): Buffer {
  const data: Buffer[] = [];
  let at = 8;
  for (let type = ''; type !== 'IEND';) {
    if (at + 12 > file.length) throw pngDamaged('it is cut off');
    type = file.toString('latin1', at + 4, at + 8);
    const end = at + 12 + file.readUInt32BE(at);
    if (type === 'IDAT') data.push(file.subarray(at + 8, end - 4));
    at = end;
  }
  if (at > file.length) throw pngDamaged('it is cut off');
  if (at < file.length) throw new LetterRefused('letter_polyglot', 'Other bytes follow the end of the PNG.');
  return Buffer.concat(data);
}

/** Samples of a pixel by the kind of colour (W3C PNG table 11.1). */
const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** The data unpack to one byte a row and its samples; those of an interlaced picture to a little more. */
function checkData(file: Buffer, data: Buffer): void {
  const [width, height, depth, colour, interlace] = [
    file.readUInt32BE(16),
    file.readUInt32BE(20),
    file[24]!,
    file[25]!,
    file[28]!,
  ];
  const wanted = height * (1 + Math.ceil((width * depth * (channels[colour] ?? 0)) / 8));
  let unpacked = -1;
  try {
    unpacked = inflateSync(data, { maxOutputLength: (interlace === 0 ? wanted : 2 * wanted) + 1 }).length;
  } catch {
    // more than that, or not packed
  }
  if (interlace === 0 ? unpacked !== wanted : unpacked < wanted) throw pngDamaged('its data are not those of its rows');
}

/** Grey of each pixel of four bytes with the weights of ITU-R BT.601, on white by its opacity. */
function grayOnWhite(data: Uint8Array): Uint8Array {
  const pixels = new Uint8Array(data.length / 4);
  for (let at = 0; at < pixels.length; at++) {
    const light = (data[4 * at]! * 77 + data[4 * at + 1]! * 150 + data[4 * at + 2]! * 29) >> 8;
    pixels[at] = 255 - Math.round(((255 - light) * data[4 * at + 3]!) / 255);
  }
  return pixels;
}
