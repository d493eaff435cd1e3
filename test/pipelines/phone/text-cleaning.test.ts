import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText, makeExcerpt, makeExcerptOfBytes } from '../../../pipelines/phone/text-cleaning.ts';
import { useTestDatabase } from '../../support/database.ts';

const { db } = await useTestDatabase();

/** Text rich in what cleaning is about. */
const troublesome = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constantFrom(
        '\0',
        '\t',
        '\r\n',
        '\n',
        '\v',
        '\x1b',
        '\x7f',
        '\x85',
        '\x9f',
        '\\',
        '\\N',
        '\\.',
        '\u061c',
        '\u200e',
        '\u202e',
        '\u2028',
        '\u2029',
        '\u2066',
        '\ufeff',
        '\ud800',
        '\udc00',
        '\u0301',
        'e',
        'A\u030a',
        '\u212b',
        '\u1100\u1161',
        '\u2000',
        '\u00a0',
        '\u3000',
        '👩‍👩‍👧',
        '한',
        'ﬁ',
        '"',
        ',',
        ' ',
        '\u{105d2}\u0307',
        '\u{2fa1d}',
        '\uffff',
      ),
      fc
        .nat(0x10ffff)
        .map((code) => (code >= 0xd800 && code < 0xe000 ? String.fromCharCode(code) : String.fromCodePoint(code))),
    ),
  )
  .map((parts) => parts.join(''));

describe('cleaned text', () => {
  it.each([
    ['plain', 'plain'],
    ['  two\t words\r\n', 'two words'],
    ['a\u2028b\u2029c\x85d\u00a0e\u3000f', 'a b c d e f'],
    ['a\0b\x1bc\x7fd\x9fe', 'abcde'],
    ['a \0 b', 'a b'],
    ['evil\u202Etxt\u2066\u061C\u200E', 'eviltxt'],
    ['C:\\temp\\N', 'C:/temp/N'],
    ['e\u0301', 'é'],
    ['e\u200E\u0301', 'é'],
    ['\ud83d\ude00 \ud800 x\udc00', '😀 x'],
    ['日本語 "x", y', '日本語 "x", y'],
  ])('of %j is %j', (text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  it.each(['', ' ', '\t\r\n', '\0', '\u202e \ufeff'])('of %j is absent', (text) => {
    expect(cleanText(text)).toBeNull();
  });

  it('is the same when it is cleaned again', () => {
    fc.assert(
      fc.property(troublesome, (text) => {
        const clean = cleanText(text);
        expect(clean === null ? null : cleanText(clean)).toBe(clean);
      }),
      { numRuns: 5000 },
    );
  });

  it('is always taken by the domain clean_text, unchanged', async () => {
    const texts = fc
      .sample(troublesome, { numRuns: 20_000, seed: 7 })
      .map(cleanText)
      .filter((text) => text !== null);
    const { rows } = await db.query<{ text: string }>(
      'SELECT text::clean_text AS text FROM unnest($1::text[]) WITH ORDINALITY AS t (text, place) ORDER BY place',
      [texts],
    );
    expect(rows.map(({ text }) => text)).toEqual(texts);
  });

  it('is taken by the domain for every code point, alone and after a letter', async () => {
    const texts: string[] = [];
    for (let code = 1; code <= 0x10ffff; code++) {
      const clean = cleanText(`e${String.fromCodePoint(code)}\u0301`);
      if (clean !== null) texts.push(clean);
    }
    const { rows } = await db.query<{ count: number }>(
      'SELECT count(text::clean_text) AS count FROM unnest($1::text[]) AS t (text)',
      [texts],
    );
    expect(rows[0]?.count).toBe(texts.length);
  });
});

describe('an excerpt', () => {
  it('shows what cannot be seen', () => {
    expect(makeExcerpt('a\tb\\\u202Ec\0é😀')).toBe('a\\x09b\\\\\\u{202E}c\\x00é😀');
    expect(makeExcerptOfBytes(Buffer.from([0x41, 0xff, 0x00, 0x5c, 0x7e, 0x7f]))).toBe('A\\xff\\x00\\\\~\\x7f');
  });

  it('is cut after 200 characters, not inside one', () => {
    expect(makeExcerpt('x'.repeat(200))).toBe('x'.repeat(200));
    expect(makeExcerpt('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
    expect(makeExcerpt(`x${'😀'.repeat(200)}`)).not.toMatch(/\p{Cs}/u);
    expect(makeExcerptOfBytes(Buffer.alloc(1000, 1)).length).toBeLessThanOrEqual(201);
  });
});
