import { joinBytes, toUtf8 } from '../base/bytes.ts';
import { ClientError, isClientError } from '../base/errors.ts';
import { beginSha256, sha256Of } from '../base/sha256.ts';
import { findRows } from './row-block.ts';
import { SegmentCutter, type CutSegment } from './segment-cutter.ts';
import type { Segment } from './segment-index.ts';

/** Facts of a segment that say what its rows are. */
export type SegmentContent = Pick<Segment, 'prefix' | 'rows' | 'plainBytes'> & { readonly sha256: string };

/**
 * The content digest of segments: SHA-256 of their list, a line each of prefix, rows, plain bytes and SHA-256 of the plain bytes,
 * tab separated. It identifies the text too, because the rows alone decide where it is cut; and copied segments need not be read
 * for it.
 */
export function contentSha256(segments: Iterable<SegmentContent>): string {
  const hash = beginSha256();
  for (const { prefix, rows, plainBytes, sha256 } of segments)
    hash.update(toUtf8(`${prefix}\t${rows}\t${plainBytes}\t${sha256}\n`));
  return hash.digest('hex');
}

const newline = 0x0a;

/** Cuts a text that comes in chunks of any size. Holds the rows of one segment and a chunk at most. */
class ChunkCutter {
  readonly #cutter: SegmentCutter;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(segmentRowsMax: number) {
    this.#cutter = new SegmentCutter({ regions: ['+'], rowsMax: segmentRowsMax, hasLevels: false });
  }

  /** The segments that are complete now. @throws ClientError `rows_differ` unless the rows ascend */
  push(chunk: Uint8Array): CutSegment[] {
    const end = chunk.lastIndexOf(newline) + 1;
    const whole = end === 0 ? undefined : joinBytes([this.#rest, chunk.subarray(0, end)]);
    this.#rest = whole === undefined ? joinBytes([this.#rest, chunk]) : chunk.slice(end);
    return whole === undefined ? [] : this.#cutter.push(findRows(whole));
  }

  /** The last segments. @throws ClientError `rows_differ` if the last row has no line end */
  end(): CutSegment[] {
    if (this.#rest.length === 0) return this.#cutter.end();
    throw new ClientError('rows_differ', { operation: 'cut segments', problem: 'The last row has no line end.' });
  }
}

/**
 * Cuts the rows of an artefact into its segments.
 * @throws ClientError `rows_differ` unless the rows ascend and the last one has a line end
 */
export async function* cutSegments(
  chunks: AsyncIterable<Uint8Array>,
  segmentRowsMax: number,
): AsyncGenerator<CutSegment> {
  const cutter = new ChunkCutter(segmentRowsMax);
  for await (const chunk of chunks) yield* cutter.push(chunk);
  yield* cutter.end();
}

/** Finds the content digest of a text that passes through. */
export class ContentWatch {
  readonly #cutter: ChunkCutter;
  readonly #segments: SegmentContent[] = [];
  #isArtefact = true;

  constructor(segmentRowsMax: number) {
    this.#cutter = new ChunkCutter(segmentRowsMax);
  }

  /** The same chunks. */
  async *watch(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#add(() => this.#cutter.push(chunk));
      yield chunk;
    }
    this.#add(() => this.#cutter.end());
  }

  /** After the last chunk; null if the text does not have the ascending rows of an artefact. */
  sha256(): string | null {
    return this.#isArtefact ? contentSha256(this.#segments) : null;
  }

  #add(cut: () => CutSegment[]): void {
    if (!this.#isArtefact) return;
    try {
      for (const { prefix, rows, plain } of cut())
        this.#segments.push({ prefix, rows, plainBytes: plain.length, sha256: sha256Of(plain) });
    } catch (error) {
      if (!isClientError(error, 'rows_differ')) throw error;
      this.#isArtefact = false;
    }
  }
}
