import { readFeedBytes } from '../../pipelines/feeds/feed-bytes.ts';
import { readFeedRows, type RowFormat } from '../../pipelines/rows/feed-rows.ts';
import { isPhoneRefusal, judgePhone } from '../../pipelines/phone/phone-number.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { stateOfAreaCode } from './area-code-states.ts';

/**
 * Reports about numbers over a period, in columns: the reports of a number are adjacent, ascending by day and then by state.
 * 8 bytes a report and 18 a number.
 */
export interface ReportHistory {
  /** The numbers' digits; E.164 has 15 at most, which a double holds exactly. */
  readonly phones: Float64Array;
  /** Countries of numbers, ISO 3166-1 alpha-2; '' for none. */
  readonly countries: readonly string[];
  /** Country of each number, as its place in `countries`. */
  readonly countryOf: Uint16Array;
  /** The reports of number n are those from `firstReport[n]` to before `firstReport[n + 1]`. */
  readonly firstReport: Uint32Array;
  /** Day of each report, counted from `firstDay`. */
  readonly days: Int32Array;
  /** State of each report, numbered from 1; 0: not known. */
  readonly states: Uint16Array;
  /** Reports of each day. */
  readonly reportsOfDay: Uint32Array;
  /** Days since 1970-01-01 (UTC) of the first day. */
  readonly firstDay: number;
  readonly rowsGiven: number;
  /** Rows without a valid number, or without a day. */
  readonly rowsLeftOut: number;
}

/** Complaint files of the FTC, and tables of day, number and area code of the complainant. Other columns are not read. */
const format = {
  columns: [
    { names: ['Company_Phone_Number', 'phone'], required: true },
    { names: ['Created_Date', 'day'], required: true },
    { names: ['Consumer_State', 'state'], required: false },
    { names: ['Consumer_Area_Code', 'consumer_area_code', 'area'], required: false },
  ],
  headerOptional: false,
  personal: true,
} as const satisfies RowFormat;

const plainBytesMax = 64 * 1024 ** 3;
const dayMs = 86_400_000;

/**
 * Reads files of reports, gzipped or not, in any order. A missing state is that of the area code.
 * @throws ServiceError `feed_not_found`, `feed_header_invalid`, `feed_gzip_invalid`, `usage_invalid` if no row is a report, `interrupted`
 */
export async function readReportHistory(
  paths: readonly string[],
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (rows: number) => void } = {},
): Promise<ReportHistory> {
  const reader = new HistoryReader();
  for (const path of paths) {
    for await (const rows of readFeedRows(readFeedBytes(path, { plainBytesMax, signal }), format)) {
      for (const row of rows) reader.take('values' in row ? row.values : undefined);
      onProgress?.(reader.rowsGiven);
    }
  }
  return reader.finish();
}

/** Growing columns. */
class Columns {
  phones = new Uint32Array(1 << 16);
  days = new Int32Array(1 << 16);
  states = new Uint16Array(1 << 16);
  length = 0;

  push(phone: number, day: number, state: number): void {
    if (this.length === this.phones.length) this.grow(Math.ceil(this.length * 1.5));
    this.phones[this.length] = phone;
    this.days[this.length] = day;
    this.states[this.length++] = state;
  }

  private grow(to: number): void {
    const { phones, days, states } = this;
    (this.phones = new Uint32Array(to)).set(phones);
    (this.days = new Int32Array(to)).set(days);
    (this.states = new Uint16Array(to)).set(states);
  }
}

class HistoryReader {
  rowsGiven = 0;
  private readonly columns = new Columns();
  private readonly numberOf = new Map<number, number>();
  private readonly countryNumbers = new Map<string, number>();
  private readonly countryOf: number[] = [];
  private readonly stateOf = new Map<string, number>();
  private readonly dayOf = new Map<string, number>();

  take(values: readonly string[] | undefined): void {
    this.rowsGiven++;
    if (values === undefined) return;
    const [phoneText = '', dayText = '', stateText = '', areaCode = ''] = values;
    const phone = judgePhone(phoneText.trim(), 'US');
    const day = this.day(dayText.trim().slice(0, 10));
    if (isPhoneRefusal(phone) || Number.isNaN(day)) return;
    const digits = Number(phone.phone.slice(1));
    let number = this.numberOf.get(digits);
    if (number === undefined) {
      this.numberOf.set(digits, (number = this.numberOf.size));
      this.countryOf.push(this.country(phone.country ?? ''));
    }
    this.columns.push(number, day, this.state(stateText.trim() || (stateOfAreaCode(areaCode.trim()) ?? '')));
  }

  finish(): ReportHistory {
    const { phones: numbers, days, states, length } = this.columns;
    if (length === 0)
      throw new ServiceError('usage_invalid', { operation: 'read reports', problem: 'No row has a number and a day.' });
    const firstDay = days.subarray(0, length).reduce((least, day) => Math.min(least, day), Infinity);
    const lastDay = days.subarray(0, length).reduce((most, day) => Math.max(most, day), -Infinity);
    // One sortable number a report: number, then day, then state.
    const keys = Float64Array.from(
      { length },
      (_, at) => (numbers[at]! * 65_536 + (days[at]! - firstDay)) * 1024 + Math.min(states[at]!, 1023),
    ).sort();
    const history = {
      phones: Float64Array.from(this.numberOf.keys()),
      countries: [...this.countryNumbers.keys()],
      countryOf: Uint16Array.from(this.countryOf),
      firstReport: new Uint32Array(this.numberOf.size + 1),
      days: Int32Array.from(keys, (key) => Math.floor(key / 1024) % 65_536),
      states: Uint16Array.from(keys, (key) => key % 1024),
      reportsOfDay: new Uint32Array(lastDay - firstDay + 1),
      firstDay,
      rowsGiven: this.rowsGiven,
      rowsLeftOut: this.rowsGiven - length,
    };
    for (let at = 0; at < length; at++) history.firstReport[numbers[at]! + 1]!++;
    for (let at = 0; at < this.numberOf.size; at++) history.firstReport[at + 1]! += history.firstReport[at]!;
    for (const day of history.days) history.reportsOfDay[day]!++;
    return history;
  }

  /** Days since 1970-01-01; NaN for an invalid date. */
  private day(text: string): number {
    let day = this.dayOf.get(text);
    if (day === undefined)
      this.dayOf.set(text, (day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) / dayMs : NaN));
    return day;
  }

  private country(code: string): number {
    let country = this.countryNumbers.get(code);
    if (country === undefined) this.countryNumbers.set(code, (country = this.countryNumbers.size));
    return country;
  }

  private state(name: string): number {
    if (name === '') return 0;
    let state = this.stateOf.get(name);
    if (state === undefined) this.stateOf.set(name, (state = this.stateOf.size + 1));
    return state;
  }
}

/** The date of a day of a history, as 2020-10-31. */
export function dateOfDay({ firstDay }: Pick<ReportHistory, 'firstDay'>, day: number): string {
  return new Date((firstDay + day) * dayMs).toISOString().slice(0, 10);
}
