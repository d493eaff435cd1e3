import { describe, expect, it } from 'vitest';
import { ReaderPace } from '../../../api/http/reader-pace.ts';

const KiB = 1024;
const limits = { bytesPerSecondMin: 8 * KiB, seconds: 60 };
const bufferBytes = 256 * KiB;

/** Lets a client take bytes at a rate; returns the second in which it is found to be too slow, if it is. */
function secondOfCut(
  bytesPerSecond: number,
  seconds: number,
  pace = new ReaderPace(limits, bufferBytes),
): number | undefined {
  let taken = 0;
  pace.begin(0);
  for (let second = 1; second <= seconds; second++) {
    taken += bytesPerSecond;
    while (taken >= pace.chunkBytes) {
      const piece = pace.chunkBytes;
      taken -= piece;
      pace.end(second * 1000, piece);
      pace.begin(second * 1000);
    }
    if (pace.isTooSlow(second * 1000)) return second;
  }
  return undefined;
}

describe('the pace of a reader', () => {
  it.each([
    ['takes nothing', 0, 60],
    ['takes half the rate', 4 * KiB, 60],
    ['takes a little less than the rate', 7 * KiB, 60],
    ['takes a little more than the rate', 9 * KiB, undefined],
    ['takes twice the rate', 16 * KiB, undefined],
    ['is fast', 100_000 * KiB, undefined],
  ])('of one that %s is judged after a minute', (_what, bytesPerSecond, expected) => {
    expect(secondOfCut(bytesPerSecond, 600)).toBe(expected);
  });

  it('of one that was fast starts again in each period', () => {
    const pace = new ReaderPace(limits, bufferBytes);
    expect(secondOfCut(1000 * KiB, 60, pace)).toBeUndefined();
    expect(pace.isTooSlow(119_999)).toBe(false);
    expect(pace.isTooSlow(120_000)).toBe(true);
  });

  it('does not count the time in which nothing waits for the client', () => {
    const pace = new ReaderPace(limits, bufferBytes);
    expect(pace.isTooSlow(3_600_000)).toBe(false);
  });

  it('without a limit is never too slow, and its pieces are whole buffers', () => {
    const pace = new ReaderPace({ bytesPerSecondMin: 0, seconds: 60 }, bufferBytes);
    pace.begin(0);
    expect(pace.isTooSlow(3_600_000)).toBe(false);
    expect(pace.chunkBytes).toBe(bufferBytes);
  });

  it('makes the pieces of a slow reader small, and those of a fast one large again', () => {
    const pace = new ReaderPace(limits, bufferBytes);
    pace.begin(0);
    pace.end(20_000, pace.chunkBytes);
    expect(pace.chunkBytes).toBe(16 * KiB);
    for (let at = 0; at < 5; at++) {
      pace.begin(20_000);
      pace.end(20_001, pace.chunkBytes);
    }
    expect(pace.chunkBytes).toBe(bufferBytes);
  });
});
