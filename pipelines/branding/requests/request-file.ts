import { ServiceError } from '../../../runtime/errors.ts';
import { parseStorableJson } from '../../../runtime/stored-text.ts';
import { readSubmittedFile, SUBMITTED_FILES } from '../submitted-file.ts';

export const requestFileBytesMax = SUBMITTED_FILES.request.bytesMax;

/** A request of a file, before its fields are checked. */
export type RequestFields = Record<string, unknown>;

/**
 * The request of a JSON file: a regular file within the limit; symbolic links are not followed.
 * @throws ServiceError `brand_request_invalid`
 */
export async function readRequestFile(path: string): Promise<RequestFields> {
  return parseRequestFile(await readSubmittedFile(path, 'request'));
}

/**
 * The request of JSON text in UTF-8, with or without a byte order mark.
 * @throws ServiceError `brand_request_invalid`
 */
export function parseRequestFile(bytes: Uint8Array): RequestFields {
  if (bytes.length > requestFileBytesMax) throw requestFileInvalid(`It is larger than ${requestFileBytesMax} bytes.`);
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw requestFileInvalid('It is not a JSON object.');
  return value as RequestFields; // an object of JSON.parse
}

/** The parser's own message is left out: it quotes the text, which may hold contact data. */
function parseJson(bytes: Uint8Array): unknown {
  try {
    return parseStorableJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw requestFileInvalid('It is not JSON in UTF-8, or a text of it cannot be stored.');
  }
}

function requestFileInvalid(problem: string): ServiceError {
  return new ServiceError('brand_request_invalid', {
    operation: 'read request',
    problem,
    hint: 'docs/branding.md shows what a request looks like.',
  });
}
