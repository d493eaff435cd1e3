import { expect, it } from 'vitest';
import { measureLetters } from '../../bench/letters.ts';

it(
  'of nine honest letters every layout has its numbers found, and no number is found that is not there',
  { timeout: 240_000 },
  async () => {
    const { letters, refused, printed, found, strange, falselyFound } = await measureLetters({ count: 9 });
    expect([letters, refused]).toEqual([9, []]);
    expect(printed).toBeGreaterThan(40);
    expect(found / printed, 'numbers found, of those that are there').toBeGreaterThanOrEqual(0.99);
    expect(strange).toBeGreaterThan(40);
    expect(falselyFound, 'numbers found that are not there').toBe(0);
  },
);
