import { SUBMITTED_FILES } from '../../submitted-file.ts';

/** Limits of reading a letter. */
export interface LetterLimits {
  readonly letterBytesMax: number;
  readonly letterPagesMax: number;
  /** Longest side of a page. Scans whose pixels were taken for points have 48.7 inches (A4 at 300 dots an inch). */
  readonly letterPageInchesMax: number;
  /** Pixels of a PNG, of a picture in a PDF, or of a rendered page. */
  readonly letterPixelsMax: number;
  /** Wall time of the child that reads the structure of a PDF. */
  readonly letterStructureSecondsMax: number;
  /** Wall time of the child that draws pages and recognises text, for one letter. */
  readonly letterOcrSecondsMax: number;
  /** Resident memory of the child that reads the structure of a PDF. */
  readonly letterStructureMemoryBytesMax: number;
  /** Resident memory of the child that draws pages and recognises text. */
  readonly letterOcrMemoryBytesMax: number;
  /** Bytes that a child may print. */
  readonly letterOutputBytesMax: number;
}

const MiB = 1024 * 1024;

/** Sufficient for every letter that was measured (docs/letters.md), and no more. */
export const letterLimits: LetterLimits = {
  letterBytesMax: SUBMITTED_FILES.letter.bytesMax,
  letterPagesMax: 20,
  letterPageInchesMax: 50,
  /** A4 at 600 dots per inch has 35 million. */
  letterPixelsMax: 40_000_000,
  letterStructureSecondsMax: 20,
  letterOcrSecondsMax: 240,
  letterStructureMemoryBytesMax: 256 * MiB,
  letterOcrMemoryBytesMax: 400 * MiB,
  letterOutputBytesMax: 8 * MiB,
};
