import { describe, expect, it } from 'vitest';
import { decodePng, encodeGrayPng } from '../../../../../pipelines/branding/reading/ocr/png.ts';
import { png, pngChunk, type PngParts } from '../png-builder.ts';

const limits = { pixelsMax: 1000 };
const pixels = (parts: PngParts) => [...decodePng(png(parts), limits).gray];

describe('a PNG', () => {
  it.each<[string, PngParts, number[]]>([
    ['grey of 1 bit', { width: 3, height: 1, depth: 1, rows: Buffer.from([0, 0b10100000]) }, [255, 0, 255]],
    ['grey of 2 bits', { width: 4, height: 1, depth: 2, rows: Buffer.from([0, 0b00011011]) }, [0, 85, 170, 255]],
    ['grey of 4 bits', { width: 2, height: 1, depth: 4, rows: Buffer.from([0, 0x0f]) }, [0, 255]],
    ['grey of 8 bits', { width: 2, height: 1, rows: Buffer.from([0, 7, 200]) }, [7, 200]],
    ['grey of 16 bits', { width: 2, height: 1, depth: 16, rows: Buffer.from([0, 7, 99, 200, 200]) }, [7, 200]],
    ['colour', { width: 2, height: 1, colour: 2, rows: Buffer.from([0, 255, 0, 0, 255, 255, 255]) }, [76, 255]],
    [
      'colour with transparency, on white',
      { width: 2, height: 1, colour: 6, rows: Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 255]) },
      [255, 0],
    ],
    [
      'grey with transparency, on white',
      { width: 2, height: 1, colour: 4, rows: Buffer.from([0, 0, 0, 0, 255]) },
      [255, 0],
    ],
    [
      'a palette',
      {
        width: 2,
        height: 1,
        colour: 3,
        chunks: [pngChunk('PLTE', Buffer.from([0, 0, 0, 255, 255, 255]))],
        rows: Buffer.from([0, 1, 0]),
      },
      [255, 0],
    ],
    [
      'a palette with transparency',
      {
        width: 2,
        height: 1,
        colour: 3,
        chunks: [pngChunk('PLTE', Buffer.from([0, 0, 0, 9, 9, 9])), pngChunk('tRNS', Buffer.from([0]))],
        rows: Buffer.from([0, 0, 1]),
      },
      [255, 9],
    ],
    ['filter Sub', { width: 3, height: 1, rows: Buffer.from([1, 10, 10, 10]) }, [10, 20, 30]],
    ['filter Up', { width: 2, height: 2, rows: Buffer.from([0, 10, 20, 2, 1, 2]) }, [10, 20, 11, 22]],
    ['filter Average', { width: 2, height: 2, rows: Buffer.from([0, 10, 20, 3, 1, 2]) }, [10, 20, 6, 15]],
    ['filter Paeth', { width: 2, height: 2, rows: Buffer.from([0, 10, 20, 4, 1, 2]) }, [10, 20, 11, 22]],
    ['the seven passes', { width: 2, height: 2, interlace: 1, rows: Buffer.from([0, 1, 0, 2, 0, 3, 4]) }, [1, 2, 3, 4]],
  ])('of %s is decoded to grey', (_name, parts, gray) => {
    expect(pixels(parts)).toEqual(gray);
  });

  it('that the encoder wrote comes back as it was', () => {
    const image = {
      width: 30,
      height: 20,
      gray: Uint8Array.from({ length: 600 }, (_none, index) => (index * 37) % 256),
    };
    expect(decodePng(encodeGrayPng(image), limits)).toEqual(image);
  });

  it('of as many pixels as the limit is read, and of one more is not', () => {
    expect(decodePng(png({ width: 1000, height: 1, rows: Buffer.alloc(1001) }), limits)).toMatchObject({
      width: 1000,
      height: 1,
    });
    expect(() => decodePng(png({ width: 1001, height: 1, rows: Buffer.alloc(1002) }), limits)).toThrow(
      /more than 1000/,
    );
  });

  it.each<[string, Buffer, string]>([
    [
      'with fewer rows than its head says',
      png({ width: 2, height: 2, rows: Buffer.from([0, 1, 2]) }),
      'letter_damaged',
    ],
    ['that is cut off', png({ width: 2, height: 1, rows: Buffer.alloc(3) }).subarray(0, -6), 'letter_damaged'],
    [
      'with bytes after its end',
      Buffer.concat([png({ width: 2, height: 1, rows: Buffer.alloc(3) }), Buffer.from('%PDF')]),
      'letter_polyglot',
    ],
  ])('%s is refused', (_name, bytes, code) => {
    expect(() => decodePng(bytes, limits)).toThrow(expect.objectContaining({ code }) as Error);
  });
});
