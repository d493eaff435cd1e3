import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDates } from '../../../../pipelines/branding/letter/letter-dates.ts';
import { expandRange, findNumbers, letterNumberLimits } from '../../../../pipelines/branding/letter/letter-numbers.ts';
import { letterTextOf } from '../../../../pipelines/branding/letter/letter-text.ts';
import { readLetter, type TestLetter, type TestLine } from '../../../support/letter-reading.ts';

function numbersOf(lines: readonly TestLine[], country = 'US', more: TestLetter = {}) {
  const reading = readLetter(lines, more);
  const letter = letterTextOf(reading);
  return findNumbers(reading, letter, findDates(letter.text, country), country);
}
const listed = (lines: readonly TestLine[], country = 'US') =>
  numbersOf(lines, country).phones.map(({ phone }) => phone);
/** Numbers after words that announce a list. */
const inList = (line: string, country = 'US') =>
  listed(['We authorize the following telephone numbers:', line], country);
const us = (...lastFour: readonly string[]) => lastFour.map((digits) => `+1202555${digits}`);

describe('numbers of a scan', () => {
  const listedOn = (source: 'text' | 'ocr', announced: string) =>
    numbersOf([`${announced} 930 07 42 87 y 950 04 45 64.`], 'ES', { source }).phones.length;

  it.each([
    'Los nimeros autorizados son',
    'Los n6meros autorizados son',
    'nuestros telefonos',
    'nuestros tel6fonos',
    'Les numiros autoris6s',
    'nossos nimeros',
  ])('are listed after %j, in which an accented letter was read as another one', (announced) => {
    expect(listedOn('ocr', announced)).toBe(2);
  });

  it('are not listed after another word, and a text that was not recognised is taken at its word', () => {
    expect(listedOn('ocr', 'Los nimaros autorizados son')).toBe(0);
    expect(listedOn('text', 'Los nimeros autorizados son')).toBe(0);
  });
});

describe('numbers of a list', () => {
  it.each([
    ['+12025550100', us('0100')],
    ['+1 202 555 0100', us('0100')],
    ['(202) 555-0100', us('0100')],
    ['202-555-0100', us('0100')],
    ['202.555.0100', us('0100')],
    ['1-202-555-0100', us('0100')],
    ['2025550100', us('0100')],
    ['+1 (202) 555\u20110100', us('0100')],
    ['１２０２５５５０１００', us('0100')],
    ['011 44 20 7946 0958', ['+442079460958']],
    ['\u2022 202-555-0100', us('0100')],
    ['1. 202-555-0100', us('0100')],
    ['2) 202-555-0100', us('0100')],
    ['(3) 202-555-0100', us('0100')],
    ['202-555-0100, 202-555-0101; 202.555.0102 / 2025550103', us('0100', '0101', '0102', '0103')],
    ['202 555 0100 202 555 0101', us('0100', '0101')],
    ['(202) 555-0100 (202) 555-0101 (202) 555-0102', us('0100', '0101', '0102')],
    ['+1 202 555 0100 and +1 202 555 0101', us('0100', '0101')],
    ['2025550100|2025550101', us('0100', '0101')],
    ['Sales 202-555-0100   Support 202-555-0101', us('0100', '0101')],
    ['1) 202-555-0100 2) 202-555-0101', us('0100', '0101')],
    ['202-555-0100 (sales)', us('0100')],
  ])('written as %j are found', (line, expected) => {
    expect(inList(line)).toEqual(expected);
  });

  it.each([
    ['GB', '020 7946 0958 und 020 7946 0959', ['+442079460958', '+442079460959']],
    ['DE', '030 901820, 0151 23456789', ['+4930901820', '+4915123456789']],
    ['FR', '01 42 68 53 00 / 01.42.68.53.01', ['+33142685300', '+33142685301']],
    ['DK', '32 12 34 56', ['+4532123456']],
    ['ES', '910 123 456', ['+34910123456']],
    ['XX', '202-555-0100 +1 202 555 0101', us('0101')],
    ['', '+442079460958', ['+442079460958']],
  ])('of %s by default, %j, are found', (country, line, expected) => {
    expect(inList(line, country)).toEqual(expected);
  });

  it.each([
    'Tax ID: 202-555-0100',
    'Account number 2025550100',
    'EIN 12-3456789',
    'ZIP 20001-1234',
    'Invoice #2025550100',
    'Reference: 202 555 0100',
    '2026-03-04',
    '03/04/2026',
    'March 3, 2026',
    '202-555-0100 ext. 5',
    '202-555-0100 x12',
    'AB2025550100',
    '2025550100Z',
    '555-0100',
    '$2025550100',
    '1234567890',
    '+1 999 555 0100',
    '4111 1111 1111 1111',
    'Fax: 202-555-0100',
    'for questions call us at 202-555-0100',
    'Contact: 202-555-0100',
    '202-555-0100 (not authorized)',
    '202-555-0100 (fax)',
    'Tel 202-555-0100, info@acme.example',
  ])('do not come from %j', (line) => {
    expect(inList(line)).toEqual([]);
  });

  it('are found in each national and international form of many countries', () => {
    const examples = [
      ['US', '2025550100', '(202) 555-0100'],
      ['CA', '4165550100', '416-555-0100'],
      ['GB', '2079460958', '020 7946 0958'],
      ['DE', '30901820', '030 901820'],
      ['FR', '142685300', '01 42 68 53 00'],
      ['ES', '910123456', '910 12 34 56'],
      ['IT', '0612345678', '06 1234 5678'],
      ['BR', '1123456789', '(11) 2345-6789'],
      ['AU', '255501234', '(02) 5550 1234'],
      ['IN', '1123456789', '011 2345 6789'],
    ] as const;
    const codes = { US: '1', CA: '1', GB: '44', DE: '49', FR: '33', ES: '34', IT: '39', BR: '55', AU: '61', IN: '91' };
    fc.assert(
      fc.property(
        fc.constantFrom(...examples),
        fc.constantFrom('', '\u2022 ', '- ', 'Main: ', '3. '),
        fc.constantFrom('', ',', '.', ' (sales)', ';'),
        fc.constantFrom('national', 'e164', 'spaced', 'dashed'),
        ([country, number, national], before, after, form) => {
          const e164 = `+${codes[country]}${number}`;
          const text = {
            national,
            e164,
            spaced: `+${codes[country]} ${number.slice(0, 3)} ${number.slice(3)}`,
            dashed: `+${codes[country]}-${number.slice(0, 3)}-${number.slice(3)}`,
          }[form];
          expect([text, ...inList(`${before}${text}${after}`, country)]).toEqual([text, e164]);
        },
      ),
    );
  });

  it.each([
    [
      'DE',
      'Rufnummern: 030 23125-510, 0221 4710-703, 089',
      '99998-578 und 069 90009-589.',
      ['+493023125510', '+492214710703', '+498999998578', '+496990009589'],
    ],
    [
      'DE',
      'Rufnummern: 030 23125-510, 0221 4710-703, 0221 4710',
      '064, 069 90009-589.',
      ['+493023125510', '+492214710703', '+492214710064', '+496990009589'],
    ],
    [
      'FR',
      'Numéros de téléphone : +33 2 61 91 45 47, +33 3',
      '53 01 11 66, +33 2 61 91 91 93',
      ['+33261914547', '+33353011166', '+33261919193'],
    ],
    ['US', 'Telephone numbers: 202-555-0100, 202-', '555-0101, 202-555-0102', us('0100', '0101', '0102')],
    [
      'US',
      'Telephone numbers: 202-555-0100, 202-555-0101',
      '3 more may follow. 202-555-0102',
      us('0100', '0101', '0102'),
    ],
  ])('of %s that go over the end of a line, %j and %j, are found', (country, first, second, expected) => {
    expect(listed([first, second], country)).toEqual(expected);
  });

  it('are each given once, with the place of the first', () => {
    const { phones } = numbersOf(['Telephone numbers:', '202-555-0100', '+1 202 555 0100', '2025550101']);
    expect(phones.map(({ phone, place }) => [phone, place?.line])).toEqual([
      ['+12025550100', 2],
      ['+12025550101', 4],
    ]);
  });
});

describe('a range of numbers', () => {
  it.each([
    ['+1 202 555 0100 through 0103', us('0100', '0101', '0102', '0103')],
    ['(202) 555-0100 - 0103', us('0100', '0101', '0102', '0103')],
    ['202-555-0100-0103', us('0100', '0101', '0102', '0103')],
    ['202-555-0100 to 03', us('0100', '0101', '0102', '0103')],
    ['202-555-0100 \u2013 0102', us('0100', '0101', '0102')],
    ['202-555-0100\u20130102', us('0100', '0101', '0102')],
    ['+1 202 555 0100 thru +1 202 555 0102', us('0100', '0101', '0102')],
    ['+12025550100-+12025550102', us('0100', '0101', '0102')],
    ['2025550100 - 2025550102', us('0100', '0101', '0102')],
    ['202-555-0100 through 0101, 202-555-0110 through 0111', us('0100', '0101', '0110', '0111')],
    ['between 202-555-0100 and 202-555-0102', us('0100', '0101', '0102')],
    ['202-555-0100 to 202-555-0100', us('0100')],
  ])('written as %j is expanded', (line, expected) => {
    expect(inList(line)).toEqual(expected);
  });

  it('may go over the end of a line', () => {
    expect(listed(['Telephone numbers:', '+442079460000 to', '+442079460002'], 'GB')).toEqual([
      '+442079460000',
      '+442079460001',
      '+442079460002',
    ]);
  });

  it('keeps what the text and what the range gave apart', () => {
    expect(
      numbersOf(['Telephone numbers:', '202-555-0100 through 0101, 202-555-0103']).phones.map(({ source }) => source),
    ).toEqual(['range', 'range', 'text']);
  });

  it.each(['202-555-0103 through 0100', '+12025550100 to +442079460000', '202-555-0100 to 202-777-0100'])(
    'written as %j is not expanded, but reported',
    (line) => {
      const { refusedRanges, phones } = numbersOf(['Telephone numbers:', line]);
      expect([refusedRanges.length, phones.length]).toEqual([1, 2]);
    },
  );

  it('holds as many numbers as the limit, and not one more', () => {
    const max = letterNumberLimits.rangeNumbersMax;
    expect(expandRange('+12025550000', `+1202555${String(max - 1).padStart(4, '0')}`)).toHaveLength(max);
    expect(expandRange('+12025550000', `+1202555${String(max).padStart(4, '0')}`)).toBe(null);
  });

  it('leaves out what no numbering plan has', () => {
    expect(expandRange('+12025550100', '+12025550109')).toHaveLength(10);
    expect(expandRange('+12029999999', '+12030000001')).toEqual(['+12029999999']);
  });

  it('is counted in the limit of a letter', () => {
    const ranges = Array.from({ length: 12 }, (_, at) => `2025${String(55 + at)}0000 through 0999`);
    const { phones, complete } = numbersOf(['Telephone numbers:', ...ranges]);
    expect([phones.length, complete]).toEqual([letterNumberLimits.textNumbersMax, false]);
    expect(numbersOf(['Telephone numbers:', ...ranges.slice(0, 10)])).toMatchObject({ complete: true });
  });
});

describe('which numbers of a letter are listed for branding', () => {
  const wording = 'Acme hereby authorizes Caller Trust to display its name.';

  it.each([
    [['We authorize branding of calls from +1 202 555 0100.']],
    [['Phone Numbers', '202-555-0100']],
    [['Telephone number(s) to be branded: 202-555-0100']],
    [['The following numbers are covered:', '', '202-555-0100']],
    [[wording, '202-555-0100']],
    [['Please brand the telephone number 202-555-0100.']],
    [['Outbound numbers:', '202-555-0100']],
    [['List of telephone numbers', '202-555-0100']],
    [['The telephone numbers listed below shall', 'display our name.', '202-555-0100']],
    [['Los siguientes números de teléfono:', '+12025550100']],
    [['les numéros de téléphone suivants :', '+12025550100']],
    [['folgende Rufnummern:', '+12025550100']],
    [['os seguintes números:', '+12025550100']],
    [['i seguenti numeri:', '+12025550100']],
    [['Números de teléfono', '+12025550100']],
    [['Telephone numbers of our contact center:', '202-555-0100']],
    [['the following', 'telephone numbers: 202-555-0100']],
    [[['Number', 'Use'], 'Telephone numbers', ['202-555-0100', 'Sales']]],
  ])('%j lists it', (lines) => {
    expect(listed(lines)).toEqual(us('0100'));
  });

  it.each([
    [['Acme Widgets', '202-555-0100', wording]],
    [['Phone: 202-555-0100', wording]],
    [[wording, 'Sincerely,', 'Jane Doe', '202-555-0100']],
    [[wording, 'For questions, please contact our office at', '202-555-0100']],
    [['Contact phone numbers:', '202-555-0100']],
    [['Fax numbers:', '202-555-0100']],
    [['The following numbers are not authorized:', '202-555-0100']],
    [['All our numbers except', '202-555-0100']],
    [['Numbers to be branded: none. Call us at 202-555-0100.']],
    [['The following numbers are excluded:', '202-555-0100']],
    [['202-555-0100']],
    [[wording, 'Name: Jane Doe', 'Phone: 202-555-0100']],
    [['We do not authorize calls from', '202-555-0100']],
    [['Telephone numbers:', 'Signature: /s/ Jane Doe', '202-555-0100']],
    [['we no longer use the following numbers:', '202-555-0100']],
  ])('%j has the number, but does not list it', (lines) => {
    const { phones, otherPhones } = numbersOf(lines);
    expect([phones, otherPhones.map(({ phone }) => phone)]).toEqual([[], us('0100')]);
  });

  it('continues over pages, but not in their margins', () => {
    const { phones, otherPhones } = numbersOf([], 'US', {
      pages: [
        ['Telephone numbers:', '202-555-0100'],
        [
          { text: 'Acme Widgets, Tel. 202-555-0199', box: { left: 0.1, top: 0.02, width: 0.4, height: 0.014 } },
          '202-555-0101',
        ],
      ],
    });
    expect([phones.map(({ phone }) => phone), otherPhones.map(({ phone }) => phone)]).toEqual([
      us('0100', '0101'),
      us('0199'),
    ]);
  });

  it('a number that is listed is no other one, wherever else it is', () => {
    const { phones, otherPhones } = numbersOf(['Phone: 202-555-0100', 'Telephone numbers:', '202-555-0100']);
    expect([phones.length, otherPhones.length]).toEqual([1, 0]);
  });
});

describe('a list that comes with the letter', () => {
  it.each([
    [
      'We authorize the numbers in the attached list, from +1 202 555 0100 to +1 202 555 0149, 50 numbers.',
      '0100',
      '0149',
      50,
    ],
    [
      'See attached CSV (first number 202-555-0100, last number 202-555-0149, total 1,050 numbers).',
      '0100',
      '0149',
      1050,
    ],
    [
      'The 120 telephone numbers of the enclosed schedule, beginning with 202-555-0100 and ending with 202-555-0199.',
      '0100',
      '0199',
      120,
    ],
    ['The numbers are in numbers.csv.', null, null, null],
    ['See attached list of 16 numbers.', null, null, 16],
    ['Please see the attached list, starting with 202-555-0100.', '0100', null, null],
    ['Exhibit A, attached, lists one hundred twenty (120) numbers.', null, null, 120],
    ['en la lista adjunta, desde +12025550100 hasta +12025550149, 50 números', '0100', '0149', 50],
    ['liste ci-jointe, de +12025550100 à +12025550149', '0100', '0149', null],
    ['in der beigefügten Liste, von +12025550100 bis +12025550149, 50 Rufnummern', '0100', '0149', 50],
    ['nell’elenco allegato, da +12025550100 a +12025550149, 50 numeri', '0100', '0149', 50],
  ])('%j', (text, first, last, count) => {
    const { attachment, phones } = numbersOf([text]);
    expect(attachment).toMatchObject({
      stated: true,
      first: first === null ? null : us(first)[0],
      last: last === null ? null : us(last)[0],
      count,
      place: { page: 1, line: 1 },
    });
    expect(phones).toEqual([]);
  });

  it('may be described in lines of a form', () => {
    const { attachment } = numbersOf([
      'Attached file: numbers.csv',
      'First number: +1 202 555 0100',
      'Last number: +1 202 555 0149',
      'Total count: 50',
    ]);
    expect(attachment).toMatchObject({ stated: true, first: us('0100')[0], last: us('0149')[0], count: 50 });
  });

  it.each(['There is no attached list.', 'We attach importance to calls.', 'Telephone numbers: 202-555-0100', ''])(
    'is not stated by %j',
    (text) => {
      expect(numbersOf([text]).attachment).toEqual({
        stated: false,
        first: null,
        last: null,
        count: null,
        place: null,
      });
    },
  );
});

describe('the CSV in a PDF', () => {
  it('gives the first number of each line, in its order, whatever its cells are', () => {
    const { phones } = numbersOf([], 'US', {
      csv: 'phone;use\n"+1 202 555 0101";sales\r\n202-555-0100,support\n\nnone\n+12025550101',
    });
    expect(phones).toEqual([
      { phone: '+12025550101', source: 'csv', place: null },
      { phone: '+12025550100', source: 'csv', place: null },
    ]);
  });

  it('is read up to a limit of lines', () => {
    const csv = (lines: number) =>
      numbersOf([], 'US', { csv: Array.from({ length: lines }, () => 'x').join('\n') }).complete;
    expect([csv(letterNumberLimits.csvLinesMax), csv(letterNumberLimits.csvLinesMax + 1)]).toEqual([true, false]);
  });
});
