/** Limits of reading a letter: two settings of the service, and {@link readingLimits}. */
export interface LetterLimits {
  readonly letterBytesMax: number;
  readonly letterPagesMax: number;
  /** Longest side of a page. Scans whose pixels were taken for points have 48.7 inches (A4 at 300 dots an inch). */
  readonly letterPageInchesMax: number;
  /** Pixels of a PNG, of a picture in a PDF, or of a rendered page. */
  readonly letterPixelsMax: number;
  /** Wall time of the child that reads text. */
  readonly letterTextSecondsMax: number;
  /** Wall time of the child that draws pages and recognises text, for one letter. */
  readonly letterOcrSecondsMax: number;
  /** Resident memory of the child that reads text. */
  readonly letterTextMemoryBytesMax: number;
  /** Resident memory of the child that draws pages and recognises text. */
  readonly letterOcrMemoryBytesMax: number;
  /** Bytes that a child may print. */
  readonly letterOutputBytesMax: number;
}

const MiB = 1024 * 1024;

/** Sufficient for every letter that was measured (docs/letters.md), and no more. */
export const readingLimits = {
  letterPageInchesMax: 50,
  /** A4 at 600 dots per inch has 35 million. */
  letterPixelsMax: 40_000_000,
  letterTextSecondsMax: 20,
  letterOcrSecondsMax: 400,
  letterTextMemoryBytesMax: 256 * MiB,
  letterOcrMemoryBytesMax: 512 * MiB,
  letterOutputBytesMax: 8 * MiB,
} as const satisfies Partial<LetterLimits>;

/** The settings among the limits, and for tests replacements of {@link readingLimits}. */
export type GivenLimits = Pick<LetterLimits, 'letterBytesMax' | 'letterPagesMax'> & Partial<LetterLimits>;

/** The limits alone, picked from an object that may hold more: a child gets no other setting and no secret. */
export function onlyLimits(given: GivenLimits): LetterLimits {
  const limits: LetterLimits = { ...readingLimits, ...given };
  const names = ['letterBytesMax', 'letterPagesMax', ...Object.keys(readingLimits)] as (keyof LetterLimits)[];
  return Object.fromEntries(names.map((name) => [name, limits[name]])) as unknown as LetterLimits;
}
