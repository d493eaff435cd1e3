import { open, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ServiceError } from '../runtime/errors.ts';

/**
 * Writes a new file that only its owner can read; never overwrites. Returns its absolute path.
 * @throws ServiceError `usage_invalid`
 */
export async function writeNewFile(path: string, bytes: Uint8Array): Promise<string> {
  const file = await open(path, 'wx', 0o600).catch((cause: NodeJS.ErrnoException) => {
    throw new ServiceError('usage_invalid', {
      operation: 'write file',
      object: path,
      problem: cause.code === 'EEXIST' ? 'Something of this name is there already.' : 'The file cannot be made.',
      hint: 'Give another name.',
      cause,
    });
  });
  try {
    await file.writeFile(bytes);
  } catch (error) {
    await unlink(path); // leaves no partial document
    throw error;
  } finally {
    await file.close();
  }
  return resolve(path);
}
