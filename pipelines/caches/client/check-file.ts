import { createReadStream } from 'node:fs';
import { ServiceError, isZlibError } from '../../../runtime/errors.ts';
import { sha256OfStream } from '../../../runtime/digest.ts';
import { measureGzip } from '../format/gzip-text.ts';

/** Digests of a file in its manifest; without `plainSha256` its text is not checked. */
export interface PromisedFile {
  readonly sha256: string;
  readonly plainSha256?: string | undefined;
}

/**
 * Compares the digests of a file with those in its manifest.
 * @throws ServiceError `download_damaged`, or the error of the disk
 */
export async function checkFile(path: string, promised: PromisedFile): Promise<void> {
  const bytes = createReadStream(path, { highWaterMark: 1 << 20 });
  const found =
    promised.plainSha256 === undefined
      ? { sha256: await sha256OfStream(bytes) }
      : await measureGzip(bytes).catch((error: unknown) => {
          if (!isZlibError(error)) throw error;
        });
  const wrong =
    found === undefined
      ? 'cannot be decompressed'
      : found.sha256 !== promised.sha256
        ? 'is not as it was published'
        : 'plainSha256' in found && found.plainSha256 !== promised.plainSha256
          ? 'holds other rows'
          : undefined;
  if (wrong !== undefined)
    throw new ServiceError('download_damaged', {
      operation: 'check download',
      problem: `The downloaded file ${wrong}.`,
    });
}
