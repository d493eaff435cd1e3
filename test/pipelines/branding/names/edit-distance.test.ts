import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, isNearSpelling, isWithinOneEdit } from '../../../../pipelines/branding/names/edit-distance.ts';

describe('two names', () => {
  it('are near within one edit up to 11 letters, within two from 12 on', () => {
    expect([
      isNearSpelling('abcd', 'abcx'),
      isNearSpelling('abcde', 'abcdx'),
      isNearSpelling('abcde', 'abcxx'),
    ]).toEqual([false, true, false]);
    expect([
      isNearSpelling('abcdefghijk', 'abcdefghixx'),
      isNearSpelling('abcdefghijkl', 'abcdefghijxx'),
      isNearSpelling('abcdefghijkl', 'abcdefghixxx'),
    ]).toEqual([false, true, false]);
  });

  it('have the edits between them counted up to the limit', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (left, right) => {
        const counted = editDistance(left, right, 24)!;
        expect(counted).toBe(plainDistance(left, right));
        expect([editDistance(left, right, counted), editDistance(left, right, counted - 1)]).toEqual([counted, null]);
      }),
    );
  });

  it('are within one edit by an insertion, a deletion, a replacement or a swap of neighbours', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (left, right) => {
        const swapped = [...left].some(
          (_, at) =>
            `${left.slice(0, at)}${left
              .slice(at, at + 2)
              .split('')
              .reverse()
              .join('')}${left.slice(at + 2)}` === right,
        );
        expect(isWithinOneEdit(left, right)).toBe(plainDistance(left, right) <= 1 || swapped);
      }),
    );
    expect([isWithinOneEdit('paypal', 'payapl'), isWithinOneEdit('paypal', 'papyla')]).toEqual([true, false]);
  });
});

function plainDistance(left: string, right: string): number {
  const row = Array.from({ length: left.length + 1 }, (_, i) =>
    Array.from({ length: right.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= left.length; i++)
    for (let j = 1; j <= right.length; j++)
      row[i]![j] = Math.min(
        row[i - 1]![j]! + 1,
        row[i]![j - 1]! + 1,
        row[i - 1]![j - 1]! + Number(left[i - 1] !== right[j - 1]),
      );
  return row[left.length]![right.length]!;
}
