import { makeExcerpt } from '../../phone/text-cleaning.ts';
import type { BrandProfile } from '../brand-profile.ts';
import type { Finding } from '../finding.ts';
import { daysBetween } from './letter-dates.ts';
import type { FoundDate, LetterFields } from './letter-fields.ts';
import {
  LETTER_REFUSALS,
  type Box,
  type LetterReading,
  type LetterRefusalCode,
  type PdfSignature,
  type LetterPlace,
} from '../letter-reading.ts';
import { LETTER_RULES, findingsBy, letterRuleLimits, type FindingSource } from './letter-rules.ts';
import { hasTitleWord } from './letter-labels.ts';
import { isVerified } from './letter-signer.ts';
import { foldSameLength, foundIn, lineIndexAt, letterTextOf, type LetterText } from './letter-text.ts';
import {
  compareNames,
  comparePeople,
  findName,
  looksLikePerson,
  namesCompany,
  wordsInText,
  type NameComparison,
  type NameInText,
  type TextWord,
} from '../names/name-match.ts';

/** The input of the rules. */
interface LetterDecisionInput {
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

/** The result of the rules for a letter. */
export interface LetterDecision {
  /** One or more for each rule, in the order of the rules. */
  readonly findings: readonly Finding[];
  /** The signing date, if found. */
  readonly signedOn: string | null;
  /** All numbers that the letter and its CSV authorize, each once. */
  readonly coveredPhones: readonly string[];
}

/** Applies the rules of free text to a letter. Its outcome is decided in letter-approval.ts. */
export function decideLetterByRules(input: LetterDecisionInput): LetterDecision {
  const letterCase = makeCase(input);
  const findings = [
    ...judgeReadable(letterCase),
    ...judgeVisible(letterCase),
    ...judgePages(letterCase),
    ...judgeSentences(letterCase),
    ...judgeAuthorization(letterCase),
    ...judgePurpose(letterCase),
    ...judgeBrand(letterCase),
    ...judgeLegalName(letterCase),
    ...judgeAddress(letterCase),
    ...judgeLetterSigner(letterCase),
    ...judgeTitle(letterCase),
    ...judgeSignaturePresent(letterCase),
    ...judgePdfSignature(letterCase),
    ...judgeDate(letterCase),
    ...judgeCoveredNumbers(letterCase),
    ...judgeCsvNeeded(letterCase),
    ...judgeCsv(letterCase),
    ...judgeOtherBrands(letterCase),
  ];
  return { findings, signedOn: input.fields.signingDate?.date ?? null, coveredPhones: [...letterCase.covered] };
}

/** The finding on a letter that could not be read. */
export function refusalFinding(code: LetterRefusalCode, problem: string): Finding {
  const more = problem.trim() === '' || LETTER_REFUSALS[code].includes(problem.trim()) ? '' : ` ${problem.trim()}`;
  return { code, severity: 'reject', message: `${LETTER_REFUSALS[code]}${more}`, place: null, excerpt: null };
}

/** The input with derived values that several rules need. */
interface LetterCase extends LetterDecisionInput {
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

function makeCase(input: LetterDecisionInput): LetterCase {
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

const { pass, report, orPass } = findingsBy(LETTER_RULES);

function judgeReadable({ fields, reading, letter }: LetterCase): readonly Finding[] {
  if (fields.lines === 0)
    return [report('text_readable', reading.pages.some(({ marks }) => marks.length > 0) ? 'no_text' : 'blank')];
  const findings: Finding[] = [];
  if (reading.pages.some(({ source, lines, marks }) => source === 'ocr' && lines.length === 0 && marks.length > 0))
    findings.push(report('text_readable', 'no_text'));
  if (fields.confidence !== null && fields.confidence < letterRuleLimits.pageConfidenceMin)
    findings.push(report('text_readable', 'unsure'));
  if (!fields.complete) findings.push(report('text_readable', 'too_long'));
  for (const { place, excerpt } of decisiveFields(fields)) {
    const line = letter.lines.find((each) => each.page === place.page && each.line === place.line);
    const isUnsure = (line?.confidence ?? 100) < letterRuleLimits.lineConfidenceMin;
    if (isUnsure) findings.push(report('text_readable', 'unsure_line', { place, excerpt }));
  }
  return orPass('text_readable', findings);
}

/** The lines that fields were read from, each once. */
function decisiveFields({
  signerName,
  signerTitle,
  signingDate,
  legalName,
  brandNames,
}: LetterFields): readonly { place: LetterPlace; excerpt: string }[] {
  const fields = [signerName, signerTitle, signingDate, legalName, ...brandNames].filter((field) => field !== null);
  return [...new Map(fields.map((field) => [`${field.place.page}:${field.place.line}`, field])).values()];
}

function judgeVisible({ reading, letter }: LetterCase): readonly Finding[] {
  const covered = reading.pages
    .filter(({ source, lines }) => source === 'text' && lines.length > 0)
    .flatMap(({ page, marks }): LetterPlace[] => {
      const picture = marks.find(
        ({ kind, box }) => kind === 'image' && box.width * box.height > letterRuleLimits.pictureAreaMax,
      );
      return picture === undefined ? [] : [{ page, line: 0, box: picture.box }];
    });
  const withText = new Set(reading.pages.filter(({ source }) => source === 'text').map(({ page }) => page));
  const hidden = letter.lines.find(
    ({ page, text, box }) =>
      withText.has(page) &&
      /[\p{L}\p{N}]/u.test(text) &&
      (isOutside(box) || box.height < letterRuleLimits.textHeightMin),
  );
  const findings = covered.map((place) => report('text_visible', 'under_picture', { place }));
  return orPass('text_visible', [
    ...findings,
    ...(hidden === undefined ? [] : [report('text_visible', 'hidden', foundIn(hidden, hidden.text))]),
  ]);
}

function isOutside({ left, top, width, height }: Box): boolean {
  return [left + width / 2, top + height / 2].some((centre) => centre < 0 || centre > 1);
}

function judgePages({ fields }: LetterCase): readonly Finding[] {
  return orPass(
    'page_plain',
    fields.additions.map(({ kind, ...seen }) => report('page_plain', kind, seen)),
  );
}

/** Each line once: the kind of its first word. */
function judgeSentences({ fields }: LetterCase): readonly Finding[] {
  const ofLines = new Map<string, LetterFields['sentences'][number]>();
  for (const sentence of fields.sentences) {
    const id = `${sentence.place.page}:${sentence.place.line}`;
    if (!ofLines.has(id)) ofLines.set(id, sentence);
  }
  return orPass(
    'sentences_to_read',
    [...ofLines.values()].map((sentence) => report('sentences_to_read', sentence.kind, sentence)),
  );
}

function judgeAuthorization({ fields, brand, submittedOn }: LetterCase): readonly Finding[] {
  const { authorizer } = fields;
  const ended = fields.endDates.find(
    ({ date, alternative }) => date < submittedOn || (alternative !== null && alternative < submittedOn),
  );
  const findings = [
    ...(authorizer !== null && isAnotherCompany(authorizer.value, namesOf(brand))
      ? [report('authorization_given', 'by_another', authorizer)]
      : []),
    ...(fields.otherProvider === null ? [] : [report('authorization_given', 'another_provider', fields.otherProvider)]),
    ...(fields.title === null ? [report('authorization_given', 'missing')] : []),
    ...(ended === undefined ? [] : [report('authorization_given', 'ended', ended)]),
  ];
  return orPass('authorization_given', findings, fields.title);
}

/** The subject of a sentence: capitalized words, and perhaps words between it and the verb. */
const subjectOnly =
  /^(?:The )?\p{Lu}[\p{L}\p{N}&.'’-]*(?:,? (?:(?:and|of|&) )?\p{Lu}[\p{L}\p{N}&.'’-]*)*,?(?: hereby| does| do)*$/u;
const pronoun = /^(?:I|We|Hereby|The Undersigned|Ich|Wir|Hiermit|Je|Nous|Yo|Nosotros|Eu|Io|Noi)(?![\p{L}])/iu;

/** True if the words before "authorizes" name a company other than the brand. */
function isAnotherCompany(authorizer: string, names: readonly string[]): boolean {
  const words = wordsInText(authorizer);
  if (names.some((name) => findName(authorizer, words, name, { near: true }) !== null)) return false;
  return namesCompany(authorizer) || (subjectOnly.test(authorizer) && !pronoun.test(authorizer));
}

/** True for a porting letter: a sentence authorizes porting, without any word of branding or of denial. */
function judgePurpose({
  fields: { title, purpose, otherPurpose, sentences },
  mayBeUnread,
}: LetterCase): readonly Finding[] {
  if (otherPurpose !== null) {
    const isPlain =
      purpose === null &&
      title !== null &&
      !mayBeUnread &&
      !sentences.some(({ kind }) => kind === 'denies' || kind === 'ends');
    return [report('purpose_branding', isPlain ? 'porting' : 'both', otherPurpose)];
  }
  return [purpose === null ? report('purpose_branding', 'unclear') : pass('purpose_branding', purpose)];
}

interface NameSeen extends FindingSource {
  readonly kind: NameInText['kind'];
}

/** The best occurrence of any of some names in the letter. */
function findAnyName({ letter, words, scanned }: LetterCase, names: readonly string[]): NameSeen | null {
  const order = ['whole', 'other_form', 'longer', 'near'];
  const found = names.flatMap((name) => {
    const match = findName(letter.text, words, name, { near: scanned });
    return match === null ? [] : [{ kind: match.kind, ...seenAt(letter, match.start) }];
  });
  return found.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))[0] ?? null;
}

function seenAt(letter: LetterText, offset: number): FindingSource {
  const line = letter.lines[lineIndexAt(letter, offset)]!;
  return foundIn(line, line.text);
}

/** The best result of comparing a name with some others. */
function bestComparison(value: string, names: readonly string[]): NameComparison {
  const all = names.map((name) => compareNames(value, name));
  return (['same', 'other_form', 'near'] as const).find((comparison) => all.includes(comparison)) ?? 'other';
}

function namesOf({ legalName, dba, displayName }: LetterBrand): readonly string[] {
  return [legalName, dba, displayName].filter((name) => name !== null);
}

function judgeBrand(letterCase: LetterCase): readonly Finding[] {
  const { brand, fields, mayBeUnread } = letterCase;
  const names = namesOf(brand);
  const compared = fields.brandNames.map((name) => ({ name, comparison: bestComparison(name.value, names) }));
  const same = [...fields.brandNames, ...fields.companyNames].find(
    ({ value }) => bestComparison(value, names) === 'same',
  );
  const [other] = compared.filter(({ comparison }) => comparison !== 'same');
  const found = findAnyName(letterCase, names);
  if (other !== undefined) {
    const isOther =
      other.comparison === 'other' &&
      other.name.labelled &&
      found === null &&
      isPlainName(other.name.value) &&
      !mayBeUnread;
    if (isOther) return [report('brand_named', 'another', other.name)];
    return [
      report(
        'brand_named',
        other.comparison === 'near' ? 'near' : other.comparison === 'other_form' ? 'part' : 'another_beside',
        other.name,
      ),
    ];
  }
  if (same !== undefined) return [pass('brand_named', same)];
  if (found === null) return [report('brand_named', 'missing')];
  return found.kind === 'whole' || found.kind === 'other_form'
    ? [pass('brand_named', found)]
    : [report('brand_named', found.kind === 'near' ? 'near' : 'part', found)];
}

/** One to six words in Latin letters, each with a capital or of two or three letters: a name, and no part of a sentence. */
function isPlainName(value: string): boolean {
  const words = value.trim().split(/\s+/);
  return (
    words.length <= 6 &&
    words.every((word) => /^[\p{Lu}&][\p{Script=Latin}.,&'’-]*$/u.test(word) || /^\p{Ll}{2,3}$/u.test(word))
  );
}

function judgeLegalName(letterCase: LetterCase): readonly Finding[] {
  const { brand, fields, mayBeUnread } = letterCase;
  const { legalName } = brand;
  const compared = fields.companyNames.map((name) => ({ name, comparison: compareNames(name.value, legalName) }));
  const same = compared.find(({ comparison }) => comparison === 'same');
  const strange = compared.filter(
    ({ name, comparison }) =>
      comparison === 'other' && bestComparison(name.value, [brand.dba ?? '', brand.displayName]) === 'other',
  );
  if (same !== undefined)
    return [
      strange[0] === undefined
        ? pass('legal_name_given', same.name)
        : report('legal_name_given', 'another_beside', strange[0].name),
    ];
  const close = compared.find(({ comparison }) => comparison === 'other_form' || comparison === 'near');
  if (close !== undefined)
    return [report('legal_name_given', close.comparison === 'near' ? 'near' : 'other_form', close.name)];
  if (strange[0] !== undefined) {
    const isOther =
      namesCompany(strange[0].name.value) &&
      isPlainName(strange[0].name.value) &&
      !mayBeUnread &&
      findAnyName(letterCase, namesOf(brand)) === null;
    return [report('legal_name_given', isOther ? 'another' : 'another_beside', strange[0].name)];
  }
  const inText = findAnyName(letterCase, [legalName]);
  if (inText === null)
    return [
      compared[0] === undefined
        ? report('legal_name_given', 'missing')
        : report('legal_name_given', 'brand_only', compared[0].name),
    ];
  const kind = { whole: null, longer: 'part', other_form: 'other_form', near: 'near' } as const;
  const problem = kind[inText.kind];
  return [problem === null ? pass('legal_name_given', inText) : report('legal_name_given', problem, inText)];
}

function judgeAddress({ fields: { address } }: LetterCase): readonly Finding[] {
  return [address === null ? report('address_given', 'missing') : pass('address_given', address)];
}

function judgeLetterSigner({ fields: { signerName, possibleSignerName, signature } }: LetterCase): readonly Finding[] {
  if (signerName !== null && looksLikePerson(signerName.value)) return [pass('signer_named', signerName)];
  const unclear = signerName ?? possibleSignerName ?? (signature.name === null ? null : signature);
  return [unclear === null ? report('signer_named', 'missing') : report('signer_named', 'unclear', unclear)];
}

function judgeTitle({ fields: { signerTitle: title, possibleSignerTitle } }: LetterCase): readonly Finding[] {
  if (title !== null && hasTitleWord(foldSameLength(title.value))) return [pass('signer_title_given', title)];
  const unclear = title ?? possibleSignerTitle;
  return [
    unclear === null ? report('signer_title_given', 'missing') : report('signer_title_given', 'unclear', unclear),
  ];
}

function judgeSignaturePresent({ fields: { signature, signerName } }: LetterCase): readonly Finding[] {
  if (signature.kind === 'none') return [report('letter_signed', 'missing', signature)];
  if (signature.kind === 'undetermined') return [report('letter_signed', 'undetermined', signature)];
  const fits =
    signature.kind === 'pdf' ||
    (signerName !== null && signature.name !== null && comparePeople(signature.name, signerName.value) === 'same');
  return [fits ? pass('letter_signed', signature) : report('letter_signed', 'another_name', signature)];
}

function judgePdfSignature({
  reading: { signatures, revisions },
  fields: { signerName },
  submittedOn,
  brand,
}: LetterCase): readonly Finding[] {
  const findings = signatures.flatMap((signature) => {
    const seen = placeOfSignature(signature);
    const problem = signatureProblem(signature);
    if (problem === 'changed')
      return [
        report('pdf_signature_valid', problem, {
          ...seen,
          excerpt: makeExcerpt(revisions.flatMap(({ changes }) => changes).join('; ')),
        }),
      ];
    if (problem !== null) return [report('pdf_signature_valid', problem, seen)];
    return [
      ...(signature.chain === 'untrusted' ? [report('pdf_signature_valid', 'untrusted', seen)] : []),
      ...(signature.chain === 'unchecked' ? [report('pdf_signature_valid', 'unchecked', seen)] : []),
      ...(isTimely(signature.signedAt, submittedOn) ? [] : [report('pdf_signature_valid', 'another_time', seen)]),
    ];
  });
  const verified = signatures.filter(isVerified);
  // Every one must be the signer's: a change after the signer's own signature is covered only by a later one.
  const named = verified.every(
    (signature) =>
      signerName !== null &&
      signature.signerName !== null &&
      comparePeople(signature.signerName, signerName.value) === 'same',
  );
  const ofCompany = verified.every(
    ({ signerOrganization: company }) => company === null || bestComparison(company, namesOf(brand)) === 'same',
  );
  if (verified.length > 0 && !(named && ofCompany)) findings.push(report('pdf_signature_valid', 'another_name'));
  return orPass('pdf_signature_valid', findings, signatures[0] === undefined ? null : placeOfSignature(signatures[0]));
}

/** The place of a signature, and the source of its time. */
function placeOfSignature({ page, box, signedAt, timeStamp }: PdfSignature): FindingSource {
  const stamp =
    timeStamp === null
      ? null
      : `time by ${timeStamp.authority ?? 'an authority without a name'}: ${timeStamp.time}${chainWords[timeStamp.chain]}`;
  const claim = signedAt === null ? null : `time claimed by the signer: ${signedAt}`;
  const time = stamp ?? claim;
  return { place: page === null ? null : { page, line: 0, box }, excerpt: time === null ? null : makeExcerpt(time) };
}

const chainWords = {
  trusted: '',
  untrusted: ' (not from a trusted authority)',
  unchecked: ' (its authority was not checked)',
} as const;

/** The problem of a signature itself, apart from its chain. */
function signatureProblem({
  digestMatches,
  signatureValid,
  coverage,
  chain,
  problem,
}: PdfSignature): 'altered' | 'partial' | 'changed' | 'unverified' | null {
  if (signatureValid && !digestMatches) return 'altered';
  if (!signatureValid) return problem === null ? 'altered' : 'unverified';
  if (coverage === 'partial' || coverage === 'changed') return coverage;
  return problem !== null && chain === 'unchecked' ? 'unverified' : null;
}

/** True if a signature was made in time; one without a time is judged by the date of the letter alone. */
function isTimely(signedAt: string | null, submittedOn: string): boolean {
  const days = signedAt === null ? 0 : daysBetween(signedAt.slice(0, 10), submittedOn);
  return days >= 0 && days <= letterRuleLimits.ageDaysMax;
}

type DateVerdict = 'future' | 'too_old' | 'in_time';

function judgeDay(
  date: string,
  { submittedOn, latestDay = submittedOn }: Pick<LetterDecisionInput, 'submittedOn' | 'latestDay'>,
): DateVerdict {
  const days = daysBetween(date, submittedOn);
  if (date > latestDay) return 'future';
  return days > letterRuleLimits.ageDaysMax ? 'too_old' : 'in_time';
}

/**
 * The four rules on the signing date. A date leads to a refusal only if it alone is labelled as the signing date, in text of the
 * PDF itself.
 */
function judgeDate(letterCase: LetterCase): readonly Finding[] {
  const { fields, submittedOn, mayBeUnread } = letterCase;
  const { signingDate: date, otherDates } = fields;
  if (date === null) return judgeMissingDate(otherDates);
  const verdict = judgeDay(date.date, letterCase);
  const alternative = date.alternative === null ? verdict : judgeDay(date.alternative, letterCase);
  const rival = otherDates.find(
    (other) =>
      other.role !== 'other' &&
      [other.date, other.alternative ?? other.date].some((day) => judgeDay(day, letterCase) !== verdict),
  );
  const signed = letterCase.reading.signatures.find(
    (signature) =>
      isVerified(signature) &&
      signature.signedAt !== null &&
      judgeDay(signature.signedAt.slice(0, 10), letterCase) !== verdict,
  );
  const doubts = [
    ...(alternative === verdict ? [] : [report('date_unambiguous', 'two_readings', date)]),
    ...(rival === undefined || (verdict === 'in_time' && rival.role !== 'signing')
      ? []
      : [report('date_unambiguous', 'two_dates', rival)]),
    ...(signed === undefined ? [] : [report('date_unambiguous', 'two_dates', date)]),
  ];
  const isCertain = doubts.length === 0 && date.labelled && !mayBeUnread;
  const readings = [verdict, alternative];
  const future = !readings.includes('future') ? [] : [report('date_not_future', isCertain ? 'future' : 'unsure', date)];
  const tooOld = !readings.includes('too_old')
    ? []
    : [report('date_recent', isCertain ? 'too_old' : 'unsure', date, { days: daysBetween(date.date, submittedOn) })];
  return [
    pass('date_given', date),
    ...orPass('date_unambiguous', doubts, date),
    ...orPass('date_not_future', future, date),
    ...orPass('date_recent', tooOld, date),
  ];
}

/** Without a date only `date_given` decides. */
function judgeMissingDate(otherDates: readonly FoundDate[]): readonly Finding[] {
  const possible = otherDates.find(({ role }) => role === 'unlabelled');
  const given =
    possible !== undefined ? report('date_given', 'unclear', possible) : report('date_given', 'missing', otherDates[0]);
  return [given, pass('date_unambiguous'), pass('date_not_future'), pass('date_recent')];
}

const endingsMax = 5;

/** The last four digits of some numbers: 0143, 0144 and 3 more. */
function endingsOf(phones: readonly string[]): string {
  const shown = phones
    .slice(0, endingsMax)
    .map((phone) => phone.slice(-4))
    .join(', ');
  return phones.length > endingsMax ? `${shown} and ${phones.length - endingsMax} more` : shown;
}

function judgeCoveredNumbers({ requestedPhones, fields, covered, letter }: LetterCase): readonly Finding[] {
  const ranges = fields.refusedRanges.map((place) => report('numbers_authorized', 'range_unclear', { place }));
  if (requestedPhones.length === 0) return [report('numbers_authorized', 'none_requested'), ...ranges];
  const lacking = requestedPhones.filter((phone) => !covered.has(phone));
  const others = new Map(fields.otherPhones.map((other) => [other.phone, other]));
  const notListed = lacking.filter((phone) => others.has(phone));
  const missing = lacking.filter((phone) => !others.has(phone));
  const lackingOf = (
    name: 'missing' | 'not_listed',
    phones: readonly string[],
    source: FindingSource | null,
  ): readonly Finding[] => {
    const figures = { missing: phones.length, requested: requestedPhones.length, endings: endingsOf(phones) };
    return phones.length === 0 ? [] : [report('numbers_authorized', name, source, figures)];
  };
  const findings = [
    ...lackingOf('missing', missing, resemblingLine(letter, missing)),
    ...lackingOf('not_listed', notListed, { place: others.get(notListed[0] ?? '')?.place ?? null }),
    ...ranges,
  ];
  const place = fields.phones.find(({ phone }) => phone === requestedPhones[0])?.place ?? null;
  const line =
    place === null ? undefined : letter.lines.find((each) => each.page === place.page && each.line === place.line);
  return orPass('numbers_authorized', findings, line === undefined ? null : foundIn(line, line.text));
}

/** Most missing numbers that are searched digit by digit. */
const resemblingMax = 20;
const comparedDigits = 7;
const readAsDigits: Readonly<Record<string, string>> = {
  o: '0',
  q: '0',
  d: '0',
  i: '1',
  l: '1',
  '|': '1',
  z: '2',
  s: '5',
  b: '8',
  g: '9',
};

/**
 * The line that has the last seven digits of one of some numbers but one, with letters that OCR takes for digits: where a person
 * looks first.
 */
function resemblingLine({ lines }: LetterText, phones: readonly string[]): FindingSource | null {
  const endings = phones.slice(0, resemblingMax).map((phone) => phone.slice(-comparedDigits));
  const line = lines.find(({ folded }) => {
    if (!/\d{2}/.test(folded)) return false;
    const digits = folded.replace(/[oqdil|zsbg]/g, (letter) => readAsDigits[letter]!).replace(/\D/g, '');
    return endings.some((wanted) => {
      for (let at = 0; at + comparedDigits <= digits.length; at++)
        if (differences(digits, at, wanted) <= 1) return true;
      return false;
    });
  });
  return line === undefined ? null : foundIn(line, line.text);
}

function differences(digits: string, at: number, wanted: string): number {
  let count = 0;
  for (let offset = 0; offset < wanted.length && count < 2; offset++)
    if (digits[at + offset] !== wanted[offset]) count++;
  return count;
}

function judgeCsvNeeded({ requestedPhones: { length: requested }, csv, fields }: LetterCase): readonly Finding[] {
  const inLetter = fields.phones.filter(({ source }) => source !== 'csv');
  const { numbersWithoutCsvMax, listedNumbersMax } = letterRuleLimits;
  const needsCsv = requested > numbersWithoutCsvMax && csv === null;
  const [first, listed] = [inLetter[0], inLetter.length];
  return orPass('csv_for_many', [
    ...(needsCsv ? [report('csv_for_many', 'missing', null, { requested })] : []),
    ...(listed > listedNumbersMax ? [report('csv_for_many', 'many_listed', { place: first!.place }, { listed })] : []),
  ]);
}

function judgeCsv({ csv, csvPhones, fields, reading }: LetterCase): readonly Finding[] {
  const { attachment, phones } = fields;
  const seen = { place: attachment.place, excerpt: null };
  if (csv === null) return [attachment.stated ? report('csv_agrees', 'no_csv', seen) : pass('csv_agrees')];
  const embedded = phones.filter(({ source }) => source === 'csv').map(({ phone }) => phone);
  if (csvPhones !== null && reading.embeddedCsv !== null && !sameNumbers(csvPhones, embedded))
    return [report('csv_agrees', 'two_lists', seen)];
  if (!agrees(attachment, csv)) return [report('csv_agrees', 'disagrees', seen)];
  if (reading.embeddedCsv !== null && fields.signature.kind === 'pdf') return [pass('csv_agrees', seen)]; // the signature covers the CSV
  if (!attachment.stated) return [report('csv_agrees', 'not_stated')];
  return [isPinned(attachment, csv) ? pass('csv_agrees', seen) : report('csv_agrees', 'not_pinned', seen)];
}

function sameNumbers(left: readonly string[], right: readonly string[]): boolean {
  const [a, b] = [new Set(left), new Set(right)];
  return a.size === b.size && [...a].every((phone) => b.has(phone));
}

/** States the smallest and the largest number and the count: by their place in the file, there may be others between. */
function isPinned({ first, last, count }: LetterFields['attachment'], csv: readonly string[]): boolean {
  const ordered = byValue(csv);
  return count === ordered.length && first !== null && first === ordered[0] && last !== null && last === ordered.at(-1);
}

/** Each number once, from the smallest on. */
function byValue(csv: readonly string[]): readonly string[] {
  return [...new Set(csv)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}

/** What the letter states of its list is true of the CSV; its first and last number by place in the file or by value. */
function agrees({ first, last, count }: LetterFields['attachment'], csv: readonly string[]): boolean {
  const numbers = [...new Set(csv)];
  const ordered = byValue(csv);
  const isFirst = first === null || first === numbers[0] || first === ordered[0];
  const isLast = last === null || last === numbers.at(-1) || last === ordered.at(-1);
  return isFirst && isLast && (count === null || count === numbers.length);
}

function judgeOtherBrands({ requestedPhones, phonesOfOtherBrands }: LetterCase): readonly Finding[] {
  const taken = phonesOfOtherBrands.length;
  if (taken === 0) return [pass('numbers_of_one_brand')];
  return [
    report('numbers_of_one_brand', 'taken', null, {
      taken,
      requested: requestedPhones.length,
      endings: endingsOf(phonesOfOtherBrands),
    }),
  ];
}
