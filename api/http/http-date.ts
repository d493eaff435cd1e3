const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const month = `(${months.join('|')})`;
const time = '(\\d{2}):(\\d{2}):(\\d{2})';

/** The preferred form, `Sun, 06 Nov 1994 08:49:37 GMT`. */
const imfFixdate = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\\d{2}) ${month} (\\d{4}) ${time} GMT$`);
/** Obsolete, `Sunday, 06-Nov-94 08:49:37 GMT`. */
const rfc850Date = new RegExp(
  `^(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday), (\\d{2})-${month}-(\\d{2}) ${time} GMT$`,
);
/** Obsolete, `Sun Nov  6 08:49:37 1994`. */
const asctimeDate = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} (\\d{2}| \\d) ${time} (\\d{4})$`);

/** Formats an HTTP date, in whole seconds (RFC 9110 section 5.6.7). */
export function formatHttpDate(date: Date): string {
  return date.toUTCString();
}

/**
 * The instant of an HTTP date in milliseconds, or undefined for other text.
 * Reads the three formats of RFC 9110 section 5.6.7; a two-digit year more than 50 years after `now` is in the past.
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  const fixdate = imfFixdate.exec(text);
  if (fixdate !== null) return instant([fixdate[3], fixdate[2], fixdate[1], fixdate[4], fixdate[5], fixdate[6]]);
  const rfc850 = rfc850Date.exec(text);
  if (rfc850 !== null)
    return instant([fullYear(Number(rfc850[3]), now), rfc850[2], rfc850[1], rfc850[4], rfc850[5], rfc850[6]]);
  const asctime = asctimeDate.exec(text);
  if (asctime !== null) return instant([asctime[6], asctime[1], asctime[2], asctime[3], asctime[4], asctime[5]]);
  return undefined;
}

type DateParts = readonly [
  year: string | number | undefined,
  month: string | undefined,
  day: string | undefined,
  hour: string | undefined,
  minute: string | undefined,
  second: string | undefined,
];

/** Undefined for a day that the month does not have. Second 60, a leap second, counts as the next second. */
function instant([year, monthName, day, hour, minute, second]: DateParts): number | undefined {
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  if (h > 23 || m > 59 || s > 60) return undefined;
  const midnight = new Date(Date.UTC(2000, months.indexOf(monthName ?? ''), Number(day)));
  midnight.setUTCFullYear(Number(year), months.indexOf(monthName ?? ''), Number(day));
  if (midnight.getUTCDate() !== Number(day)) return undefined;
  return midnight.getTime() + ((h * 60 + m) * 60 + s) * 1000;
}

function fullYear(twoDigits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}
