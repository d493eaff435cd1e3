import { z } from 'zod';
import { ServiceError } from '../../runtime/errors.ts';
import { ENCODINGS } from '../rows/feed-encoding.ts';
import type { FileShape, RowFormat } from '../rows/feed-rows.ts';
import { isNumberingCountry, type NumberingCountry } from '../phone/phone-number.ts';
import { DELIMITERS } from '../rows/quoted-record.ts';
import { DATE_FORMS } from './feed-dates.ts';
import { reputationLevels } from '../phone/reputation-level.ts';

const optionsSchema = z.strictObject({
  encoding: z.enum(ENCODINGS).optional(),
  delimiter: z.enum(DELIMITERS).optional(),
  /** Lines that start with it are skipped, and empty lines too. */
  comment: z.string().min(1).max(8).optional(),
  /** The file's name of each column, by the feed's name; '' if the file lacks the column. */
  columns: z.record(z.string(), z.string().max(200)).optional(),
  dates: z.enum(DATE_FORMS).optional(),
  /** Country of numbers in national form, ISO 3166-1 alpha-2. */
  country: z.custom<NumberingCountry>(isNumberingCountry, 'expected a country of ISO 3166-1 alpha-2').optional(),
  /** Level and category of rows without them. */
  level: z.enum(reputationLevels).optional(),
  category: z.string().min(1).max(64).optional(),
  /** The provider of the file: gates and ages of feeds are separate for each. */
  source: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,39}$/)
    .optional(),
});

/** The sender's options for a file; kept with the load, so that each run reads it the same way. */
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
    throw invalidOption(`${issue?.path.join(' ') || 'options'}: ${issue?.message ?? 'not valid'}.`);
  }
  const { columns = {}, level, category, dates } = parsed.data;
  const known = feed.format.columns.map(({ names }) => names[0]);
  const unknown = Object.keys(columns).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw invalidOption(`The feed has no column ${unknown}; its columns are ${known.join(', ')}.`);
  if (feed.name !== 'reputation' && (level !== undefined || category !== undefined))
    throw invalidOption('Only a reputation feed has a level and a category.');
  if (feed.name !== 'complaints' && dates !== undefined) throw invalidOption('Only a complaint feed has dates.');
  return parsed.data;
}

/** The shape of the file by its options. */
export function shapeOf({ encoding, delimiter, comment, columns, level }: FeedOptions): FileShape {
  return { encoding, delimiter, comment, columns, given: level === undefined ? [] : ['level'] };
}

function invalidOption(problem: string): ServiceError {
  return new ServiceError('feed_option_invalid', {
    operation: 'submit feed',
    problem,
    hint: 'docs/feeds.md has the options with examples.',
  });
}
