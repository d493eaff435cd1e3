import { inTransaction, queryRow, type Pool } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { isPhoneRefusal, judgePhone } from '../phone-number.ts';
import { cleanText, makeExcerpt } from '../text-cleaning.ts';
import { judgeDisplay, type DisplayInfo } from './display-info.ts';
import { readFeedBytes } from './feed-bytes.ts';
import type { FeedLimits, FeedReject } from './feed-load.ts';
import { readFeedRows, type FeedRow, type RowFormat } from './feed-rows.ts';
import { isTimestamp } from './calendar-time.ts';
import { refuse, type Refusal } from './reject.ts';

/** A number with its live brand. Filled by this loader until the registration workflow writes the table. */
export interface BrandedNumber {
  readonly phone: string;
  readonly country: string | null;
  readonly brandHandle: string;
  readonly display: DisplayInfo;
  readonly liveFrom: string;
  readonly liveUntil: string | null;
}

/** What the loader did: accepted + rejects = rows given; a later row of a number overrules an earlier one. */
export interface BrandedLoadReport {
  readonly given: number;
  readonly accepted: number;
  readonly changed: number;
  readonly rejects: readonly FeedReject[];
}

const format = {
  columns: [
    { names: ['phone'], required: true },
    { names: ['brand_handle'], required: true },
    { names: ['display_name'], required: true },
    { names: ['display_description'], required: false },
    { names: ['display_detail'], required: false },
    { names: ['display_image'], required: false },
    { names: ['live_from'], required: true },
    { names: ['live_until'], required: false },
  ],
  headerOptional: false,
  personal: false,
} as const satisfies RowFormat;

/**
 * Loads live branded numbers from a CSV file (columns phone, brand_handle, display_name, display_description,
 * display_detail, display_image, live_from, live_until; times in ISO 8601 with a zone), in one transaction.
 * @throws ServiceError as a feed does: `feed_not_found`, `feed_header_invalid`, `feed_gzip_invalid`, `feed_too_large`
 */
export async function loadBrandedFile({ db, path, limits }: { db: Pool; path: string; limits: FeedLimits }): Promise<BrandedLoadReport> {
  const accepted: BrandedNumber[] = [];
  const rejects: FeedReject[] = [];
  const bytes = readFeedBytes(path, { plainBytesMax: limits.feedPlainBytesMax });
  for await (const rows of readFeedRows(bytes, format, limits.feedLineBytesMax)) {
    for (const row of rows) {
      const judged = judge(row);
      if ('code' in judged) rejects.push({ line: row.line, ...judged, excerpt: 'excerpt' in row ? row.excerpt : makeExcerpt(row.values.join(',')) });
      else accepted.push(judged);
    }
  }
  return { given: accepted.length + rejects.length, accepted: accepted.length, changed: await loadBrandedNumbers(db, accepted), rejects };
}

/** Makes numbers live branded numbers and known ones, in one transaction; returns how many were made or changed. */
export async function loadBrandedNumbers(db: Pool, numbers: readonly BrandedNumber[]): Promise<number> {
  const rows = [...new Map(numbers.map((number) => [number.phone, number])).values()];
  const column = (pick: (number: BrandedNumber) => string | null) => rows.map(pick);
  const merged = await inTransaction(db, (client) => queryRow<{ changed: number }>(client, sql('intake/merge_branded'), [
    column(({ phone }) => phone),
    column(({ country }) => country),
    column(({ brandHandle }) => brandHandle),
    ...[0, 1, 2, 3].map((place) => column(({ display }) => display[place as 0 | 1 | 2 | 3])),
    column(({ liveFrom }) => liveFrom),
    column(({ liveUntil }) => liveUntil),
  ]));
  return merged!.changed; // the statement returns one row
}

function judge(row: FeedRow): BrandedNumber | Refusal {
  if (!('values' in row)) return row.refusal;
  const [phoneText = '', handleText = '', ...rest] = row.values;
  const phone = judgePhone(phoneText);
  if (isPhoneRefusal(phone)) return phone;
  const display = judgeDisplay(rest.slice(0, 4));
  if (!Array.isArray(display)) return display;
  const brandHandle = cleanText(handleText);
  if (brandHandle === null) return refuse('name_missing', 'The row has no brand handle.');
  const [liveFrom = '', liveUntil = ''] = rest.slice(4).map((text) => text.trim());
  if (liveFrom === '') return refuse('date_missing', 'The row has no start of its live time.');
  if (!isTimestamp(liveFrom) || (liveUntil !== '' && !isTimestamp(liveUntil))) return refuse('date_invalid', 'A live time is not ISO 8601 with a zone.');
  if (liveUntil !== '' && Date.parse(liveUntil) <= Date.parse(liveFrom)) return refuse('date_invalid', 'The live time ends before it starts.');
  return { ...phone, brandHandle, display, liveFrom, liveUntil: liveUntil === '' ? null : liveUntil };
}
