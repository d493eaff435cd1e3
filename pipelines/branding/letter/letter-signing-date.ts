import { makeExcerpt } from '../../phone/text-cleaning.ts';
import { daysBetween, roleOfDate, type DateInText, type DateRole } from './letter-dates.ts';
import type { LabelledValue } from './letter-labels.ts';
import type { LetterReading, LetterPlace } from '../letter-reading.ts';
import { isVerified, type FoundSignature, type SignaturePlace } from './letter-signature.ts';
import { lineIndexAt, placeOfLine, type FoundText, type LetterText, type TextLine } from './letter-text.ts';

/** A date of a letter. */
export interface FoundDate {
  /** YYYY-MM-DD. */
  readonly date: string;
  /** The other reading of an ambiguous 03/04/2026. */
  readonly alternative: string | null;
  /** `signing`: labelled as the signing date, or at the signature; `other`: labelled as something else; `unlabelled`. */
  readonly role: DateRole;
  /** A label in words says that it is the date of signing. */
  readonly labelled: boolean;
  readonly place: LetterPlace;
  readonly excerpt: string;
}

/** The input of the search for the signing date. */
interface DateSearch {
  readonly reading: LetterReading;
  readonly letter: LetterText;
  readonly dates: readonly DateInText[];
  readonly labels: readonly LabelledValue[];
  readonly places: readonly SignaturePlace[];
  readonly signature: FoundSignature;
  readonly signerName: FoundText | null;
}

interface DateCandidate {
  readonly found: FoundDate;
  /** Smaller is better: labelled at the signature, at the signature, labelled elsewhere; null: not a signing date. */
  readonly rank: number | null;
  readonly distance: number;
  /** Its line has nothing else but a place, as in "Paris, 3 March 2026". */
  readonly alone: boolean;
}

/**
 * The signing date is labelled so or next to the signature; without one, a verified PDF signature's own date is, or the
 * date of the letter: the only one in it, alone in its line.
 */
export function datesOf(search: DateSearch): { signingDate: FoundDate | null; otherDates: readonly FoundDate[] } {
  const candidates = candidatesOf(search);
  const best = candidates
    .filter(({ rank }) => rank !== null)
    .sort((a, b) => a.rank! - b.rank! || a.distance - b.distance)[0];
  const ofLetter = best === undefined ? dateOfLetter(candidates) : undefined;
  const signingDate =
    best?.found ??
    dateOfPdfSignature(search.reading) ??
    (ofLetter === undefined ? null : { ...ofLetter.found, role: 'signing' });
  const used = best ?? (signingDate?.place === ofLetter?.found.place ? ofLetter : undefined);
  return { signingDate, otherDates: candidates.filter((candidate) => candidate !== used).map(({ found }) => found) };
}

const endWords =
  String.raw`(?:expir\w*|until|till|through|thru|ends?|ended|ending|terminat\w*|no later than|up to|vence\w*|vencimiento|vigente hasta|hasta|caduca\w*|jusqu\w*|echeance|expire\w*|bis|ablauf\w*|endet\w*` +
  String.raw`|ate|validade|vencimento|scade\w*|scadenza|fino|termina)`;
/** In the line of the date, or at the end of the one before, unless the date has a label of its own. */
const endBefore = new RegExp(
  `(?:^|[^a-z])${endWords}(?![a-z])\\.?[^.;\\n\\d]{0,40}(?:\\n(?! *(?:date|signed|executed|fecha|firmad|fait|signe|datum|unter|data|firmat|assinad|luogo|local))[^.;:\\n\\d]{0,30})?$`,
);
/** `March 1, 2025 to March 1, 2026`: the text between two dates. */
const betweenDates =
  /^\s*(?:,\s)?(?:to|until|through|thru|-|\u2013|al?|au|bis(?: zum)?|ate|hasta(?: el)?|fino al)\s*(?:the\s|el\s|le\s|il\s|den\s)?$/;
/** `until 2021`; not the last digits of a range of numbers, `555 1000 through 1999`. */
const endYear = new RegExp(
  `(?<![a-z])(?<!\\d[ ).-]{0,2}\\d{4} {0,3})${endWords}(?![a-z])(?<between>[^.;\\d]{0,40})(?<year>(?:19|20)\\d{2})(?![\\d/.-]\\d|\\d)`,
  'g',
);
const endContextCharacters = 80;

/** Dates at which the letter ends. */
export function endDatesOf(letter: LetterText, dates: readonly DateInText[]): readonly FoundDate[] {
  const found = dates.filter((_, at) => isEnd(letter, dates, at));
  const years = [...letter.flat.matchAll(endYear)].filter(
    (match) => !dates.some(({ start, end }) => start < match.index + match[0].length && end > match.index),
  );
  return [
    ...found.map(({ date, alternative, start }): FoundDate => ({ date, alternative, ...dateSeenAt(letter, start) })),
    ...years.map((match): FoundDate => ({
      date: `${match.groups!.year!}-12-31`,
      alternative: null,
      ...dateSeenAt(letter, match.index),
    })),
  ];
}

function isEnd({ folded }: LetterText, dates: readonly DateInText[], at: number): boolean {
  const [start, previous] = [dates[at]!.start, dates[at - 1]?.end ?? 0];
  const between = folded.slice(Math.max(previous, start - endContextCharacters), start);
  return endBefore.test(between) || (at > 0 && start - previous < endContextCharacters && betweenDates.test(between));
}

function dateSeenAt(letter: LetterText, offset: number): Pick<FoundDate, 'role' | 'labelled' | 'place' | 'excerpt'> {
  const line = letter.lines[lineIndexAt(letter, offset)]!;
  return { role: 'other', labelled: false, place: placeOfLine(line), excerpt: makeExcerpt(line.text) };
}

/** With several unlabelled dates the date of the letter is unknown. */
function dateOfLetter(candidates: readonly DateCandidate[]): DateCandidate | undefined {
  const [only, ...others] = candidates.filter(({ found }) => found.role === 'unlabelled');
  return others.length === 0 && only?.alone === true ? only : undefined;
}

function candidatesOf({ letter, dates, labels, places, signature, signerName }: DateSearch): readonly DateCandidate[] {
  const anchors = anchorsOf(letter, { places, signature, signerName });
  const labelledLines = labels.filter(({ kind, value }) => kind === 'date' && value !== '');
  let before = 0;
  return dates.map((date, at) => {
    const lineIndex = lineIndexAt(letter, date.start);
    const line = letter.lines[lineIndex]!;
    const context = letter.folded.slice(Math.max(before, line.start, date.start - 80), date.start);
    before = date.end;
    const wrapped =
      context.trim() === '' && lineIndex > 0 ? `${letter.lines[lineIndex - 1]!.folded.slice(-80)} ` : context;
    const direct = roleOfDate(
      context,
      letter.folded.slice(date.end, Math.min(date.end + 40, line.start + line.text.length)),
    );
    const overWrap = roleOfDate(wrapped, '');
    const byLabel = labelledLines.some(
      (label) => label.lineIndex === lineIndex && isInRange(date.start - line.start, label),
    );
    const role = isEnd(letter, dates, at) ? 'other' : direct !== 'unlabelled' ? direct : byLabel ? 'signing' : overWrap;
    const distance = Math.min(
      ...anchors.map((anchor) => distanceBetween(letter, anchor, lineIndex)),
      Number.POSITIVE_INFINITY,
    );
    return candidateOf({ date, line, role, distance });
  });
}

/** True for an offset in a line that is in the value of a label, or two characters before it. */
function isInRange(offset: number, { start, value }: LabelledValue): boolean {
  return offset >= start - 2 && offset <= start + value.length;
}

/** How far from the signature its date may be. */
const signatureLines = 5;

function candidateOf({
  date,
  line,
  role,
  distance,
}: {
  date: DateInText;
  line: TextLine;
  role: DateRole;
  distance: number;
}): DateCandidate {
  const atSignature = distance <= signatureLines && (role === 'signing' || isShortLine(line));
  const rank = role === 'other' ? null : role === 'signing' ? (atSignature ? 0 : 2) : atSignature ? 1 : null;
  const found = {
    date: date.date,
    alternative: date.alternative,
    role: rank === null ? role : 'signing',
    labelled: role === 'signing',
    place: placeOfLine(line),
    excerpt: makeExcerpt(line.text),
  } as const;
  return { found, rank, distance, alone: isAlone(line, date) };
}

const placeBeforeDateCharactersMax = 30;

/** Of a line: the date, and before it at most a place with a comma. */
function isAlone({ start, text }: TextLine, date: DateInText): boolean {
  const [before, after] = [text.slice(0, Math.max(0, date.start - start)).trim(), text.slice(date.end - start).trim()];
  return (
    /^\.?$/.test(after) &&
    (before === '' ||
      (before.length <= placeBeforeDateCharactersMax &&
        /^[\p{L} .'’-]+,(?: (?:the|le|den|am|il|el|em))?$/iu.test(before)))
  );
}

const abbreviations = /(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|inc|ltd|corp|co)\./g;
const wordsOfBlockLineMax = 14;

/** A line of a signature block, not of a sentence. */
function isShortLine({ text, folded }: TextLine): boolean {
  return (
    text.trim().split(/\s+/).length <= wordsOfBlockLineMax &&
    !/[a-z]{2}\.(?:\s|$)/.test(folded.replace(abbreviations, ''))
  );
}

function anchorsOf(
  letter: LetterText,
  { places, signature, signerName }: Pick<DateSearch, 'places' | 'signature' | 'signerName'>,
): readonly number[] {
  const byPlace = [signature.place, signerName?.place ?? null].flatMap((place) => {
    const at =
      place === null ? -1 : letter.lines.findIndex((line) => line.page === place.page && line.line === place.line);
    return at === -1 ? [] : [at];
  });
  return [
    ...places.map(({ lineIndex }) => lineIndex),
    ...(places.length === 0 && signature.kind === 'none' ? [] : byPlace),
  ];
}

/** In lines of usual spacing on the page, whatever the order in which they are read; infinite on another page. */
function distanceBetween({ lines }: LetterText, anchor: number, lineIndex: number): number {
  const [from, to] = [lines[anchor]!, lines[lineIndex]!];
  if (from.page !== to.page) return Number.POSITIVE_INFINITY;
  return Math.abs(from.box.top - to.box.top) / (1.5 * Math.max(0.008, from.box.height, to.box.height));
}

function dateOfPdfSignature({ signatures }: LetterReading): FoundDate | null {
  const signature = signatures.findLast((each) => isVerified(each) && each.signedAt !== null);
  const date = /^\d{4}-\d{2}-\d{2}/.exec(signature?.signedAt ?? '')?.[0];
  if (signature === undefined || date === undefined || Number.isNaN(daysBetween(date, date))) return null;
  return {
    date,
    alternative: null,
    role: 'signing',
    labelled: false,
    place: { page: signature.page ?? 1, line: 0, box: null },
    excerpt: makeExcerpt(signature.signedAt!),
  };
}
