import { describe, expect, it } from 'vitest';
import { checkBrand } from '../../../../pipelines/branding/brand/brand-check.ts';
import type { ApprovedProfile } from '../../../../pipelines/branding/brand-profile.ts';
import { protectedNamesWith } from '../../../../pipelines/branding/names/protected-names.ts';

const northwind: ApprovedProfile = {
  legalName: 'Northwind Dental LLC',
  dba: null,
  displayName: 'Northwind Dental',
  website: null,
  logo: null,
  logoSha256: null,
  callReasons: [],
  country: 'US',
  taxId: null,
  address: null,
};
/** Codes of the findings that a person must decide. */
const forAPerson = (changes: Partial<ApprovedProfile>) =>
  checkBrand({ ...northwind, ...changes }, protectedNamesWith([])).flatMap(({ code, severity }) =>
    severity === 'review' ? [code] : [],
  );
const names = (displayName: string, legalName: string, dba: string | null = null) =>
  forAPerson({ displayName, legalName, dba });

describe('the names of a brand', () => {
  it.each([
    ['Northwind Dental', 'Northwind Dental LLC', null],
    ['Northwind', 'Northwind Dental LLC', null],
    ['Zoë Café', 'Cafe Zoe GmbH', null],
    ['Baeckerei Weiss', 'Bäckerei Weiß GmbH', null],
    ['Northwind', 'Northwind Dental LLC', 'Happy Teeth'],
  ])('%s of %s (DBA %s) need no person', (displayName, legalName, dba) =>
    expect(names(displayName, legalName, dba)).toEqual([]),
  );

  it.each([
    ['Kaufman Orthopedics', 'Halvorsen Ventures LLC', 'Kaufman Orthopedics'],
    ['Happy Teeth', 'Northwind Dental LLC', 'Happy Teeth'],
    ['Sakura', 'K. Tanaka', 'Sakura Foods'],
  ])('%s of %s, which is the DBA %s alone, go to a person', (displayName, legalName, dba) =>
    expect(names(displayName, legalName, dba)).toEqual(['display_name_related']),
  );

  it.each([
    ['FBI', 'Fresh Bakery Inc.', null],
    ['IRS', 'Ivan Radoslav Systems', null],
    ['PayPal Incorporated', 'Smith Incorporated', null],
    ['Visa International', 'Rainbow International', null],
    ['Volvo AB', 'Evil AB', null],
    ['Chase Bank', 'Joe Bank Cleaning LLC', null],
  ])('%s of %s go to a person for both reasons', (displayName, legalName, dba) =>
    expect(names(displayName, legalName, dba)).toEqual(['display_name_related', 'name_not_protected']),
  );

  it('that are a protected one go to a person although they are the company’s, also as DBA and as legal name alone', () => {
    expect(names('Wells Fargo', 'Wells Fargo & Company')).toEqual(['name_not_protected']);
    expect(names('Northwind', 'Northwind LLC', 'Wells Fargo')).toEqual(['name_not_protected']);
    expect(names('Northwind', 'Wells Fargo', 'Northwind')).toEqual(['display_name_related', 'name_not_protected']);
  });

  it('are judged with a text that says why, and which protected name it is', () => {
    const findings = checkBrand(
      { ...northwind, displayName: 'PayPa1', legalName: 'Smith LLC' },
      protectedNamesWith([]),
    );
    expect(findings.slice(0, 2).map(({ message }) => message)).toEqual([
      'The display name is not plainly that of the company by its legal name: a person decides. None of its distinctive words is in the company’s name.',
      'The display name is near the protected name PayPal (payment): it looks like that name. A person decides, also where the company has that very name.',
    ]);
  });
});

describe('what a brand shows besides its name', () => {
  it('needs no person with call reasons of the list, a website and a logo of its own and the digest of the picture', () => {
    const logo = 'https://northwind.example/img/northwind-logo@2x.png';
    expect(
      forAPerson({
        website: 'https://www.northwind-dental.example/booking',
        logo,
        logoSha256: 'a'.repeat(64),
        callReasons: ['Appointment reminder', 'SURVEY'],
      }),
    ).toEqual([]);
  });

  it.each<[string, Partial<ApprovedProfile>, string]>([
    ['a call reason of its own words', { callReasons: ['Survey', 'Your card is blocked'] }, 'call_reasons_known'],
    ['a logo whose picture may be exchanged', { logo: 'https://northwind.example/a.png' }, 'logo_fixed'],
    [
      'a logo in the name of a bank',
      { logo: 'https://northwind.example/chase-logo.png', logoSha256: 'a'.repeat(64) },
      'name_not_protected',
    ],
    ['a website in the name of a bank', { website: 'https://wellsfargo.northwind.example' }, 'name_not_protected'],
    [
      'a website in a name of other letters that looks like that of a payment company',
      { website: 'https://раураl.example' },
      'name_not_protected',
    ],
    [
      'a website in a name like that of a payment company',
      { website: 'http://paypal-help.example/' },
      'name_not_protected',
    ],
  ])('goes to a person with %s', (_what, changes, code) => {
    expect(forAPerson(changes)).toEqual([code]);
  });
});
