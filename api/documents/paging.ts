import { z } from 'zod';
import { ServiceError } from '../../runtime/errors.ts';
import { cursorCharactersMax, formatCursor, parseCursor, type PagedList } from './cursor.ts';

/** Most rows of a page, and the default. 500 numbers are about 100 KB of JSON. */
const pageRows = { max: 500, byDefault: 100 } as const;

/** Parameters of a paged list. Digits only: `1e2` and ` 5` are refused. */
export const pageParameters = {
  limit: z
    .preprocess(
      (value) => (typeof value === 'string' && /^[1-9]\d{0,3}$/.test(value) ? Number(value) : value),
      z.int().min(1).max(pageRows.max),
    )
    .default(pageRows.byDefault)
    .describe(`Most rows of the page, 1 to ${pageRows.max}; without it ${pageRows.byDefault}.`),
  cursor: z
    .string()
    .min(1)
    .max(cursorCharactersMax)
    .optional()
    .describe(
      'Where the page begins, from `next` of the page before. Opaque, and of this list with these filters only.',
    ),
};

/** A requested page: its list, the number of rows, and the path and filters of the next page's address. */
export interface PageRequest {
  readonly list: PagedList;
  readonly limit: number;
  readonly path: string;
  readonly filters: Readonly<Record<string, string | undefined>>;
}

/** A page of rows, and the path and query of the next one; null for the last page. */
interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/**
 * The key after which a page starts, or undefined for the first page.
 * @throws ServiceError `parameter_invalid` for a cursor that is malformed, of another list or of another version.
 */
export function startOfPage(
  list: PagedList,
  { cursor, keyForm }: { cursor: string | undefined; keyForm: RegExp },
): string | undefined {
  if (cursor === undefined) return undefined;
  const key = parseCursor(list, cursor);
  if (key !== undefined && keyForm.test(key)) return key;
  throw new ServiceError('parameter_invalid', {
    operation: 'read parameters',
    problem: 'The parameter cursor is not one of this list with these filters.',
    hint: 'Follow `next` as it is, or start again without a cursor.',
  });
}

/**
 * Makes a page from one row more than it shows: the extra row indicates a next page. The cursor is the last row shown, so
 * rows that are added or removed between requests move no other row to another page.
 */
export function makePage<Row>(
  rows: readonly Row[],
  { list, limit, path, filters }: PageRequest,
  keyOf: (row: Row) => string,
): Page<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  if (rows.length <= limit || last === undefined) return { rows: shown, next: null };
  const query = new URLSearchParams({ limit: String(limit), cursor: formatCursor(list, keyOf(last)) });
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value);
  return { rows: shown, next: `${path}?${query.toString()}` };
}

/**
 * Reads a page: `read` gets the key after which it starts, undefined for the first page, and how many rows to read.
 * `keyForm` is the form of the keys in cursors.
 * @throws ServiceError `parameter_invalid`, see {@link startOfPage}
 */
export async function readPage<Row>(
  { cursor, keyForm, ...request }: PageRequest & { readonly cursor: string | undefined; readonly keyForm: RegExp },
  read: (after: string | undefined, rows: number) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
): Promise<Page<Row>> {
  const after = startOfPage(request.list, { cursor, keyForm });
  return makePage(await read(after, request.limit + 1), request, keyOf);
}
