import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { ServiceError, type ErrorCode } from '../../runtime/errors.ts';

/** Limits of a submitted file. */
interface FileRule {
  readonly code: Extract<ErrorCode, 'letter_file_invalid' | 'numbers_file_invalid' | 'brand_request_invalid'>;
  readonly operation: string;
  readonly bytesMax: number;
}

/** The files of a request. */
export const SUBMITTED_FILES = {
  letter: { code: 'letter_file_invalid', operation: 'read letter', bytesMax: 10 * 1024 * 1024 },
  /** Sufficient for `numbersRowsMax` rows with other columns. */
  numbers: { code: 'numbers_file_invalid', operation: 'read numbers', bytesMax: 16 * 1024 * 1024 },
  /** A request with 1,000 numbers and ten call reasons of the greatest length has less than 100,000 bytes. */
  request: { code: 'brand_request_invalid', operation: 'read request', bytesMax: 1024 * 1024 },
} as const satisfies Record<string, FileRule>;

/**
 * The bytes of a submitted file: a regular file within the limit of its kind; symbolic links are not followed.
 * @throws ServiceError `letter_file_invalid`, `numbers_file_invalid`, `brand_request_invalid`, by its kind
 */
export async function readSubmittedFile(path: string, kind: keyof typeof SUBMITTED_FILES): Promise<Buffer> {
  const rule = SUBMITTED_FILES[kind];
  // Non-blocking, so that a named pipe cannot block the process.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: NodeJS.ErrnoException) => {
      throw fileInvalid(rule, reasons[cause.code ?? ''] ?? 'It cannot be read.', cause);
    },
  );
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw fileInvalid(rule, 'It is not a regular file.');
    if (stats.size > rule.bytesMax) throw fileInvalid(rule, `It is larger than ${rule.bytesMax} bytes.`);
    const bytes = await buffer(file.createReadStream({ end: rule.bytesMax, autoClose: false })); // it may have grown
    if (bytes.length > rule.bytesMax) throw fileInvalid(rule, `It is larger than ${rule.bytesMax} bytes.`);
    return bytes;
  } finally {
    await file.close();
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'There is no such file.',
  ELOOP: 'It is a symbolic link.',
  EACCES: 'It may not be read.',
  ENXIO: 'It is not a regular file.',
};

function fileInvalid({ code, operation }: FileRule, problem: string, cause?: unknown): ServiceError {
  return new ServiceError(code, { operation, problem, hint: 'Give a regular file.', cause });
}
