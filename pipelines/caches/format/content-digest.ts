import { createHash } from 'node:crypto';
import { sha256Of } from '../../../runtime/digest.ts';
import { isServiceError } from '../../../runtime/errors.ts';
import { findRows } from './row-block.ts';
import { SegmentCutter, type CutSegment } from './segment-cutter.ts';
import type { Segment } from './segment-index.ts';

/** Facts of a segment that say what its rows are. */
export type SegmentContent = Pick<Segment, 'prefix' | 'rows' | 'plainBytes'> & { readonly sha256: string };

/**
 * The content digest of segments: SHA-256 of their list, a line each of prefix, rows, plain bytes and SHA-256 of the plain bytes,
 * tab separated. It is that of the text too, because the rows alone decide where it is cut; and a copied segment need not be read
 * for it.
 */
export function contentSha256(segments: Iterable<SegmentContent>): string {
  const hash = createHash('sha256');
  for (const { prefix, rows, plainBytes, sha256 } of segments)
    hash.update(`${prefix}\t${rows}\t${plainBytes}\t${sha256}\n`);
  return hash.digest('hex');
}

const newline = 0x0a;

/** Finds the content digest of a text that passes through. Holds the rows of one segment and a chunk at most. */
export class ContentWatch {
  readonly #cutter: SegmentCutter;
  readonly #segments: SegmentContent[] = [];
  #isArtefact = true;

  constructor(segmentRowsMax: number) {
    this.#cutter = new SegmentCutter({ regions: ['+'], rowsMax: segmentRowsMax, hasLevels: false });
  }

  /** The same chunks. */
  async *watch(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of chunks) {
      const end = chunk.lastIndexOf(newline) + 1;
      const whole = end === 0 ? undefined : Buffer.concat([rest, chunk.subarray(0, end)]);
      rest = whole === undefined ? Buffer.concat([rest, chunk]) : Buffer.from(chunk.subarray(end));
      if (whole !== undefined) this.#add(() => this.#cutter.push(findRows(whole)));
      yield chunk;
    }
    this.#add(() => this.#cutter.end());
    if (rest.length > 0) this.#isArtefact = false;
  }

  /** After the last chunk; null if the text has not the ascending rows of an artefact. */
  sha256(): string | null {
    return this.#isArtefact ? contentSha256(this.#segments) : null;
  }

  #add(cut: () => CutSegment[]): void {
    if (!this.#isArtefact) return;
    try {
      for (const { prefix, rows, plain } of cut())
        this.#segments.push({ prefix, rows, plainBytes: plain.length, sha256: sha256Of(plain) });
    } catch (error) {
      if (!isServiceError(error, 'rows_differ')) throw error;
      this.#isArtefact = false;
    }
  }
}
