import { crc32, deflateSync } from 'node:zlib';

/** A picture of one byte a pixel, row by row from the top: 0 is black, 255 white. */
export interface GrayImage {
  readonly width: number;
  readonly height: number;
  readonly gray: Uint8Array;
}

/** The eight bytes that a PNG starts with (W3C PNG, section 5.2). */
export const pngSignature: Uint8Array = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

const filterUp = 2;

/**
 * A picture as a PNG of 8-bit grey. Every row has the filter Up: white space and the strokes of letters continue from one
 * row to the next, so most differences are 0. The same picture gives the same bytes.
 * @throws RangeError if the pixels are not `width` times `height`
 */
export function encodeGrayPng({ width, height, gray }: GrayImage): Uint8Array {
  if (width < 1 || height < 1 || gray.length !== width * height)
    throw new RangeError(`A picture of ${width} x ${height} does not have ${gray.length} pixels.`);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits a sample; colour type, compression, filter method and interlace stay 0: grey, deflate, adaptive, none
  return Buffer.concat([
    pngSignature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(filterRows({ width, height, gray }))),
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

/** Length, type, data, and the CRC-32 of type and data (W3C PNG, section 5.3). */
function chunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(typed), 4);
  return Buffer.concat([frame.subarray(0, 4), typed, frame.subarray(4)]);
}
