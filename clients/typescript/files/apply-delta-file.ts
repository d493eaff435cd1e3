import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DamagedCompression, decompressGzip } from '../../../format/base/compression.ts';
import { ClientError, isClientError } from '../../../format/base/errors.ts';
import { joinBytes } from '../../../format/base/bytes.ts';
import { beginSha256, sha256Of } from '../../../format/base/sha256.ts';
import {
  applyDelta,
  composeDeltas,
  divideSteps,
  OperationCounter,
  type Chunks,
  type DeltaCounts,
} from '../../../format/artefact/delta-lines.ts';
import { cutSegments } from '../../../format/artefact/segment-cutter.ts';
import { compressSegment, SegmentIndexWriter, type IndexFacts } from '../../../format/artefact/segment-index.ts';
import { gzipHeader, type GzipFacts } from '../../../format/gzip/gzip-member.ts';
import { readGzip } from '../../../format/gzip/gzip-reading.ts';
import { writeMember } from '../../../format/gzip/gzip-writing.ts';
import { writeAll } from '../../../runtime/files/whole-file.ts';

interface ApplyDeltaOptions {
  /** The file of the version that the delta starts from. */
  readonly oldPath: string;
  readonly deltaPath: string;
  /** Overwritten, and complete only when the promise has resolved: give it a name that nobody reads. */
  readonly outputPath: string;
  /** SHA-256 of the resulting text; absent: any. */
  readonly plainSha256?: string | undefined;
}

/** The result of applying a delta. */
export interface AppliedDelta extends WrittenRows, DeltaCounts {}

/** A written file. */
interface WrittenRows extends GzipFacts {
  readonly plainSha256: string;
  readonly index: IndexFacts & { readonly content: Uint8Array };
}

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
  plainSha256,
}: ApplyDeltaOptions): Promise<AppliedDelta> {
  const counter = new OperationCounter();
  const steps = await countSteps(counter.watch(readDelta(deltaPath)));
  const file = await withOneDelta({ path: deltaPath, steps, parent: dirname(outputPath) }, (delta) =>
    writeRows(outputPath, applyDelta(readRows(oldPath), delta)),
  );
  if (plainSha256 !== undefined && file.plainSha256 !== plainSha256) throw otherRows();
  const { added, changed, removed } = counter;
  return { ...file, added, changed, removed };
}

/** Writes rows segment by segment, so that the file has an index of its own. */
async function writeRows(path: string, rows: AsyncIterable<Uint8Array>): Promise<WrittenRows> {
  const output = await open(path, 'w', 0o644);
  const plain = beginSha256();
  const index = new SegmentIndexWriter();
  const lines: Uint8Array[] = [];
  let offset = gzipHeader.length;
  async function* segments() {
    for await (const cut of cutSegments(rows)) {
      plain.update(cut.plain);
      yield { ...cut, sha256: sha256Of(cut.plain) };
    }
  }
  try {
    const file = await writeMember(segments(), {
      write: (bytes) => writeAll(output, bytes),
      compress: compressSegment,
      onBlock({ segment }) {
        lines.push(index.add({ ...segment, offset }));
        offset += segment.bytes;
      },
    });
    const { bytes, facts } = index.end();
    const content = joinBytes([...lines, bytes]);
    return { ...file, plainSha256: plain.digest('hex'), index: { ...facts, content } };
  } catch (error) {
    throw isClientError(error, 'rows_differ') ? otherRows(error) : error;
  } finally {
    await output.close();
  }
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
