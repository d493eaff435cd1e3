import { describe, expect, it } from 'vitest';
import { double, shrink } from '../../../../../pipelines/branding/reading/ocr/picture-scale.ts';

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

  it('doubled has means between its pixels', () => {
    expect(double({ width: 2, height: 1, gray: Uint8Array.of(0, 100) })).toEqual({
      width: 4,
      height: 2,
      gray: Uint8Array.of(0, 50, 100, 100, 0, 50, 100, 100),
    });
  });
});
