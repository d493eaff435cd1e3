import { findRows, type RowBlock } from '../../../../format/artefact/row-block.ts';

const newline = 0x0a;

/**
 * The same bytes in blocks of complete rows, each as soon as `blockBytes` have come: the row that is not complete then begins the
 * next block.
 * @throws Error if the last row has no line end
 */
export async function* blocksOfRows(chunks: AsyncIterable<Buffer>, blockBytes: number): AsyncGenerator<RowBlock> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    const end = bytes + chunk.length < blockBytes ? 0 : chunk.lastIndexOf(newline) + 1;
    if (end === 0) {
      waiting.push(chunk);
      bytes += chunk.length;
      continue;
    }
    waiting.push(chunk.subarray(0, end));
    yield findRows(Buffer.concat(waiting));
    waiting = end < chunk.length ? [chunk.subarray(end)] : [];
    bytes = chunk.length - end;
  }
  if (bytes === 0) return;
  if (waiting.at(-1)!.at(-1) !== newline) throw new Error('The last row has no line end.');
  yield findRows(Buffer.concat(waiting));
}
