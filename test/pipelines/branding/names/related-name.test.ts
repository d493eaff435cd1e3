import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inventCompanies } from '../../../../bench/company-names.ts';
import { relateName, type NameReason } from '../../../../pipelines/branding/names/related-name.ts';

const relation = relateName;

describe('a shown name', () => {
  it.each<[string, string, NameReason]>([
    ['Northwind Dental', 'Northwind Dental LLC', 'same_words'],
    ['NORTHWIND DENTAL L.L.C.', 'Northwind Dental LLC', 'same_words'],
    ['The Acme', 'Acme, Inc.', 'same_words'],
    ['Café Müller', 'Cafe Mueller GmbH', 'same_words'],
    ['A & B', 'A and B Ltd', 'same_words'],
    ['Smith’s Bakery', "Smith's Bakery Ltd", 'same_words'],
    ['さくら', '株式会社さくら', 'same_words'],
    ['Ромашка', 'ООО «Ромашка»', 'same_words'],
    ['ACME 24', 'Acme-24 s.r.o.', 'same_words'],
    ['Fine Foods', 'ﬁne foods Oy', 'same_words'],
    ['Northwind', 'Northwind Dental LLC', 'part_of_words'],
    ['Northwind Group', 'Northwind Dental LLC', 'part_of_words'],
    ['Northwind Dental Care', 'Northwind Dental LLC', 'part_of_words'],
    ['Dental Northwind', 'Northwind Dental LLC', 'part_of_words'],
    ['NorthwindDental', 'Northwind Dental LLC', 'part_of_words'],
    ['North Wind', 'Northwind LLC', 'part_of_words'],
    ['Meridian Bank', 'Meridian Bank of Ohio N.A.', 'part_of_words'],
    ['Mercy Hospital', 'Mercy Hospital Inc', 'same_words'],
    ['Best Plumbing Services', 'Best Plumbing Services LLC', 'same_words'],
    ['Premier Dental', 'Premier Dental PLLC', 'same_words'],
    ['Müller Söhne', 'Mueller & Soehne GmbH & Co. KG', 'part_of_words'],
  ])('%s is that of %s: %s', (shown, legalName, reason) => {
    expect(relation(shown, legalName)).toEqual({ related: true, reason });
  });

  it.each<[string, string, NameReason]>([
    ['FBI', 'Fresh Bakery Inc.', 'initials'],
    ['F.B.I.', 'Fresh Bakery Inc.', 'initials'],
    ['IRS', 'Ivan Radoslav Systems', 'initials'],
    ['NDL', 'Northwind Dental LLC', 'initials'],
    ['ND', 'Northwind Dental LLC', 'initials'],
    ['PayPal Incorporated', 'Smith Incorporated', 'no_words'],
    ['Visa International', 'Rainbow International', 'no_words'],
    ['Volvo AB', 'Evil AB', 'no_words'],
    ['Chase Bank', 'Joe Bank Cleaning LLC', 'no_words'],
    ['M', 'Northwind', 'no_words'],
    ['Northwind Airlines', 'Northwind Dental LLC', 'claimed_role'],
    ['Northwind Chase', 'Northwind Dental LLC', 'some_words'],
    ['Acme Acme', 'Acme LLC', 'some_words'],
    ['The Bank Company', 'The Bank Company LLC', 'generic_words'],
    ['Dental Services', 'Dental Services Inc', 'generic_words'],
    ['National Bank', 'National Bank of Plumbing LLC', 'generic_words'],
    ['The', 'The Northwind LLC', 'generic_words'],
    ['Meridian Bank', 'Meridian Cleaning LLC', 'claimed_role'],
    ['Mercy Hospital', 'Mercy Hospital Billing Partners LLC', 'claimed_role'],
    ['Mercy Hospital', 'Mercy Hospital Cleaning Inc', 'claimed_role'],
    ['Best Plumbing', 'Best Plumbing Services of Ohio LLC', 'generic_words'],
    ['American Tech Support', 'American Tech Support LLC', 'generic_words'],
    ['Skell Bank', 'Skellbank Plumbing LLC', 'claimed_role'],
    ['City of Springfield', 'Springfield Painting LLC', 'claimed_role'],
    ['Northwind Plumbing', 'Northwind Dental LLC', 'other_trade'],
    ['✓ Acme', 'Acme LLC', 'verification_sign'],
    ['Tax Relief Agency', 'Tax Relief Agency LLC', 'generic_words'],
    ['Meridian Police', 'Meridian LLC', 'claimed_role'],
    ['Acme AG', 'Acme GmbH', 'other_form'],
    ['Acme Inc', 'Acme', 'other_form'],
    ['Northwimd', 'Northwind LLC', 'near'],
    ['Romashka', 'ООО «Ромашка»', 'other_script'],
    ['Ромашка', 'Romashka LLC', 'other_script'],
    ['Nоrthwind', 'Northwind LLC', 'mixed_scripts'],
    ['Northwind', 'Nоrthwind LLC', 'mixed_scripts'],
    ['Яндекс Go', 'Яндекс Go', 'mixed_scripts'],
    ['сосо', 'сосо', 'look_alike_letters'],
    ['Αlpha', 'Alpha LLC', 'mixed_scripts'],
    ['ᏢᎪᎩᏢᎪᏞ', 'ᏢᎪᎩᏢᎪᏞ', 'look_alike_letters'],
    ['Nᴏrthwind', 'Nᴏrthwind', 'look_alike_letters'],
    ['ɑcme', 'ɑcme', 'look_alike_letters'],
    ['PayPa丨', 'PayPa丨', 'look_alike_letters'],
    ['Ac\u200Bme', 'Acme', 'hidden_characters'],
    ['Ac\u00ADme', 'Ac\u00ADme', 'hidden_characters'],
    ['Acme', 'Acme\u3164', 'hidden_characters'],
  ])('%s is not plainly that of %s: %s', (shown, legalName, reason) => {
    expect(relation(shown, legalName)).toEqual({ related: false, reason });
  });
});

describe('for any company', () => {
  const companies = inventCompanies(400, 7);
  const company = fc.constantFrom(...companies);

  it('its own name is related, or needs a person for what its characters or words are, never for missing words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 32 }), (name) => {
        expect([
          'same_words',
          'generic_words',
          'hidden_characters',
          'verification_sign',
          'mixed_scripts',
          'look_alike_letters',
        ]).toContain(relation(name, name).reason);
      }),
    );
    expect(companies.filter(({ legalName }) => !relation(legalName, legalName).related)).toEqual([]);
  });

  it('letter case, accents and marks of rights change no answer', () => {
    fc.assert(
      fc.property(
        company,
        company,
        fc.constantFrom('upper', 'lower', 'mark', 'sign'),
        ({ displayName }, { legalName }, change) => {
          const changed = {
            upper: displayName.toUpperCase(),
            lower: displayName.toLowerCase(),
            mark: displayName.replace(/e/, 'e\u0301'),
            sign: `${displayName}®`,
          }[change];
          expect(relation(changed, legalName).related).toBe(relation(displayName, legalName).related);
        },
      ),
    );
  });

  it('a letter that looks like the one in its place never relates a name', () => {
    const lookAlikes = {
      a: 'а',
      e: 'е',
      o: 'о',
      p: 'р',
      c: 'с',
      x: 'х',
      i: '1',
      l: 'I',
      m: 'rn',
      w: 'vv',
      O: '0',
      A: 'Α',
      B: 'В',
      n: 'ո',
      s: 'ѕ',
    } as const;
    fc.assert(
      fc.property(
        company,
        company,
        fc.constantFrom(...Object.entries(lookAlikes)),
        ({ displayName }, { legalName }, [letter, look]) => {
          if (!relation(displayName, legalName).related)
            expect(relation(displayName.replaceAll(letter, look), legalName).related).toBe(false);
        },
      ),
    );
  });
});
