import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SlicedSubmission } from '../../../jobs/drop-folder/sliced-submission.ts';

const numbers = (count: number) => Array.from({ length: count }, (_none, at) => at);

/** Takes items in, each in some milliseconds, and counts them. */
function taker(seen: number[], milliseconds = 5) {
  return async (items: AsyncIterable<number>): Promise<string> => {
    for await (const item of items) {
      seen.push(item);
      await sleep(milliseconds);
    }
    return 'whole';
  };
}

describe('a submission in slices', () => {
  it('rests between slices, goes on where it rested, and ends once', async () => {
    const seen: number[] = [];
    const submission = new SlicedSubmission(numbers(40), taker(seen));
    await sleep(30);
    expect(seen).toEqual([]);
    let slices = 0;
    for (let end = await submission.goOn(40); end === undefined || slices === 0; end = await submission.goOn(40)) {
      slices++;
      const before = seen.length;
      await sleep(20);
      expect(seen.length).toBe(before);
    }
    expect(seen).toEqual(numbers(40));
    expect(slices).toBeGreaterThan(2);
    expect(await submission.goOn(40)).toEqual({ result: 'whole' });
  });

  it('takes one item at least in a slice, however short', async () => {
    const seen: number[] = [];
    const submission = new SlicedSubmission(numbers(3), taker(seen, 0));
    let slices = 0;
    while ((await submission.goOn(0)) === undefined) expect(++slices).toBeLessThan(10);
    expect(seen).toEqual([0, 1, 2]);
  });

  it('fails with what the submission fails with, also before its first item', async () => {
    const at = (place: number) =>
      new SlicedSubmission(numbers(3), async (items) => {
        if (place === 0) throw new Error('at once');
        for await (const item of items) if (item === place) throw new Error('later');
      });
    await expect(at(0).goOn(1000)).rejects.toThrow('at once');
    await expect(at(1).goOn(1000)).rejects.toThrow('later');
  });

  it('that is abandoned while it rests reads nothing more', async () => {
    const seen: number[] = [];
    let closed = false;
    async function* source() {
      try {
        yield* numbers(100);
      } finally {
        closed = true;
      }
    }
    const submission = new SlicedSubmission(source(), taker(seen));
    await submission.goOn(20);
    const before = seen.length;
    await submission.abandon();
    expect([seen.length, closed]).toEqual([before, true]);
  });
});
