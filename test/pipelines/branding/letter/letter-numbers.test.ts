import { describe, expect, it } from 'vitest';
import { findNumbers, type FoundNumbers } from '../../../../pipelines/branding/letter/letter-numbers.ts';
import { pageTexts } from '../../../../pipelines/branding/letter/letter-text.ts';
import { boxOfText, readLetter } from '../../../support/letter-reading.ts';

interface Search {
  readonly country?: string;
  readonly list?: string;
}

function find(
  lines: readonly string[],
  requested: readonly string[],
  { country = 'US', list }: Search = {},
): FoundNumbers {
  return findNumbers({
    pages: pageTexts(readLetter(lines)),
    list: list ?? null,
    requested: new Set(requested),
    country,
  });
}

const where = (found: FoundNumbers) => found.requested.map(({ phone, where: place }) => `${phone} ${place}`);

describe('a requested number', () => {
  it.each<[string, string, string]>([
    ['+1 202 555 0143', '+12025550143', 'US'],
    ['(202) 555-0143', '+12025550143', 'US'],
    ['1.202.555.0143', '+12025550143', 'US'],
    ['2025550143', '+12025550143', 'US'],
    ['Tel: +1-202-555-0143.', '+12025550143', 'US'],
    ['1) 202-555-0143, billing', '+12025550143', 'US'],
    ['12 202 555 0143', '+12025550143', 'US'],
    ['030 23125-510', '+493023125510', 'DE'],
    ['+49 (0)30 23125 510', '+493023125510', 'DE'],
    ['0049 30 23125510', '+493023125510', 'DE'],
    ['01 99 00 12 34', '+33199001234', 'FR'],
    ['+44 20 7946 0018', '+442079460018', 'US'],
    ['011 44 20 7946 0018', '+442079460018', 'US'],
  ])('written %s is found', (text, phone, country) => {
    const found = find(['We authorize calls from', text], [phone], { country });
    expect(where(found)).toEqual([`${phone} page`]);
    expect(found.others).toEqual([]);
  });

  it('is found where a line ends in it, and with the rectangle around its words', () => {
    expect(where(find(['calls from 202-555-0142 and 202-', '555-0143.'], ['+12025550143']))).toEqual([
      '+12025550143 page',
    ]);
    const [found] = find(['From +1 202 555 0143, weekdays'], ['+12025550143']).requested;
    expect(found!.place).toMatchObject({ page: 1, line: 1 });
    const box = boxOfText(0, 5, '+1 202 555 0143,'.length);
    for (const key of ['left', 'top', 'width', 'height'] as const)
      expect(found!.place!.box![key]).toBeCloseTo(box[key], 6);
  });

  it.each([
    '202 555 0144', // another digit
    '202 555 014', // cut off
    'account 99202-555-0143',
    '202-555-0143-4567890',
    'A202-555-0143',
    '202 555, 0143',
  ])('is not found in %s', (text) => {
    expect(find([text], ['+12025550143'])).toMatchObject({ requested: [], missing: ['+12025550143'], missingCount: 1 });
  });

  it.each<[string, string]>([
    ['a dash', '+1 202 555 0101 - +1 202 555 0105'],
    ['a word', '+1 202 555 0101 through +1 202 555 0105'],
    ['its last digits', '+1 202 555 0101-0105'],
    ['its last digits and a word', '+1 202 555 0101 bis 0105'],
  ])('between two ends with %s between is said to lie in a range', (_name, text) => {
    const requested = ['0101', '0103', '0105', '0106'].map((last) => `+1202555${last}`);
    const found = find([`Calls from ${text}.`], requested);
    expect(where(found).filter((each) => each.endsWith('0103 range'))).toHaveLength(1);
    expect(where(found)[0]).toBe('+12025550101 page');
    expect(found.missing).toEqual(['+12025550106']);
  });

  it('between two numbers of a list is not found', () => {
    expect(find(['+1 202 555 0101, +1 202 555 0105'], ['+12025550103']).requested).toEqual([]);
    expect(find(['+1 202 555 0101', '+1 202 555 0105'], ['+12025550103']).requested).toEqual([]);
    expect(find(['+1 202 555 0101 and 15 more'], ['+12025550103']).requested).toEqual([]);
  });

  it('in the embedded list is found there, if it is not on a page', () => {
    const list = 'phone,name\n+1 202 555 0143,A\n"202-555-0144",B\n';
    const found = find(['+1 202 555 0143'], ['+12025550143', '+12025550144', '+12025550145'], { list });
    expect(where(found)).toEqual(['+12025550143 page', '+12025550144 list']);
    expect(found.requested[1]!.place).toBeNull();
    expect(found.missing).toEqual(['+12025550145']);
  });
});

describe('other numbers', () => {
  it('on the pages are given, each once', () => {
    const { others, requested } = find(
      ['Tel. +1 202 555 0199', 'Calls from +1 202 555 0143', 'Fax (202) 555-0198', 'Tel. +1 202 555 0199'],
      ['+12025550143'],
    );
    expect(requested).toHaveLength(1);
    expect(others.map(({ phone, place }) => [phone, place.line])).toEqual([
      ['+12025550199', 1],
      ['+12025550198', 3],
    ]);
  });
});

it('numbers that are missing are counted, and the first hundred kept', () => {
  const requested = Array.from({ length: 300 }, (_none, at) => `+1202555${String(at + 1000)}`);
  const { missing, missingCount } = find(['nothing'], requested);
  expect([missing.length, missing[0], missingCount]).toEqual([100, '+12025551000', 300]);
});

it('100,000 requested numbers and pages full of digits are searched in seconds', () => {
  const requested = Array.from({ length: 100_000 }, (_none, at) => `+1202${String(2_000_000 + at)}`);
  const lines = Array.from({ length: 1_000 }, (_none, at) => `${'1 2 3 4 5 6 7 8 9 0 - '.repeat(4)}${at}`);
  const start = process.cpuUsage();
  find(lines, requested);
  expect(process.cpuUsage(start).user / 1e6).toBeLessThan(5);
});
