import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideLetterByRules,
  refusalFinding,
  type LetterBrand,
  type LetterDecision,
} from '../../../../pipelines/branding/letter/letter-decision.ts';
import { extractFields } from '../../../../pipelines/branding/letter/letter-fields.ts';
import {
  LETTER_REFUSALS,
  type LetterRefusalCode,
  type PageMark,
} from '../../../../pipelines/branding/letter-reading.ts';
import {
  LETTER_RULES,
  letterRuleLimits,
  letterRuleVersion,
} from '../../../../pipelines/branding/letter/letter-rules.ts';
import { pdfSignature, readLetter, type TestLetter, type TestLine } from '../../../support/letter-reading.ts';

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

/** The findings that did not pass, as `rule: severity`. */
const problems = ({ findings }: LetterDecision) =>
  findings.filter(({ severity }) => severity !== 'pass').map(({ code, severity }) => `${code}: ${severity}`);
const needsPerson = ({ findings }: LetterDecision) =>
  findings.some(({ severity }) => severity === 'review' || severity === 'reject');
const of = (decision: LetterDecision, code: string) => decision.findings.filter((finding) => finding.code === code);
const textOf = (code: string, name: string) =>
  (LETTER_RULES.find(({ id }) => id === code)!.cases as Record<string, { message: string }>)[name]!.message;

describe('a good letter', () => {
  it('passes, with one finding for each rule, and says where it was read', () => {
    const decision = decide();
    expect(problems(decision)).toEqual([]);
    expect(decision).toMatchObject({
      ruleVersion: letterRuleVersion,
      signedOn: '2026-03-03',
      coveredPhones: us('0100', '0101'),
    });
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

/** A case, and what of it does not pass. */
const cases: readonly (readonly [what: string, given: Case, expected: readonly string[]])[] = [
  // text_readable
  ['a scan at the least confidence', { source: 'ocr', confidence: letterRuleLimits.pageConfidenceMin }, []],
  [
    'a scan under the least confidence',
    { source: 'ocr', confidence: letterRuleLimits.pageConfidenceMin - 0.1 },
    ['text_readable: review'],
  ],
  [
    'a line at the least confidence',
    {
      source: 'ocr',
      parts: { date: [{ text: 'Date: March 3, 2026', confidence: letterRuleLimits.lineConfidenceMin }] },
    },
    [],
  ],
  [
    'a line under the least confidence',
    {
      source: 'ocr',
      parts: { date: [{ text: 'Date: March 3, 2026', confidence: letterRuleLimits.lineConfidenceMin - 0.1 }] },
    },
    ['text_readable: review'],
  ],
  [
    'an uncertain line that nothing depends on',
    { source: 'ocr', parts: { title: [{ text: 'LETTER OF AUTHORIZATION', confidence: 10 }] } },
    [],
  ],
  [
    'more text than is read',
    { parts: { title: [{ text: 'x'.repeat(1001), box: { left: 0, top: 0.5, width: 1, height: 0.01 } }] } },
    ['text_readable: review', 'sentences_to_read: review'],
  ],
  // text_visible
  ['a picture on half of a page', { marks: [picture(0.5)] }, ['page_plain: review']],
  ['a picture on more than half of a page', { marks: [picture(0.51)] }, ['text_visible: review']],
  ['a scan, which is a picture', { source: 'ocr', marks: [picture(1)] }, []],
  [
    'text of 3 points',
    {
      parts: {
        title: [{ text: 'LOA', box: { left: 0.1, top: 0.5, width: 0.1, height: letterRuleLimits.textHeightMin } }],
      },
    },
    [],
  ],
  [
    'text under 3 points',
    {
      parts: {
        title: [
          { text: 'LOA', box: { left: 0.1, top: 0.5, width: 0.1, height: letterRuleLimits.textHeightMin - 0.0001 } },
        ],
      },
    },
    ['text_visible: review'],
  ],
  [
    'text beside the page',
    { parts: { title: [{ text: 'LOA', box: { left: 1.1, top: 0.5, width: 0.1, height: 0.01 } }] } },
    ['text_visible: review'],
  ],
  // page_plain
  [
    'an annotation',
    { marks: [{ kind: 'annotation', box: { left: 0.1, top: 0.245, width: 0.2, height: 0.01 } }] },
    ['page_plain: review'],
  ],
  [
    'a picture that is seen through',
    { marks: [{ kind: 'see_through', box: { left: 0.1, top: 0.2, width: 0.5, height: 0.3 } }] },
    ['page_plain: review'],
  ],
  [
    'a line through text',
    { marks: [{ kind: 'strike', box: { left: 0.1, top: 0.248, width: 0.2, height: 0.001 } }] },
    ['page_plain: review'],
  ],
  [
    'a drawing under the text',
    { marks: [{ kind: 'drawing', box: { left: 0.1, top: 0.7, width: 0.2, height: 0.05 } }] },
    ['page_plain: review'],
  ],
  [
    'a drawing in the letterhead',
    { marks: [{ kind: 'drawing', box: { left: 0.1, top: 0.02, width: 0.2, height: 0.05 } }] },
    [],
  ],
  [
    'a number on the page behind the signature',
    {
      pages: [Object.values(good).flat(), ['List of telephone numbers:', '+1 202 555 0107']],
      requested: us('0100', '0107'),
    },
    ['page_plain: review'],
  ],
  [
    'a word with a letter of another alphabet',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'Acme F\u0430st'] } },
    ['page_plain: review'],
  ],
  ['an alphabet of its own', { parts: { title: ['LETTER OF AUTHORIZATION', 'Доверенность'] } }, ['page_plain: review']],
  // authorization_given, purpose_branding
  [
    'a title without a sentence that authorizes',
    { parts: { wording: ['Acme Widgets, Inc. (Acme Fast): branding of the following telephone numbers:'] } },
    [],
  ],
  [
    'no wording that authorizes',
    { parts: { title: [], wording: ['Acme Widgets, Inc., Acme Fast: branding of the following telephone numbers:'] } },
    ['authorization_given: review'],
  ],
  [
    'the same on a bad scan',
    {
      source: 'ocr',
      confidence: 74,
      parts: { title: [], wording: ['Acme Widgets, Inc., Acme Fast: branding of the following telephone numbers:'] },
    },
    ['text_readable: review', 'authorization_given: review'],
  ],
  [
    'a limit',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'This is for one test call.'] } },
    ['sentences_to_read: review'],
  ],
  [
    'a word that is seldom',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'Our landlord is glad.'] } },
    ['sentences_to_read: review'],
  ],
  [
    'a language that is not known',
    {
      parts: {
        title: [
          'LETTER OF AUTHORIZATION',
          'Wierzymy ze to jest dobre, nasze numery sa tutaj dla wszystkich ludzi i bardzo prosimy aby pokazac nasza firme przy kazdym polaczeniu telefonicznym.',
        ],
      },
    },
    [],
  ],
  [
    'words on the numbers',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'These are numbers which we call.'] } },
    ['sentences_to_read: review'],
  ],
  [
    'an agency that authorizes',
    { parts: { wording: ['Zenith Agency LLC hereby authorizes branding of Acme Fast for the following numbers:'] } },
    ['sentences_to_read: review', 'authorization_given: review'],
  ],
  [
    'an agency without a legal form',
    { parts: { wording: ['Zenith Agency hereby authorizes branding of Acme Fast for the following numbers:'] } },
    ['sentences_to_read: review', 'authorization_given: review'],
  ],
  [
    'an agency on behalf of the company',
    {
      parts: {
        wording: ['On behalf of Acme Widgets, Inc. I authorize branding of Acme Fast for the following numbers:'],
      },
    },
    [],
  ],
  [
    'a person who authorizes',
    { parts: { wording: ['We, the undersigned, authorize branding of Acme Fast for the following numbers:'] } },
    [],
  ],
  [
    'a refusal',
    { parts: { wording: ['We refuse to authorize branding of Acme Fast for the following numbers:'] } },
    ['sentences_to_read: review'],
  ],
  ['a draft', { parts: { title: ['DRAFT', 'LETTER OF AUTHORIZATION'] } }, ['sentences_to_read: review']],
  [
    'a field of a form that was left',
    { parts: { title: ['LETTER OF AUTHORIZATION of [Company Name]'] } },
    ['sentences_to_read: review'],
  ],
  [
    'an authorization that is taken back',
    { parts: { title: ['REVOCATION OF LETTER OF AUTHORIZATION', 'We hereby revoke it.'] } },
    ['sentences_to_read: review', 'sentences_to_read: review'],
  ],
  [
    'a denial',
    {
      parts: {
        wording: [
          'Acme Widgets, Inc., doing business as Acme Fast, never authorizes Caller Trust to display',
          'its brand name on calls from the following telephone numbers:',
        ],
      },
    },
    ['sentences_to_read: review'],
  ],
  [
    'a title that binds nobody',
    { parts: { job: ['Title: Former Chief Financial Officer'] } },
    ['sentences_to_read: review'],
  ],
  [
    'an end on the day of submission',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'This letter is valid until March 10, 2026.'] } },
    [],
  ],
  [
    'an end on the day before submission',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'This letter is valid until March 9, 2026.'] } },
    ['authorization_given: review'],
  ],
  [
    'an end of which one reading is before submission',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'Valid until 02/04/2026.'] } },
    ['authorization_given: review'],
  ],
  [
    'an end at the end of a time',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'It is valid from January 1, 2020 to December 31, 2021.'] } },
    ['authorization_given: review'],
  ],
  [
    'an end in the year of submission',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'It is in force until the end of 2026.'] } },
    ['sentences_to_read: review'],
  ],
  [
    'an end in the year before submission',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'It is in force until the end of 2025.'] } },
    ['sentences_to_read: review', 'authorization_given: review'],
  ],
  [
    'a date in the past that is no end',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'It is in force since March 9, 2020.'] } },
    [],
  ],
  [
    'porting',
    {
      parts: {
        wording: ['Acme Widgets, Inc. (Acme Fast) hereby authorizes the porting of the following telephone numbers:'],
      },
    },
    ['sentences_to_read: review', 'purpose_branding: reject'],
  ],
  [
    'porting on a scan',
    {
      source: 'ocr',
      parts: {
        wording: ['Acme Widgets, Inc. (Acme Fast) hereby authorizes the porting of the following telephone numbers:'],
      },
    },
    ['sentences_to_read: review', 'purpose_branding: review'],
  ],
  [
    'a denial of porting',
    {
      parts: {
        wording: [
          'Acme Widgets, Inc. (Acme Fast) hereby authorizes the use, not the porting of the following telephone numbers:',
        ],
      },
    },
    ['sentences_to_read: review', 'purpose_branding: review'],
  ],
  [
    'porting beside branding',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'This includes number porting.'] } },
    ['sentences_to_read: review', 'purpose_branding: review'],
  ],
  [
    'no purpose',
    {
      parts: {
        wording: ['Acme Widgets, Inc. (Acme Fast) hereby authorizes Caller Trust for the following telephone numbers:'],
      },
    },
    ['purpose_branding: review'],
  ],
  // brand_named, legal_name_given
  [
    'the display name only',
    {
      brand: { dba: null },
      parts: {
        wording: ['Acme Widgets, Inc. hereby authorizes branding as AcmeCalls of the following telephone numbers:'],
      },
    },
    [],
  ],
  [
    'another brand with a label',
    {
      parts: {
        title: ['LETTER OF AUTHORIZATION', 'Brand name: Zenith Loans'],
        wording: ['Acme Widgets, Inc. hereby authorizes branding of the following telephone numbers:'],
      },
    },
    ['brand_named: review'],
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
    ['brand_named: reject', 'legal_name_given: review', 'address_given: note'],
  ],
  [
    'the same with a sentence in the place of the name',
    {
      parts: {
        head: [],
        title: ['LETTER OF AUTHORIZATION', 'Brand name: as shown on our website'],
        wording: ['We authorize branding of the following telephone numbers:'],
      },
    },
    ['sentences_to_read: review', 'brand_named: review', 'legal_name_given: review', 'address_given: note'],
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
    ['brand_named: review', 'legal_name_given: review', 'address_given: note'],
  ],
  [
    'another company with a label, and nothing of the brand',
    {
      parts: {
        head: ['Legal name: Zenith Loans, Inc.'],
        wording: ['We authorize branding for the following numbers:'],
      },
    },
    ['sentences_to_read: review', 'brand_named: review', 'legal_name_given: reject', 'address_given: note'],
  ],
  [
    'another provider',
    {
      parts: {
        wording: [
          'Acme Widgets, Inc. (Acme Fast) hereby authorizes Telemark Brands to display it on calls from the following numbers:',
        ],
      },
    },
    ['authorization_given: review'],
  ],
  [
    'another brand with a label beside the brand with a label',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'Brand name: Zenith Loans', 'Display name: AcmeCalls'] } },
    ['brand_named: review'],
  ],
  [
    'another name to be displayed',
    {
      parts: {
        wording: [
          'Acme Widgets, Inc. hereby authorizes Caller Trust to display the name First',
          'National Bank on calls from the following telephone numbers:',
        ],
      },
    },
    ['brand_named: review'],
  ],
  [
    'another name to be displayed beside the brand',
    {
      parts: {
        wording: [
          'Acme Widgets, Inc. hereby authorizes Caller Trust to display the name “Acme Fast” and',
          '“Zenith Loans” on calls from the following telephone numbers:',
        ],
      },
    },
    ['brand_named: review'],
  ],
  [
    'the brand as the name to be displayed',
    {
      parts: {
        wording: [
          'Acme Widgets, Inc. hereby authorizes Caller Trust to display the name “Acme',
          'Fast” on calls from the following telephone numbers:',
        ],
      },
    },
    [],
  ],
  [
    'another DBA in a sentence',
    {
      parts: {
        wording: ['Acme Widgets, Inc., doing business as Zenith Loans, authorizes branding of the following numbers:'],
      },
    },
    ['brand_named: review'],
  ],
  [
    'the brand of another company',
    { parts: { head: [], wording: ['Zenith Loans, Inc. authorizes branding of the following numbers:'] } },
    [
      'sentences_to_read: review',
      'authorization_given: review',
      'brand_named: review',
      'legal_name_given: review',
      'address_given: note',
    ],
  ],
  [
    'a labelled legal name of another company',
    {
      parts: {
        head: ['Legal name: Zenith Loans, Inc.'],
        wording: ['We authorize branding of Acme Fast for the following numbers:'],
      },
    },
    ['sentences_to_read: review', 'legal_name_given: review', 'address_given: note'],
  ],
  [
    'a second company',
    { parts: { title: ['LETTER OF AUTHORIZATION', 'Company: Acme Widgets, Inc.', 'Customer: Zenith Loans, Inc.'] } },
    ['sentences_to_read: review', 'legal_name_given: review'],
  ],
  [
    'another legal form',
    {
      parts: {
        head: ['Legal name: Acme Widgets LLC', good.head[1]!],
        wording: ['We authorize branding of Acme Fast for the following numbers:'],
      },
    },
    ['legal_name_given: review'],
  ],
  [
    'the legal name without its form',
    {
      parts: {
        head: ['Legal name: Acme Widgets', good.head[1]!],
        wording: ['We authorize branding of Acme Fast for the following numbers:'],
      },
    },
    [],
  ],
  [
    'the legal name with accents and capitals',
    { brand: { legalName: 'Ácme Wïdgets Inc' }, parts: { head: ['Legal name: ACME WIDGETS INC.', good.head[1]!] } },
    [],
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
    ['sentences_to_read: review', 'legal_name_given: review'],
  ],
  [
    'a misread brand on a scan',
    {
      source: 'ocr',
      brand: { dba: 'Northwind Travel' },
      parts: { title: ['LETTER OF AUTHORIZATION', 'Brand: Northwlnd Travel'] },
    },
    ['brand_named: review'],
  ],
  [
    'a look-alike brand',
    { brand: { dba: 'Northwind Travel' }, parts: { title: ['LETTER OF AUTHORIZATION', 'Brand: Northwlnd Travel'] } },
    ['brand_named: review'],
  ],
  [
    'the DBA as the company',
    {
      parts: {
        head: ['Company: Acme Fast', good.head[1]!],
        wording: ['We authorize branding for the following numbers:'],
      },
    },
    ['legal_name_given: review'],
  ],
  [
    'no legal name',
    { parts: { head: [good.head[1]!], wording: ['We authorize branding as Acme Fast for the following numbers:'] } },
    ['legal_name_given: review'],
  ],
  [
    'a longer name',
    {
      parts: {
        head: [good.head[1]!],
        wording: ['Acme Widgets Rivals hereby authorizes branding as Acme Fast for the following numbers:'],
      },
    },
    ['legal_name_given: review'],
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
    ['sentences_to_read: review', 'brand_named: review', 'legal_name_given: review'],
  ],
  // address_given
  ['no address', { parts: { head: good.head.slice(0, 1) } }, ['address_given: note']],
  // signer
  [
    'no name of the signer',
    {
      parts: { signature: ['Signature: ________'], name: [], job: ['Title: CFO'] },
      signatures: [pdfSignature({ signerName: null })],
    },
    ['signer_named: review', 'pdf_signature_valid: review'],
  ],
  [
    'nobody at all',
    { parts: { signature: [], name: ['Name: ________'], job: [] } },
    ['signer_named: review', 'signer_title_given: review', 'letter_signed: review'],
  ],
  ['one word as a name', { parts: { name: ['Name: Jane'], signature: ['/s/ Jane'] } }, ['signer_named: review']],
  ['no title', { parts: { job: ['Title: ________'] } }, ['signer_title_given: review']],
  [
    'a title somewhere else',
    { parts: { job: ['Our president will tell you more on request.'] } },
    ['sentences_to_read: review', 'signer_title_given: review'],
  ],
  [
    'no title on a bad scan',
    { source: 'ocr', confidence: 70, parts: { job: [] } },
    ['text_readable: review', 'signer_title_given: review'],
  ],
  // letter_signed
  ['no signature', { parts: { signature: ['Signature: ________'] } }, ['letter_signed: review']],
  [
    'no signature on a bad scan',
    { source: 'ocr', confidence: 74, parts: { signature: ['Signature: ________'] } },
    ['text_readable: review', 'letter_signed: review'],
  ],
  [
    'no signature on a good scan',
    { source: 'ocr', parts: { signature: ['Signature: ________'] } },
    ['letter_signed: review'],
  ],
  [
    'ink',
    {
      parts: { signature: ['', 'Signature: ________'] },
      marks: [{ kind: 'ink', box: { left: 0.2, top: 0.265, width: 0.15, height: 0.02 } }],
    },
    ['letter_signed: review'],
  ],
  ['a typed name', { parts: { signature: ['Signature: Jane Doe'] } }, ['letter_signed: review']],
  ['the signature of another person', { parts: { signature: ['Signature: /s/ John Roe'] } }, ['letter_signed: review']],
  ['a signature with a middle initial', { parts: { signature: ['Signature: /s/ Jane Q. Doe'] } }, []],
  ['a signature with an initial', { parts: { signature: ['Signature: /s/ J. Doe'] } }, ['letter_signed: review']],
  [
    'a signature with words after its name',
    { parts: { signature: ['Signature: /s/ Jane Doe (copy)'] } },
    ['sentences_to_read: review', 'letter_signed: review'],
  ],
  [
    'a signature with a title and a date after its name',
    { parts: { signature: ['Signature: /s/ Jane Doe, CFO, March 3, 2026'] } },
    [],
  ],
  // pdf_signature_valid
  ['a trusted PDF signature', { signatures: [pdfSignature()] }, []],
  [
    'a PDF signature whose chain was not checked',
    { signatures: [pdfSignature({ chain: 'unchecked' })] },
    ['pdf_signature_valid: note'],
  ],
  [
    'an untrusted PDF signature',
    { signatures: [pdfSignature({ chain: 'untrusted' })] },
    ['pdf_signature_valid: review'],
  ],
  [
    'a PDF signature of another company',
    { signatures: [pdfSignature({ signerOrganization: 'Zenith Loans, Inc.' })] },
    ['pdf_signature_valid: review'],
  ],
  [
    'a PDF signature of a company in another legal form',
    { signatures: [pdfSignature({ signerOrganization: 'Acme Widgets LLC' })] },
    ['pdf_signature_valid: review'],
  ],
  ['a PDF signature without a company', { signatures: [pdfSignature({ signerOrganization: null })] }, []],
  ['a PDF signature of the DBA', { signatures: [pdfSignature({ signerOrganization: 'ACME FAST' })] }, []],
  [
    'a file that was altered after signing',
    { signatures: [pdfSignature({ digestMatches: false })] },
    ['pdf_signature_valid: reject'],
  ],
  [
    'a forged PDF signature',
    { signatures: [pdfSignature({ signatureValid: false })] },
    ['pdf_signature_valid: reject'],
  ],
  ['a change after signing', { signatures: [pdfSignature({ coverage: 'changed' })] }, ['pdf_signature_valid: review']],
  [
    'a signature that leaves out a part of its revision',
    { signatures: [pdfSignature({ coverage: 'partial' })] },
    ['pdf_signature_valid: reject'],
  ],
  [
    'a PDF signature that cannot be verified',
    { signatures: [pdfSignature({ digestMatches: false, signatureValid: false, problem: 'unknown algorithm' })] },
    ['pdf_signature_valid: review'],
  ],
  [
    "a file that was altered, with the reader's word for it",
    { signatures: [pdfSignature({ digestMatches: false, problem: 'not the one that was signed' })] },
    ['pdf_signature_valid: reject'],
  ],
  [
    'a PDF signature that cannot be verified, and no other',
    {
      parts: { signature: ['Signature: ______'] },
      signatures: [pdfSignature({ digestMatches: false, signatureValid: false, problem: 'unknown algorithm' })],
    },
    ['letter_signed: review', 'pdf_signature_valid: review'],
  ],
  [
    "an untrusted chain, with the reader's word for it",
    { signatures: [pdfSignature({ chain: 'untrusted', problem: 'no root' })] },
    ['pdf_signature_valid: review'],
  ],
  [
    'a PDF signature of another person',
    { signatures: [pdfSignature({ signerName: 'John Roe' })] },
    ['pdf_signature_valid: review'],
  ],
  [
    'a PDF signature without a name',
    { signatures: [pdfSignature({ signerName: null })] },
    ['pdf_signature_valid: review'],
  ],
  ['two PDF signatures of the signer', { signatures: [pdfSignature(), pdfSignature()] }, []],
  [
    'a PDF signature of another person before that of the signer',
    { signatures: [pdfSignature({ signerName: 'John Roe' }), pdfSignature()] },
    ['pdf_signature_valid: review'],
  ],
  [
    'a PDF signature of another person after that of the signer',
    { signatures: [pdfSignature(), pdfSignature({ signerName: 'John Roe' })] },
    ['pdf_signature_valid: review'],
  ],
  [
    'two PDF signatures, one altered',
    { signatures: [pdfSignature({ digestMatches: false }), pdfSignature()] },
    ['pdf_signature_valid: reject'],
  ],
  ['a PDF signature of 30 days before', { signatures: [pdfSignature({ signedAt: '2026-02-08T23:59:59Z' })] }, []],
  [
    'a PDF signature of 31 days before',
    { signatures: [pdfSignature({ signedAt: '2026-02-07T00:00:00Z' })] },
    ['pdf_signature_valid: review', 'date_unambiguous: review'],
  ],
  ['a PDF signature of the same day', { signatures: [pdfSignature({ signedAt: '2026-03-10T23:00:00Z' })] }, []],
  [
    'a PDF signature of the next day',
    { signatures: [pdfSignature({ signedAt: '2026-03-11T00:00:00Z' })] },
    ['pdf_signature_valid: review', 'date_unambiguous: review'],
  ],
  // date rules
  ['no date', { parts: { date: [] } }, ['date_given: review']],
  [
    'no date on a bad scan',
    { source: 'ocr', confidence: 74, parts: { date: [] } },
    ['text_readable: review', 'date_given: review'],
  ],
  [
    'two dates far from the signature without a label',
    { parts: { head: ['March 3, 2026', 'March 1, 2026', '', '', '', '', ...good.head], date: [] } },
    ['date_given: review'],
  ],
  ['only a date of expiry', { parts: { date: ['Expires: March 3, 2027'] } }, ['date_given: review']],
  ['a date of the day of submission', { submittedOn: '2026-03-03' }, []],
  ['a date of the day after submission', { submittedOn: '2026-03-02' }, ['date_not_future: reject']],
  [
    'a date of the day after submission, where that day has begun somewhere',
    { submittedOn: '2026-03-02', latestDay: '2026-03-03' },
    [],
  ],
  [
    'a date two days after submission',
    { submittedOn: '2026-03-01', latestDay: '2026-03-02' },
    ['date_not_future: reject'],
  ],
  ['a date of 30 days before', { submittedOn: '2026-04-02' }, []],
  ['a date of 31 days before', { submittedOn: '2026-04-03' }, ['date_recent: reject']],
  ['a date of 31 days before on a scan', { source: 'ocr', submittedOn: '2026-04-03' }, ['date_recent: review']],
  [
    'a date of 31 days before without a label',
    { parts: { date: ['March 3, 2026'] }, submittedOn: '2026-04-03' },
    ['date_recent: review'],
  ],
  [
    'a date of 31 days before, and a PDF signature in time',
    { submittedOn: '2026-04-03', signatures: [pdfSignature({ signedAt: '2026-04-02T12:00:00Z' })] },
    ['date_unambiguous: review', 'date_recent: review'],
  ],

  [
    'an ambiguous date, one reading in the future',
    { parts: { date: ['Date: 03/04/2026'] } },
    ['date_unambiguous: review', 'date_not_future: review'],
  ],
  [
    'an ambiguous date, one reading too old',
    { parts: { date: ['Date: 01/03/2026'] }, submittedOn: '2026-03-10' },
    ['date_unambiguous: review', 'date_recent: review'],
  ],
  [
    'an ambiguous date whose readings decide the same',
    { parts: { date: ['Date: 03/02/2026'] }, submittedOn: '2026-03-03' },
    [],
  ],
  [
    'an ambiguous date of which both readings are too old',
    { parts: { date: ['Date: 03/04/2025'] } },
    ['date_recent: reject'],
  ],
  [
    'two ambiguous signing dates',
    { parts: { date: ['Date: 03/09/2026', 'Fecha: 09/03/2026'] }, submittedOn: '2026-03-20' },
    ['date_unambiguous: review', 'date_unambiguous: review', 'date_not_future: review'],
  ],
  ['two signing dates that decide the same', { parts: { date: ['Date: March 3, 2026', 'Date: March 4, 2026'] } }, []],
  [
    'two signing dates that decide differently',
    { parts: { date: ['Date: March 3, 2026', 'Date: March 3, 2025'] } },
    ['date_unambiguous: review'],
  ],
  // numbers
  ['no numbers requested', { requested: [] }, ['numbers_authorized: note']],
  ['a number that is missing', { requested: us('0100', '0102') }, ['numbers_authorized: review']],
  ['a number that is only in the letterhead', { requested: us('0100', '0199') }, ['numbers_authorized: review']],
  ['a number in a range', { parts: { numbers: ['+1 202 555 0100 through 0109'] }, requested: us('0109') }, []],
  [
    'a number one past a range',
    { parts: { numbers: ['+1 202 555 0100 through 0109'] }, requested: us('0110') },
    ['numbers_authorized: review'],
  ],
  [
    'a range that descends',
    { parts: { numbers: ['+1 202 555 0109 through 0100'] }, requested: us('0100') },
    ['numbers_authorized: review'],
  ],
  [
    'a misread number on a scan',
    { source: 'ocr', parts: { numbers: ['+1 202 555 O1OO', '+1 202 555 0107'] } },
    ['numbers_authorized: review'],
  ],
  ['a missing number on a good scan', { source: 'ocr', requested: ['+13125550177'] }, ['numbers_authorized: review']],
  [
    'a missing number on a bad scan',
    { source: 'ocr', confidence: 74, requested: ['+13125550177'] },
    ['text_readable: review', 'numbers_authorized: review'],
  ],
  ['15 numbers without a CSV', { parts: { numbers: ['+1 202 555 0100 through 0120'] }, requested: count(100, 15) }, []],
  [
    '16 numbers without a CSV',
    { parts: { numbers: ['+1 202 555 0100 through 0120'] }, requested: count(100, 16) },
    ['csv_for_many: reject'],
  ],
  ['as many numbers as a letter may list', { parts: { numbers: ['+1 202 555 0100 through 0199'] } }, []],
  [
    'one number more than a letter may list',
    { parts: { numbers: ['+1 202 555 0100 through 0199', '+1 202 555 0200'] } },
    ['csv_for_many: review'],
  ],
  [
    'many numbers in a letter and a CSV beside it',
    {
      ...csvCase('from +1 202 555 0100 to +1 202 555 0115, 16 numbers'),
      parts: {
        ...csvCase('from +1 202 555 0100 to +1 202 555 0115, 16 numbers').parts,
        numbers: ['The following telephone numbers:', '+1 202 555 0000 through 0999'],
      },
    },
    ['csv_for_many: review'],
  ],
  ['a number of another brand', { taken: us('0100') }, ['numbers_of_one_brand: reject']],
  // csv_agrees
  ['16 numbers in a CSV that the letter describes', csvCase('from +1 202 555 0100 to +1 202 555 0115, 16 numbers'), []],
  [
    'a CSV with one number more',
    csvCase('from +1 202 555 0100 to +1 202 555 0115, 16 numbers', count(99, 17).toSpliced(1, 0)),
    ['csv_agrees: review'],
  ],
  ['another first number', csvCase('from +1 202 555 0101 to +1 202 555 0115, 16 numbers'), ['csv_agrees: review']],
  ['another last number', csvCase('from +1 202 555 0100 to +1 202 555 0116, 16 numbers'), ['csv_agrees: review']],
  ['another count', csvCase('from +1 202 555 0100 to +1 202 555 0115, 15 numbers'), ['csv_agrees: review']],
  [
    'another count on a scan',
    { ...csvCase('from +1 202 555 0100 to +1 202 555 0115, 15 numbers'), source: 'ocr' },
    ['csv_agrees: review'],
  ],
  [
    'a CSV in another order',
    csvCase('from +1 202 555 0100 to +1 202 555 0115, 16 numbers', count(100, 16).toReversed()),
    [],
  ],
  [
    'a CSV whose first and last number are so by place only',
    csvCase('from +1 202 555 0100 to +1 202 555 0115, 16 numbers', [
      ...count(100, 1),
      '+13125550101',
      ...count(102, 14),
    ]),
    ['numbers_authorized: review', 'csv_agrees: review'],
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
    ['csv_agrees: review'],
  ],
  [
    'a CSV of numbers of unequal length',
    {
      ...csvCase('from +1 202 555 0100 to +44 20 7946 0000, 16 numbers', [...count(100, 15), '+442079460000']),
      requested: count(100, 15),
    },
    [],
  ],
  [
    'a CSV that repeats a number',
    csvCase('from +1 202 555 0100 to +1 202 555 0115, 16 numbers', [...count(100, 16), ...us('0103')]),
    [],
  ],
  ['a list that is not described', csvCase(''), ['csv_agrees: review']],
  ['a list whose count is not stated', csvCase('from +1 202 555 0100 to +1 202 555 0115'), ['csv_agrees: review']],
  ['a CSV that the letter does not mention', { csvPhones: us('0100', '0101') }, ['csv_agrees: review']],
  [
    'a number that is in the letter, but not in the CSV',
    { ...csvCase('from +1 202 555 0100 to +1 202 555 0115, 16 numbers'), requested: us('0120') },
    ['numbers_authorized: review'],
  ],
  [
    'a list without a CSV',
    { parts: { numbers: [...good.numbers, 'and those in the attached list.'] } },
    ['csv_agrees: review'],
  ],
  ['a CSV in the PDF that the letter does not mention', { csv: '+12025550100' }, ['csv_agrees: review']],
  ['a CSV in the PDF under a signature of the whole file', { csv: '+12025550100', signatures: [pdfSignature()] }, []],
  [
    'a CSV in the PDF and another beside it',
    { ...csvCase('from +1 202 555 0100 to +1 202 555 0115, 16 numbers'), csv: '+12025550100' },
    ['csv_agrees: review'],
  ],
  [
    'the same CSV in the PDF and beside it',
    { ...csvCase('from +1 202 555 0100 to +1 202 555 0115, 16 numbers'), csv: count(100, 16).join('\n') },
    [],
  ],
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
    expect(problems(decision)).toEqual(expected);
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
    expect(problems(decision)).toContain('text_readable: review');
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
