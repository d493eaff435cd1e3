import { describe, expect, it } from 'vitest';
import {
  mcnemarExact,
  newcombeInterval,
  pairedChange,
  wilsonInterval,
} from '../../../../pipelines/audio/drift/paired-change.ts';

describe('the interval of a paired change', () => {
  // Worked out from the formulas of the paper by a program of its own; the first row is in its table of examples.
  it.each([
    { both: 36, newOnly: 12, oldOnly: 2, neither: 0, interval: [0.0569, 0.3404] },
    { both: 36, newOnly: 14, oldOnly: 0, neither: 0, interval: [0.1528, 0.4167] },
    { both: 0, newOnly: 12, oldOnly: 2, neither: 36, interval: [0.0569, 0.3404] },
    { both: 2, newOnly: 97, oldOnly: 1, neither: 0, interval: [0.8721, 0.9854] },
    { both: 0, newOnly: 29, oldOnly: 0, neither: 1, interval: [0.7915, 0.9941] },
  ])(
    'is Newcombe’s for $both of both, $newOnly of the new, $oldOnly of the old, $neither of none',
    ({ interval, ...counts }) => {
      const [low, high] = newcombeInterval(counts);
      expect(low).toBeCloseTo(interval[0]!, 4);
      expect(high).toBeCloseTo(interval[1]!, 4);
    },
  );

  it('turns round when the models change places', () => {
    const [low, high] = newcombeInterval({ both: 20, oldOnly: 3, newOnly: 9, neither: 40 });
    const [turnedLow, turnedHigh] = newcombeInterval({ both: 20, oldOnly: 9, newOnly: 3, neither: 40 });
    expect([turnedLow, turnedHigh]).toEqual([expect.closeTo(-high, 12), expect.closeTo(-low, 12)]);
  });

  it.each([10, 100, 1000])('has a width also where none of %i recordings changed', (total) => {
    const [low, high] = newcombeInterval({ both: total / 2, oldOnly: 0, newOnly: 0, neither: total / 2 });
    expect(low).toBeLessThan(0);
    expect(high).toBeGreaterThan(0);
    expect(high - low).toBeLessThan(3 / Math.sqrt(total));
  });

  it.each([1, 2])('stays between -1 and 1 for %i recordings', (total) => {
    expect(newcombeInterval({ both: 0, oldOnly: 0, newOnly: total, neither: 0 })[1]).toBe(1);
    expect(newcombeInterval({ both: 0, oldOnly: total, newOnly: 0, neither: 0 })[0]).toBe(-1);
  });

  it.each([
    { old: 0.1, gained: 0.08, lost: 0.02 },
    { old: 0.5, gained: 0.1, lost: 0.1 },
    { old: 0.02, gained: 0.01, lost: 0.005 },
  ])(
    'holds the truth in at least 93 of 100 samples: old share $old, gained $gained, lost $lost',
    ({ old, gained, lost }) => {
      const [samples, recordings] = [3000, 150];
      const random = seeded(17);
      let held = 0;
      for (let sample = 0; sample < samples; sample++) {
        const counts = { both: 0, oldOnly: 0, newOnly: 0, neither: 0 };
        for (let recording = 0; recording < recordings; recording++) {
          const draw = random();
          counts[draw < lost ? 'oldOnly' : draw < old ? 'both' : draw < old + gained ? 'newOnly' : 'neither'] += 1;
        }
        const [low, high] = newcombeInterval(counts);
        if (low <= gained - lost && gained - lost <= high) held += 1;
      }
      expect(held / samples).toBeGreaterThan(0.93);
    },
  );

  /** Numbers from 0 to below 1, the same for the same seed (Park and Miller). */
  function seeded(seed: number): () => number {
    let state = seed;
    return () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
  }
});

describe('the exact test of McNemar', () => {
  it.each([
    { oldOnly: 0, newOnly: 0, p: 1 },
    { oldOnly: 0, newOnly: 1, p: 1 },
    { oldOnly: 0, newOnly: 5, p: 0.0625 },
    { oldOnly: 0, newOnly: 6, p: 0.03125 },
    { oldOnly: 1, newOnly: 8, p: 20 / 512 },
    { oldOnly: 5, newOnly: 5, p: 1 },
    { oldOnly: 2, newOnly: 12, p: (2 * (1 + 14 + 91)) / 2 ** 14 },
  ])('gives $p for $oldOnly against $newOnly', ({ oldOnly, newOnly, p }) => {
    expect(mcnemarExact(oldOnly, newOnly)).toBeCloseTo(p, 12);
    expect(mcnemarExact(newOnly, oldOnly)).toBeCloseTo(p, 12);
  });

  it('does not run over for many recordings', () => {
    expect(mcnemarExact(50_000, 50_000)).toBe(1);
    expect(mcnemarExact(49_000, 51_000)).toBeCloseTo(2.6e-10, 10);
    expect(mcnemarExact(0, 5000)).toBe(0);
  });
});

describe('the interval of a share', () => {
  it.each([
    { count: 0, total: 10, interval: [0, 0.2775] },
    { count: 5, total: 10, interval: [0.2366, 0.7634] },
    { count: 10, total: 10, interval: [0.7225, 1] },
    { count: 81, total: 263, interval: [0.2553, 0.3662] },
  ])('is Wilson’s for $count of $total', ({ count, total, interval }) => {
    const [low, high] = wilsonInterval(count, total);
    expect([low, high]).toEqual([expect.closeTo(interval[0]!, 4), expect.closeTo(interval[1]!, 4)]);
  });
});

describe('a change', () => {
  it('counts the class with each model and says by how much its share moved', () => {
    expect(pairedChange({ both: 30, oldOnly: 2, newOnly: 8, neither: 60 })).toMatchObject({
      compared: 100,
      old: 32,
      new: 38,
      change: 0.06,
      p: expect.closeTo((2 * (1 + 10 + 45)) / 1024, 12),
    });
  });

  it('of nothing has no figure', () => {
    expect(pairedChange({ both: 0, oldOnly: 0, newOnly: 0, neither: 0 })).toEqual({
      compared: 0,
      old: 0,
      new: 0,
      change: null,
      interval: null,
      p: null,
    });
  });
});
