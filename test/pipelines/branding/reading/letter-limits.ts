import type { LetterLimits } from '../../../../pipelines/branding/reading/gate/letter-limits.ts';

const mebibyte = 1024 * 1024;

/** Limits as the service has them by default. */
export const letterLimits: LetterLimits = {
  letterBytesMax: 10 * mebibyte,
  letterPagesMax: 20,
  letterPageInchesMax: 50,
  letterPixelsMax: 40_000_000,
  letterTextSecondsMax: 20,
  letterOcrSecondsMax: 180,
  letterTextMemoryBytesMax: 256 * mebibyte,
  letterOcrMemoryBytesMax: 512 * mebibyte,
  letterOutputBytesMax: 8 * mebibyte,
};
