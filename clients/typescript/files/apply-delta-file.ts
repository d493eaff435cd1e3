import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DamagedCompression, decompressGzip } from '../../../format/base/compression.ts';
import { ClientError, isClientError } from '../../../format/base/errors.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import { contentSha256, cutSegments, type SegmentContent } from '../../../format/artefact/content-digest.ts';
import { crc32 } from '../../../format/gzip/crc32.ts';
import {
  applyDelta,
  composeDeltas,
  divideSteps,
  OperationCounter,
  type Chunks,
  type DeltaCounts,
} from '../../../format/artefact/delta-lines.ts';
import { gzipHeader, type CompressedBlock, type GzipFacts } from '../../../format/gzip/gzip-member.ts';
import { readGzip } from '../../../format/gzip/gzip-reading.ts';
import { writeGzip, writeMember } from '../../../format/gzip/gzip-writing.ts';
import type { CutSegment } from '../../../format/artefact/segment-cutter.ts';
import type { Segment } from '../../../format/artefact/segment-index.ts';
import type { ExpectedContent } from '../service/manifest.ts';
import { deflateBlock } from './deflated-block.ts';
import { writeAll } from '../../../runtime/files/whole-file.ts';

interface ApplyDeltaOptions {
  /** The file of the version that the delta starts from. */
  readonly oldPath: string;
  readonly deltaPath: string;
  /** Overwritten, and complete only when the promise has resolved: give it a name that nobody reads. */
  readonly outputPath: string;
  /** The content digest of the resulting rows. */
  readonly expected?: ExpectedContent | undefined;
}

/** The result of applying a delta. */
export interface AppliedDelta extends GzipFacts, DeltaCounts {
  /** The segments of the file; empty where no content was expected, because then nothing says where to cut. */
  readonly segments: readonly Segment[];
}

/** A written file with its segments. */
type WrittenRows = GzipFacts & Pick<AppliedDelta, 'segments'>;

/**
 * Makes the file of a version from the file of an earlier one and a delta, in constant memory. The text is that of the
 * version, byte for byte; the compressed bytes may differ from those of the service.
 * @throws ClientError `delta_invalid` if the delta is damaged or does not fit, or the rows are not the expected ones;
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
  const file = await withOneDelta({ path: deltaPath, steps, parent: dirname(outputPath) }, (delta) =>
    writeAppliedRows({ outputPath, expected }, applyDelta(readRows(oldPath), delta)),
  );
  const { added, changed, removed } = counter;
  return { ...file, added, changed, removed };
}

async function writeAppliedRows(
  { outputPath, expected }: Pick<ApplyDeltaOptions, 'outputPath' | 'expected'>,
  rows: AsyncIterable<Uint8Array>,
): Promise<WrittenRows> {
  const output = await open(outputPath, 'w', 0o644);
  const write = (bytes: Uint8Array) => writeAll(output, bytes);
  try {
    return expected === undefined
      ? { ...(await writeGzip(rows, { write, compress: deflateBlock })), segments: [] }
      : await writeSegments(rows, expected, write);
  } finally {
    await output.close();
  }
}

/** A segment that is compressed, without its place in the file. */
interface SegmentBlock extends CompressedBlock {
  readonly segment: Omit<Segment, 'offset'> & SegmentContent;
}

/** Writes the rows segment by segment, so that the file has an index of its own. */
async function writeSegments(
  rows: AsyncIterable<Uint8Array>,
  expected: ExpectedContent,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<WrittenRows> {
  const segments: (Segment & SegmentContent)[] = [];
  let offset = gzipHeader.length;
  const facts = await writeMember(cutSegments(rows, expected.segmentRowsMax), {
    write,
    compress: deflateSegment,
    onBlock({ segment }) {
      segments.push({ ...segment, offset });
      offset += segment.bytes;
    },
  }).catch((error: unknown) => {
    throw isClientError(error, 'rows_differ') ? otherRows(error) : error;
  });
  if (contentSha256(segments) !== expected.contentSha256) throw otherRows();
  return { ...facts, segments };
}

async function deflateSegment({ prefix, plain, rows, levels }: CutSegment): Promise<SegmentBlock> {
  const block = await deflateBlock(plain);
  const { deflated, plainBytes, crc } = block;
  const [sha256, blockCrc] = [sha256Of(plain), crc32(deflated)];
  return { ...block, segment: { prefix, bytes: deflated.length, plainBytes, rows, crc, levels, sha256, blockCrc } };
}

function otherRows(cause?: unknown): ClientError {
  return new ClientError('delta_invalid', {
    operation: 'apply delta',
    problem: 'The resulting rows are not those of the expected version.',
    hint: 'The old file is another version, or damaged: download the whole file.',
    cause,
  });
}

async function countSteps(delta: AsyncIterable<Uint8Array>): Promise<number> {
  let steps = 0;
  for await (const { step } of divideSteps(delta)) steps = step + 1;
  return steps;
}

interface DeltaOfSteps {
  readonly path: string;
  readonly steps: number;
  /** Directory for the steps, which are as large as the delta's text: that of the new file, where there is space. */
  readonly parent: string;
}

/** Calls `work` with a delta of one step: several steps are written to a file each and composed while they are read. */
async function withOneDelta<Result>(
  { path, steps, parent }: DeltaOfSteps,
  work: (delta: Chunks) => Promise<Result>,
): Promise<Result> {
  if (steps <= 1) return work(readDelta(path));
  const directory = await mkdtemp(join(parent, '.steps-'));
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
async function* readLazily(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Uint8Array>;
}

function readDelta(path: string): AsyncIterable<Uint8Array> {
  return readGzip(readLazily(path));
}

/** The rows of any gzip file, also of one that another program compressed. */
async function* readRows(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* decompressGzip(createReadStream(path, { highWaterMark: 256 * 1024 }));
  } catch (error) {
    if (!(error instanceof DamagedCompression)) throw error;
    throw new ClientError('delta_invalid', {
      operation: 'apply delta',
      problem: 'The old file is damaged or cut off.',
      cause: error,
    });
  }
}
