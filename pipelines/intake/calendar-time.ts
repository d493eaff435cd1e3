/** The days that a month of a year has; months from 1. */
function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

const localForm = /^(\d{4})-(\d\d)-(\d\d) ([01]\d|2[0-3]):([0-5]\d):([0-5]\d)$/;
const zonedForm =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,6})?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/;

/** True for `YYYY-MM-DD HH:MM:SS` of a day that the calendar has. */
export function isLocalTime(text: string): boolean {
  return isCalendarTime(localForm.exec(text));
}

/** True for ISO 8601 with a zone, of a day that the calendar has: `2026-01-31T08:00:00Z`. */
export function isTimestamp(text: string): boolean {
  return isCalendarTime(zonedForm.exec(text));
}

function isCalendarTime(match: RegExpExecArray | null): boolean {
  if (match === null) return false;
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number]; // three groups of digits
  return year >= 1900 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}
