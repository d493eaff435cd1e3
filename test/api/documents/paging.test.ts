import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makePage, startOfPage, type PageRequest } from '../../../api/documents/paging.ts';

const list = { list: 'rows', of: ['client'] };
const request = (limit: number, filters: PageRequest['filters'] = {}): PageRequest => ({
  list,
  limit,
  path: '/v1/rows',
  filters,
});

it('shows every row once, in order, for any size of the pages', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,5}$/)), fc.integer({ min: 1, max: 9 }), (names, limit) => {
      const rows = [...names].sort();
      const seen: string[] = [];
      for (let after = ''; ;) {
        const { rows: shown, next } = makePage(
          rows.filter((row) => row > after).slice(0, limit + 1),
          request(limit),
          (row) => row,
        );
        seen.push(...shown);
        expect(shown.length).toBeLessThanOrEqual(limit);
        if (next === null) break;
        expect(shown).toHaveLength(limit);
        const cursor = new URL(next, 'http://x').searchParams.get('cursor') ?? '';
        after = startOfPage(list, { cursor, keyForm: /^[a-z]+$/ }) ?? '';
      }
      expect(seen).toEqual(rows);
    }),
  );
});

it('keeps limit and filters in the next page, and leaves filters out that were not given', () => {
  const { next } = makePage(['a', 'b', 'c'], request(2, { state: 'in_review', other: undefined }), (row) => row);
  const query = new URL(next ?? '', 'http://x').searchParams;
  expect([...query.keys()].sort()).toEqual(['cursor', 'limit', 'state']);
  expect([query.get('limit'), query.get('state')]).toEqual(['2', 'in_review']);
});

it('begins at the first row without a cursor', () => {
  expect(startOfPage(list, { cursor: undefined, keyForm: /^x$/ })).toBeUndefined();
});
