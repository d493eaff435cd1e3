import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ServiceError } from '../../../runtime/errors.ts';
import { applyDelta, OperationCounter, type DeltaCounts } from '../delta-lines.ts';
import { readGzip, writeGzip } from '../gzip-text.ts';
import type { ArtefactFile } from '../manifest.ts';

export interface ApplyDeltaOptions {
  /** The file of the version that the delta begins at. */
  readonly oldPath: string;
  readonly deltaPath: string;
  /** Written anew, and whole only when the promise has resolved: give it a name that nobody reads. */
  readonly outputPath: string;
  /** SHA-256 of the rows that must come out, in lower-case hex. */
  readonly expected?: string | undefined;
}

/** A file that a delta has made. */
export interface AppliedDelta extends ArtefactFile, DeltaCounts {}

/**
 * Makes the file of a version from that of an earlier one and a delta, in memory that does not grow with either. The text is
 * that of the version, byte for byte; its compression need not be that of the service.
 * @throws ServiceError `delta_invalid` if the delta is damaged or does not fit, or the rows are not the expected ones;
 * or the error of the disk
 */
export async function applyDeltaFile({ oldPath, deltaPath, outputPath, expected }: ApplyDeltaOptions): Promise<AppliedDelta> {
  const counter = new OperationCounter();
  const output = await open(outputPath, 'w', 0o644);
  try {
    const delta = counter.watch(readGzip(createReadStream(deltaPath)));
    const file = await writeGzip(applyDelta(rowsOf(oldPath), delta), async (bytes) => {
      for (let at = 0; at < bytes.length; ) at += (await output.write(bytes, at)).bytesWritten;
    });
    if (expected !== undefined && file.plainSha256 !== expected) {
      throw new ServiceError('delta_invalid', { operation: 'apply delta', problem: 'The rows that come out are not those of the expected version.', hint: 'The old file is another version, or damaged: download the whole file.' });
    }
    await output.sync();
    const { added, changed, removed } = counter;
    return { ...file, added, changed, removed };
  } finally {
    await output.close();
  }
}

/** The rows of a gzip file, whoever compressed them. */
async function* rowsOf(path: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  pipeline(createReadStream(path, { highWaterMark: 256 * 1024 }), gunzip, () => {}); // its error is that of the loop
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))) throw error;
    throw new ServiceError('delta_invalid', { operation: 'apply delta', problem: 'The old file is damaged or cut off.', cause: error });
  }
}
