import { crc32, inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeGrayPng, pngSignature, type GrayImage } from '../../../../../pipelines/branding/reading/ocr/png.ts';

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** The chunks of a PNG, each with a right CRC. */
function chunksOf(png: Uint8Array): Chunk[] {
  const bytes = Buffer.from(png);
  expect(bytes.subarray(0, 8)).toEqual(Buffer.from(pngSignature));
  const chunks: Chunk[] = [];
  for (let place = 8; place < bytes.length;) {
    const length = bytes.readUInt32BE(place);
    expect(crc32(bytes.subarray(place + 4, place + 8 + length))).toBe(bytes.readUInt32BE(place + 8 + length));
    chunks.push({
      type: bytes.toString('latin1', place + 4, place + 8),
      data: bytes.subarray(place + 8, place + 8 + length),
    });
    place += 12 + length;
  }
  return chunks;
}

/** The pixels again, by the definition of the filter Up. */
function pixelsOf(png: Uint8Array): GrayImage {
  const chunks = chunksOf(png);
  const header = chunks[0]!.data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const rows = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)));
  const gray = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    expect(rows[row * (width + 1)]).toBe(2);
    for (let x = 0; x < width; x++)
      gray[row * width + x] = rows[row * (width + 1) + 1 + x]! + (row === 0 ? 0 : gray[(row - 1) * width + x]!);
  }
  return { width, height, gray };
}

describe('a PNG of grey', () => {
  it('has the pixels that it was made of', () => {
    const image = fc
      .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
      .chain(([width, height]) =>
        fc
          .uint8Array({ minLength: width * height, maxLength: width * height })
          .map((gray) => ({ width, height, gray })),
      );
    fc.assert(
      fc.property(image, (each) => {
        expect(pixelsOf(encodeGrayPng(each))).toEqual(each);
      }),
    );
  });

  it('has 8 bits of grey a pixel', () => {
    const image = { width: 2, height: 1, gray: Uint8Array.of(0, 255) };
    const [header, ...rest] = chunksOf(encodeGrayPng(image));
    expect(header).toMatchObject({ type: 'IHDR', data: Buffer.of(0, 0, 0, 2, 0, 0, 0, 1, 8, 0, 0, 0, 0) });
    expect(rest.map(({ type }) => type)).toEqual(['IDAT', 'IEND']);
  });

  it.each([
    [0, 1, 0],
    [1, 0, 0],
    [2, 2, 3],
    [2, 2, 5],
  ])('is refused for %i x %i with %i pixels', (width, height, pixels) => {
    expect(() => encodeGrayPng({ width, height, gray: new Uint8Array(pixels) })).toThrow(RangeError);
  });
});
