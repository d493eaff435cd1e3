import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockNumbersMax, blockNumbersMin, planProofs } from '../../../../pipelines/branding/proof/proof-plan.ts';

const run = (length: number, from = 0) => Array.from({ length }, (_, at) => `+1212${String(5_550_000 + from + at)}`);
const plan = (phones: readonly string[], options: Partial<Parameters<typeof planProofs>[1]> = {}) =>
  planProofs(phones, { drawnBefore: new Set(), blockCalls: 3, ...options });
const sizes = (phones: readonly string[], options = {}) =>
  plan(phones, options).map(({ phones: members, called }) => [members.length, called.length]);

describe('the plan of proofs', () => {
  it('calls every number of a run below the size of a block, and some of one that has it', () => {
    expect(sizes(run(blockNumbersMin - 1))).toEqual(Array.from({ length: blockNumbersMin - 1 }, () => [1, 1]));
    expect(sizes(run(blockNumbersMin))).toEqual([[blockNumbersMin, 3]]);
  });

  it('divides a run above the largest block evenly', () => {
    expect(sizes(run(blockNumbersMax))).toEqual([[1000, 3]]);
    expect(sizes(run(blockNumbersMax + 1))).toEqual([
      [501, 3],
      [500, 3],
    ]);
  });

  it('calls every number where no block is to be drawn, and of a block that was drawn before', () => {
    expect(sizes(run(200), { blockCalls: 0 })).toHaveLength(200);
    expect(
      plan(run(200), { drawnBefore: new Set(run(200)) }).every(
        ({ phones, called }) => phones.length === 1 && called.length === 1,
      ),
    ).toBe(true);
  });

  it('takes a number that is missing, or was drawn before, for the end of a run', () => {
    const gap = run(201).filter((_, at) => at !== 100);
    expect(sizes(gap)).toEqual([
      [100, 3],
      [100, 3],
    ]);
    expect(sizes(run(201), { drawnBefore: new Set([run(201)[100]!]) })).toEqual([
      [100, 3],
      [1, 1],
      [100, 3],
    ]);
  });

  it('has each number in one proof, and calls numbers of the proof only', () => {
    const phones = fc
      .uniqueArray(fc.integer({ min: 0, max: 4000 }), { minLength: 1, maxLength: 2500 })
      .map((offsets) => offsets.map((at) => run(1, at)[0]!));
    fc.assert(
      fc.property(phones, fc.integer({ min: 0, max: 5 }), (given, blockCalls) => {
        const proofs = plan(given, { blockCalls });
        expect(proofs.flatMap((proof) => proof.phones).sort()).toEqual([...given].sort());
        for (const { phones: members, called } of proofs) {
          expect(called.length).toBe(members.length === 1 ? 1 : blockCalls);
          expect(new Set(called).size).toBe(called.length);
          expect(called.every((phone) => members.includes(phone))).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('draws each number of a block as often as another', () => {
    const times = new Map<string, number>();
    for (let round = 0; round < 2000; round++)
      for (const phone of plan(run(100))[0]!.called) times.set(phone, (times.get(phone) ?? 0) + 1);
    // 6,000 draws over 100 numbers: 60 each, with a standard deviation of 7.6.
    expect(times.size).toBe(100);
    expect(Math.min(...times.values())).toBeGreaterThan(60 - 5 * 7.6);
    expect(Math.max(...times.values())).toBeLessThan(60 + 5 * 7.6);
  });
});
