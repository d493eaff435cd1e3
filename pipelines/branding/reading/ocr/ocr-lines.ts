import type { LetterLine, PageMark } from '../../letter-reading.ts';
import { wordBox } from './ink-marks.ts';
import type { RecognisedWord } from './ocr-engine.ts';
import { roundBox, shareWithin, unite } from '../pdf/page-geometry.ts';
import type { GrayImage } from './png.ts';
import { layOut, type TextPiece } from '../pdf/text-layout.ts';

/** A word in ink with a lower confidence is a part of a signature or a logo. */
const inkConfidenceMax = 60;

/** Least part of the word within the ink. */
const inkShareMin = 0.6;

interface WordPiece extends TextPiece {
  readonly word: RecognisedWord;
}

/**
 * Joins recognised words into lines by the rules for text of a PDF, since the engine reads a column of labels and
 * that of their values as two texts.
 */
export function makeOcrLines(
  words: readonly RecognisedWord[],
  marks: readonly PageMark[],
  image: GrayImage,
): LetterLine[] {
  const printed = words.filter(
    (word) =>
      word.confidence >= inkConfidenceMax ||
      isInPrintedLine(word, words) ||
      !marks.some(({ box }) => shareWithin(wordBox(word, image), box) >= inkShareMin),
  );
  const pieces = printed.map((word): WordPiece => ({
    word,
    text: word.text,
    left: word.left,
    right: word.right,
    baseline: word.baseline,
    height: Math.max(1, 0.75 * word.lineHeight),
  }));
  return layOut(pieces).map(({ text, parts }) => {
    const own = (parts as readonly WordPiece[]).map(({ word }) => word);
    const box = own.map((word) => wordBox(word, image)).reduce(unite);
    const letters = own.reduce((sum, word) => sum + word.text.length, 0);
    return {
      text,
      box: roundBox(box),
      confidence: Math.round(own.reduce((sum, word) => sum + word.confidence * word.text.length, 0) / letters),
      font: null,
    };
  });
}

/** Largest distance to a neighbouring word, and from its baseline, in heights of the line. */
const neighbour = { gapHeightsMax: 3, baselineHeightsMax: 0.35 } as const;

/** Fewest digits of other words in the row of a word that is a part of a number: French numbers are printed in pairs. */
const rowDigitsMin = 3;

/**
 * True if a word is part of a line of print: between two sure words, or with digits in a row of digits. A part of a signature
 * follows its label or is alone. Without this rule uncertain parts of telephone numbers were lost, and the rest of a number
 * was another number (bench/letters.ts).
 */
function isInPrintedLine(word: RecognisedWord, words: readonly RecognisedWord[]): boolean {
  if (/\d/.test(word.text) && digitsInRow(word, words) >= rowDigitsMin) return true;
  const sure = words.filter(
    (other) =>
      other !== word &&
      isNextTo(word, other) &&
      other.confidence >= inkConfidenceMax &&
      /[\p{L}\p{N}]{2}/u.test(other.text),
  );
  return sure.some((other) => other.right <= word.left + 1) && sure.some((other) => other.left >= word.right - 1);
}

/** Number of digits in the words of its row, each next to one that has digits too; counted up to {@link rowDigitsMin}. */
function digitsInRow(word: RecognisedWord, words: readonly RecognisedWord[]): number {
  const row = new Set([word]);
  let digits = 0;
  for (const each of row) {
    // grows while it is walked
    for (const other of words) {
      if (row.has(other) || !/\d/.test(other.text) || !isNextTo(each, other)) continue;
      row.add(other);
      digits += other.text.replace(/\D/g, '').length;
      if (digits >= rowDigitsMin) return digits;
    }
  }
  return digits;
}

function isNextTo(word: RecognisedWord, other: RecognisedWord): boolean {
  const gap = Math.max(other.left - word.right, word.left - other.right);
  const sameLine =
    Math.abs(other.baseline - word.baseline) <
    neighbour.baselineHeightsMax * Math.min(other.lineHeight, word.lineHeight);
  return sameLine && gap < neighbour.gapHeightsMax * word.lineHeight;
}
