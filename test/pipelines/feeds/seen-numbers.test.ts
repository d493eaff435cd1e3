import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeenNumbers } from '../../../pipelines/feeds/seen-numbers.ts';

const phone = fc.bigInt({ min: 10_000_000n, max: 999_999_999_999_999n }).map((digits) => `+${digits}`);

function mayRepeat(phones: Iterable<string>): boolean {
  const seen = new SeenNumbers();
  for (const one of phones) seen.add(one);
  return seen.mayRepeat;
}

describe('numbers of a file', () => {
  it('that come twice are found', () => {
    fc.assert(
      fc.property(fc.array(phone, { minLength: 1, maxLength: 50 }), fc.nat(), (phones, at) =>
        mayRepeat([...phones, phones[at % phones.length]!]),
      ),
      { numRuns: 50 },
    );
  });

  it('that all differ are told apart, 300,000 neighbours and one that ends another among them', () => {
    const neighbours = Array.from({ length: 300_000 }, (_, at) => `+1202${String(5_000_000 + at)}`);
    expect(mayRepeat(['+12025550', ...neighbours])).toBe(false);
  });

  it('that are more than its memory holds are taken for a repeat', () => {
    const seen = new SeenNumbers();
    let numbers = 0;
    while (!seen.mayRepeat) seen.add(`+${10_000_000 + numbers++}`);
    expect(numbers).toBeGreaterThan(3_000_000);
  });
});
