import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ServiceError, isZlibError } from '../../../runtime/errors.ts';
import { applyDelta, composeDeltas, divideSteps, OperationCounter, type Chunks } from '../format/delta-lines.ts';
import type { DeltaCounts } from '../artefact-facts.ts';
import { ContentWatch } from '../format/content-digest.ts';
import { readGzip, writeGzip } from '../format/gzip-text.ts';
import type { GzipFacts } from '../format/gzip-member.ts';
import { writeAll } from '../../../runtime/whole-file.ts';

interface ApplyDeltaOptions {
  /** The file of the version that the delta starts from. */
  readonly oldPath: string;
  readonly deltaPath: string;
  /** Overwritten, and complete only when the promise has resolved: give it a name that nobody reads. */
  readonly outputPath: string;
  /** The content digest of the resulting rows. */
  readonly expected?: ExpectedContent | undefined;
}

/** The content digest of a manifest, and the rows by which it is cut (content-digest.ts). */
export interface ExpectedContent {
  readonly contentSha256: string;
  readonly segmentRowsMax: number;
}

/** The result of applying a delta. */
export interface AppliedDelta extends GzipFacts, DeltaCounts {}

/**
 * Makes the file of a version from the file of an earlier one and a delta, in constant memory. The text is that of the
 * version, byte for byte; the compressed bytes may differ from those of the service.
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
    writeAppliedRows({ outputPath, expected }, applyDelta(readRows(oldPath), delta)),
  );
  const { added, changed, removed } = counter;
  return { ...file, added, changed, removed };
}

async function writeAppliedRows(
  { outputPath, expected }: Pick<ApplyDeltaOptions, 'outputPath' | 'expected'>,
  rows: AsyncIterable<Buffer>,
): Promise<GzipFacts> {
  const output = await open(outputPath, 'w', 0o644);
  try {
    const content = expected === undefined ? undefined : new ContentWatch(expected.segmentRowsMax);
    const file = await writeGzip(content?.watch(rows) ?? rows, (bytes) => writeAll(output, bytes));
    if (content !== undefined && content.sha256() !== expected!.contentSha256) {
      throw new ServiceError('delta_invalid', {
        operation: 'apply delta',
        problem: 'The resulting rows are not those of the expected version.',
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
  /** Directory for the steps, which are as large as the delta's text: that of the new file, where there is space. */
  readonly beside: string;
}

/** Calls `work` with a delta of one step: several steps are written to a file each and composed while they are read. */
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

async function writeSteps(chunks: ReturnType<typeof divideSteps>, stepPath: (step: number) => string): Promise<void> {
  let current: { readonly step: number; readonly handle: FileHandle } | undefined;
  try {
    for await (const { step, text } of chunks) {
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

/** Opens the file when it is first read, so that a file that is never read needs no closing. */
async function* readLazily(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path) as AsyncIterable<Buffer>;
}

function readDelta(path: string): AsyncIterable<Buffer> {
  return readGzip(readLazily(path));
}

/** The rows of any gzip file, also of one that another program compressed. */
async function* readRows(path: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  pipeline(createReadStream(path, { highWaterMark: 256 * 1024 }), gunzip, () => {}); // its error is that of the loop
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    if (!isZlibError(error)) throw error;
    throw new ServiceError('delta_invalid', {
      operation: 'apply delta',
      problem: 'The old file is damaged or cut off.',
      cause: error,
    });
  }
}
