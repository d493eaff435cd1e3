import { readingLimits, type LetterLimits } from '../../../../pipelines/branding/reading/gate/letter-limits.ts';

const mebibyte = 1024 * 1024;

/** Limits as the service has them by default. */
export const letterLimits: LetterLimits = {
  letterBytesMax: 10 * mebibyte,
  letterPagesMax: 20,
  ...readingLimits,
  letterOcrSecondsMax: 180,
};
