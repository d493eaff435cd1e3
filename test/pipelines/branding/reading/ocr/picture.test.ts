import { describe, expect, it } from 'vitest';
import { double, shrink, turnByQuarters } from '../../../../../pipelines/branding/reading/ocr/picture.ts';

describe('a picture', () => {
  const wide = { width: 4, height: 2, gray: Uint8Array.of(0, 100, 8, 8, 100, 200, 8, 8) };

  it('made smaller has the mean of each square', () => {
    expect(shrink(wide, 2)).toEqual({ width: 2, height: 1, gray: Uint8Array.of(100, 8) });
  });

  it('made smaller leaves out the pixels that fill no square, and has one pixel at least', () => {
    expect(shrink(wide, 3)).toEqual({ width: 1, height: 1, gray: Uint8Array.of(69) });
  });

  it('made smaller by one is the same', () => {
    expect(shrink(wide, 1)).toBe(wide);
  });

  it.each([
    [0, { width: 3, height: 2, gray: Uint8Array.of(1, 2, 3, 4, 5, 6) }],
    [1, { width: 2, height: 3, gray: Uint8Array.of(4, 1, 5, 2, 6, 3) }],
    [2, { width: 3, height: 2, gray: Uint8Array.of(6, 5, 4, 3, 2, 1) }],
    [3, { width: 2, height: 3, gray: Uint8Array.of(3, 6, 2, 5, 1, 4) }],
  ])('turned by %d quarters has its pixels turned clockwise', (quarters, turned) => {
    expect(turnByQuarters({ width: 3, height: 2, gray: Uint8Array.of(1, 2, 3, 4, 5, 6) }, quarters)).toEqual(turned);
  });

  it('doubled has means between its pixels', () => {
    expect(double({ width: 2, height: 1, gray: Uint8Array.of(0, 100) })).toEqual({
      width: 4,
      height: 2,
      gray: Uint8Array.of(0, 50, 100, 100, 0, 50, 100, 100),
    });
  });
});
