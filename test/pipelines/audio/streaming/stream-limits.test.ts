import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StreamPace } from '../../../../pipelines/audio/streaming/stream-limits.ts';

const limits = { streamSpeedMax: 4, streamBurstSeconds: 10 };

it('lets the allowance pass at once, and lets what is beyond it wait for its time', () => {
  const pace = new StreamPace(limits, 0);
  expect([pace.take(10, 0), pace.take(0.004, 0), pace.take(2, 1)]).toEqual([0, 1, 500]);
});

it('never lets audio wait that comes no faster than it may', () => {
  const pace = new StreamPace(limits, 0);
  for (let second = 1; second < 100; second++) expect(pace.take(4, second * 1000)).toBe(0);
});

it('fills the allowance up, and no further', () => {
  const pace = new StreamPace(limits, 0);
  pace.take(10, 0);
  expect([pace.take(10, 3_600_000), pace.take(1, 3_600_000)]).toEqual([0, 250]);
});

it('holds a sender that waits as required to the speed, for any message sizes', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.01, max: 30, noNaN: true }), { minLength: 1, maxLength: 50 }), (pieces) => {
      const pace = new StreamPace(limits, 0);
      let now = 0;
      let sent = 0;
      for (const piece of pieces) {
        now += pace.take(piece, now);
        sent += piece;
        expect(sent).toBeLessThanOrEqual(10 + (now / 1000) * 4 + 0.01);
      }
      expect(now / 1000).toBeLessThanOrEqual(Math.max(0, sent - 10) / 4 + pieces.length * 0.001 + 0.01);
    }),
  );
});
