import { describe, expect, it } from 'vitest';
import { findInk } from '../../../../../pipelines/branding/reading/ocr/ink-marks.ts';
import type { LetterWord } from '../../../../../pipelines/branding/letter-reading.ts';
import { drawPage, height, width } from './drawn-page.ts';

describe('ink on a scanned page', () => {
  const word = (
    left: number,
    top: number,
    wide: number,
    high: number,
    confidence = 90,
    written = 'word',
  ): LetterWord => ({
    text: written,
    confidence,
    box: { left: left / width, top: top / height, width: wide / width, height: high / height },
  });
  /** Strokes up and down, as of a name written by hand. */
  const strokes = Array.from({ length: 20 }, (_none, at) => [200 + at * 8, 700 + (at % 4) * 6, 7, 14] as const);

  it('that no word covers is a mark with its place', () => {
    const [mark, ...more] = findInk(drawPage(...strokes), []);
    expect(more).toEqual([]);
    expect(mark!.left).toBeCloseTo(200 / width, 2);
    expect(mark!.width).toBeCloseTo(160 / width, 1);
    expect(mark!.top).toBeCloseTo(700 / height, 2);
  });

  it('that is a recognised word is none, and that of an unsure one is', () => {
    expect(findInk(drawPage(...strokes), [word(198, 698, 166, 38)])).toEqual([]);
    expect(findInk(drawPage(...strokes), [word(198, 698, 166, 38, 20)])).toHaveLength(1);
    expect(findInk(drawPage(...strokes), [word(198, 698, 166, 38, 90, '—')])).toHaveLength(1);
  });

  it.each<[string, readonly (readonly [number, number, number, number])[]]>([
    ['a rule', [[100, 500, 400, 2]]],
    [
      'a rule askew',
      Array.from({ length: 40 }, (_none, at) => [100 + 10 * at, 500 + Math.round(at / 2), 11, 3] as const),
    ],
    [
      'a frame',
      [
        [100, 100, 600, 2],
        [100, 900, 600, 2],
        [100, 100, 2, 800],
        [700, 100, 2, 802],
      ],
    ],
    [
      'dust',
      [
        [300, 300, 3, 3],
        [500, 200, 2, 2],
      ],
    ],
    ['the shadow of the sheet', [[0, 0, 8, 1100]]],
    ['a bullet', [[100, 300, 8, 8]]],
  ])('that is %s is left out', (_name, boxes) => {
    expect(findInk(drawPage(...boxes), [])).toEqual([]);
  });

  it('across a rule is a mark without the rule', () => {
    const [mark] = findInk(drawPage(...strokes, [120, 715, 400, 2]), []);
    expect(mark!.width).toBeLessThan(0.25);
  });

  it('of two places is two marks', () => {
    expect(
      findInk(
        drawPage(...strokes, ...strokes.map(([left, top, wide, high]) => [left + 300, top, wide, high] as const)),
        [],
      ),
    ).toHaveLength(2);
  });
});
