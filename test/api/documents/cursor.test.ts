import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cursorCharactersMax, formatCursor, parseCursor } from '../../../api/documents/cursor.ts';

const lists = fc.record({
  list: fc.constantFrom('brands', 'numbers', 'letters'),
  of: fc.array(fc.option(fc.string()), { maxLength: 3 }),
});
const keys = fc.string({ maxLength: 60 });

it('gives back the key that it was made of, for the same list alone', () => {
  fc.assert(
    fc.property(lists, lists, keys, (list, other, key) => {
      const cursor = formatCursor(list, key);
      fc.pre(cursor.length <= cursorCharactersMax);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(parseCursor(list, cursor)).toBe(key);
      expect(parseCursor(other, cursor)).toBe(JSON.stringify(list) === JSON.stringify(other) ? key : undefined);
    }),
  );
});

it('does not take a text in which any character was changed, added or left out as a cursor of the same place', () => {
  const list = { list: 'numbers', of: ['client', 'handle', null] };
  fc.assert(
    fc.property(keys, fc.nat(), fc.constantFrom('', 'A', '_', '=', 'AA', ' ', '+', '\0'), (key, where, put) => {
      const cursor = formatCursor(list, key);
      const at = where % cursor.length;
      const changed = cursor.slice(0, at) + put + cursor.slice(at + 1);
      fc.pre(changed !== cursor);
      expect(parseCursor(list, changed)).not.toBe(key);
    }),
  );
});

it.each([
  '',
  '=',
  'null',
  'W10',
  'e30',
  Buffer.from('[2,"numbers","x","y"]').toString('base64url'),
  Buffer.from('[1,"numbers","x"]').toString('base64url'),
  Buffer.from('[1,"numbers","x",5]').toString('base64url'),
  Buffer.from('\xff\xfe', 'latin1').toString('base64url'),
  '%',
])('takes %j for none', (text) => {
  expect(parseCursor({ list: 'numbers', of: [] }, text)).toBeUndefined();
});

it('takes a cursor of the greatest length, and none that is longer', () => {
  const list = { list: 'brands', of: [] };
  const keyOfLength = (characters: number) => Array.from({ length: characters }, () => 'x').join('');
  const longest =
    Array.from({ length: 250 }, (_, length) => length).findLast(
      (length) => formatCursor(list, keyOfLength(length)).length <= cursorCharactersMax,
    ) ?? 0;
  expect(formatCursor(list, keyOfLength(longest)).length).toBe(cursorCharactersMax);
  expect(parseCursor(list, formatCursor(list, keyOfLength(longest)))).toBe(keyOfLength(longest));
  expect(parseCursor(list, formatCursor(list, keyOfLength(longest + 1)))).toBeUndefined();
});

it('has room for the longest handle', () => {
  expect(
    formatCursor({ list: 'brands', of: ['x'.repeat(200), 'in_review'] }, 'x'.repeat(63)).length,
  ).toBeLessThanOrEqual(cursorCharactersMax);
});
