import { expect, it } from 'vitest';
import { chunkOf } from '../../../../pipelines/audio/batches/batch-chunks.ts';

it.each([
  [1, 0],
  [50, 0],
  [51, 1],
  [10_000, 199],
  [10_001, 200],
  [10_100, 200],
  [10_101, 201],
  [30_000, 399],
  [30_001, 400],
  [100_000, 674],
  [10_000_000, 1991],
])('item %i is performed by job %i', (line, chunk) => {
  expect(chunkOf(line)).toBe(chunk);
});

it('jobs follow each other without a gap, each at most twice as large as the one before', () => {
  const sizes = new Map<number, number>();
  for (let line = 1; line <= 40_000; line++) sizes.set(chunkOf(line), (sizes.get(chunkOf(line)) ?? 0) + 1);
  expect([...sizes.keys()]).toEqual(Array.from({ length: sizes.size }, (_none, at) => at));
  expect(new Set([...sizes.values()].slice(0, -1))).toEqual(new Set([50, 100, 200]));
});
