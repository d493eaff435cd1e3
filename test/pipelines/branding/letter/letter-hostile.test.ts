import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideLetterByRules,
  type LetterDecision,
} from '../../../../pipelines/branding/letter/rules/letter-decision.ts';
import { extractFields } from '../../../../pipelines/branding/letter/letter-fields.ts';
import { LETTER_RULES } from '../../../../pipelines/branding/letter/rules/letter-rules.ts';
import { letterTextOf, letterTextLimits } from '../../../../pipelines/branding/letter/letter-text.ts';
import type { LetterReading } from '../../../../pipelines/branding/letter-reading.ts';
import { readLetter } from '../../../support/letter-reading.ts';

const hints = { country: 'US', names: ['Acme Widgets, Inc.', 'Acme Fast', 'Acme'] };
const brand = { legalName: 'Acme Widgets, Inc.', dba: 'Acme Fast', displayName: 'Acme', country: 'US', address: null };

/** Fields and decision of a letter; requests 20 numbers that no letter here has. */
function judge(reading: LetterReading, country = 'US') {
  const fields = extractFields(reading, { ...hints, country });
  const requestedPhones = Array.from({ length: 20 }, (_, at) => `+12025550${100 + at}`);
  return {
    fields,
    decision: decideLetterByRules({
      submittedOn: '2026-03-10',
      brand: { ...brand, country },
      requestedPhones,
      csvPhones: null,
      phonesOfOtherBrands: [],
      reading,
      fields,
    }),
  };
}

const needsPerson = ({ findings }: LetterDecision) =>
  findings.some(({ severity }) => severity === 'review' || severity === 'reject');

/** Each takes under 1 s on one core of two; the rest is room for a busy machine. */
const hostileSecondsMax = 10;
const pagesMax = 20;
const linesOfPage = 2_000;

const hostileLines: Readonly<Record<string, string>> = {
  'groups of digits': '11 '.repeat(330),
  'single digits': '1 '.repeat(500),
  'one long number': '1'.repeat(1000),
  'numbers without end': '202-555-0100 '.repeat(77),
  slashes: '1/2/3 '.repeat(160),
  'plus signs': '+1'.repeat(500),
  fill: '_'.repeat(1000),
  dots: '. '.repeat(500),
  labels: 'Name: '.repeat(160),
  'labels without colon': 'name of authorized signer '.repeat(38),
  parentheses: '('.repeat(1000),
  'a word': 'a'.repeat(1000),
  'short words': 'a b '.repeat(250),
  capitals: 'Aa Bb '.repeat(160),
  'the brand': 'Acme Widgets '.repeat(76),
  'part of the brand': 'Acme Widget '.repeat(80),
  months: '3 march '.repeat(125),
  dates: '3/3/26 '.repeat(140),
  ordinals: '3rd day of '.repeat(90),
  authorizing: 'hereby grants authorize '.repeat(41),
  'list wording': 'following numbers to be branded attached list '.repeat(21),
  'list wording without end': 'following '.repeat(100),
  attached: 'attached '.repeat(110),
  numbers: 'numbers '.repeat(125),
  signatures: '/s/ electronically signed by '.repeat(34),
  through: '2025550100 through '.repeat(52),
  dashes: '-'.repeat(1000),
  streets: '1 a '.repeat(250),
  dba: 'doing business as '.repeat(55),
  brackets: '[your '.repeat(160),
  'white space': ' '.repeat(999) + 'x',
  'brand and display': 'brand display register '.repeat(43),
  first: 'first '.repeat(160),
  exclusion: 'except not '.repeat(90),
  'stopping words': 'remove no only until acme test '.repeat(33),
  'I, Jane': 'I, Jane '.repeat(125),
  'signed at': 'signed at b, '.repeat(76),
  sincerely: 'veuillez agreer '.repeat(62),
};

describe('a hostile letter', () => {
  it.each(Object.keys(hostileLines))(
    'of 20 pages of 2,000 lines of %s is decided in time, and goes to a person',
    (kind) => {
      const line = hostileLines[kind]!;
      const reading = readLetter([], {
        pages: Array.from({ length: pagesMax }, () => Array.from({ length: linesOfPage }, () => line)),
        source: 'ocr',
      });
      const begun = performance.now();
      const { decision, fields } = judge(reading);
      const seconds = (performance.now() - begun) / 1000;
      expect([kind, seconds < hostileSecondsMax, needsPerson(decision), fields.complete]).toEqual([
        kind,
        true,
        true,
        false,
      ]);
    },
  );

  it('of short lines is read no further than the limit of lines, and then not decided without a person', () => {
    const fits = readLetter(Array.from({ length: letterTextLimits.linesMax }, () => 'x'));
    const over = readLetter(Array.from({ length: letterTextLimits.linesMax + 1 }, () => 'x'));
    expect([letterTextOf(fits).complete, letterTextOf(over).complete]).toEqual([true, false]);
    expect(judge(over).decision.findings).toContainEqual(
      expect.objectContaining({ code: 'text_readable', severity: 'review' }),
    );
  });

  it('of long lines is read no further than the limits of characters', () => {
    const line = (length: number) => readLetter(['x'.repeat(length)]);
    expect([
      letterTextOf(line(letterTextLimits.lineCharactersMax)).complete,
      letterTextOf(line(letterTextLimits.lineCharactersMax + 1)).complete,
    ]).toEqual([true, false]);
    const lines = (count: number) => readLetter(Array.from({ length: count }, () => 'x'.repeat(999)));
    expect([
      letterTextOf(lines(letterTextLimits.charactersMax / 1000)).complete,
      letterTextOf(lines(letterTextLimits.charactersMax / 1000 + 1)).complete,
    ]).toEqual([true, false]);
  });
});

describe('any letter', () => {
  const words = fc.constantFrom(
    'Name:',
    'Title:',
    'Date',
    'By:',
    '/s/',
    'Jane Doe',
    'CFO',
    '____',
    '3/4/26',
    'March 3, 2026',
    '+1 202 555 0100',
    'through 0149',
    'Sincerely,',
    'Signature',
    'authorizes',
    'numbers:',
    'see attached list',
    'from',
    'to',
    '(',
    ')',
    '\t',
    '  ',
    ' ',
    ' ',
    ',',
    '.',
    '\u202E',
    '\uD800',
    'ﬁ',
    'İ',
    'ß',
    '１２',
    '\u0000',
    '10 numbers',
    'Acme',
    'd/b/a',
    '[',
    '{',
    '\\',
  );
  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(words, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.array(words, { maxLength: 12 }).map((parts) => parts.join(' ')),
  );
  const number = fc.oneof(fc.double({ min: -1, max: 2, noNaN: true }), fc.constant(0));
  const box = fc.record({ left: number, top: number, width: number, height: number });
  const letterLine = fc.record({
    text: line,
    box,
    confidence: fc.option(fc.double({ min: 0, max: 100, noNaN: true })),
    font: fc.option(fc.constantFrom('Helvetica', 'SegoeScript', 'Times-Italic')),
  });
  const page = (at: number) =>
    fc.record({
      page: fc.constant(at),
      width: fc.constant(612),
      height: fc.constant(792),
      source: fc.constantFrom('text' as const, 'ocr' as const),
      lines: fc.array(letterLine, { maxLength: 25 }),
      marks: fc.array(fc.record({ kind: fc.constantFrom('image' as const, 'drawing' as const, 'ink' as const), box }), {
        maxLength: 4,
      }),
    });
  const reading: fc.Arbitrary<LetterReading> = fc.record({
    format: fc.constantFrom('pdf' as const, 'png' as const),
    pages: fc.tuple(page(1), page(2)),
    signatures: fc.constant([]),
    revisions: fc.constant([]),
    embeddedCsv: fc.option(fc.record({ name: fc.constant('a.csv'), text: fc.string() })),
  });

  it('is read and decided without an error, every rule has a finding, and every excerpt is short and printable', () => {
    fc.assert(
      fc.property(reading, fc.constantFrom('US', 'DE', 'GB', 'BR', 'XX', ''), (letter, country) => {
        const { decision } = judge(letter, country);
        expect(new Set(decision.findings.map(({ code }) => code)).size).toBe(LETTER_RULES.length);
        expect(needsPerson(decision)).toBe(true);
        for (const { excerpt } of decision.findings)
          expect(excerpt === null || (excerpt.length <= 201 && !/[\p{C}]/u.test(excerpt))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('gives the same decision each time', () => {
    fc.assert(
      fc.property(reading, (letter) => {
        expect(judge(letter)).toEqual(judge(letter));
      }),
      { numRuns: 50 },
    );
  });
});
