import { z } from 'zod';
import { ServiceError } from '../../runtime/errors.ts';
import { ENCODINGS } from '../rows/feed-encoding.ts';
import type { FileShape, RowFormat } from '../rows/feed-rows.ts';
import { isNumberingCountry, type NumberingCountry } from '../phone/phone-number.ts';
import { DELIMITERS } from '../rows/quoted-record.ts';
import { DATE_FORMS } from './feed-dates.ts';

const optionsSchema = z.strictObject({
  encoding: z.enum(ENCODINGS).optional(),
  delimiter: z.enum(DELIMITERS).optional(),
  /** Lines that begin with it are left out, and so are empty ones. */
  comment: z.string().min(1).max(8).optional(),
  /** The file's name of each column, by ours; '' where the file has none. */
  columns: z.record(z.string(), z.string().max(200)).optional(),
  dates: z.enum(DATE_FORMS).optional(),
  /** Country of numbers in national form, ISO 3166-1 alpha-2. */
  country: z.custom<NumberingCountry>(isNumberingCountry, 'expected a country of ISO 3166-1 alpha-2').optional(),
  /** Level and category of rows that have none. */
  level: z.enum(['NEUTRAL', 'SPAM', 'FRAUD']).optional(),
  category: z.string().min(1).max(64).optional(),
  /** Which provider the file is from: gates and the age of a feed are counted for each. */
  source: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,39}$/)
    .optional(),
});

/** What a sender says of a file; kept with the load, so that it is read the same way each time. */
export type FeedOptions = Readonly<z.infer<typeof optionsSchema>>;

/**
 * Checks the options of a load.
 * @throws ServiceError `feed_option_invalid`
 */
export function checkFeedOptions(
  feed: { readonly name: string; readonly format: RowFormat },
  given: unknown,
): FeedOptions {
  const parsed = optionsSchema.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${issue?.path.join(' ') || 'options'}: ${issue?.message ?? 'not valid'}.`);
  }
  const { columns = {}, level, category, dates } = parsed.data;
  const known = feed.format.columns.map(({ names }) => names[0]);
  const unknown = Object.keys(columns).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`The feed has no column ${unknown}; its columns are ${known.join(', ')}.`);
  if (feed.name !== 'reputation' && (level !== undefined || category !== undefined))
    throw invalid('Only a reputation feed has a level and a category.');
  if (feed.name !== 'complaints' && dates !== undefined) throw invalid('Only a complaint feed has dates.');
  return parsed.data;
}

/** How the rows of the file look by its options. */
export function shapeOf({ encoding, delimiter, comment, columns, level }: FeedOptions): FileShape {
  return { encoding, delimiter, comment, columns, given: level === undefined ? [] : ['level'] };
}

function invalid(problem: string): ServiceError {
  return new ServiceError('feed_option_invalid', {
    operation: 'submit feed',
    problem,
    hint: 'docs/feeds.md has the options with examples.',
  });
}
