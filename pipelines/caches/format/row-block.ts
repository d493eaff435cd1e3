/** Complete rows of an artefact, each with its line end. */
export interface RowBlock {
  readonly plain: Buffer;
  readonly rows: number;
  /** Where each row starts in `plain`, then the end of the last: `rows + 1` offsets. The array may be longer. */
  readonly starts: Int32Array;
}

const newline = 0x0a;
/** A phone of 8 digits with its plus sign, and a line end. */
const rowBytesMin = 10;

/** The rows of a text that ends with a line end, or is empty. */
export function findRows(plain: Buffer): RowBlock {
  let starts = new Int32Array(Math.ceil(plain.length / rowBytesMin) + 1);
  let rows = 0;
  // A third of the time of a loop over the bytes.
  for (let at = plain.indexOf(newline); at !== -1; at = plain.indexOf(newline, at + 1)) {
    if (rows + 1 === starts.length) starts = withRoom(starts);
    starts[++rows] = at + 1;
  }
  return { plain, rows, starts };
}

/** Rows that are shorter than those of an artefact. */
function withRoom(starts: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(starts.length * 2);
  larger.set(starts);
  return larger;
}

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
