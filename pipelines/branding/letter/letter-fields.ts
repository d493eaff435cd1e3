import { additionsOf, type FoundAddition } from './letter-additions.ts';
import { findNumbers, type FoundNumbers } from './letter-numbers.ts';
import { labelsOf, type LabelledValue } from './letter-labels.ts';
import { findDates } from './letter-dates.ts';
import { brandsOf, companiesOf, type FoundName } from './letter-names.ts';
import type { LetterReading } from '../letter-reading.ts';
import { datesOf, endDatesOf, type FoundDate } from './letter-signing-date.ts';
import { findSigner } from './letter-signer.ts';
import { findSignature, signaturePlaces, type FoundSignature } from './letter-signature.ts';
import { foundIn, letterTextOf, type FoundText, type LetterText, pattern } from './letter-text.ts';
import { otherProviderOf, sentencesOf, type FoundSentence } from './letter-sentences.ts';
import { wordingOf, type AuthorizingWords } from './letter-wording.ts';

export type { FoundDate } from './letter-signing-date.ts';
export type { FoundName } from './letter-names.ts';
export type { FoundText } from './letter-text.ts';
export type { FoundSignature } from './letter-signature.ts';
export type { FoundAddition } from './letter-additions.ts';
export type { FoundSentence } from './letter-sentences.ts';
export type { FoundAttachment, FoundPhone } from './letter-numbers.ts';

/** The fields of a letter, before any rule is applied. */
export interface LetterFields extends AuthorizingWords, FoundNumbers {
  /** Sentences that a person should read with care. */
  readonly sentences: readonly FoundSentence[];
  /** Marks and text on the pages that are not part of their print. */
  readonly additions: readonly FoundAddition[];
  /** Another party that the letter authorizes by name, where it does not name this service. */
  readonly otherProvider: FoundText | null;
  readonly brandNames: readonly FoundName[];
  readonly legalName: FoundText | null;
  /** All labelled names of companies; the first is `legalName`. */
  readonly companyNames: readonly FoundText[];
  readonly address: FoundText | null;
  readonly signerName: FoundText | null;
  readonly signerTitle: FoundText | null;
  /** Candidates, where no name or title was certain. */
  readonly possibleSignerName: FoundText | null;
  readonly possibleSignerTitle: FoundText | null;
  readonly signingDate: FoundDate | null;
  readonly otherDates: readonly FoundDate[];
  /** When the letter ends by its own words: "valid until", "expires". A year without a day ends on its 31 December. */
  readonly endDates: readonly FoundDate[];
  readonly signature: FoundSignature;
  readonly lines: number;
  /** Least mean confidence of a page that OCR read, 0 to 100, weighted by characters; null if all text is the PDF's own. */
  readonly confidence: number | null;
}

/** Facts of the brand that help to read its letter. */
interface LetterHints {
  /** ISO 3166-1 alpha-2: the default of numbers without country, and the order of ambiguous dates. */
  readonly country: string;
  /** Legal name, DBA, display name. */
  readonly names: readonly string[];
}

/** Finds the fields of a letter. Never throws; time grows with the length of the text, which is limited. */
export function extractFields(reading: LetterReading, hints: LetterHints): LetterFields {
  const letter = letterTextOf(reading);
  const dates = findDates(letter.text, hints.country);
  const labels = labelsOf(letter, hints.country);
  const places = signaturePlaces(letter, labels);
  const signer = findSigner(letter, labels, hints.names);
  const signature = findSignature(reading, letter, { places, signer, names: hints.names });
  const numbers = findNumbers(reading, letter, dates, hints.country);
  const companyNames = companiesOf(letter, labels);
  return {
    ...wordingOf(letter),
    sentences: sentencesOf(letter, [...hints.names, ...(signer.name === null ? [] : [signer.name.value])]),
    additions: additionsOf({ reading, letter, signature, phones: numbers.phones }),
    otherProvider: otherProviderOf(letter, hints.names),
    brandNames: brandsOf(letter, labels, hints.names),
    legalName: companyNames[0] ?? null,
    companyNames,
    address: addressOf(letter, labels),
    signerName: signer.name,
    signerTitle: signer.title,
    possibleSignerName: signer.possibleName,
    possibleSignerTitle: signer.possibleTitle,
    ...datesOf({ reading, letter, dates, labels, places, signature, signerName: signer.name }),
    endDates: endDatesOf(letter, dates),
    signature,
    ...numbers,
    lines: reading.pages.reduce((sum, { lines }) => sum + lines.length, 0),
    confidence: leastConfidence(reading),
    complete: letter.complete && numbers.complete,
  };
}

const street = pattern('u')`
  \d{1,6}[a-z]?,? [\p{L} .'-]{2,40}(?:street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|way|court|ct|place|pl|square|parkway|pkwy|highway|hwy
  |suite|floor|terrace|close)(?![a-z])|(?:calle|avenida|avda|paseo|plaza|rue|boulevard|rua|via|viale|piazza|corso|platz)\.? [\p{L} .'-]{2,40},? ?\d
  |\p{L}{3,30}(?:str\.|straße|strasse|weg|gasse|allee|platz) ?\d|p\.? ?o\.? box \d
`;
const postalCode =
  /(?:[a-z]{2},? \d{5}(?:-\d{4})?(?!\d))|(?:(?<!\d)\d{4,5} \p{L}{3})|(?:[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}(?![a-z]))/u;

function addressOf(letter: LetterText, labels: readonly LabelledValue[]): FoundText | null {
  const labelled = labels.find(({ kind, value }) => kind === 'address' && value !== '');
  if (labelled !== undefined) return foundIn(letter.lines[labelled.lineIndex]!, labelled.value);
  const line =
    letter.lines.find(({ folded }) => street.test(folded.slice(0, addressCharactersMax))) ??
    letter.lines.find(({ folded }) => folded.length < 80 && postalCode.test(folded));
  return line === undefined ? null : foundIn(line, line.text.trim());
}

const addressCharactersMax = 300;

function leastConfidence({ pages }: LetterReading): number | null {
  const means = pages.flatMap(({ source, lines }) =>
    source === 'ocr' && lines.length > 0 ? [meanConfidence(lines)] : [],
  );
  return means.length === 0 ? null : Math.min(...means);
}

function meanConfidence(lines: readonly { readonly text: string; readonly confidence: number | null }[]): number {
  const characters = lines.reduce((sum, { text }) => sum + Math.max(1, text.length), 0);
  return (
    lines.reduce((sum, { text, confidence }) => sum + Math.max(1, text.length) * (confidence ?? 0), 0) / characters
  );
}
