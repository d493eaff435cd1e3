import { crc32, deflateSync } from 'node:zlib';

/** A picture of one byte a pixel, row by row from the top: 0 is black, 255 white. */
export interface GrayImage {
  readonly width: number;
  readonly height: number;
  readonly gray: Uint8Array;
}

/** The eight bytes that a PNG starts with (W3C PNG, section 5.2). */
export const pngSignature: Uint8Array = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** Metadata of a PNG. */
interface PngOptions {
  /** Written as a pHYs chunk, in whole pixels a metre. Without it the picture has no size on paper. */
  readonly dotsPerInch?: number;
  /** zlib's level, 0 to 9. */
  readonly level?: number;
}

const filterUp = 2;
const inchesPerMetre = 1 / 0.0254;

/**
 * A picture as a PNG of 8-bit grey. Every row has the filter Up: white space and the strokes of letters continue from one
 * row to the next, so most differences are 0. The same picture gives the same bytes.
 * @throws RangeError if the pixels are not `width` times `height`
 */
export function encodeGrayPng(
  { width, height, gray }: GrayImage,
  { dotsPerInch, level = 6 }: PngOptions = {},
): Uint8Array {
  if (width < 1 || height < 1 || gray.length !== width * height)
    throw new RangeError(`A picture of ${width} x ${height} does not have ${gray.length} pixels.`);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits a sample; colour type, compression, filter method and interlace stay 0: grey, deflate, adaptive, none
  const density = dotsPerInch === undefined ? [] : [chunk('pHYs', densityData(dotsPerInch))];
  return Buffer.concat([
    pngSignature,
    chunk('IHDR', header),
    ...density,
    chunk('IDAT', deflateSync(filterRows({ width, height, gray }), { level })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Each row as its differences from the row above, after one byte that names the filter. */
function filterRows({ width, height, gray }: GrayImage): Buffer {
  const filtered = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++) {
    const out = row * (width + 1);
    const from = row * width;
    filtered[out] = filterUp;
    for (let x = 0; x < width; x++) filtered[out + 1 + x] = gray[from + x]! - (row === 0 ? 0 : gray[from - width + x]!);
  }
  return filtered;
}

function densityData(dotsPerInch: number): Buffer {
  const data = Buffer.alloc(9);
  const pixelsPerMetre = Math.round(dotsPerInch * inchesPerMetre);
  data.writeUInt32BE(pixelsPerMetre, 0);
  data.writeUInt32BE(pixelsPerMetre, 4);
  data[8] = 1; // the unit is the metre
  return data;
}

/** Length, type, data, and the CRC-32 of type and data (W3C PNG, section 5.3). */
function chunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(typed), 4);
  return Buffer.concat([frame.subarray(0, 4), typed, frame.subarray(4)]);
}
