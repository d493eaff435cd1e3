import { isDeepStrictEqual } from 'node:util';
import {
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  parsePhoneNumberFromString,
  type CountryCode,
} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { lookUpPlan } from '../../../pipelines/phone/numbering-plan.ts';
import { judgePhone } from '../../../pipelines/phone/phone-number.ts';

/** A small seeded generator (mulberry32), so that a failure can be repeated. */
function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function byLibrary(text: string, defaultCountry?: CountryCode) {
  const parsed = parsePhoneNumberFromString(text, { defaultCountry, extract: false });
  return parsed?.isValid()
    ? { phone: parsed.number as string, country: (parsed.country as string | undefined) ?? null }
    : null;
}

const withoutCountry = ['800', '808', '870', '878', '881', '882', '883', '888', '979'];
const exampleNumbers = getCountries().map((country) => getExampleNumber(country, examples)!.number as string);
const callingCodes = [
  ...new Set(getCountries().map((country) => getCountryCallingCode(country) as string)),
  ...withoutCountry,
];

describe('the compiled numbering plans', () => {
  it('judge the example number of every country as libphonenumber does', () => {
    const published = exampleNumbers.filter((number) => number.length > 8);
    expect(published.length).toBeGreaterThan(240);
    for (const number of published)
      expect(lookUpPlan(number)).toMatchObject({ kind: 'valid', country: byLibrary(number)!.country });
  });

  it('are published under codes of ISO 3166-1: Ascension and Tristan da Cunha are in SH', () => {
    expect(judgePhone('+24740123')).toEqual({ phone: '+24740123', country: 'SH' });
    expect(judgePhone(getExampleNumber('SH', examples)!.number)).toMatchObject({ country: 'SH' });
    for (const number of exampleNumbers.filter((example) => example.length > 8))
      expect(judgePhone(number)).not.toMatchObject({ country: expect.stringMatching(/^(AC|TA)$/) as string });
  });

  it('agree with libphonenumber on 200,000 random and nearly valid numbers of all calling codes', () => {
    const random = seeded(20_261_121);
    const digit = () => String(Math.floor(random() * 10));
    let checked = 0;
    let valid = 0;
    let unsure = 0;
    const seen: string[] = [...exampleNumbers];
    const others: unknown[] = [];
    while (checked < 200_000) {
      const number =
        random() < 0.6
          ? nearly(seen[Math.floor(random() * seen.length)]!)
          : fresh(callingCodes[checked % callingCodes.length]!);
      if (!/^\+[1-9]\d{7,14}$/.test(number)) continue;
      checked++;
      const verdict = lookUpPlan(number);
      const expected = byLibrary(number);
      if (expected !== null && seen.length < 20_000) seen.push(number);
      if (verdict.kind === 'unsure') unsure++;
      else {
        const found = verdict.kind === 'valid' ? { phone: number, country: verdict.country } : null;
        if (!isDeepStrictEqual(found, expected)) others.push({ number, found, expected }); // 200,000 calls of expect take seconds
      }
      if (verdict.kind === 'valid') valid++;
    }
    expect(others).toEqual([]);
    expect(valid).toBeGreaterThan(40_000);
    expect(unsure).toBeLessThan(20_000);

    function fresh(code: string): string {
      return `+${code}${Array.from({ length: 5 + Math.floor(random() * 8) }, digit).join('')}`;
    }
    function nearly(number: string): string {
      const at = 1 + Math.floor(random() * (number.length - 1));
      const how = random();
      if (how < 0.8) return number.slice(0, at) + digit() + number.slice(at + 1);
      return how < 0.9 ? number.slice(0, at) + digit() + number.slice(at) : number.slice(0, -1);
    }
  });
});

describe('a phone number', () => {
  it.each([
    ['+12025550143', 'US'],
    ['+14165550143', 'CA'],
    ['+18765550143', 'JM'],
    ['+12684601234', 'AG'],
    ['+447400123456', 'GB'],
    ['+447911123456', 'GG'],
    ['+441534456789', 'JE'],
    ['+77012345678', 'KZ'],
    ['+79161234567', 'RU'],
    ['+80012345678', null],
    ['+881612345678', null],
  ])('%s belongs to %s', (phone, country) => {
    expect(judgePhone(phone)).toEqual({ phone, country });
  });

  it.each([
    ['+1 (202) 555-0143', '+12025550143'],
    [' +12025550143 ', '+12025550143'],
    ['+44 (0)20 7946 0958', '+442079460958'],
    ['+78005553535', '+78005553535'],
    ['+54 9 11 2345-6789', '+5491123456789'],
  ])('written as %j is %s', (text, phone) => {
    expect(judgePhone(text)).toMatchObject({ phone });
  });

  it.each([
    ['4703352559', '+14703352559'],
    ['14703352559', '+14703352559'],
    ['011442079460958', '+442079460958'],
    ['+442079460958', '+442079460958'],
    ['(470) 335-2559', '+14703352559'],
  ])('of the United States by default, written as %j, is %s', (text, phone) => {
    expect(judgePhone(text, 'US')).toMatchObject({ phone });
  });

  it.each(['', ' ', '\t'])('written as %j is missing', (text) => {
    expect(judgePhone(text)).toMatchObject({ code: 'phone_missing' });
  });

  it.each([
    '\\.',
    '\\N',
    '2025550143',
    '+1202555014',
    '+120255501433',
    '+1999',
    '+99912345678',
    'abc',
    '+1202555o143',
    '+1 202 555 0143 ext. 5',
    '1'.repeat(1000),
    '+12025550143,',
    '+0123456789',
    '+1\u00002025550143',
  ])('written as %j is invalid', (text) => {
    expect(judgePhone(text)).toMatchObject({ code: 'phone_invalid' });
  });

  it('that is valid but shorter than the published form is invalid, with a reason', () => {
    expect(byLibrary('+2908999')).toEqual({ phone: '+2908999', country: 'TA' });
    expect(judgePhone('+2908999')).toEqual({
      code: 'phone_invalid',
      reason: 'The number is shorter than 8 digits with its country code.',
    });
    expect(judgePhone('+29022158')).toEqual({ phone: '+29022158', country: 'SH' });
  });
});
