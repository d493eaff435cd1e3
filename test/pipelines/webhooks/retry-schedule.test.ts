import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  failingSinceAfter,
  hasFailedTooLong,
  nextAttemptAt,
  retrySchedule,
} from '../../../pipelines/webhooks/retry-schedule.ts';

const hourMs = 3_600_000;
const start = new Date('2026-11-24T00:00:00Z');
const scheduleOf = (firstSeconds: number, secondsMax: number, hours: number) => ({ firstSeconds, secondsMax, hours });

/** The waits in seconds between the attempts at a delivery that always fails at once. */
function waitsOf(schedule: typeof retrySchedule, random: () => number, retryAfterSeconds: number | null = null) {
  const waits: number[] = [];
  for (let at = start, attempts = 1; ; attempts++) {
    const next = nextAttemptAt({ attempts, firstAttemptAt: start, at, retryAfterSeconds, random: random() }, schedule);
    if (next === null) return { waits, lastAt: at };
    waits.push((next.getTime() - at.getTime()) / 1000);
    at = next;
  }
}

describe('the schedule of attempts', () => {
  it('has 12 attempts in a day: after seconds, minutes and hours', () => {
    const { waits, lastAt } = waitsOf(retrySchedule, () => 0.5);
    expect(waits).toEqual([5, 15, 45, 135, 405, 1215, 3645, 10_935, 21_600, 21_600, 21_600]);
    expect(lastAt.getTime() - start.getTime()).toBeLessThanOrEqual(24 * hourMs);
  });

  it('triples each wait up to the longest, within a quarter, and ends within its time, whatever its figures', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3600 }),
        fc.integer({ min: 1, max: 86_400 }),
        fc.integer({ min: 1, max: 72 }),
        fc.array(fc.double({ min: 0, max: 0.999_999, noNaN: true }), { minLength: 1, maxLength: 20 }),
        (first, longest, hours, randoms) => {
          fc.pre(longest >= 60); // fewer attempts for the property; the rule is the same
          let drawn = 0;
          const { waits, lastAt } = waitsOf(
            scheduleOf(first, longest, hours),
            () => randoms[drawn++ % randoms.length]!,
          );
          for (const [at, wait] of waits.entries()) {
            const middle = Math.min(longest, first * 3 ** at);
            expect(wait).toBeGreaterThanOrEqual(middle * 0.75 - 0.001);
            expect(wait).toBeLessThanOrEqual(middle * 1.25 + 0.001);
          }
          const spent = (lastAt.getTime() - start.getTime()) / 1000;
          expect(spent).toBeLessThanOrEqual(hours * 3600);
          // The wait that was not begun would have led beyond the end.
          expect(spent + Math.min(longest, first * 3 ** waits.length) * 1.25).toBeGreaterThan(hours * 3600 - 0.001);
        },
      ),
    );
  });

  it('waits as long as the receiver asks, but not longer than the longest wait', () => {
    const schedule = scheduleOf(5, 600, 24);
    const next = (retryAfterSeconds: number, attempts = 1) =>
      nextAttemptAt(
        { attempts, firstAttemptAt: start, at: start, retryAfterSeconds, random: 0.5 },
        schedule,
      )!.getTime() - start.getTime();
    expect(next(60)).toBe(60_000);
    expect(next(600)).toBe(600_000);
    expect(next(601)).toBe(600_000);
    expect(next(1, 4)).toBe(135_000);
  });

  it('takes the last attempt at the end of its time, and none after', () => {
    const schedule = scheduleOf(3600, 3600, 1);
    const at = (random: number) =>
      nextAttemptAt({ attempts: 1, firstAttemptAt: start, at: start, retryAfterSeconds: null, random }, schedule);
    expect(at(0.5)).toEqual(new Date(start.getTime() + hourMs));
    expect(at(0.51)).toBeNull();
  });
});

describe('an endpoint', () => {
  const later = (hours: number) => new Date(start.getTime() + hours * hourMs);

  it('fails since the first of the attempts that failed one after another', () => {
    const after = (failingSince: Date | null, lastAttemptAt: Date | null, at: Date) =>
      failingSinceAfter({ failingSince, lastAttemptAt, at });
    expect(after(null, null, start)).toEqual(start);
    expect(after(null, start, later(1))).toEqual(later(1));
    expect(after(start, later(1), later(25))).toEqual(start);
    expect(after(start, later(1), new Date(later(25).getTime() + 1))).toEqual(new Date(later(25).getTime() + 1)); // nothing was tried for more than a day
  });

  it('is disabled at the limit, and not before', () => {
    expect(hasFailedTooLong(start, later(72))).toBe(true);
    expect(hasFailedTooLong(start, new Date(later(72).getTime() - 1))).toBe(false);
  });
});
