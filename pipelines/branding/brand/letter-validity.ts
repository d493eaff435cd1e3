/** Months for which a letter is valid, from the day on which it was signed. */
const letterMonths = 12;

/** Days before its end from which on a letter is `expiring`. */
export const expiringDays = 30;

const dayMs = 86_400_000;

/** The same day some months later, or the last day of that month if it has no such day. */
export function addMonths(date: string, months: number): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const last = new Date(Date.UTC(year, month - 1 + months + 1, 0));
  return new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), Math.min(day, last.getUTCDate())))
    .toISOString()
    .slice(0, 10);
}

/**
 * The validity of an approved letter: from its approval to the end (UTC) of the day 12 months after it was
 * signed, or after its approval where no signing date was read, or of the day on which the letter ends by what the person who
 * approved it read, if that is earlier. Null if it is over already.
 */
export function letterValidity({
  signedOn,
  endsOn,
  approvedAt,
}: {
  signedOn: string | null;
  endsOn: string | null;
  approvedAt: Date;
}): { from: Date; until: Date } | null {
  const longest = addMonths(signedOn ?? approvedAt.toISOString().slice(0, 10), letterMonths);
  const lastDay = endsOn !== null && endsOn < longest ? endsOn : longest;
  const until = new Date(Date.parse(`${lastDay}T00:00:00Z`) + dayMs);
  return until > approvedAt ? { from: approvedAt, until } : null;
}
