import { makeExcerpt } from '../../phone/text-cleaning.ts';
import { findDates } from './letter-dates.ts';
import { isTitleLine, type LabelledValue } from './letter-labels.ts';
import type { Box, LetterPage, LetterReading, PageMark, PdfSignature, LetterPlace } from '../letter-reading.ts';
import { foldSameLength, placeOfLine, type LetterText, type TextLine, pattern } from './letter-text.ts';
import { comparePeople, looksLikePerson } from '../names/name-match.ts';
import { shareWithin } from '../reading/pdf/page-geometry.ts';
import { electronicSignatures } from './letter-electronic-signature.ts';
import { type Signer, closing, splitNameAndTitle, blockLines } from './letter-signer.ts';

/**
 * How a letter is signed. `pdf`: a PDF signature that verifies. `electronic`: a name after `/s/`, or the wording of a signing
 * service. `undetermined`: ink, a picture, drawn strokes, a script font, or a typed name at the place of the signature; only
 * a person can decide what it is. `none`: no signature.
 */
export interface FoundSignature {
  readonly kind: 'pdf' | 'electronic' | 'undetermined' | 'none';
  /** The signer that it names. */
  readonly name: string | null;
  readonly place: LetterPlace | null;
  readonly excerpt: string | null;
  /** A description in one sentence, without text of the letter. */
  readonly reason: string;
}

/** Places where a signature is expected: a label, or the closing words. Line indexes with the part of the page to look at. */
export interface SignaturePlace {
  readonly lineIndex: number;
  /** Last line that belongs to it. */
  readonly lastLineIndex: number;
  readonly page: number;
  readonly area: Box;
  /** Text at the place itself, if any. */
  readonly text: string;
}

const signatureHeight = 0.09; // of a page: an inch on letter paper

/** The places of signatures in a letter, in reading order. */
export function signaturePlaces(letter: LetterText, labels: readonly LabelledValue[]): readonly SignaturePlace[] {
  const labelled = labels
    .filter(({ kind }) => kind === 'signature')
    .map((label) => placeOfLabel(letter, label, labels));
  const closed = letter.lines.flatMap((line, at) =>
    closing.test(line.folded) ? [placeAfterClosing(letter, line, at)] : [],
  );
  return [...labelled, ...closed].sort((a, b) => a.lineIndex - b.lineIndex);
}

function placeOfLabel(
  letter: LetterText,
  { label, value, lineIndex }: LabelledValue,
  labels: readonly LabelledValue[],
): SignaturePlace {
  const line = letter.lines[label.lineIndex]!;
  const { left, top, height } = label.box;
  const nextColumn = Math.min(
    1,
    ...labels
      .filter((other) => other.label.lineIndex === label.lineIndex && other.label.box.left > left + 0.05)
      .map((other) => other.label.box.left),
  );
  const area = {
    left: Math.max(0, left - 0.03),
    top: top - signatureHeight,
    width: Math.min(nextColumn, left + 0.6) - left + 0.03,
    height: signatureHeight + height + 0.04,
  };
  return {
    lineIndex: label.lineIndex,
    lastLineIndex: Math.max(label.lineIndex, lineIndex),
    page: line.page,
    area,
    text: value,
  };
}

function placeAfterClosing(letter: LetterText, line: TextLine, at: number): SignaturePlace {
  const next = letter.lines[at + 1];
  const { left, top, height } = line.box;
  const bottom =
    next !== undefined && next.page === line.page ? next.box.top + next.box.height : top + height + 2 * signatureHeight;
  const area = {
    left: Math.max(0, left - 0.03),
    top: top + height,
    width: 0.6,
    height: Math.max(signatureHeight, bottom - top - height),
  };
  return { lineIndex: at, lastLineIndex: at, page: line.page, area, text: '' };
}

/** How viewers print a PDF signature. Without the signature itself it is only a picture of one. */
const printedPdfSignature = pattern('iu')`
  digitally\ssigned\sby|firmado\sdigitalmente\spor|sign[eé]\snum[eé]riquement\spar|digital\s(?:signiert|unterschrieben|unterzeichnet)\svon
  |assinado\s(?:digitalmente|de\sforma\sdigital)\spor|firmato\sdigitalmente\sda
`;

const scriptFonts = pattern('i')`
  script|handwrit|handwriting|brush|signature|cursive|calligra|chancery|corsiva|zapfino|mistral|vivaldi|allura|pacifico|dancing|sacramento|vibes|caveat
  |satisfy|kristi|homemade|bradley|snell|vladimir|edwardian|freestyle|parisienne|yellowtail|aurore|cedarville|reenie|haviland|lucidahand|inkfree
  |gabriola|kunstler
`;

interface SignatureSearch {
  readonly places: readonly SignaturePlace[];
  readonly signer: Signer;
  /** Of the brand: they may follow a signer's title. */
  readonly names: readonly string[];
}

/** How the letter is signed: the strongest evidence at any of its places. */
export function findSignature(
  reading: LetterReading,
  letter: LetterText,
  { places, signer, names }: SignatureSearch,
): FoundSignature {
  return (
    verifiedPdf(reading.signatures) ??
    electronic(letter, signer, names) ??
    printed(letter) ??
    scriptFont(letter, places) ??
    atPlaces(reading, letter, { places, signer }) ??
    withoutPlace(reading, letter, places, signer) ??
    unverifiedPdf(reading.signatures) ??
    nothing(letter, places)
  );
}

/** A signature that fits the bytes and its key, of a letter that was not changed since. */
export function isVerified({ digestMatches, signatureValid, coverage }: PdfSignature): boolean {
  return digestMatches && signatureValid && (coverage === 'whole' || coverage === 'extended');
}

function verifiedPdf(signatures: readonly PdfSignature[]): FoundSignature | null {
  const signature = signatures.findLast(isVerified);
  if (signature === undefined) return null;
  const name = signature.signerName ?? signature.signerOrganization;
  const place = signature.page === null ? null : { page: signature.page, line: 0, box: null };
  return {
    kind: 'pdf',
    name,
    place,
    excerpt: name === null ? null : makeExcerpt(name),
    reason: 'The file has a PDF signature.',
  };
}

/** A label in the same line, and with it what follows. */
const labelAfter =
  /(?:^|[\s,;|(])(?:print(?:ed)? name|name|title|position|its|date(?:d| signed)?|company|e-?mail|phone|tel|nombre|cargo|fecha|nom|fonction|name|funktion|datum|nome|data|qualifica)\s{0,2}\.?:/i;

/** Words and figures of a time of signing. */
const timeOfSigning = new RegExp(
  '(?<![\\p{L}\\d])(?:\\d{1,2}:\\d{2}(?::\\d{2})?(?:\\.\\d+)?|[ap]\\.?m\\.?|utc|gmt|z|[ecmp][sd]?t|cest|[+-]\\d{1,2}:?\\d{2}|on|at|the|date|dated|signed|electronically|am|den|um|uhr|le|el|il|em|a|as|alle|ore|las|de|day|of)(?![\\p{L}\\d])',
  'giu',
);

/** Words that no title has: another person signs, or nobody yet. */
const notInTitles =
  /(?<![a-z])(?:by|for|per|pp|p\.p|not|no|yet|without|pending|unsigned|sign\w*|behalf|draft|knowledge|assistant|proxy|absen\w+|authority|under|por|par|durch|fur|im auftrag|i\.a|da|su|nicht|sin|sans|ohne|sem|senza)(?![a-z])/;

/** True if nothing follows the name of an electronic signature but a title, a date, the company, or labels of their own. */
function isPlainRest(rest: string, names: readonly string[]): boolean {
  const own = rest.slice(0, labelAfter.exec(rest)?.index ?? rest.length);
  let plain = own;
  for (const { start, end } of findDates(own, '').toReversed()) plain = `${plain.slice(0, start)}  ${plain.slice(end)}`;
  for (const name of names) plain = withoutName(plain, name);
  return plain.split(/\s{2,}|[|;()]/).every((part) => isPlainPart(part));
}

function isPlainPart(part: string): boolean {
  const text = part.replace(/^[\s,._:/-]+|[\s,._:/-]+$/g, '');
  if (!/[\p{L}\p{N}]/u.test(text.replace(timeOfSigning, ''))) return true;
  return isTitleLine(text) && !/\d/.test(text) && !notInTitles.test(foldSameLength(text));
}

/** A text without the first occurrence of a company's name, and the "of" or comma before it. */
function withoutName(text: string, name: string): string {
  const at = foldSameLength(text).indexOf(foldSameLength(name));
  return at === -1
    ? text
    : `${text.slice(0, at).replace(/(?:,|\s(?:of|at|for|de|der|von|du|di|do|da))?\s*$/i, '')} ${text.slice(at + name.length)}`;
}

/** The rule on PDF signatures reports its problems. */
function unverifiedPdf([signature]: readonly PdfSignature[]): FoundSignature | null {
  if (signature === undefined) return null;
  return undetermined(
    null,
    signature.page === null ? null : { page: signature.page, line: 0, box: null },
    'The file has a PDF signature that does not verify.',
  );
}

function electronic(letter: LetterText, { name: signer }: Signer, names: readonly string[]): FoundSignature | null {
  const found = electronicSignatures(letter);
  const best = found.find(({ name }) => signer !== null && comparePeople(name, signer.value) === 'same') ?? found[0];
  if (best === undefined) return null;
  const unclear = found.find((each) => !isPlainRest(each.rest, names));
  if (unclear !== undefined)
    return undetermined(
      unclear.line,
      placeOfLine(unclear.line),
      'The name of the electronic signature is followed by words that are neither a title nor a date.',
    );
  return {
    kind: 'electronic',
    name: best.name,
    place: placeOfLine(best.line),
    excerpt: makeExcerpt(best.line.text),
    reason: 'The letter is signed electronically with a name.',
  };
}

function undetermined(line: TextLine | null, place: LetterPlace | null, reason: string): FoundSignature {
  return { kind: 'undetermined', name: null, place, excerpt: line === null ? null : makeExcerpt(line.text), reason };
}

function printed({ lines }: LetterText): FoundSignature | null {
  const line = lines.find(({ text }) => printedPdfSignature.test(text));
  return line === undefined
    ? null
    : undetermined(line, placeOfLine(line), 'The letter shows a PDF signature, but the file has none that verifies.');
}

/** A line in a script font at the place of a signature, or a name in italics there. */
function scriptFont({ lines }: LetterText, places: readonly SignaturePlace[]): FoundSignature | null {
  const line = lines.find((each, at) => {
    const isScript =
      each.font !== null &&
      (scriptFonts.test(each.font) || (/italic|oblique/i.test(each.font) && looksLikePerson(each.text)));
    return isScript && (places.length === 0 || places.some((place) => isAt(each, at, place)));
  });
  return line === undefined
    ? null
    : undetermined(line, placeOfLine(line), 'There is a name in a script font at the place of the signature.');
}

function isAt(line: TextLine, at: number, { lineIndex, lastLineIndex, page, area }: SignaturePlace): boolean {
  return (
    line.page === page &&
    ((at >= lineIndex - 2 && at <= lastLineIndex + 3) || shareWithin(line.box, area) >= shareInAreaMin)
  );
}

function atPlaces(
  reading: LetterReading,
  letter: LetterText,
  { places, signer }: { places: readonly SignaturePlace[]; signer: Signer },
): FoundSignature | null {
  for (const place of places) {
    const line = letter.lines[place.lineIndex]!;
    const page = reading.pages.find((each) => each.page === place.page);
    const mark = page?.marks.find(
      (each) => isStroke(each, page) && shareWithin(each.box, place.area) >= shareInAreaMin,
    );
    if (mark !== undefined)
      return undetermined(
        line,
        { page: place.page, line: line.line, box: mark.box },
        'There is ink, a drawing or a picture at the place of the signature.',
      );
    const typed = place.text === '' ? typedTwice(letter, place, signer) : null;
    if (typed !== null)
      return undetermined(typed, placeOfLine(typed), 'The name is typed a second time at the place of the signature.');
    const last = letter.lines[place.lastLineIndex]!;
    if (/\p{L}/u.test(place.text))
      return undetermined(
        last,
        placeOfLine(last),
        'The text at the place of the signature is no electronic signature.',
      );
  }
  return null;
}

/** The line after the closing words, if it is a person's name that the next lines repeat, or that is printed again as the signer's. */
function typedTwice({ lines }: LetterText, { lineIndex }: SignaturePlace, { name: signer }: Signer): TextLine | null {
  const [first, ...rest] = lines.slice(lineIndex + 1, lineIndex + 1 + blockLines);
  if (first === undefined || !looksLikePerson(first.text)) return null;
  const isRepeated = rest.some(({ text }) => comparePeople(splitNameAndTitle(text.trim()).name, first.text) === 'same');
  const isSigner =
    signer !== null &&
    (signer.place.page !== first.page || signer.place.line !== first.line) &&
    comparePeople(signer.value, first.text) !== 'other';
  return isRepeated || isSigner ? first : null;
}

const rule = { heightMax: 0.008, aspectMin: 12 };

const pictureAreaMax = 0.25;

/** Excludes the ruled line to sign on, frames and backgrounds. */
function isStroke({ box }: PageMark, page: LetterPage): boolean {
  const [width, height] = [box.width * page.width, box.height * page.height];
  if (box.height <= rule.heightMax && width > height * rule.aspectMin) return false;
  return box.width * box.height <= pictureAreaMax && (box.width > 0.01 || box.height > 0.01);
}

/** Least share of a line or mark in the area of a signature that is a part of it. */
const shareInAreaMin = 0.3;

/** Where no place is marked, strokes over the signer's name, or in the lower part of a page, may be a signature. */
function withoutPlace(
  reading: LetterReading,
  letter: LetterText,
  places: readonly SignaturePlace[],
  { name }: Signer,
): FoundSignature | null {
  if (places.length > 0 && letter.lines.length > 0) return null;
  for (const page of reading.pages) {
    const nameTop = name?.place.page === page.page && name.place.box !== null ? name.place.box.top : 1;
    const mark = page.marks.find(
      (each) => isStroke(each, page) && each.box.top + each.box.height / 2 > Math.min(0.35, nameTop - signatureHeight),
    );
    if (mark !== undefined)
      return undetermined(
        null,
        { page: page.page, line: 0, box: mark.box },
        'There is ink, a drawing or a picture that may be a signature.',
      );
  }
  return null;
}

function nothing({ lines }: LetterText, places: readonly SignaturePlace[]): FoundSignature {
  const line = places[0] === undefined ? null : lines[places[0].lineIndex]!;
  const reason =
    line === null ? 'The letter has no place for a signature.' : 'There is nothing at the place of the signature.';
  return {
    kind: 'none',
    name: null,
    place: line === null ? null : placeOfLine(line),
    excerpt: line === null ? null : makeExcerpt(line.text),
    reason,
  };
}
