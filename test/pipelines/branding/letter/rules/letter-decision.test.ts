import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideLetterByRules,
  refusalFinding,
  type LetterDecision,
} from '../../../../../pipelines/branding/letter/rules/letter-decision.ts';
import type { LetterBrand } from '../../../../../pipelines/branding/letter/rules/letter-case.ts';
import { extractFields } from '../../../../../pipelines/branding/letter/letter-fields.ts';
import {
  LETTER_REFUSALS,
  type LetterRefusalCode,
  type PageMark,
} from '../../../../../pipelines/branding/letter-reading.ts';
import { LETTER_RULES, letterRuleLimits } from '../../../../../pipelines/branding/letter/rules/letter-rules.ts';
import { pdfSignature, readLetter, type TestLetter, type TestLine } from '../../../../support/letter-reading.ts';

const brand: LetterBrand = {
  legalName: 'Acme Widgets, Inc.',
  dba: 'Acme Fast',
  displayName: 'AcmeCalls',
  country: 'US',
  address: null,
};

/** Parts of a letter that passes; a test replaces some. */
const good = {
  head: ['Acme Widgets, Inc.', '1 Main Street, Springfield, IL 62701', 'Phone: +1 202 555 0199'] as readonly TestLine[],
  title: ['LETTER OF AUTHORIZATION'] as readonly TestLine[],
  wording: [
    'Acme Widgets, Inc., doing business as Acme Fast, hereby authorizes Caller Trust',
    'to display its brand name on calls from the following telephone numbers:',
  ] as readonly TestLine[],
  numbers: ['+1 202 555 0100', '+1 202 555 0101'] as readonly TestLine[],
  signature: ['Signature: /s/ Jane Doe'] as readonly TestLine[],
  name: ['Name: Jane Doe'] as readonly TestLine[],
  job: ['Title: Chief Financial Officer'] as readonly TestLine[],
  date: ['Date: March 3, 2026'] as readonly TestLine[],
};

interface Case extends TestLetter {
  readonly parts?: Partial<typeof good>;
  readonly brand?: Partial<LetterBrand>;
  readonly submittedOn?: string;
  readonly latestDay?: string;
  readonly requested?: readonly string[];
  readonly csvPhones?: readonly string[] | null;
  readonly taken?: readonly string[];
}

const us = (...lastFour: readonly (string | number)[]) =>
  lastFour.map((digits) => `+1202555${String(digits).padStart(4, '0')}`);
const count = (from: number, numbers: number) => us(...Array.from({ length: numbers }, (_, at) => from + at));

function decide({
  parts = {},
  brand: change = {},
  submittedOn = '2026-03-10',
  latestDay = submittedOn,
  requested = us('0100', '0101'),
  csvPhones = null,
  taken = [],
  ...letter
}: Case = {}): LetterDecision {
  const reading = readLetter(Object.values({ ...good, ...parts }).flat(), letter);
  const of = { ...brand, ...change };
  const fields = extractFields(reading, {
    country: of.country,
    names: [of.legalName, of.dba, of.displayName].filter((name) => name !== null),
  });
  return decideLetterByRules({
    submittedOn,
    latestDay,
    brand: of,
    requestedPhones: requested,
    csvPhones,
    phonesOfOtherBrands: taken,
    reading,
    fields,
  });
}

/** The findings that did not pass: the rule where it asks for a review, else `rule: severity`. */
const problems = ({ findings }: LetterDecision) =>
  findings
    .filter(({ severity }) => severity !== 'pass')
    .map(({ code, severity }) => (severity === 'review' ? code : `${code}: ${severity}`));
const needsPerson = ({ findings }: LetterDecision) =>
  findings.some(({ severity }) => severity === 'review' || severity === 'reject');
const of = (decision: LetterDecision, code: string) => decision.findings.filter((finding) => finding.code === code);
const textOf = (code: string, name: string) =>
  (LETTER_RULES.find(({ id }) => id === code)!.cases as Record<string, { message: string }>)[name]!.message;

describe('a good letter', () => {
  it('passes, with one finding for each rule, and says where it was read', () => {
    const decision = decide();
    expect(problems(decision)).toEqual([]);
    expect(decision).toMatchObject({ signedOn: '2026-03-03', coveredPhones: us('0100', '0101') });
    expect(decision.findings.map(({ code }) => code)).toEqual(LETTER_RULES.map(({ id }) => id));
    const seen = Object.fromEntries(
      decision.findings.map(({ code, excerpt, place }) => [code, excerpt === null ? null : [place?.line, excerpt]]),
    );
    expect(seen).toMatchObject({
      brand_named: [5, good.wording[0]],
      legal_name_given: [1, good.head[0]],
      signer_named: [10, 'Name: Jane Doe'],
      signer_title_given: [11, good.job[0]],
      letter_signed: [9, good.signature[0]],
      date_given: [12, good.date[0]],
      numbers_authorized: [7, '+1 202 555 0100'],
      authorization_given: [5, good.wording[0]],
      address_given: [2, good.head[1]],
    });
  });

  it('is approved from a scan that was read with certainty, too', () => {
    expect(problems(decide({ source: 'ocr' }))).toEqual([]);
  });
});

/** The letter with lines under its title. */
const titled = (...lines: TestLine[]): Case => ({ parts: { title: [...good.title, ...lines] } });
/** The letter with other wording. */
const worded = (...wording: string[]): Case => ({ parts: { wording } });
/** The letter with a mark on its page, and a line at a place of its own. */
const marked = (kind: PageMark['kind'], left: number, top: number, width: number, height: number): Case => ({
  marks: [{ kind, box: { left, top, width, height } }],
});
const boxed = (text: string, left: number, top: number, width: number, height: number): TestLine => ({
  text,
  box: { left, top, width, height },
});
/** The letter with a PDF signature. */
const signed = (...given: Parameters<typeof pdfSignature>): Case => ({ signatures: [pdfSignature(...given)] });

/** What a letter says of the CSV of `csvCase`. */
const listed = 'from +1 202 555 0100 to +1 202 555 0115, 16 numbers';

/** A case, and its findings that do not pass. */
const cases: readonly (readonly [what: string, given: Case, expected: string])[] = [
  // text_readable
  ['a scan at the least confidence', { source: 'ocr', confidence: letterRuleLimits.pageConfidenceMin }, ''],
  [
    'a scan under the least confidence',
    { source: 'ocr', confidence: letterRuleLimits.pageConfidenceMin - 0.1 },
    'text_readable',
  ],
  [
    'a line at the least confidence',
    {
      source: 'ocr',
      parts: { date: [{ text: 'Date: March 3, 2026', confidence: letterRuleLimits.lineConfidenceMin }] },
    },
    '',
  ],
  [
    'a line under the least confidence',
    {
      source: 'ocr',
      parts: { date: [{ text: 'Date: March 3, 2026', confidence: letterRuleLimits.lineConfidenceMin - 0.1 }] },
    },
    'text_readable',
  ],
  [
    'an uncertain line that nothing depends on',
    { source: 'ocr', parts: { title: [{ text: 'LETTER OF AUTHORIZATION', confidence: 10 }] } },
    '',
  ],
  [
    'more text than is read',
    { parts: { title: [boxed('x'.repeat(1001), 0, 0.5, 1, 0.01)] } },
    'text_readable, sentences_to_read',
  ],
  // text_visible
  ['a picture on half of a page', { marks: [picture(0.5)] }, 'page_plain'],
  ['a picture on more than half of a page', { marks: [picture(0.51)] }, 'text_visible'],
  ['a scan, which is a picture', { source: 'ocr', marks: [picture(1)] }, ''],
  ['text of 3 points', { parts: { title: [boxed('LOA', 0.1, 0.5, 0.1, letterRuleLimits.textHeightMin)] } }, ''],
  [
    'text under 3 points',
    { parts: { title: [boxed('LOA', 0.1, 0.5, 0.1, letterRuleLimits.textHeightMin - 0.0001)] } },
    'text_visible',
  ],
  ['text outside the page', { parts: { title: [boxed('LOA', 1.1, 0.5, 0.1, 0.01)] } }, 'text_visible'],
  // page_plain
  ['an annotation', marked('annotation', 0.1, 0.245, 0.2, 0.01), 'page_plain'],
  ['a picture that is seen through', marked('see_through', 0.1, 0.2, 0.5, 0.3), 'page_plain'],
  ['a line through text', marked('strike', 0.1, 0.248, 0.2, 0.001), 'page_plain'],
  ['a drawing under the text', marked('drawing', 0.1, 0.7, 0.2, 0.05), 'page_plain'],
  ['a drawing in the letterhead', marked('drawing', 0.1, 0.02, 0.2, 0.05), ''],
  [
    'a number on the page behind the signature',
    {
      pages: [Object.values(good).flat(), ['List of telephone numbers:', '+1 202 555 0107']],
      requested: us('0100', '0107'),
    },
    'page_plain',
  ],
  ['a word with a letter of another alphabet', titled('Acme F\u0430st'), 'page_plain'],
  ['an alphabet of its own', titled('Доверенность'), 'page_plain'],
  // authorization_given, purpose_branding
  [
    'a title without a sentence that authorizes',
    worded('Acme Widgets, Inc. (Acme Fast): branding of the following telephone numbers:'),
    '',
  ],
  [
    'no wording that authorizes',
    { parts: { title: [], wording: ['Acme Widgets, Inc., Acme Fast: branding of the following telephone numbers:'] } },
    'authorization_given',
  ],
  [
    'the same on a bad scan',
    {
      source: 'ocr',
      confidence: 74,
      parts: { title: [], wording: ['Acme Widgets, Inc., Acme Fast: branding of the following telephone numbers:'] },
    },
    'text_readable, authorization_given',
  ],
  ['a limit', titled('This is for one test call.'), 'sentences_to_read'],
  ['a word that is seldom', titled('Our landlord is glad.'), 'sentences_to_read'],
  [
    'a language that is not known',
    titled(
      'Wierzymy ze to jest dobre, nasze numery sa tutaj dla wszystkich ludzi i bardzo prosimy aby pokazac nasza firme przy kazdym polaczeniu telefonicznym.',
    ),
    '',
  ],
  ['words on the numbers', titled('These are numbers which we call.'), 'sentences_to_read'],
  [
    'an agency that authorizes',
    worded('Zenith Agency LLC hereby authorizes branding of Acme Fast for the following numbers:'),
    'sentences_to_read, authorization_given',
  ],
  [
    'an agency without a legal form',
    worded('Zenith Agency hereby authorizes branding of Acme Fast for the following numbers:'),
    'sentences_to_read, authorization_given',
  ],
  [
    'an agency on behalf of the company',
    worded('On behalf of Acme Widgets, Inc. I authorize branding of Acme Fast for the following numbers:'),
    '',
  ],
  [
    'a person who authorizes',
    worded('We, the undersigned, authorize branding of Acme Fast for the following numbers:'),
    '',
  ],
  ['a refusal', worded('We refuse to authorize branding of Acme Fast for the following numbers:'), 'sentences_to_read'],
  ['a draft', { parts: { title: ['DRAFT', 'LETTER OF AUTHORIZATION'] } }, 'sentences_to_read'],
  [
    'a field of a form that was left',
    { parts: { title: ['LETTER OF AUTHORIZATION of [Company Name]'] } },
    'sentences_to_read',
  ],
  [
    'an authorization that is taken back',
    { parts: { title: ['REVOCATION OF LETTER OF AUTHORIZATION', 'We hereby revoke it.'] } },
    'sentences_to_read, sentences_to_read',
  ],
  [
    'a denial',
    worded(
      'Acme Widgets, Inc., doing business as Acme Fast, never authorizes Caller Trust to display',
      'its brand name on calls from the following telephone numbers:',
    ),
    'sentences_to_read',
  ],
  ['a title that binds nobody', { parts: { job: ['Title: Former Chief Financial Officer'] } }, 'sentences_to_read'],
  ['an end on the day of submission', titled('This letter is valid until March 10, 2026.'), ''],
  ['an end on the day before submission', titled('This letter is valid until March 9, 2026.'), 'authorization_given'],
  ['an end with one reading before submission', titled('Valid until 02/04/2026.'), 'authorization_given'],
  [
    'an end at the end of a time',
    titled('It is valid from January 1, 2020 to December 31, 2021.'),
    'authorization_given',
  ],
  ['an end in the year of submission', titled('It is in force until the end of 2026.'), 'sentences_to_read'],
  [
    'an end in the year before submission',
    titled('It is in force until the end of 2025.'),
    'sentences_to_read, authorization_given',
  ],
  ['a date in the past that is no end', titled('It is in force since March 9, 2020.'), ''],
  [
    'porting',
    worded('Acme Widgets, Inc. (Acme Fast) hereby authorizes the porting of the following telephone numbers:'),
    'sentences_to_read, purpose_branding: reject',
  ],
  [
    'porting on a scan',
    {
      source: 'ocr',
      ...worded('Acme Widgets, Inc. (Acme Fast) hereby authorizes the porting of the following telephone numbers:'),
    },
    'sentences_to_read, purpose_branding',
  ],
  [
    'a denial of porting',
    worded(
      'Acme Widgets, Inc. (Acme Fast) hereby authorizes the use, not the porting of the following telephone numbers:',
    ),
    'sentences_to_read, purpose_branding',
  ],
  ['porting besides branding', titled('This includes number porting.'), 'sentences_to_read, purpose_branding'],
  [
    'no purpose',
    worded('Acme Widgets, Inc. (Acme Fast) hereby authorizes Caller Trust for the following telephone numbers:'),
    'purpose_branding',
  ],
  // brand_named, legal_name_given
  [
    'the display name only',
    {
      brand: { dba: null },
      ...worded('Acme Widgets, Inc. hereby authorizes branding as AcmeCalls of the following telephone numbers:'),
    },
    '',
  ],
  [
    'another brand with a label',
    {
      parts: {
        title: ['LETTER OF AUTHORIZATION', 'Brand name: Zenith Loans'],
        wording: ['Acme Widgets, Inc. hereby authorizes branding of the following telephone numbers:'],
      },
    },
    'brand_named',
  ],
  [
    'another brand with a label, and nothing of the brand',
    {
      parts: {
        head: [],
        title: ['LETTER OF AUTHORIZATION', 'Brand name: Zenith Loans'],
        wording: ['We authorize branding of the following telephone numbers:'],
      },
    },
    'brand_named: reject, legal_name_given, address_given: note',
  ],
  [
    'the same with a sentence instead of the name',
    {
      parts: {
        head: [],
        title: ['LETTER OF AUTHORIZATION', 'Brand name: as shown on our website'],
        wording: ['We authorize branding of the following telephone numbers:'],
      },
    },
    'sentences_to_read, brand_named, legal_name_given, address_given: note',
  ],
  [
    'the same on a scan',
    {
      source: 'ocr',
      parts: {
        head: [],
        title: ['LETTER OF AUTHORIZATION', 'Brand name: Zenith Loans'],
        wording: ['We authorize branding of the following telephone numbers:'],
      },
    },
    'brand_named, legal_name_given, address_given: note',
  ],
  [
    'another company with a label, and nothing of the brand',
    {
      parts: {
        head: ['Legal name: Zenith Loans, Inc.'],
        wording: ['We authorize branding for the following numbers:'],
      },
    },
    'sentences_to_read, brand_named, legal_name_given: reject, address_given: note',
  ],
  [
    'another provider',
    worded(
      'Acme Widgets, Inc. (Acme Fast) hereby authorizes Telemark Brands to display it on calls from the following numbers:',
    ),
    'authorization_given',
  ],
  [
    'another brand with a label next to the brand with a label',
    titled('Brand name: Zenith Loans', 'Display name: AcmeCalls'),
    'brand_named',
  ],
  [
    'another name to be displayed',
    worded(
      'Acme Widgets, Inc. hereby authorizes Caller Trust to display the name First',
      'National Bank on calls from the following telephone numbers:',
    ),
    'brand_named',
  ],
  [
    'another name to be displayed besides the brand',
    worded(
      'Acme Widgets, Inc. hereby authorizes Caller Trust to display the name “Acme Fast” and',
      '“Zenith Loans” on calls from the following telephone numbers:',
    ),
    'brand_named',
  ],
  [
    'the brand as the name to be displayed',
    worded(
      'Acme Widgets, Inc. hereby authorizes Caller Trust to display the name “Acme',
      'Fast” on calls from the following telephone numbers:',
    ),
    '',
  ],
  [
    'another DBA in a sentence',
    worded('Acme Widgets, Inc., doing business as Zenith Loans, authorizes branding of the following numbers:'),
    'brand_named',
  ],
  [
    'the brand of another company',
    { parts: { head: [], wording: ['Zenith Loans, Inc. authorizes branding of the following numbers:'] } },
    'sentences_to_read, authorization_given, brand_named, legal_name_given, address_given: note',
  ],
  [
    'a labelled legal name of another company',
    {
      parts: {
        head: ['Legal name: Zenith Loans, Inc.'],
        wording: ['We authorize branding of Acme Fast for the following numbers:'],
      },
    },
    'sentences_to_read, legal_name_given, address_given: note',
  ],
  [
    'a second company',
    titled('Company: Acme Widgets, Inc.', 'Customer: Zenith Loans, Inc.'),
    'sentences_to_read, legal_name_given',
  ],
  [
    'another legal form',
    {
      parts: {
        head: ['Legal name: Acme Widgets LLC', good.head[1]!],
        wording: ['We authorize branding of Acme Fast for the following numbers:'],
      },
    },
    'legal_name_given',
  ],
  [
    'the legal name without its form',
    {
      parts: {
        head: ['Legal name: Acme Widgets', good.head[1]!],
        wording: ['We authorize branding of Acme Fast for the following numbers:'],
      },
    },
    '',
  ],
  [
    'the legal name with accents and capitals',
    { brand: { legalName: 'Ácme Wïdgets Inc' }, parts: { head: ['Legal name: ACME WIDGETS INC.', good.head[1]!] } },
    '',
  ],
  [
    'a misread legal name on a scan',
    {
      source: 'ocr',
      parts: {
        head: ['Legal name: Acme Widgcts, Inc.', good.head[1]!],
        wording: ['We authorize branding of Acme Fast for the following numbers:'],
      },
    },
    'sentences_to_read, legal_name_given',
  ],
  [
    'a misread brand on a scan',
    { source: 'ocr', brand: { dba: 'Northwind Travel' }, ...titled('Brand: Northwlnd Travel') },
    'brand_named',
  ],
  ['a look-alike brand', { brand: { dba: 'Northwind Travel' }, ...titled('Brand: Northwlnd Travel') }, 'brand_named'],
  [
    'the DBA as the company',
    {
      parts: {
        head: ['Company: Acme Fast', good.head[1]!],
        wording: ['We authorize branding for the following numbers:'],
      },
    },
    'legal_name_given',
  ],
  [
    'no legal name',
    { parts: { head: [good.head[1]!], wording: ['We authorize branding as Acme Fast for the following numbers:'] } },
    'legal_name_given',
  ],
  [
    'a longer name',
    {
      parts: {
        head: [good.head[1]!],
        wording: ['Acme Widgets Rivals hereby authorizes branding as Acme Fast for the following numbers:'],
      },
    },
    'legal_name_given',
  ],
  [
    'a brand that is a common word',
    {
      brand: { dba: null, displayName: 'Target', legalName: 'Zyx Holdings' },
      parts: {
        head: [good.head[1]!],
        wording: ['We authorize branding for our target audience on the following numbers:'],
      },
    },
    'sentences_to_read, brand_named, legal_name_given',
  ],
  // address_given
  ['no address', { parts: { head: good.head.slice(0, 1) } }, 'address_given: note'],
  // signer
  [
    'no name of the signer',
    {
      parts: { signature: ['Signature: ________'], name: [], job: ['Title: CFO'] },
      signatures: [pdfSignature({ signerName: null })],
    },
    'signer_named, pdf_signature_valid',
  ],
  [
    'nobody at all',
    { parts: { signature: [], name: ['Name: ________'], job: [] } },
    'signer_named, signer_title_given, letter_signed',
  ],
  ['one word as a name', { parts: { name: ['Name: Jane'], signature: ['/s/ Jane'] } }, 'signer_named'],
  ['no title', { parts: { job: ['Title: ________'] } }, 'signer_title_given'],
  [
    'a title somewhere else',
    { parts: { job: ['Our president will tell you more on request.'] } },
    'sentences_to_read, signer_title_given',
  ],
  [
    'no title on a bad scan',
    { source: 'ocr', confidence: 70, parts: { job: [] } },
    'text_readable, signer_title_given',
  ],
  // letter_signed
  ['no signature', { parts: { signature: ['Signature: ________'] } }, 'letter_signed'],
  [
    'no signature on a bad scan',
    { source: 'ocr', confidence: 74, parts: { signature: ['Signature: ________'] } },
    'text_readable, letter_signed',
  ],
  ['no signature on a good scan', { source: 'ocr', parts: { signature: ['Signature: ________'] } }, 'letter_signed'],
  [
    'ink',
    {
      parts: { signature: ['', 'Signature: ________'] },
      marks: [{ kind: 'ink', box: { left: 0.2, top: 0.265, width: 0.15, height: 0.02 } }],
    },
    'letter_signed',
  ],
  ['a typed name', { parts: { signature: ['Signature: Jane Doe'] } }, 'letter_signed'],
  ['the signature of another person', { parts: { signature: ['Signature: /s/ John Roe'] } }, 'letter_signed'],
  ['a signature with a middle initial', { parts: { signature: ['Signature: /s/ Jane Q. Doe'] } }, ''],
  ['a signature with an initial', { parts: { signature: ['Signature: /s/ J. Doe'] } }, 'letter_signed'],
  [
    'a signature with words after its name',
    { parts: { signature: ['Signature: /s/ Jane Doe (copy)'] } },
    'sentences_to_read, letter_signed',
  ],
  [
    'a signature with a title and a date after its name',
    { parts: { signature: ['Signature: /s/ Jane Doe, CFO, March 3, 2026'] } },
    '',
  ],
  // pdf_signature_valid
  ['a trusted PDF signature', signed(), ''],
  ['a PDF signature whose chain was not checked', signed({ chain: 'unchecked' }), 'pdf_signature_valid: note'],
  ['an untrusted PDF signature', signed({ chain: 'untrusted' }), 'pdf_signature_valid'],
  ['a PDF signature of another company', signed({ signerOrganization: 'Zenith Loans, Inc.' }), 'pdf_signature_valid'],
  [
    'a PDF signature of a company in another legal form',
    signed({ signerOrganization: 'Acme Widgets LLC' }),
    'pdf_signature_valid',
  ],
  ['a PDF signature without a company', signed({ signerOrganization: null }), ''],
  ['a PDF signature of the DBA', signed({ signerOrganization: 'ACME FAST' }), ''],
  ['a file that was altered after signing', signed({ digestMatches: false }), 'pdf_signature_valid: reject'],
  ['a forged PDF signature', signed({ signatureValid: false }), 'pdf_signature_valid: reject'],
  ['a change after signing', signed({ coverage: 'changed' }), 'pdf_signature_valid'],
  [
    'a signature that leaves out a part of its revision',
    signed({ coverage: 'partial' }),
    'pdf_signature_valid: reject',
  ],
  [
    'a PDF signature that cannot be verified',
    signed({ digestMatches: false, signatureValid: false, problem: 'unknown algorithm' }),
    'pdf_signature_valid',
  ],
  [
    "a file that was altered, with the reader's word for it",
    signed({ digestMatches: false, problem: 'not the one that was signed' }),
    'pdf_signature_valid: reject',
  ],
  [
    'a PDF signature that cannot be verified, and no other',
    {
      parts: { signature: ['Signature: ______'] },
      signatures: [pdfSignature({ digestMatches: false, signatureValid: false, problem: 'unknown algorithm' })],
    },
    'letter_signed, pdf_signature_valid',
  ],
  [
    "an untrusted chain, with the reader's word for it",
    signed({ chain: 'untrusted', problem: 'no root' }),
    'pdf_signature_valid',
  ],
  ['a PDF signature of another person', signed({ signerName: 'John Roe' }), 'pdf_signature_valid'],
  ['a PDF signature without a name', signed({ signerName: null }), 'pdf_signature_valid'],
  ['two PDF signatures of the signer', { signatures: [pdfSignature(), pdfSignature()] }, ''],
  [
    'a PDF signature of another person before that of the signer',
    { signatures: [pdfSignature({ signerName: 'John Roe' }), pdfSignature()] },
    'pdf_signature_valid',
  ],
  [
    'a PDF signature of another person after that of the signer',
    { signatures: [pdfSignature(), pdfSignature({ signerName: 'John Roe' })] },
    'pdf_signature_valid',
  ],
  [
    'two PDF signatures, one altered',
    { signatures: [pdfSignature({ digestMatches: false }), pdfSignature()] },
    'pdf_signature_valid: reject',
  ],
  ['a PDF signature of 30 days before', signed({ signedAt: '2026-02-08T23:59:59Z' }), ''],
  [
    'a PDF signature of 31 days before',
    signed({ signedAt: '2026-02-07T00:00:00Z' }),
    'pdf_signature_valid, date_unambiguous',
  ],
  ['a PDF signature of the same day', signed({ signedAt: '2026-03-10T23:00:00Z' }), ''],
  [
    'a PDF signature of the next day',
    signed({ signedAt: '2026-03-11T00:00:00Z' }),
    'pdf_signature_valid, date_unambiguous',
  ],
  // date rules
  ['no date', { parts: { date: [] } }, 'date_given'],
  ['no date on a bad scan', { source: 'ocr', confidence: 74, parts: { date: [] } }, 'text_readable, date_given'],
  [
    'two dates far from the signature without a label',
    { parts: { head: ['March 3, 2026', 'March 1, 2026', '', '', '', '', ...good.head], date: [] } },
    'date_given',
  ],
  ['only a date of expiry', { parts: { date: ['Expires: March 3, 2027'] } }, 'date_given'],
  ['a date of the day of submission', { submittedOn: '2026-03-03' }, ''],
  ['a date of the day after submission', { submittedOn: '2026-03-02' }, 'date_not_future: reject'],
  [
    'a date of the day after submission, where that day has begun somewhere',
    { submittedOn: '2026-03-02', latestDay: '2026-03-03' },
    '',
  ],
  [
    'a date two days after submission',
    { submittedOn: '2026-03-01', latestDay: '2026-03-02' },
    'date_not_future: reject',
  ],
  ['a date of 30 days before', { submittedOn: '2026-04-02' }, ''],
  ['a date of 31 days before', { submittedOn: '2026-04-03' }, 'date_recent: reject'],
  ['a date of 31 days before on a scan', { source: 'ocr', submittedOn: '2026-04-03' }, 'date_recent'],
  [
    'a date of 31 days before without a label',
    { parts: { date: ['March 3, 2026'] }, submittedOn: '2026-04-03' },
    'date_recent',
  ],
  [
    'a date of 31 days before, and a PDF signature in time',
    { submittedOn: '2026-04-03', signatures: [pdfSignature({ signedAt: '2026-04-02T12:00:00Z' })] },
    'date_unambiguous, date_recent',
  ],

  [
    'an ambiguous date, one reading in the future',
    { parts: { date: ['Date: 03/04/2026'] } },
    'date_unambiguous, date_not_future',
  ],
  [
    'an ambiguous date, one reading too old',
    { parts: { date: ['Date: 01/03/2026'] }, submittedOn: '2026-03-10' },
    'date_unambiguous, date_recent',
  ],
  [
    'an ambiguous date whose readings decide the same',
    { parts: { date: ['Date: 03/02/2026'] }, submittedOn: '2026-03-03' },
    '',
  ],
  [
    'an ambiguous date whose readings are both too old',
    { parts: { date: ['Date: 03/04/2025'] } },
    'date_recent: reject',
  ],
  [
    'two ambiguous signing dates',
    { parts: { date: ['Date: 03/09/2026', 'Fecha: 09/03/2026'] }, submittedOn: '2026-03-20' },
    'date_unambiguous, date_unambiguous, date_not_future',
  ],
  ['two signing dates that decide the same', { parts: { date: ['Date: March 3, 2026', 'Date: March 4, 2026'] } }, ''],
  [
    'two signing dates that decide differently',
    { parts: { date: ['Date: March 3, 2026', 'Date: March 3, 2025'] } },
    'date_unambiguous',
  ],
  // numbers
  ['no numbers requested', { requested: [] }, 'numbers_authorized: note'],
  ['a number that is missing', { requested: us('0100', '0102') }, 'numbers_authorized'],
  ['a number that is only in the letterhead', { requested: us('0100', '0199') }, 'numbers_authorized'],
  ['a number in a range', { parts: { numbers: ['+1 202 555 0100 through 0109'] }, requested: us('0109') }, ''],
  [
    'a number one past a range',
    { parts: { numbers: ['+1 202 555 0100 through 0109'] }, requested: us('0110') },
    'numbers_authorized',
  ],
  [
    'a range that descends',
    { parts: { numbers: ['+1 202 555 0109 through 0100'] }, requested: us('0100') },
    'numbers_authorized',
  ],
  [
    'a misread number on a scan',
    { source: 'ocr', parts: { numbers: ['+1 202 555 O1OO', '+1 202 555 0107'] } },
    'numbers_authorized',
  ],
  ['a missing number on a good scan', { source: 'ocr', requested: ['+13125550177'] }, 'numbers_authorized'],
  [
    'a missing number on a bad scan',
    { source: 'ocr', confidence: 74, requested: ['+13125550177'] },
    'text_readable, numbers_authorized',
  ],
  ['15 numbers without a CSV', { parts: { numbers: ['+1 202 555 0100 through 0120'] }, requested: count(100, 15) }, ''],
  [
    '16 numbers without a CSV',
    { parts: { numbers: ['+1 202 555 0100 through 0120'] }, requested: count(100, 16) },
    'csv_for_many: reject',
  ],
  ['as many numbers as a letter may list', { parts: { numbers: ['+1 202 555 0100 through 0199'] } }, ''],
  [
    'one number more than a letter may list',
    { parts: { numbers: ['+1 202 555 0100 through 0199', '+1 202 555 0200'] } },
    'csv_for_many',
  ],
  [
    'many numbers in a letter and a CSV with it',
    {
      ...csvCase(listed),
      parts: {
        ...csvCase(listed).parts,
        numbers: ['The following telephone numbers:', '+1 202 555 0000 through 0999'],
      },
    },
    'csv_for_many',
  ],
  ['a number of another brand', { taken: us('0100') }, 'numbers_of_one_brand: reject'],
  // csv_agrees
  ['16 numbers in a CSV that the letter describes', csvCase(listed), ''],
  ['a CSV with one number more', csvCase(listed, count(99, 17).toSpliced(1, 0)), 'csv_agrees'],
  ['another first number', csvCase('from +1 202 555 0101 to +1 202 555 0115, 16 numbers'), 'csv_agrees'],
  ['another last number', csvCase('from +1 202 555 0100 to +1 202 555 0116, 16 numbers'), 'csv_agrees'],
  ['another count', csvCase('from +1 202 555 0100 to +1 202 555 0115, 15 numbers'), 'csv_agrees'],
  [
    'another count on a scan',
    { ...csvCase('from +1 202 555 0100 to +1 202 555 0115, 15 numbers'), source: 'ocr' },
    'csv_agrees',
  ],
  ['a CSV in another order', csvCase(listed, count(100, 16).toReversed()), ''],
  [
    'a CSV whose first and last number are so by place only',
    csvCase(listed, [...count(100, 1), '+13125550101', ...count(102, 14)]),
    'numbers_authorized, csv_agrees',
  ],
  [
    'a CSV of a first number by value and a last one by place',
    {
      ...csvCase('from +1 202 555 0100 to +1 202 555 0110, 16 numbers', [
        ...count(100, 10),
        ...count(111, 5),
        ...count(110, 1),
      ]),
    },
    'csv_agrees',
  ],
  [
    'a CSV of numbers of unequal length',
    {
      ...csvCase('from +1 202 555 0100 to +44 20 7946 0000, 16 numbers', [...count(100, 15), '+442079460000']),
      requested: count(100, 15),
    },
    '',
  ],
  ['a CSV that repeats a number', csvCase(listed, [...count(100, 16), ...us('0103')]), ''],
  ['a list that is not described', csvCase(''), 'csv_agrees'],
  ['a list whose count is not stated', csvCase('from +1 202 555 0100 to +1 202 555 0115'), 'csv_agrees'],
  ['a CSV that the letter does not mention', { csvPhones: us('0100', '0101') }, 'csv_agrees'],
  [
    'a number that is in the letter, but not in the CSV',
    { ...csvCase(listed), requested: us('0120') },
    'numbers_authorized',
  ],
  ['a list without a CSV', { parts: { numbers: [...good.numbers, 'and those in the attached list.'] } }, 'csv_agrees'],
  ['a CSV in the PDF that the letter does not mention', { csv: '+12025550100' }, 'csv_agrees'],
  ['a CSV in the PDF under a signature of the whole file', { csv: '+12025550100', signatures: [pdfSignature()] }, ''],
  ['a CSV in the PDF and another with it', { ...csvCase(listed), csv: '+12025550100' }, 'csv_agrees'],
  ['the same CSV in the PDF and with it', { ...csvCase(listed), csv: count(100, 16).join('\n') }, ''],
];

function picture(width: number): PageMark {
  return { kind: 'image', box: { left: 0, top: 0, width, height: 1 } };
}

/** A letter that refers to a list, and 16 numbers that are in a CSV. */
function csvCase(description: string, csvPhones: readonly string[] = count(100, 16)): Case {
  return {
    parts: {
      wording: [
        'Acme Widgets, Inc., doing business as Acme Fast, hereby authorizes Caller Trust to display',
        'its brand name on calls. The numbers are in the attached list',
        `${description}.`,
      ],
      numbers: [],
    },
    requested: count(100, 16),
    csvPhones,
  };
}

describe('a letter with', () => {
  it.each(cases)('%s', (_, given, expected) => {
    const decision = decide(given);
    expect(problems(decision).join(', ')).toBe(expected);
  });

  it('nothing on it, or a picture only, is looked at', () => {
    const empty = Object.fromEntries(Object.keys(good).map((part) => [part, []])) as unknown as typeof good;
    expect(of(decide({ parts: empty }), 'text_readable')).toMatchObject([
      { severity: 'review', message: textOf('text_readable', 'blank') },
    ]);
    const scan = decide({ parts: empty, source: 'ocr', marks: [picture(0.9)] });
    expect(of(scan, 'text_readable')[0]).toMatchObject({
      severity: 'review',
      message: textOf('text_readable', 'no_text'),
    });
  });

  it('a page that could not be read is looked at', () => {
    const decision = decide({ source: 'ocr', pages: [Object.values(good).flat(), []], marks: [picture(0.9)] });
    expect(problems(decision)).toContain('text_readable');
  });
});

describe('every rule', () => {
  it('has a case in these tests for each thing that it can say', () => {
    const said = new Set(
      cases.flatMap(([, given]) =>
        decide(given).findings.map(
          ({ code, message }) =>
            `${code}: ${message.replace(/\d+ of \d+|\d+ days|^\d+ numbers|lists \d+ numbers|\(ending in [^)]*\)/g, '#')}`,
        ),
      ),
    );
    const elsewhere = [
      'text_readable: blank',
      'text_readable: no_text',
      'text_readable: unsure',
      'legal_name_given: brand_only',
      'signer_named: unclear',
    ];
    const texts = LETTER_RULES.flatMap(({ id, cases: all }) =>
      Object.entries(all as Record<string, { message: string }>).map(([name, { message }]) => ({
        name: `${id}: ${name}`,
        text: `${id}: ${message.replace(/\{missing\} of \{requested\}|\{taken\} of \{requested\}|\{days\} days|^\{requested\} numbers|lists \{listed\} numbers|\(ending in \{endings\}\)/g, '#')}`,
      })),
    );
    expect(
      texts.filter(({ name, text }) => !said.has(text) && !elsewhere.includes(name)).map(({ name }) => name),
    ).toEqual([]);
  });

  it('fills in the figures of its text', () => {
    expect(of(decide({ requested: us('0100', '0102', '0103') }), 'numbers_authorized')[0]?.message).toBe(
      'The reader did not find 2 of 3 requested numbers in the letter or its CSV (ending in 0102, 0103). A person looks at it.',
    );
    expect(of(decide({ requested: count(110, 15) }), 'numbers_authorized')[0]?.message).toContain(
      '(ending in 0110, 0111, 0112, 0113, 0114 and 10 more)',
    );
    expect(of(decide({ submittedOn: '2026-04-03' }), 'date_recent')[0]?.message).toContain('signed 31 days before');
  });

  it('says nothing in words of the letter', () => {
    for (const [, given] of cases)
      for (const { message } of decide(given).findings)
        expect(message).not.toMatch(/\{|undefined|Jane|John|Zenith|\+1|Acme/);
  });
});

describe('a finding for a person', () => {
  it('is there where a part of the letter is missing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('title', 'wording', 'numbers', 'signature', 'name', 'job', 'date'),
        fc.boolean(),
        (part, scan) => {
          const parts = part === 'title' || part === 'wording' ? { title: [], wording: [] } : { [part]: [] };
          const decision = decide({ parts, source: scan ? 'ocr' : 'text' });
          // the electronic signature names its signer as the printed name does
          expect([part, needsPerson(decision)]).toEqual([part, part !== 'name']);
        },
      ),
    );
  });

  it('is there where a number is neither in the letter nor in its CSV', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 100, max: 140 }), { minLength: 1, maxLength: 10 }),
        fc.uniqueArray(fc.integer({ min: 100, max: 140 }), { minLength: 1, maxLength: 10 }),
        (onLetter, requested) => {
          const decision = decide({ parts: { numbers: us(...onLetter) }, requested: us(...requested) });
          expect(needsPerson(decision)).toBe(!requested.every((number) => onLetter.includes(number)));
          expect([...decision.coveredPhones].sort()).toEqual(us(...onLetter).sort());
        },
      ),
    );
  });
});

describe('a letter that cannot be read', () => {
  it.each(Object.keys(LETTER_REFUSALS) as LetterRefusalCode[])('is rejected with %s and what is wrong', (code) => {
    expect(refusalFinding(code, 'There are 21 pages.')).toEqual({
      code,
      severity: 'reject',
      message: `${LETTER_REFUSALS[code]} There are 21 pages.`,
      place: null,
      excerpt: null,
    });
    expect(refusalFinding(code, '')).toMatchObject({ message: LETTER_REFUSALS[code] });
  });
});
