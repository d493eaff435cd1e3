import { Readable } from 'node:stream';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import { readFeedRows, type RowFormat } from '../rows/feed-rows.ts';
import { isNumberingCountry, isPhoneRefusal, judgePhone } from '../phone/phone-number.ts';
import { refuse } from '../rows/reject.ts';

/** One row of a list of numbers: a number in E.164 with its country, or why there is none. */
export type NumberRow =
  | { readonly line: number; readonly phone: string; readonly country: string | null }
  | {
      readonly line: number;
      readonly phone: null;
      /** As it was given. */
      readonly text: string;
      readonly code: string;
      readonly reason: string;
    };

/** Rows of one list; a larger one is split into several requests, since one transaction claims its numbers. */
export const numbersRowsMax = 100_000;

const format = {
  columns: [{ names: ['phone', 'phone_number', 'number', 'telephone'], required: true }],
  headerOptional: true,
  personal: false,
} as const satisfies RowFormat;

/**
 * Reads a CSV or TSV of numbers: a column `phone` among others, or numbers alone without a header. Each row is a number
 * or a refusal with its line. The national form is that of the country, ISO 3166-1; without one only the international form is read.
 * @throws ServiceError `numbers_file_invalid` if the header has no such column, or there is no row, or more than {@link numbersRowsMax}.
 */
export async function readNumberList(bytes: Uint8Array, country: string | null = null): Promise<NumberRow[]> {
  const rows: NumberRow[] = [];
  try {
    for await (const batch of readFeedRows(Readable.from([Buffer.from(bytes)]), format)) {
      for (const row of batch)
        rows.push(
          'values' in row
            ? judgeRow(row.line, row.values[0] ?? '', country)
            : { line: row.line, phone: null, text: '', ...row.refusal },
        );
      if (rows.length > numbersRowsMax)
        throw numbersInvalid(`The file has more than ${numbersRowsMax} rows.`, 'Split it into several requests.');
    }
  } catch (error) {
    if (isServiceError(error, 'feed_header_invalid') || isServiceError(error, 'feed_encoding_invalid'))
      throw numbersInvalid(error.problem, 'The file needs a column `phone`, or numbers alone without a header.');
    throw error;
  }
  if (rows.length === 0) throw numbersInvalid('The file names no number.', 'Give at least one row.');
  return rows;
}

/** The same for numbers that a request names itself; the position counts as line. */
export function judgeNumberTexts(texts: readonly string[], country: string | null = null): NumberRow[] {
  return texts.map((text, at) => judgeRow(at + 1, text, country));
}

function judgeRow(line: number, text: string, country: string | null): NumberRow {
  const judged = judgePhone(text.trim(), isNumberingCountry(country) ? country : undefined);
  return isPhoneRefusal(judged)
    ? { line, phone: null, text: text.trim(), ...refuse(judged.code, judged.reason) }
    : { line, ...judged };
}

function numbersInvalid(problem: string, hint: string): ServiceError {
  return new ServiceError('numbers_file_invalid', { operation: 'read numbers', problem, hint });
}
