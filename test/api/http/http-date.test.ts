import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatHttpDate, parseHttpDate } from '../../../api/http/http-date.ts';

const now = Date.parse('2026-03-06T00:00:00Z');
const rfcExample = Date.parse('1994-11-06T08:49:37Z');

it.each([
  ['Sun, 06 Nov 1994 08:49:37 GMT', rfcExample],
  ['Sunday, 06-Nov-94 08:49:37 GMT', rfcExample],
  ['Sun Nov  6 08:49:37 1994', rfcExample],
  ['Wed Nov 16 08:49:37 1994', Date.parse('1994-11-16T08:49:37Z')],
  ['Saturday, 06-Mar-76 00:00:00 GMT', Date.parse('2076-03-06T00:00:00Z')], // 50 years ahead: this century
  ['Saturday, 06-Mar-77 00:00:00 GMT', Date.parse('1977-03-06T00:00:00Z')], // 51 years ahead: the last one
  ['Thu, 31 Dec 1998 23:59:60 GMT', Date.parse('1999-01-01T00:00:00Z')],
  ['Thu, 29 Feb 2024 00:00:00 GMT', Date.parse('2024-02-29T00:00:00Z')],
  ['Sat, 29 Feb 2025 00:00:00 GMT', undefined],
  ['Sun, 06 Nov 1994 24:00:00 GMT', undefined],
  ['Sun, 06 Nov 1994 08:60:00 GMT', undefined],
  ['Sun, 00 Nov 1994 08:49:37 GMT', undefined],
  ['Sun, 6 Nov 1994 08:49:37 GMT', undefined],
  ['sun, 06 nov 1994 08:49:37 gmt', undefined],
  ['Sun, 06 Nov 1994 08:49:37 +0000', undefined],
  ['Sun, 06 Nov 1994 08:49:37 GMT ', undefined],
  ['784111777', undefined],
  ['', undefined],
])('%s', (text, expected) => {
  expect(parseHttpDate(text, now)).toBe(expected);
});

it('reads what it writes, to the second', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0100-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
      (date) => {
        expect(parseHttpDate(formatHttpDate(date), now)).toBe(Math.floor(date.getTime() / 1000) * 1000);
      },
    ),
  );
});
