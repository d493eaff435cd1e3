/** Bounds within which a letter is read. All are settings of the service. */
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
  /** What a child may print. */
  readonly letterOutputBytesMax: number;
}

/** The limits alone, out of an object that may hold more: what goes to a child holds no other setting, and no secret. */
export function onlyLimits(limits: LetterLimits): LetterLimits {
  const { letterBytesMax, letterPagesMax, letterPageInchesMax, letterPixelsMax, letterOutputBytesMax } = limits;
  const { letterTextSecondsMax, letterOcrSecondsMax, letterTextMemoryBytesMax, letterOcrMemoryBytesMax } = limits;
  return {
    letterBytesMax,
    letterPagesMax,
    letterPageInchesMax,
    letterPixelsMax,
    letterTextSecondsMax,
    letterOcrSecondsMax,
    letterTextMemoryBytesMax,
    letterOcrMemoryBytesMax,
    letterOutputBytesMax,
  };
}
