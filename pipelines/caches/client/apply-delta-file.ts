import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ServiceError } from '../../../runtime/errors.ts';
import { applyDelta, composeDeltas, divideSteps, OperationCounter, type Chunks } from '../format/delta-lines.ts';
import type { DeltaCounts } from '../artefact-facts.ts';
import { readGzip, writeGzip } from '../format/gzip-text.ts';
import type { ArtefactFile } from '../artefact-facts.ts';

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
export async function applyDeltaFile({
  oldPath,
  deltaPath,
  outputPath,
  expected,
}: ApplyDeltaOptions): Promise<AppliedDelta> {
  const counter = new OperationCounter();
  const steps = await countSteps(counter.watch(readDelta(deltaPath)));
  const file = await withOneDelta({ path: deltaPath, steps, beside: dirname(outputPath) }, (delta) =>
    writeNewFile({ outputPath, expected }, applyDelta(rowsOf(oldPath), delta)),
  );
  const { added, changed, removed } = counter;
  return { ...file, added, changed, removed };
}

async function writeNewFile(
  { outputPath, expected }: Pick<ApplyDeltaOptions, 'outputPath' | 'expected'>,
  rows: AsyncIterable<Buffer>,
): Promise<ArtefactFile> {
  const output = await open(outputPath, 'w', 0o644);
  try {
    const file = await writeGzip(rows, (bytes) => writeAll(output, bytes));
    if (expected !== undefined && file.plainSha256 !== expected) {
      throw new ServiceError('delta_invalid', {
        operation: 'apply delta',
        problem: 'The rows that come out are not those of the expected version.',
        hint: 'The old file is another version, or damaged: download the whole file.',
      });
    }
    return file;
  } finally {
    await output.close();
  }
}

async function countSteps(delta: AsyncIterable<Buffer>): Promise<number> {
  let steps = 0;
  for await (const { step } of divideSteps(delta)) steps = step + 1;
  return steps;
}

interface DeltaOfSteps {
  readonly path: string;
  readonly steps: number;
  /** Directory of the new file, where there is room: the steps have the size of the delta's text. */
  readonly beside: string;
}

/** Gives a delta as one that ascends: that of several steps is divided into a file for each, which are composed as they are read. */
async function withOneDelta<Result>(
  { path, steps, beside }: DeltaOfSteps,
  work: (delta: Chunks) => Promise<Result>,
): Promise<Result> {
  if (steps <= 1) return work(readDelta(path));
  const directory = await mkdtemp(join(beside, '.steps-'));
  try {
    const stepPath = (step: number) => join(directory, String(step));
    await writeSteps(divideSteps(readDelta(path)), stepPath);
    const deltas = Array.from({ length: steps }, (_, step): Chunks => readLazily(stepPath(step)));
    return await work(deltas.reduce((earlier, later) => composeDeltas(earlier, later)));
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function writeSteps(pieces: ReturnType<typeof divideSteps>, stepPath: (step: number) => string): Promise<void> {
  let current: { readonly step: number; readonly handle: FileHandle } | undefined;
  try {
    for await (const { step, text } of pieces) {
      if (current?.step !== step) {
        await current?.handle.close();
        current = { step, handle: await open(stepPath(step), 'w', 0o600) };
      }
      await writeAll(current.handle, text);
    }
  } finally {
    await current?.handle.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten;
}

/** Opens the file when it is first read: one that is never read, because another was refused, needs not be closed. */
async function* readLazily(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path) as AsyncIterable<Buffer>;
}

function readDelta(path: string): AsyncIterable<Buffer> {
  return readGzip(readLazily(path));
}

/** The rows of a gzip file, whoever compressed them. */
async function* rowsOf(path: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  pipeline(createReadStream(path, { highWaterMark: 256 * 1024 }), gunzip, () => {}); // its error is that of the loop
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))) throw error;
    throw new ServiceError('delta_invalid', {
      operation: 'apply delta',
      problem: 'The old file is damaged or cut off.',
      cause: error,
    });
  }
}
