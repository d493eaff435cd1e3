import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findPhones, isPhoneRefusal, judgePhone } from '../../../pipelines/phone/phone-number.ts';

const find = (text: string, country = 'US') => findPhones(text, country).map(({ phone }) => phone);

describe('numbers in a text', () => {
  it('have the offsets of their characters and their country', () => {
    const text = 'Call (202) 555-0100, or +44 20 7946 0958.';
    const found = findPhones(text, 'US');
    expect(found.map(({ start, end }) => text.slice(start, end))).toEqual(['(202) 555-0100', '+44 20 7946 0958']);
    expect(found).toMatchObject([
      { phone: '+12025550100', country: 'US' },
      { phone: '+442079460958', country: 'GB' },
    ]);
  });

  it.each([
    ['1 03 53 01 36 72', 'FR', '+33353013672'],
    ['2 089 99998426', 'DE', '+498999998426'],
    ['91 012 34 56', 'ES', '+34910123456'],
    ['345 012 3456', 'IT', '+393450123456'],
    ['1 202 555 0100', 'US', '+12025550100'],
    ['7 (202) 555-0100', 'US', '+12025550100'],
    ['(11) 2345-6789', 'BR', '+551123456789'],
  ])('%j in %s, where a row may be counted, is %s', (text, country, phone) => {
    expect(find(text, country)).toEqual([phone]);
  });

  it.each([
    '',
    'no number',
    '12',
    '202-555-010',
    '1111 1111 1111 1111',
    '+',
    '(((',
    'a2025550100',
    '2025550100b',
    '202-555-0100 ext 7',
    '\u0000',
    '२०२५५५०१००',
  ])('are none in %j', (text) => {
    expect(find(text)).toEqual([]);
  });

  it('parted by spaces alone are not taken for extensions of one another', () => {
    expect(find('202-555-0100, 202-555-0101 202-555-0102')).toEqual(['+12025550100', '+12025550101', '+12025550102']);
  });

  it('are each one that judgePhone takes, in order and apart', () => {
    const part = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'0123456789+()-. /,;'), maxLength: 18 }),
      fc.constantFrom('+12025550100', '(202) 555-0101', '+44 20 7946 0958', 'and', '1.'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.constantFrom('US', 'GB', 'DE', 'XX', ''), (parts, country) => {
        const text = parts.join(' ');
        let last = 0;
        for (const { phone, start, end, country: owner } of findPhones(text, country)) {
          expect(judgePhone(phone)).toEqual({ phone, country: owner });
          expect(isPhoneRefusal(judgePhone(phone))).toBe(false);
          expect([start >= last, end > start, end <= text.length]).toEqual([true, true, true]);
          last = end;
        }
      }),
      { numRuns: 500 },
    );
  });
});
