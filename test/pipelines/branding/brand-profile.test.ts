import { describe, expect, it } from 'vitest';
import {
  brandProfileSchema,
  CALL_REASONS,
  handleSchema,
  isKnownCallReason,
  needsApproval,
  suggestHandle,
} from '../../../pipelines/branding/brand-profile.ts';
import { profile } from '../../support/branding.ts';

function problemsOf(changes: object): string[] {
  const parsed = brandProfileSchema.safeParse({ ...profile, ...changes });
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('a display name', () => {
  it.each([
    'A',
    'x'.repeat(32),
    'ö'.repeat(32),
    '株式会社さくら',
    '7-Eleven',
    'Smith & Jones, Inc.',
    'St. Mary’s',
    'Ärzte ohne Grenzen',
    'Acme®',
    'No.1 Garage',
    'A/B Test',
    'مطعم',
  ])('may be %j', (displayName) => {
    expect(problemsOf({ displayName })).toEqual([]);
  });

  it.each([
    ['', 'is empty'],
    [' \t', 'is empty'],
    ['x'.repeat(33), 'is longer than 32 characters'],
    ['5550100', 'has no letter'],
    ['+1 (212) 555', 'has no letter'],
    ['---', 'has no letter'],
    ['www.acme', 'holds an address'],
    ['https://acme.example', 'holds an address'],
    ['Acme.com', 'holds an address'],
    ['acme.co.uk Shop', 'holds an address'],
    ['Acme 🍕', 'holds an emoji'],
    ['Acme ❤️', 'holds an emoji'],
    ['Acme 🇺🇸', 'holds an emoji'],
    ['Acme 1️⃣', 'holds an emoji'],
  ])('may not be %j', (displayName, problem) => {
    expect(problemsOf({ displayName })).toEqual(
      expect.arrayContaining([expect.stringContaining(`displayName: ${problem}`)]),
    );
  });

  it('is cleaned: no control, bidi control or backslash is kept, and it is NFC', () => {
    expect(brandProfileSchema.parse({ ...profile, displayName: ' A\u202Ecme\\ \u0000Cafe\u0301 ' }).displayName).toBe(
      'Acme/ Café',
    );
  });
});

describe('a profile', () => {
  it.each<[string, object]>([
    ['ten call reasons of 50 characters', { callReasons: Array.from({ length: 10 }, () => 'x'.repeat(50)) }],
    ['no website', { website: null }],
    ['an http website', { website: 'http://northwind.example/a?b=1' }],
    ['a contact', { contact: { name: 'Jane', email: 'jane@northwind.example', phone: '+1 212 555 0143' } }],
    ['Kosovo', { country: 'XK' }],
  ])('may have %s', (_what, changes) => {
    expect(problemsOf(changes)).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['eleven call reasons', { callReasons: Array.from({ length: 11 }, () => 'x') }, 'callReasons'],
    ['a call reason of 51 characters', { callReasons: ['x'.repeat(51)] }, 'callReasons.0'],
    ['a legal name of 129 characters', { legalName: 'x'.repeat(129) }, 'legalName'],
    ['no legal name', { legalName: undefined }, 'legalName'],
    ['a script for a website', { website: 'javascript:alert(1)' }, 'website'],
    ['a website with a password', { website: 'https://a:b@northwind.example' }, 'website'],
    ['a logo without TLS', { logo: 'http://northwind.example/logo.png' }, 'logo'],
    ['a logo of 513 bytes', { logo: `https://northwind.example/${'x'.repeat(487)}` }, 'logo'],
    ['a country in lower case', { country: 'us' }, 'country'],
    ['a country that is none', { country: 'ZZ' }, 'country'],
    ['a contact without an address', { contact: { name: 'Jane', email: 'jane' } }, 'contact.email'],
    [
      'a contact with a number that cannot be dialled',
      { contact: { name: 'Jane', email: 'a@b.example', phone: '555' } },
      'contact.phone',
    ],
    ['another relationship', { relationship: 'friend' }, 'relationship'],
    ['a field that does not exist', { colour: 'red' }, ''],
  ])('may not have %s', (_what, changes, path) => {
    expect(problemsOf(changes)).toEqual([expect.stringMatching(new RegExp(`^${path}: `))]);
  });

  it('needs an approval for every change but those of the contact and of who registered it', () => {
    const before = brandProfileSchema.parse(profile);
    const free = Object.keys(before).filter((field) => !needsApproval(before, { ...before, [field]: 'Other' }));
    expect(free).toEqual(['contact', 'relationship']);
    expect(needsApproval(before, { ...before })).toBe(false);
    const reasons = { ...before, callReasons: ['Survey', 'Sales'] };
    expect(needsApproval(reasons, { ...reasons, callReasons: ['Sales', 'Survey'] })).toBe(true);
  });

  it('has call reasons of its own, besides those of the list in any letter case', () => {
    expect([...CALL_REASONS, 'appointment REMINDER'].filter((reason) => !isKnownCallReason(reason))).toEqual([]);
    expect(
      CALL_REASONS.filter((reason) => !brandProfileSchema.safeParse({ ...profile, callReasons: [reason] }).success),
    ).toEqual([]);
    expect(['Your card is blocked', 'Appointment reminder.', ''].filter(isKnownCallReason)).toEqual([]);
  });
});

describe('a handle', () => {
  it.each(['ab', 'a1', 'northwind-dental', 'x'.repeat(63)])('may be %s', (handle) =>
    expect(handleSchema.safeParse(handle).success).toBe(true),
  );
  it.each(['a', 'A1', '-ab', 'ab-', 'a--b', 'a_b', 'ä1', 'x'.repeat(64), ''])('may not be %j', (handle) =>
    expect(handleSchema.safeParse(handle).success).toBe(false),
  );
  it.each([
    ['Northwind Dental', 'northwind-dental'],
    ['Café Zoë & Co.', 'cafe-zoe-co'],
    ['Müller Hörgeräte', 'muller-horgerate'],
    ['Bäckerei Weiß', 'backerei-weiss'],
    ['O’Brien', 'obrien'],
    ['株式会社', ''],
  ])('is suggested by %s as %j', (name, handle) => expect(suggestHandle(name)).toBe(handle));
});
