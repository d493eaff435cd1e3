import { describe, expect, it } from 'vitest';
import type { PageMark } from '../../../../../pipelines/branding/letter-reading.ts';
import type { RecognisedWord } from '../../../../../pipelines/branding/reading/ocr/ocr-engine.ts';
import { makeOcrLines } from '../../../../../pipelines/branding/reading/ocr/ocr-lines.ts';

const page = { width: 1000, height: 1000, gray: new Uint8Array() };
const everywhere: readonly PageMark[] = [{ kind: 'ink', box: { left: 0, top: 0, width: 1, height: 1 } }];
const [unsure, sure] = [20, 95];

type Placed = readonly [text: string, confidence: number, left?: number];

/** Words on one line, each next to the one before unless it is elsewhere. */
function words(...texts: readonly Placed[]): RecognisedWord[] {
  let right = 90;
  return texts.map(([text, confidence, left = right + 10]) => {
    right = left + 14 * text.length;
    return { text, confidence, left, right, top: 100, bottom: 122, baseline: 122, lineHeight: 28 };
  });
}

const linesOf = (...texts: readonly Placed[]) =>
  makeOcrLines(words(...texts), everywhere, page).map(({ text }) => text);

describe('an unsure word in ink', () => {
  it('is kept in a number that is printed in pairs of digits', () => {
    expect(linesOf(['+33', unsure], ['(0)1', unsure], ['99', sure], ['00', sure], ['71', sure], ['97', sure])).toEqual([
      '+33 (0)1 99 00 71 97',
    ]);
  });

  it('is kept next to three digits in its row, and taken away next to two', () => {
    expect(linesOf(['+3', unsure], ['45', sure], ['6', sure])).toEqual(['+3 45 6']);
    expect(linesOf(['+3', unsure], ['45', sure])).toEqual(['45']);
  });

  it('is taken away where it is apart from the row', () => {
    expect(linesOf(['99', sure], ['00', sure], ['71', sure], ['7', unsure, 600])).toEqual(['99 00 71']);
  });

  it('is taken away after its label, as a piece of a signature is', () => {
    expect(linesOf(['Signature:', sure], ['4le', unsure])).toEqual(['Signature:']);
  });
});
