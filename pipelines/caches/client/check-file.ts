import { createReadStream } from 'node:fs';
import { ServiceError, isZlibError } from '../../../runtime/errors.ts';
import { sha256OfStream } from '../../../runtime/digest.ts';
import { measureGzip } from '../format/gzip-text.ts';

/** Digests of a file in its manifest; without a content digest its text is not checked. */
interface PromisedFile {
  readonly sha256: string;
  readonly contentSha256?: string | null;
  readonly segmentRowsMax?: number | null;
}

/**
 * Compares the digests of a file with those in its manifest.
 * @throws ServiceError `download_damaged`, or the error of the disk
 */
export async function checkFile(path: string, promised: PromisedFile): Promise<void> {
  const bytes = createReadStream(path, { highWaterMark: 1 << 20 });
  const content = promised.contentSha256 ?? null;
  const found =
    content === null
      ? { sha256: await sha256OfStream(bytes) }
      : await measureGzip(bytes, promised.segmentRowsMax ?? null).catch((error: unknown) => {
          if (!isZlibError(error)) throw error;
        });
  const wrong =
    found === undefined
      ? 'cannot be decompressed'
      : found.sha256 !== promised.sha256
        ? 'is not as it was published'
        : 'contentSha256' in found && found.contentSha256 !== content
          ? 'holds other rows'
          : undefined;
  if (wrong !== undefined)
    throw new ServiceError('download_damaged', {
      operation: 'check download',
      problem: `The downloaded file ${wrong}.`,
    });
}
