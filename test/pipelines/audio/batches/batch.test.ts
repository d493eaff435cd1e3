import { expect, it } from 'vitest';
import { linesOfChunk } from '../../../../pipelines/audio/batches/batch.ts';

it.each([
  [0, 1, 50],
  [1, 51, 100],
  [199, 9_951, 10_000],
  [200, 10_001, 10_100],
  [201, 10_101, 10_200],
  [399, 29_901, 30_000],
  [400, 30_001, 30_200],
  [674, 99_601, 100_000],
])('job %i performs the items %i to %i', (chunk, first, last) => {
  expect(linesOfChunk(chunk)).toEqual({ first, last });
});

it('10 million items are less than 2,000 jobs, which follow each other without a gap', () => {
  let chunks = 0;
  for (let next = 1; next <= 10_000_000; chunks++) {
    const { first, last } = linesOfChunk(chunks);
    expect(first).toBe(next);
    next = last + 1;
  }
  expect(chunks).toBe(1992);
});
