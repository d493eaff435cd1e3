import type { BrandProfile } from '../../brand-profile.ts';
import type { LetterFields } from '../letter-fields.ts';
import type { LetterReading } from '../../letter-reading.ts';
import { LETTER_RULES, findingsBy, letterRuleLimits } from './letter-rules.ts';
import { letterTextOf, type LetterText } from '../letter-text.ts';
import { wordsInText, type TextWord } from '../../names/name-match.ts';

/** The input of the rules. */
export interface LetterDecisionInput {
  /** YYYY-MM-DD, UTC. */
  readonly submittedOn: string;
  /** The latest calendar day anywhere at that moment (UTC+14), which a letter signed there may carry. Default: submittedOn. */
  readonly latestDay?: string;
  readonly brand: LetterBrand;
  /** E.164. */
  readonly requestedPhones: readonly string[];
  /** Of the CSV that came with the letter, in the order of the file; null if none came. */
  readonly csvPhones: readonly string[] | null;
  /** Requested numbers that belong to another live brand. */
  readonly phonesOfOtherBrands: readonly string[];
  readonly reading: LetterReading;
  readonly fields: LetterFields;
}

/** The brand that the letter is for, as it was submitted. */
export type LetterBrand = Pick<BrandProfile, 'legalName' | 'dba' | 'displayName' | 'country' | 'address'>;

/** The input with derived values that several rules need. */
export interface LetterCase extends LetterDecisionInput {
  readonly letter: LetterText;
  readonly words: readonly TextWord[];
  /** Some of the text was recognised from a picture. */
  readonly scanned: boolean;
  /** The text is too uncertain to conclude that something is missing. */
  readonly unsure: boolean;
  /** Recognition may have missed words and marks, so that nothing is known to be missing. */
  readonly mayBeUnread: boolean;
  readonly csv: readonly string[] | null;
  readonly covered: ReadonlySet<string>;
}

/** Derives what several rules need. */
export function makeCase(input: LetterDecisionInput): LetterCase {
  const { reading, fields, csvPhones } = input;
  const letter = letterTextOf(reading);
  const scanned = reading.pages.some(({ source }) => source === 'ocr');
  const unsure =
    fields.lines === 0 ||
    !fields.complete ||
    reading.pages.some(({ source, lines }) => source === 'ocr' && lines.length === 0) ||
    (fields.confidence !== null && fields.confidence < letterRuleLimits.pageConfidenceMin);
  const embedded = fields.phones.filter(({ source }) => source === 'csv').map(({ phone }) => phone);
  const csv = csvPhones ?? (reading.embeddedCsv === null ? null : embedded);
  return {
    ...input,
    letter,
    words: wordsInText(letter.text),
    scanned,
    unsure,
    mayBeUnread: scanned || unsure,
    csv,
    covered: new Set([...fields.phones.map(({ phone }) => phone), ...(csv ?? [])]),
  };
}

/** Makes findings by the rules on free letters. */
export const { pass, report, orPass } = findingsBy(LETTER_RULES);
