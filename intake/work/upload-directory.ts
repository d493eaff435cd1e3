import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileLock } from '../../runtime/files/file-lock.mjs';
import { ServiceError } from '../../runtime/errors.ts';

/** Seconds for another intake on the directory to end, as when one is replaced by the next. */
const waitSecondsMax = 10;

/**
 * Makes the directory of uploads and holds it for this process: transfers of one upload are kept apart within a process only. Returns
 * what releases it. A killed process holds nothing.
 * @throws ServiceError `directory_busy` if another process still holds it after ten seconds
 */
export async function holdUploadDirectory(directory: string): Promise<() => Promise<void>> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const released = new AbortController();
  const path = join(directory, 'lock');
  let holding: Promise<void> | undefined;
  await new Promise<void>((resolve, reject) => {
    const held = () =>
      new Promise<void>((end) => {
        released.signal.addEventListener('abort', () => end());
        resolve();
      });
    holding = withFileLock(path, held, { waitSecondsMax });
    holding.catch((error: Error) => reject('syscall' in error ? error : directoryBusy(directory, error)));
  });
  return async () => {
    released.abort();
    await holding;
  };
}

function directoryBusy(directory: string, cause: Error): ServiceError {
  return new ServiceError('directory_busy', {
    operation: 'run intake',
    object: directory,
    problem: 'Another intake receives uploads in this directory.',
    hint: 'Stop it, or give this one another INTAKE_DIR.',
    cause,
  });
}
