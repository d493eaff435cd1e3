import type { BrandProfile } from '../brand-profile.ts';
import { dayOf } from '../letter/letter-dates.ts';
import { decideLetterByRules, refusalFinding, type LetterDecision } from '../letter/rules/letter-decision.ts';
import { extractFields, type LetterFields } from '../letter/letter-fields.ts';
import { findFormCodes } from '../form/issued-form.ts';
import type { LetterReadingOutcome } from '../letter-reading.ts';

/** The input of the rules of free text. */
export interface LetterTextFacts {
  readonly reading: LetterReadingOutcome;
  readonly brand: BrandProfile;
  readonly submittedAt: Date;
  /** E.164, each once. */
  readonly requestedPhones: readonly string[];
  /** Requested numbers that belong to another live brand. */
  readonly phonesOfOtherBrands: readonly string[];
  /** Numbers of the CSV that came with the letter; null if none came. */
  readonly csvPhones: readonly string[] | null;
}

/** The findings on the text of a letter. They help a person decide and approve nothing. */
export interface LetterTextDecision extends LetterDecision {
  /** Null if it could not be read. */
  readonly fields: LetterFields | null;
  /** Codes of issued forms in the text. */
  readonly formCodes: readonly string[];
}

/** Applies the rules of free text to a letter. Takes up to half a second for 100,000 characters. */
export function decideLetterText({
  reading: outcome,
  brand,
  submittedAt,
  requestedPhones,
  phonesOfOtherBrands,
  csvPhones,
}: LetterTextFacts): LetterTextDecision {
  if (outcome.kind === 'refused')
    return {
      findings: [refusalFinding(outcome.code, outcome.problem)],
      fields: null,
      signedOn: null,
      coveredPhones: [],
      formCodes: [],
    };
  const { reading } = outcome;
  const names = [brand.legalName, brand.dba, brand.displayName].filter((name) => name !== null);
  const fields = extractFields(reading, { country: brand.country, names });
  const latestDay = dayOf(new Date(submittedAt.getTime() + mostAdvancedZoneMs));
  const decision = decideLetterByRules({
    submittedOn: dayOf(submittedAt),
    latestDay,
    brand,
    requestedPhones,
    csvPhones,
    phonesOfOtherBrands,
    reading,
    fields,
  });
  return { ...decision, fields, formCodes: findFormCodes(reading) };
}

/** Kiribati's Line Islands are 14 hours ahead of UTC. */
const mostAdvancedZoneMs = 14 * 3_600_000;
