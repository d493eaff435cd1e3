import { describe, expect, it } from 'vitest';
import { checkBrand } from '../../../../pipelines/branding/brand/brand-check.ts';
import { protectedNamesWith } from '../../../../pipelines/branding/names/protected-names.ts';

const check = (displayName: string, legalName: string, dba: string | null = null) =>
  checkBrand({ displayName, legalName, dba, callReasons: [] }, protectedNamesWith([]));
const outcomes = (displayName: string, legalName: string, dba: string | null = null) =>
  check(displayName, legalName, dba).map(({ severity }) => severity);

describe('the names of a brand', () => {
  it.each([
    ['Northwind Dental', 'Northwind Dental LLC', null],
    ['Northwind', 'Northwind Dental LLC', null],
    ['Zoë Café', 'Cafe Zoe GmbH', null],
    ['Baeckerei Weiss', 'Bäckerei Weiß GmbH', null],
    ['Happy Teeth', 'Northwind Dental LLC', 'Happy Teeth'],
    ['Sakura', 'K. Tanaka', 'Sakura Foods'],
  ])('%s of %s (DBA %s) need no person', (displayName, legalName, dba) =>
    expect(outcomes(displayName, legalName, dba)).toEqual(['pass', 'pass']),
  );

  it.each([
    ['FBI', 'Fresh Bakery Inc.', null],
    ['IRS', 'Ivan Radoslav Systems', null],
    ['PayPal Incorporated', 'Smith Incorporated', null],
    ['Visa International', 'Rainbow International', null],
    ['Volvo AB', 'Evil AB', null],
    ['Chase Bank', 'Joe Bank Cleaning LLC', null],
  ])('%s of %s go to a person for both reasons', (displayName, legalName, dba) =>
    expect(outcomes(displayName, legalName, dba)).toEqual(['review', 'review']),
  );

  it('that are a protected one go to a person although they are the company’s, also as DBA and as legal name alone', () => {
    expect(outcomes('Wells Fargo', 'Wells Fargo & Company')).toEqual(['pass', 'review']);
    expect(outcomes('Wells Fargo', 'Northwind LLC', 'Wells Fargo')).toEqual(['pass', 'review']);
    expect(outcomes('Northwind', 'Northwind LLC', 'Wells Fargo')).toEqual(['pass', 'review']);
    expect(outcomes('Northwind', 'Wells Fargo', 'Northwind')).toEqual(['pass', 'review']);
  });

  it('are judged with a text that says why, and which protected name it is', () => {
    expect(check('PayPa1', 'Smith LLC').map(({ message }) => message)).toEqual([
      'The display name is not plainly that of the company: a person decides. None of its distinctive words is in the company’s name.',
      'The display name is near the protected name PayPal (payment): it looks like that name. A person decides, also where the company has that very name.',
    ]);
  });
});
