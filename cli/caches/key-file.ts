import { readFile } from 'node:fs/promises';
import { ServiceError } from '../../runtime/errors.ts';

/**
 * Reads the API key from a file with one line. It is never printed or written.
 * @throws ServiceError `usage_invalid`
 */
export async function readKeyFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ServiceError('usage_invalid', {
      operation: 'read key file',
      object: path,
      problem: 'The file of the key cannot be read.',
      cause,
    });
  });
  const key = text.trim();
  if (/^[\x21-\x7e]{1,512}$/.test(key)) return key;
  throw new ServiceError('usage_invalid', {
    operation: 'read key file',
    object: path,
    problem: 'The file does not hold one key in one line.',
  });
}
