import { expect, it } from 'vitest';
import { compareFilters } from '../../bench/filter.ts';

it.each([8, 16] as const)(
  'a filter of %d bits is smaller than a Bloom filter, and no slower',
  { retry: 2, timeout: 120_000 },
  (bits) => {
    const { ofBound, sizeOfBloom, lookUpOfBloom, foundOfRate } = compareFilters(100_000, bits);
    expect(ofBound, 'bits, of the least that any filter needs').toBeLessThan(1.15);
    expect(sizeOfBloom, 'bits, of a Bloom filter').toBeLessThan(0.8);
    expect(lookUpOfBloom, 'a look-up, of one in a Bloom filter').toBeLessThan(1.2);
    expect(foundOfRate, 'other numbers that are found, of the rate').toBeLessThan(1.2);
  },
);
