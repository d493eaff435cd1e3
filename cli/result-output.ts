import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ServiceError } from '../runtime/errors.ts';
import { keepWholeFile } from '../runtime/files/whole-file.ts';

/** A destination of streamed results. Each write waits for the previous one (backpressure). */
export interface ResultOutput {
  /** Path of the file; undefined for standard output. */
  readonly path: string | undefined;
  write(text: string): Promise<void>;
  /** Completes the file. */
  end(): Promise<void>;
  /** Removes an incomplete file. */
  discard(): Promise<void>;
}

/**
 * Opens standard output, or a new file, which stays empty until it is complete.
 * @throws ServiceError `usage_invalid` if the name exists, or the file cannot be created
 */
export async function openOutput(path: string | undefined): Promise<ResultOutput> {
  return path === undefined ? standardOutput() : newFile(resolve(path));
}

function standardOutput(): ResultOutput {
  let gone = false;
  const onError = (error: NodeJS.ErrnoException): void => {
    gone = true; // the reader of a pipe has closed it, as `head` does
    if (error.code !== 'EPIPE') throw error;
  };
  process.stdout.on('error', onError);
  return {
    path: undefined,
    write: (text) => (gone ? Promise.resolve() : new Promise((written) => process.stdout.write(text, () => written()))),
    end: async () => {},
    discard: async () => {},
  };
}

async function newFile(path: string): Promise<ResultOutput> {
  const refuse = (cause: NodeJS.ErrnoException): never => {
    const problem = cause.code === 'EEXIST' ? 'Something of this name is there already.' : 'The file cannot be made.';
    throw new ServiceError('usage_invalid', {
      operation: 'write results',
      object: path,
      problem,
      hint: 'Give another name.',
      cause,
    });
  };
  // The name is reserved now, not after an hour of work.
  const claim = await open(path, 'wx').catch(refuse);
  await claim.close();
  const unfinished = `${path}.${process.pid}.tmp`;
  const file = await open(unfinished, 'wx').catch(async (cause: NodeJS.ErrnoException) => {
    await rm(path, { force: true });
    return refuse(cause);
  });
  let ended = false;
  return {
    path,
    write: (text) => file.appendFile(text),
    async end() {
      ended = true;
      await file.close();
      await keepWholeFile(unfinished, path, { durable: true });
    },
    async discard() {
      if (ended) return;
      ended = true;
      await file.close();
      await rm(unfinished, { force: true });
      await rm(path, { force: true });
    },
  };
}
