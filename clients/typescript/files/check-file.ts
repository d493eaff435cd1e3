import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { DamagedCompression } from '../../../format/base/compression.ts';
import { ClientError } from '../../../format/base/errors.ts';
import { beginSha256 } from '../../../format/base/sha256.ts';
import { measureGzip } from '../../../format/gzip/gzip-reading.ts';

/** Digests of a file in its manifest; without `plainSha256` its text is not checked. */
export interface PromisedFile {
  readonly sha256: string;
  readonly plainSha256?: string | undefined;
}

const readBytesMax = 1 << 20;

/**
 * Compares the digests of a file with those in its manifest.
 * @throws ClientError `download_damaged`, or the error of the disk
 */
export async function checkFile(path: string, promised: PromisedFile): Promise<void> {
  const { size } = await stat(path);
  const bytes = createReadStream(path, { highWaterMark: Math.min(Math.max(size, 1), readBytesMax) }); // each read allocates as much
  const found =
    promised.plainSha256 === undefined
      ? { sha256: await sha256OfFile(bytes), plainSha256: undefined }
      : await measureGzip(bytes).catch((error: unknown) => {
          if (!(error instanceof DamagedCompression)) throw error;
        });
  const wrong =
    found === undefined
      ? 'cannot be decompressed'
      : found.sha256 !== promised.sha256
        ? 'is not as it was published'
        : found.plainSha256 !== promised.plainSha256
          ? 'holds other rows'
          : undefined;
  if (wrong !== undefined)
    throw new ClientError('download_damaged', {
      operation: 'check download',
      problem: `The downloaded file ${wrong}.`,
    });
}

async function sha256OfFile(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = beginSha256();
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}
