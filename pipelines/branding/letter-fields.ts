import { makeExcerpt } from '../text-cleaning.ts';
import { daysBetween, findDates, roleOfDate, type DateInText, type DateRole } from './letter-dates.ts';
import { labelsOf, type LabelledValue } from './letter-labels.ts';
import { findNumbers, type FoundAttachment, type FoundPhone } from './letter-numbers.ts';
import type { LetterReading, Place } from './letter-reading.ts';
import { findSignature, findSigner, isVerified, signaturePlaces, type FoundSignature, type SignaturePlace } from './letter-signer.ts';
import { foldSameLength, foundIn, lineIndexAt, placeOf, textOf, type FoundText, type LetterText, type TextLine } from './letter-text.ts';
import { compareNames, foldWords } from './name-match.ts';

export type { FoundText } from './letter-text.ts';
export type { FoundSignature } from './letter-signer.ts';
export type { FoundAttachment, FoundPhone } from './letter-numbers.ts';

/** A date of a letter. */
export interface FoundDate {
  /** YYYY-MM-DD. */
  readonly date: string;
  /** The other reading of an ambiguous 03/04/2026. */
  readonly alternative: string | null;
  /** `signing`: labelled as the signing date, or at the signature; `other`: labelled as something else; `unlabelled`. */
  readonly role: DateRole;
  readonly place: Place;
  readonly excerpt: string;
}

/** A name of a company or brand; `labelled` by a label, else by "doing business as" in a sentence. */
export interface FoundName extends FoundText {
  readonly labelled: boolean;
}

/** What was found in a letter. Nothing of it is judged yet. */
export interface LetterFields {
  /** "Letter of Authorization", or wording that authorizes. */
  readonly title: FoundText | null;
  /** What stands before the wording that authorizes in its sentence: who authorizes. */
  readonly authorizer: FoundText | null;
  /** Words that say what is authorized: brand, display name, caller name. */
  readonly purpose: FoundText | null;
  /** Words of another authorization: porting. */
  readonly otherPurpose: FoundText | null;
  /** Words that take an authorization back, or mark a draft or a form that is not filled in. */
  readonly reservation: FoundText | null;
  readonly brandNames: readonly FoundName[];
  readonly legalName: FoundText | null;
  /** All labelled names of companies, the first of which is `legalName`. */
  readonly companyNames: readonly FoundText[];
  readonly address: FoundText | null;
  readonly signerName: FoundText | null;
  readonly signerTitle: FoundText | null;
  /** What may be meant where no name or title could be told. */
  readonly possibleSignerName: FoundText | null;
  readonly possibleSignerTitle: FoundText | null;
  readonly signingDate: FoundDate | null;
  readonly otherDates: readonly FoundDate[];
  readonly signature: FoundSignature;
  /** Listed for branding: in the text, in ranges, and in the CSV embedded in the PDF. */
  readonly phones: readonly FoundPhone[];
  /** On the letter, but not listed for branding. */
  readonly otherPhones: readonly FoundPhone[];
  readonly refusedRanges: readonly Place[];
  readonly attachment: FoundAttachment;
  readonly lines: number;
  /** Least mean confidence of a page that OCR read, 0 to 100, weighted by characters; null if all text is the PDF's own. */
  readonly confidence: number | null;
  /** False if the letter has more text or numbers than are read. */
  readonly complete: boolean;
}

/** What is known of the brand that helps to read its letter. */
export interface LetterHints {
  /** ISO 3166-1 alpha-2: the default of numbers without country, and the order of ambiguous dates. */
  readonly country: string;
  /** Legal name, DBA, display name. */
  readonly names: readonly string[];
}

/** Finds the fields of a letter. Never throws; time grows with the length of the text, which is limited. */
export function extractFields(reading: LetterReading, hints: LetterHints): LetterFields {
  const letter = textOf(reading);
  const dates = findDates(letter.text, hints.country);
  const labels = labelsOf(letter, hints.country);
  const places = signaturePlaces(letter, labels);
  const signer = findSigner(letter, labels, hints.names);
  const signature = findSignature(reading, letter, places, signer);
  const numbers = findNumbers(reading, letter, dates, hints.country);
  const companyNames = companiesOf(letter, labels);
  return {
    ...wordingOf(letter),
    brandNames: brandsOf(letter, labels, hints.names),
    legalName: companyNames[0] ?? null,
    companyNames,
    address: addressOf(letter, labels),
    signerName: signer.name,
    signerTitle: signer.title,
    possibleSignerName: signer.possibleName,
    possibleSignerTitle: signer.possibleTitle,
    ...datesOf({ reading, letter, dates, labels, places, signature, signerName: signer.name }),
    signature,
    phones: numbers.phones,
    otherPhones: numbers.otherPhones,
    refusedRanges: numbers.refusedRanges,
    attachment: numbers.attachment,
    lines: reading.pages.reduce((sum, { lines }) => sum + lines.length, 0),
    confidence: leastConfidence(reading),
    complete: letter.complete && numbers.complete,
  };
}

const titleWording = new RegExp([
  String.raw`(?<=^|\n)\W{0,10}(?:[a-z ]{0,30} )?(?:letter of (?:authori[sz]ation|agency)|authori[sz]ation letter|loa|carta de autoriza(?:cion|cao)`,
  String.raw`|lettre d['’]autorisation|vollmacht|ermachtigung(?:sschreiben)?|bevollmachtigung|autorisierung(?:sschreiben)?|lettera di autorizzazione`,
  String.raw`|delega)(?: (?:for|form|to|fur|para|pour|per|\()[^\n]{0,60})?[^a-z\n]{0,10}(?=\n|$)`,
].join(''));
const authorizingWording = new RegExp([
  String.raw`(?<![a-z])(?:(?:hereby |do |duly )?(?:authori[sz](?:e|es|ing)|grants? (?:[a-z ]{0,40} )?(?:permission|authori(?:ty|[sz]ation)|consent|the right)`,
  String.raw`|gives? (?:[a-z ]{0,40} )?(?:permission|authori(?:ty|[sz]ation)|consent)|consents? to|permits?)|autoriza(?:mos)?|permite|permet|donn(?:e`,
  String.raw`|ons) (?:[a-z ]{0,40} )?l['’]autorisation|erlaub(?:t|en)|autoris(?:e|ons|ent)|(?:ermachtig|bevollmachtig|autorisier)(?:t|en|e)|autorizz(?:a|o|iamo)`,
  String.raw`|autorizo)(?![a-z])`,
].join(''));
const brandingWording = new RegExp([
  String.raw`(?<![a-z])(?:brand(?:s|ed|ing)?|display(?:s|ed|ing)?|caller ?(?:id|name)|call(?:er)? identification|cnam|rich call data|rcd|logo|call reasons?`,
  String.raw`|reputation|marca|mostrar|afficher|affichage|marque|anzeig\w+|anruferkennung|marken\w*|exibi\w+|identifica\w+|visualizza\w*|marchio)(?![a-z])`,
].join(''));
const portingWording = new RegExp([
  String.raw`(?<![a-z])(?:port(?:ing|ed)? (?:of |out |in |my |our |the |these )?(?:the |following |telephone |phone )*numbers?|number port\w*|porting|port-?(?:in`,
  String.raw`|out)|resp ?org|winning carrier|losing carrier|change (?:of )?carrier|switch (?:my|our) (?:carrier|provider)|portabilidad|portabilite`,
  String.raw`|rufnummernmitnahme|portabilidade|portabilita)(?![a-z])`,
].join(''));
const reservationWording = new RegExp([
  String.raw`(?<![a-z])(?:(?:do|does|did|is|are|has|have|shall|can) ?not (?:(?:hereby|been|yet|an?|any|valid|letter of) )*(?:authori[sz]\w*|grant|permit|consent)|cannot authori[sz]e|(?:refus\w+|declin\w+) to (?:authori[sz]e|grant|permit)`,
  String.raw`|not authori[sz]ed to|no longer authori[sz]\w*|hereby (?:revoke|withdraw|cancel|terminate)s?|(?:revocation|withdrawal|cancellation`,
  String.raw`|termination) of (?:the |our |this )?(?:letter of )?authori[sz]ation|unauthori[sz]ed to|no autoriza\w*|n['’]autoris\w*|nicht (?:ermachtigt`,
  String.raw`|bevollmachtigt|autorisiert)|nao autoriz\w*|non autorizz\w*|lorem ipsum|for illustration only|do not use)(?![a-z])|[[<{](?:your |insert |enter `,
  String.raw`|company |legal |business |brand |signer'?s? |full |customer |phone |date|name|title|address)[a-z /'-]{0,40}[\]>}]`,
].join(''));
const draftMark = /(?<=^|\n)\W{0,6}(?:sample|specimen|draft|template|void|example|muster|entwurf|borrador|brouillon|rascunho|bozza)\W{0,6}(?=\n|$)/;

/** The words that make it an authorization, and those that make it none. */
function wordingOf(letter: LetterText): Pick<LetterFields, 'title' | 'authorizer' | 'purpose' | 'otherPurpose' | 'reservation'> {
  const find = (wording: RegExp) => findWording(letter, letter.flat, wording);
  const findLine = (wording: RegExp) => findWording(letter, letter.folded, wording);
  return {
    title: find(authorizingWording) ?? findLine(titleWording),
    authorizer: authorizerOf(letter),
    purpose: find(brandingWording),
    otherPurpose: find(portingWording),
    reservation: find(reservationWording) ?? findLine(draftMark),
  };
}

/** A line of this length is likely to be continued by the next. */
const fullLineCharacters = 60;
const sentenceEnd = /(?<!(?:^|[^a-z])(?:inc|corp|ltd|co|llc|sa|no|st|mr|mrs|ms|dr|[a-z]))[.!?;:]\s/g;

/** The words before the wording that authorizes, from the start of its sentence on; at most two lines. */
function authorizerOf(letter: LetterText): FoundText | null {
  const match = authorizingWording.exec(letter.flat);
  if (match === null) return null;
  const at = lineIndexAt(letter, match.index);
  const line = letter.lines[at]!;
  const above = letter.lines[at - 1];
  const from = above !== undefined && above.text.length >= fullLineCharacters ? above.start : line.start;
  const before = letter.text.slice(from, match.index).replaceAll('\n', ' ');
  const end = [...foldSameLength(before).matchAll(sentenceEnd)].at(-1);
  const value = before.slice(end === undefined ? 0 : end.index + 1).trim();
  return value === '' ? null : foundIn(line, value);
}

function findWording(letter: LetterText, text: string, wording: RegExp): FoundText | null {
  const match = wording.exec(text);
  if (match === null) return null;
  const start = match.index + (/^[^\p{L}\p{N}[<{]*/u.exec(match[0])?.[0].length ?? 0);
  return foundIn(letter.lines[lineIndexAt(letter, start)]!, letter.text.slice(start, match.index + match[0].length).trim());
}

const doingBusiness = new RegExp([
  String.raw`(?<![a-z])(?:doing business as|d ?\/ ?b ?\/ ?a|d\.b\.a\.?|dba|trading as|t\/a|operating as|que opera como|conocida como|exercant sous le nom`,
  String.raw`|firmierend als|handelnd unter|nome fantasia)(?:\s{0,2}\((?:dba|d\/b\/a)\))?\s{0,3}:?\s{0,3}`,
].join(''));

function companiesOf(letter: LetterText, labels: readonly LabelledValue[]): readonly FoundText[] {
  return labels.filter(({ kind, value }) => kind === 'legal' && value !== '').map((label) => {
    const cut = doingBusiness.exec(foldSameLength(label.value));
    return foundIn(letter.lines[label.lineIndex]!, tidyName(cut === null ? label.value : label.value.slice(0, cut.index)));
  }).filter(({ value }) => foldWords(value).length > 0);
}

/** Names with a label, and names after "doing business as". */
function brandsOf(letter: LetterText, labels: readonly LabelledValue[], names: readonly string[]): readonly FoundName[] {
  const labelled = labels.filter(({ kind, value }) => kind === 'brand' && value !== '')
    .map((label) => ({ ...foundIn(letter.lines[label.lineIndex]!, tidyName(label.value)), labelled: true }));
  const seen = new Set(labelled.map(({ value }) => foldWords(value).join(' ')));
  const inText = [...letter.flat.matchAll(new RegExp(doingBusiness, 'g'))].slice(0, namesMax).flatMap((match) => {
    const start = match.index + match[0].length;
    const value = nameAtStart(letter.text.slice(start, start + nameCharactersMax), names);
    if (value === null || seen.has(foldWords(value).join(' '))) return [];
    return [{ ...foundIn(letter.lines[lineIndexAt(letter, match.index)]!, value), labelled: false }];
  });
  return [...labelled, ...inText];
}

const namesMax = 50;
const nameCharactersMax = 100;

/** One of the brand's names, if the text begins with it and it does not go on, else its leading words with a capital. */
function nameAtStart(text: string, names: readonly string[]): string | null {
  const start = text.replace(/^["“”'‘«„(\s]+/, '');
  for (const name of names) {
    const value = start.slice(0, name.length);
    if (compareNames(value, name) === 'same' && !/^[\p{L}\p{N}]|^ (?:& )?\p{Lu}/u.test(start.slice(name.length))) return value.replace(/\n/g, ' ');
  }
  const capitalized = /^\p{Lu}[^\s,;:()"”»]*(?: (?:and |of |the |& |de |del |la )?[\p{Lu}\p{N}][^\s,;:()"”»]*)*/u.exec(start);
  return capitalized === null ? null : tidyName(capitalized[0]);
}

function tidyName(value: string): string {
  return value.replace(/^["“”'‘’«\s(]+|["“”'‘’»\s),;]+$/g, '').trim();
}

const street = new RegExp([
  String.raw`\d{1,6}[a-z]?,? [\p{L} .'-]{2,40}(?:street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|way|court|ct|place|pl|square|parkway|pkwy|highway|hwy`,
  String.raw`|suite|floor|terrace|close)(?![a-z])|(?:calle|avenida|avda|paseo|plaza|rue|boulevard|rua|via|viale|piazza|corso|platz)\.? [\p{L} .'-]{2,40},? ?\d`,
  String.raw`|\p{L}{3,30}(?:str\.|straße|strasse|weg|gasse|allee|platz) ?\d|p\.? ?o\.? box \d`,
].join(''), 'u');
const postalCode = /(?:[a-z]{2},? \d{5}(?:-\d{4})?(?!\d))|(?:(?<!\d)\d{4,5} \p{L}{3})|(?:[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}(?![a-z]))/u;

function addressOf(letter: LetterText, labels: readonly LabelledValue[]): FoundText | null {
  const labelled = labels.find(({ kind, value }) => kind === 'address' && value !== '');
  if (labelled !== undefined) return foundIn(letter.lines[labelled.lineIndex]!, labelled.value);
  const line = letter.lines.find(({ folded }) => street.test(folded.slice(0, addressCharactersMax)))
    ?? letter.lines.find(({ folded }) => folded.length < 80 && postalCode.test(folded));
  return line === undefined ? null : foundIn(line, line.text.trim());
}

const addressCharactersMax = 300;

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
  /** Nothing else stands in its line but a place, as in "Paris, 3 March 2026". */
  readonly alone: boolean;
}

/**
 * The signing date is labelled so or stands at the signature; without one, a verified PDF signature's own date is, or the
 * date of the letter: the only one in it, alone in its line.
 */
function datesOf(search: DateSearch): Pick<LetterFields, 'signingDate' | 'otherDates'> {
  const candidates = candidatesOf(search);
  const best = candidates.filter(({ rank }) => rank !== null).sort((a, b) => a.rank! - b.rank! || a.distance - b.distance)[0];
  const ofLetter = best === undefined ? dateOfLetter(candidates) : undefined;
  const signingDate = best?.found ?? dateOfPdfSignature(search.reading) ?? (ofLetter === undefined ? null : { ...ofLetter.found, role: 'signing' });
  const used = best ?? (signingDate?.place === ofLetter?.found.place ? ofLetter : undefined);
  return { signingDate, otherDates: candidates.filter((candidate) => candidate !== used).map(({ found }) => found) };
}

/** Of several dates without a label none is known to be that of the letter. */
function dateOfLetter(candidates: readonly DateCandidate[]): DateCandidate | undefined {
  const [only, ...others] = candidates.filter(({ found }) => found.role === 'unlabelled');
  return others.length === 0 && only?.alone === true ? only : undefined;
}

function candidatesOf({ letter, dates, labels, places, signature, signerName }: DateSearch): readonly DateCandidate[] {
  const anchors = anchorsOf(letter, { places, signature, signerName });
  const labelledLines = labels.filter(({ kind, value }) => kind === 'date' && value !== '');
  let before = 0;
  return dates.map((date) => {
    const lineIndex = lineIndexAt(letter, date.start);
    const line = letter.lines[lineIndex]!;
    const context = letter.folded.slice(Math.max(before, line.start, date.start - 80), date.start);
    before = date.end;
    const wrapped = context.trim() === '' && lineIndex > 0 ? `${letter.lines[lineIndex - 1]!.folded.slice(-80)} ` : context;
    const direct = roleOfDate(context, letter.folded.slice(date.end, Math.min(date.end + 40, line.start + line.text.length)));
    const overWrap = roleOfDate(wrapped, '');
    const byLabel = labelledLines.some((label) => label.lineIndex === lineIndex && isWithin(date.start - line.start, label));
    const role = direct !== 'unlabelled' ? direct : byLabel ? 'signing' : overWrap;
    const distance = Math.min(...anchors.map((anchor) => distanceBetween(letter, anchor, lineIndex)), Number.POSITIVE_INFINITY);
    return candidateOf({ date, line, role, distance });
  });
}

/** True for an offset in a line that is in the value of a label, or two characters before it. */
function isWithin(offset: number, { start, value }: LabelledValue): boolean {
  return offset >= start - 2 && offset <= start + value.length;
}

/** How far from the signature its date may stand. */
const signatureLines = 5;

function candidateOf({ date, line, role, distance }: { date: DateInText; line: TextLine; role: DateRole; distance: number }): DateCandidate {
  const atSignature = distance <= signatureLines && (role === 'signing' || isShort(line));
  const rank = role === 'other' ? null : role === 'signing' ? (atSignature ? 0 : 2) : atSignature ? 1 : null;
  const found = { date: date.date, alternative: date.alternative, role: rank === null ? role : 'signing', place: placeOf(line), excerpt: makeExcerpt(line.text) } as const;
  return { found, rank, distance, alone: isAlone(line, date) };
}

const placeBeforeDateCharactersMax = 30;

/** Of a line: the date, and before it at most a place with a comma. */
function isAlone({ start, text }: TextLine, date: DateInText): boolean {
  const [before, after] = [text.slice(0, Math.max(0, date.start - start)).trim(), text.slice(date.end - start).trim()];
  return /^\.?$/.test(after) && (before === '' || (before.length <= placeBeforeDateCharactersMax && /^[\p{L} .'’-]+,(?: (?:the|le|den|am|il|el|em))?$/iu.test(before)));
}

const abbreviations = /(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|inc|ltd|corp|co)\./g;
const wordsOfBlockLineMax = 14;

/** A line of a signature block, not of a sentence. */
function isShort({ text, folded }: TextLine): boolean {
  return text.trim().split(/\s+/).length <= wordsOfBlockLineMax && !/[a-z]{2}\.(?:\s|$)/.test(folded.replace(abbreviations, ''));
}

function anchorsOf(letter: LetterText, { places, signature, signerName }: Pick<DateSearch, 'places' | 'signature' | 'signerName'>): readonly number[] {
  const byPlace = [signature.place, signerName?.place ?? null].flatMap((place) => {
    const at = place === null ? -1 : letter.lines.findIndex((line) => line.page === place.page && line.line === place.line);
    return at === -1 ? [] : [at];
  });
  return [...places.map(({ lineIndex }) => lineIndex), ...(places.length === 0 && signature.kind === 'none' ? [] : byPlace)];
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
  return { date, alternative: null, role: 'signing', place: { page: signature.page ?? 1, line: 0, box: null }, excerpt: makeExcerpt(signature.signedAt!) };
}

function leastConfidence({ pages }: LetterReading): number | null {
  const means = pages.flatMap(({ source, lines }) => (source === 'ocr' && lines.length > 0 ? [meanConfidence(lines)] : []));
  return means.length === 0 ? null : Math.min(...means);
}

function meanConfidence(lines: readonly { readonly text: string; readonly confidence: number | null }[]): number {
  const characters = lines.reduce((sum, { text }) => sum + Math.max(1, text.length), 0);
  return lines.reduce((sum, { text, confidence }) => sum + Math.max(1, text.length) * (confidence ?? 0), 0) / characters;
}
