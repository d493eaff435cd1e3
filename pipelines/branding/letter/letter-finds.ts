import type { LetterReading, LetterPlace } from '../letter-reading.ts';
import { findDates } from './letter-dates.ts';
import { findNames, type FoundName, type RequestedNames } from './letter-names.ts';
import { findNumbers, type FoundNumbers } from './letter-numbers.ts';
import { findSigning, type FoundSigning } from './letter-signature.ts';
import { pageTexts } from './letter-text.ts';

/** A date on a page. */
export interface FoundDate {
  /** YYYY-MM-DD. */
  readonly date: string;
  /** The other reading of an ambiguous 03/04/2026. */
  readonly alternative: string | null;
  readonly place: LetterPlace;
}

/** What was found on the pages of a letter of what was requested with it. Nothing of it is a judgement. */
export interface LetterFinds extends FoundNumbers {
  readonly names: readonly FoundName[];
  readonly dates: readonly FoundDate[];
  readonly signing: FoundSigning;
  /** Least mean confidence of a page, 0 to 100, weighted by characters; null if no page has text. */
  readonly confidence: number | null;
}

/** The request that a letter came with. */
export interface LetterRequest extends RequestedNames {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** E.164. */
  readonly phones: readonly string[];
}

/** Searches the pages of a letter for what was requested with it. */
export function findOnLetter(reading: LetterReading, { country, phones, ...names }: LetterRequest): LetterFinds {
  const pages = pageTexts(reading);
  const list = reading.embeddedCsv?.text ?? null;
  const companyNames = [names.legalName, names.dba, names.displayName].filter((name) => name !== null);
  return {
    ...findNumbers({ pages, list, requested: new Set(phones), country }),
    names: findNames(pages, names),
    dates: pages.flatMap((page) =>
      findDates(page.text, country).map(({ date, alternative, start, end }) => ({
        date,
        alternative,
        place: page.seen(start, end).place,
      })),
    ),
    signing: findSigning(reading, companyNames),
    confidence: leastConfidence(reading),
  };
}

function leastConfidence({ pages }: LetterReading): number | null {
  const means = pages.flatMap(({ lines }) => {
    const characters = lines.reduce((sum, { text }) => sum + text.length, 0);
    const weighted = lines.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0);
    return characters === 0 ? [] : [weighted / characters];
  });
  return means.length === 0 ? null : Math.round(Math.min(...means));
}
