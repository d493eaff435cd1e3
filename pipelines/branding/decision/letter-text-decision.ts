import type { BrandProfile } from '../brand-profile.ts';
import type { Finding } from '../finding.ts';
import { findFormCodes } from '../form/issued-form.ts';
import type { LetterReading, LetterReadingOutcome } from '../letter-reading.ts';
import { dayOf, daysBetween } from '../letter/letter-dates.ts';
import { findOnLetter, type LetterFinds } from '../letter/letter-finds.ts';
import { findingsOnLetter, refusalFinding } from '../letter/rules/letter-findings.ts';

/** A letter, and what was requested with it. */
export interface LetterTextFacts {
  readonly reading: LetterReadingOutcome;
  readonly brand: BrandProfile;
  readonly submittedAt: Date;
  /** E.164, each once. */
  readonly requestedPhones: readonly string[];
  /** Requested numbers that belong to another live brand. */
  readonly phonesOfOtherBrands: readonly string[];
}

/** What was found on a letter. It helps a person decide and approves nothing. */
export interface LetterTextDecision {
  readonly findings: readonly Finding[];
  /** Null if it could not be read. */
  readonly finds: LetterFinds | null;
  /** The day of signing, where a PDF signature or one date at the signature tells it. */
  readonly signedOn: string | null;
  /** Requested numbers that were found. */
  readonly coveredPhones: readonly string[];
  /** Codes of issued forms in the text. */
  readonly formCodes: readonly string[];
}

/** Says what was found on a letter of what was requested with it. */
export function decideLetterText({
  reading: outcome,
  brand,
  submittedAt,
  requestedPhones,
  phonesOfOtherBrands,
}: LetterTextFacts): LetterTextDecision {
  if (outcome.kind === 'refused')
    return {
      findings: [refusalFinding(outcome.code, outcome.problem)],
      finds: null,
      signedOn: null,
      coveredPhones: [],
      formCodes: [],
    };
  const { reading } = outcome;
  const { legalName, dba, displayName, country } = brand;
  const finds = findOnLetter(reading, { legalName, dba, displayName, country, phones: requestedPhones });
  return {
    findings: findingsOnLetter({ reading, finds, requested: requestedPhones.length, phonesOfOtherBrands }),
    finds,
    signedOn: daySigned(reading, finds, dayOf(submittedAt)),
    coveredPhones: finds.requested.filter(({ where }) => where !== 'range').map(({ phone }) => phone),
    formCodes: findFormCodes(reading),
  };
}

/** A date at a signature is at most this far above or below it, as a part of the page. */
const reach = 0.12;

/** Days before the submission on which a letter may have been signed that is valid for a year. */
const daysMax = 365;

/** The day of a PDF signature that verifies, else of the only date at the signature, if it can be read in one way and may be true. */
function daySigned({ signatures }: LetterReading, { dates, signing }: LetterFinds, submittedOn: string): string | null {
  const signed = signatures.findLast((each) => each.digestMatches && each.signatureValid && each.signedAt !== null);
  if (signed !== undefined) return dayOf(new Date(signed.signedAt!));
  const { place } = signing;
  const near = dates.filter(
    ({ place: at }) =>
      place?.box != null && at.box !== null && at.page === place.page && Math.abs(at.box.top - place.box.top) < reach,
  );
  const [only, ...others] = near;
  if (only === undefined || others.length > 0 || only.alternative !== null) return null;
  const days = daysBetween(only.date, submittedOn);
  return days >= -1 && days < daysMax ? only.date : null;
}
