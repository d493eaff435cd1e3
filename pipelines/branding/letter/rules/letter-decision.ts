import { makeExcerpt } from '../../../phone/text-cleaning.ts';
import type { Finding } from '../../finding.ts';
import type { LetterFields } from '../letter-fields.ts';
import {
  LETTER_REFUSALS,
  type Box,
  type LetterRefusalCode,
  type PdfSignature,
  type LetterPlace,
} from '../../letter-reading.ts';
import { letterRuleLimits, type FindingSource } from './letter-rules.ts';
import { hasTitleWord } from '../letter-labels.ts';
import { isVerified } from '../letter-signature.ts';
import { foldSameLength, foundIn, lineIndexAt, type LetterText } from '../letter-text.ts';
import {
  compareNames,
  comparePeople,
  findName,
  looksLikePerson,
  namesCompany,
  wordsInText,
  type NameComparison,
  type NameInText,
} from '../../names/name-match.ts';
import {
  type LetterDecisionInput,
  type LetterBrand,
  type LetterCase,
  makeCase,
  orPass,
  pass,
  report,
} from './letter-case.ts';
import { isTimely, judgeDate } from './letter-date-rules.ts';
import { judgeCoveredNumbers, judgeCsvNeeded, judgeCsv, judgeOtherBrands } from './letter-number-rules.ts';

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
