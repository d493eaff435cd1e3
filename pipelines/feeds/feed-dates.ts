import { ServiceError } from '../../runtime/errors.ts';

/** Order of the parts of dates with slashes or dashes, or days since 1899-12-30 as spreadsheets count them. */
export const DATE_FORMS = ['mdy', 'dmy', 'serial'] as const;

export type DateForm = (typeof DATE_FORMS)[number];

const timeOfDay = String.raw`(?:[ T]+(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:\s*([AaPp])\.?[Mm]\.?)?Z?)?`;
const isoForm = new RegExp(String.raw`^(\d{4})-(\d\d)-(\d\d)${timeOfDay}$`);
const dottedForm = new RegExp(String.raw`^(\d{1,2})\.(\d{1,2})\.(\d{4})${timeOfDay}$`);
const slashedForm = new RegExp(String.raw`^(\d{1,2})([/-])(\d{1,2})\2(\d{4})${timeOfDay}$`);
const serialForm = /^\d{5}(?:[.,]\d+)?$/;

/**
 * A date as `YYYY-MM-DD HH:MM:SS`, or null if the text is not a readable date. Year first, and day first with dots, are always
 * read. Slashes and dashes need the form `mdy` or `dmy`, serial numbers of a spreadsheet `serial`.
 */
export function readFeedTime(text: string, form: DateForm | null): string | null {
  if (isLocalTime(text)) return text; // the usual form
  const [, first = '', , second = '', year = '', ...time] = slashedForm.exec(text) ?? [];
  if (first !== '')
    return form === 'mdy'
      ? compose([year, first, second], time)
      : form === 'dmy'
        ? compose([year, second, first], time)
        : null;
  const iso = isoForm.exec(text);
  if (iso !== null) return compose(iso.slice(1, 4), iso.slice(4));
  const dotted = dottedForm.exec(text);
  if (dotted !== null) return compose([dotted[3]!, dotted[2]!, dotted[1]!], dotted.slice(4));
  return form === 'serial' && serialForm.test(text) ? fromSerial(text) : null;
}

function compose(
  date: readonly string[],
  [hour = '0', minute = '00', second = '00', half]: readonly (string | undefined)[],
): string | null {
  const hours =
    half === undefined
      ? Number(hour)
      : Number(hour) > 12 || Number(hour) === 0
        ? 99
        : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  const [year = '', month = '', day = ''] = date;
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')} ${String(hours).padStart(2, '0')}:${minute}:${second}`;
  return isLocalTime(text) ? text : null;
}

const msPerDay = 86_400_000;
/** Day 0 of spreadsheets for days after 28 February 1900: they count 29 February 1900, which did not exist. */
const serialStart = Date.UTC(1899, 11, 30);

function fromSerial(text: string): string | null {
  const seconds = Math.round(Number(text.replace(',', '.')) * 86_400);
  const at = new Date(serialStart + seconds * 1000);
  const serial = at.toISOString().slice(0, 19).replace('T', ' ');
  return (at.getTime() - serialStart) / msPerDay < 100_000 && isLocalTime(serial) ? serial : null;
}

/** Finds the order of dates with slashes from a whole column: a part over 12 is the day. */
export class DateObserver {
  /** Dates with slashes or dashes. */
  slashed = 0;
  /** Numbers that are days of a spreadsheet. */
  serials = 0;
  private readonly over12 = { first: false, second: false };

  observe(text: string): void {
    const match = slashedForm.exec(text);
    if (match !== null) {
      this.slashed++;
      if (Number(match[1]) > 12) this.over12.first = true;
      if (Number(match[3]) > 12) this.over12.second = true;
    } else if (serialForm.test(text)) this.serials++;
  }

  /**
   * The form of the column; null if it needs none.
   * @throws ServiceError `feed_dates_unclear`
   */
  form(): DateForm | null {
    if (this.serials > 0)
      throw unclear(
        'The dates are serial numbers of a spreadsheet.',
        'Format the column as a date and save it again, or load the file with --dates serial.',
      );
    if (this.slashed === 0) return null;
    const { first, second } = this.over12;
    if (first && second)
      throw unclear(
        'Some dates have the month first and some the day.',
        'Save the file again with dates as YYYY-MM-DD HH:MM:SS.',
      );
    if (!first && !second)
      throw unclear(
        'The dates could have the month first or the day: no part of any is over 12.',
        'Load the file with --dates mdy (month first) or --dates dmy (day first).',
      );
    return first ? 'dmy' : 'mdy';
  }
}

function unclear(problem: string, hint: string): ServiceError {
  return new ServiceError('feed_dates_unclear', { operation: 'read feed', problem, hint });
}

/** Days of a month; months from 1. */
function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

const localForm = /^(\d{4})-(\d\d)-(\d\d) ([01]\d|2[0-3]):([0-5]\d):([0-5]\d)$/;
/** True for `YYYY-MM-DD HH:MM:SS` on a calendar day. */
function isLocalTime(text: string): boolean {
  const match = localForm.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number]; // three groups of digits
  return year >= 1900 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}
