import {
  letterLimits as serviceLimits,
  type LetterLimits,
} from '../../../../pipelines/branding/reading/gate/letter-limits.ts';

/** Limits of the service, with less time for a scan. */
export const letterLimits: LetterLimits = { ...serviceLimits, letterOcrSecondsMax: 180 };
