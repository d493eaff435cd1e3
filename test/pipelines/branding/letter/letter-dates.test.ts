import { describe, expect, it } from 'vitest';
import { daysBetween, findDates } from '../../../../pipelines/branding/letter/letter-dates.ts';

const read = (text: string, country = 'US') =>
  findDates(text, country).map(({ date, alternative }) => (alternative === null ? date : `${date} or ${alternative}`));

describe('a date in a text', () => {
  it.each<[string, string, string]>([
    ['March 3, 2026', 'US', '2026-03-03'],
    ['Date: Mar. 3rd, 2026', 'US', '2026-03-03'],
    ['this 3rd day of March, 2026', 'US', '2026-03-03'],
    ['3 March 2026', 'GB', '2026-03-03'],
    ['03-Mar-2026', 'GB', '2026-03-03'],
    ['3 de marzo de 2026', 'ES', '2026-03-03'],
    ['Paris, le 1er février 2026', 'FR', '2026-02-01'],
    ['le 3 fevrier 2026', 'FR', '2026-02-03'],
    ['Berlin, den 3. März 2026', 'DE', '2026-03-03'],
    ['3 de março de 2026', 'BR', '2026-03-03'],
    ['3 maggio 2026', 'IT', '2026-05-03'],
    ['2026-03-03', 'US', '2026-03-03'],
    ['2026/03/03', 'US', '2026-03-03'],
    ['3/14/2026', 'US', '2026-03-14'],
    ['14.3.2026', 'DE', '2026-03-14'],
    ['14/03/26', 'FR', '2026-03-14'],
    ['03/04/2026', 'US', '2026-03-04 or 2026-04-03'],
    ['03/04/2026', 'GB', '2026-04-03 or 2026-03-04'],
    ['05/05/2026', 'GB', '2026-05-05'],
  ])('%s in %s is %s', (text, country, date) => {
    expect(read(text, country)).toEqual([date]);
  });

  it.each([
    '+1 202 555 0143',
    '31.02.2026',
    'February 30, 2026',
    '13/13/2026',
    'Suite 12, 2026 Hill Road',
    '1.2.3.4',
    '12345-6789',
  ])('%s is none', (text) => {
    expect(read(text)).toEqual([]);
  });

  it('has its offsets, among others', () => {
    const text = 'Signed March 3, 2026, valid until 2027-03-03.';
    const dates = findDates(text, 'US');
    expect(dates.map(({ start, end }) => text.slice(start, end))).toEqual(['March 3, 2026', '2027-03-03']);
  });
});

it('whole days are counted from one day to another', () => {
  expect([daysBetween('2026-02-27', '2026-03-01'), daysBetween('2026-03-01', '2026-02-27')]).toEqual([2, -2]);
});
