import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paddedRange } from '../../../format/artefact/padded-range.ts';

/** Segments one after another, after the 10 bytes of a gzip header; the trailer has 10 more. */
function fileOf(lengths: readonly number[]) {
  const segments: { offset: number; bytes: number }[] = [];
  let offset = 10;
  for (const bytes of lengths) {
    segments.push({ offset, bytes });
    offset += bytes;
  }
  return { segments, fileBytes: offset + 10, blockBytesMax: Math.max(...lengths) };
}

const files = fc.record({
  lengths: fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 60 }),
  padTo: fc.integer({ min: 1, max: 40_000 }),
});

describe('a padded range', () => {
  it('holds the whole segment, has the length of all others, and begins on the grid or ends with the file', () => {
    fc.assert(
      fc.property(files, ({ lengths, padTo }) => {
        const { segments, ...file } = fileOf(lengths);
        const ranges = segments.map((segment) => paddedRange(segment, { ...file, padTo }));
        const [{ start: firstStart, end: firstEnd }] = ranges as [{ start: number; end: number }];
        const length = firstEnd - firstStart;
        for (const [at, { start, end }] of ranges.entries()) {
          const { offset, bytes } = segments[at]!;
          expect([start <= offset, end >= offset + bytes, end - start]).toEqual([true, true, length]);
          expect(start % (length / 2) === 0 || end === file.fileBytes).toBe(true);
        }
        expect(length === file.fileBytes || length >= padTo).toBe(true);
      }),
    );
  });

  it('is the whole of a file that is shorter', () => {
    const { segments, ...file } = fileOf([100, 200, 50]);
    for (const segment of segments)
      expect(paddedRange(segment, { ...file, padTo: 4096 })).toEqual({ start: 0, end: file.fileBytes });
  });

  it.each([0, 2 ** 30 + 1, 1.5, Number.NaN])('refuses %d bytes', (padTo) => {
    const { segments, ...file } = fileOf([100]);
    expect(() => paddedRange(segments[0]!, { ...file, padTo })).toThrow(
      expect.objectContaining({ code: 'usage_invalid' }),
    );
  });

  it.each([1, 2 ** 30])('takes %d byte(s)', (padTo) => {
    const { segments, ...file } = fileOf([100]);
    expect(paddedRange(segments[0]!, { ...file, padTo })).toEqual({ start: 0, end: file.fileBytes });
  });
});
