/**
 * When a failed delivery is attempted again: 12 attempts in a day, the first after seconds, for a receiver that restarts, the last
 * after hours, for one that is repaired.
 */
export const retrySchedule = {
  /** Seconds before the second attempt. */
  firstSeconds: 5,
  /** Longest wait between two attempts. */
  secondsMax: 21_600,
  /** Hours after the first attempt in which the last one is made. */
  hours: 24,
};

/** Hours for which every attempt at an endpoint has failed when it is disabled: longer than a weekend. */
export const disableHours = 72;

/** Each wait is this many times the one before it. */
const retryFactor = 3;

/** A wait is up to this share shorter or longer, so that deliveries that failed together do not return together. */
const jitterShare = 0.25;

const hourMs = 3_600_000;

/** A failed attempt. */
interface FailedAttempt {
  /** Attempts including this one. */
  readonly attempts: number;
  readonly firstAttemptAt: Date;
  readonly at: Date;
  /** Seconds for which the receiver asks to wait; null if it does not. */
  readonly retryAfterSeconds: number | null;
  /** From 0 to less than 1. */
  readonly random: number;
}

/** The instant of the next attempt, or null if the time for attempts is over. Pure. */
export function nextAttemptAt(failed: FailedAttempt, schedule: typeof retrySchedule = retrySchedule): Date | null {
  const { attempts, firstAttemptAt, at, retryAfterSeconds, random } = failed;
  const { firstSeconds: first, secondsMax: longest, hours } = schedule;
  const wait = Math.min(longest, first * retryFactor ** (attempts - 1));
  const spread = wait * (1 - jitterShare + 2 * jitterShare * random);
  const asked = Math.min(longest, retryAfterSeconds ?? 0);
  const next = at.getTime() + Math.max(spread, asked) * 1000;
  return next - firstAttemptAt.getTime() > hours * hourMs ? null : new Date(next);
}

/** How an endpoint stood before a failed attempt. */
interface EndpointStanding {
  readonly failingSince: Date | null;
  readonly lastAttemptAt: Date | null;
  readonly at: Date;
}

/**
 * Since when every attempt at an endpoint has failed, after one more has. A pause in which nothing was attempted begins the count
 * again: nobody knows whether the endpoint was there. Pure.
 */
export function failingSinceAfter({ failingSince, lastAttemptAt, at }: EndpointStanding): Date {
  if (failingSince === null || lastAttemptAt === null) return at;
  return at.getTime() - lastAttemptAt.getTime() > retrySchedule.hours * hourMs ? at : failingSince;
}

/** True if an endpoint has failed for so long that it is disabled. Pure. */
export function hasFailedTooLong(failingSince: Date, at: Date): boolean {
  return at.getTime() - failingSince.getTime() >= disableHours * hourMs;
}
