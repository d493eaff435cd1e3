import { describe, expect, it } from 'vitest';
import {
  liesOnItsSide,
  measureSkew,
  rotate,
  straighten,
  turnByQuarters,
} from '../../../../../pipelines/branding/reading/ocr/straighten.ts';
import { drawPage } from './drawn-page.ts';

/** Lines of words, as text looks from afar. */
const text = drawPage(
  ...Array.from({ length: 30 }, (_none, line) =>
    [0, 1, 2, 3, 4].map((word) => [80 + word * 130, 90 + line * 28, 100, 9] as const),
  ).flat(),
);

describe('a scanned page', () => {
  it.each([-4, -2, -0.7, 0, 0.4, 1.5, 3, 4.5])(
    'that lies askew by %d degrees is measured within a tenth',
    (degrees) => {
      expect(Math.abs(measureSkew(rotate(text, degrees)) - degrees)).toBeLessThanOrEqual(0.11);
    },
  );

  it('that is level stays as it is, and an empty one too', () => {
    expect(straighten(text)).toEqual({ image: text, degrees: 0 });
    const empty = drawPage();
    expect(straighten(empty)).toEqual({ image: empty, degrees: 0 });
  });

  it.each([
    [0, false],
    [1, true],
    [2, false],
    [3, true],
  ] as const)('that was turned by %d quarters lies on its side: %s', (quarters, expected) => {
    for (const askew of [0, 2, -4.5])
      expect(liesOnItsSide(rotate(turnByQuarters(text, quarters), askew)), `${askew} degrees askew`).toBe(expected);
  });

  it('that was turned by four quarters is as it was, and its pixels go where a turn takes them', () => {
    const small = { width: 2, height: 1, gray: Uint8Array.of(10, 20) };
    expect(turnByQuarters(small, 1)).toEqual({ width: 1, height: 2, gray: Uint8Array.of(10, 20) });
    expect(turnByQuarters(small, 2)).toEqual({ width: 2, height: 1, gray: Uint8Array.of(20, 10) });
    expect(turnByQuarters(small, 3)).toEqual({ width: 1, height: 2, gray: Uint8Array.of(20, 10) });
    expect(turnByQuarters(turnByQuarters(turnByQuarters(turnByQuarters(text, 1), 1), 1), 1)).toEqual(text);
  });

  it('that lies askew is laid level', () => {
    expect(Math.abs(measureSkew(straighten(rotate(text, 2.3)).image))).toBeLessThanOrEqual(0.11);
  });
});
