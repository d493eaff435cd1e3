import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ServiceError } from '../../../runtime/errors.ts';
import { sha256OfStream } from '../../../runtime/digest.ts';

/** Digests that a manifest promises of a file; without `plainSha256` the text in it is not looked at. */
export interface PromisedFile {
  readonly sha256: string;
  readonly plainSha256?: string | undefined;
}

/**
 * Reads a file whole and compares it with what its manifest promises.
 * @throws ServiceError `download_damaged`, or the error of the disk
 */
export async function checkFile(path: string, promised: PromisedFile): Promise<void> {
  const found = promised.plainSha256 === undefined ? { sha256: await digestOf(path) } : await digestsOf(path);
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

function digestOf(path: string): Promise<string> {
  return sha256OfStream(createReadStream(path, { highWaterMark: 1 << 20 }));
}

/** Undefined for a file that is not gzip. */
async function digestsOf(path: string): Promise<{ sha256: string; plainSha256: string } | undefined> {
  const [file, plain] = [createHash('sha256'), createHash('sha256')];
  try {
    await pipeline(
      createReadStream(path, { highWaterMark: 1 << 20 }),
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          file.update(chunk);
          yield chunk;
        }
      },
      createGunzip({ chunkSize: 1 << 18 }),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) plain.update(chunk);
      },
    );
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) return undefined;
    throw error;
  }
  return { sha256: file.digest('hex'), plainSha256: plain.digest('hex') };
}
