/** Complete rows of an artefact, each with its line end. */
export interface RowBlock {
  readonly plain: Uint8Array;
  readonly rows: number;
  /** Where each row starts in `plain`, then the end of the last: `rows + 1` offsets. The array may be longer. */
  readonly starts: Int32Array;
}

const newline = 0x0a;
/** A phone of 8 digits with its plus sign, and a line end. */
const rowBytesMin = 10;

/** The rows of a text that ends with a line end, or is empty. */
export function findRows(plain: Uint8Array): RowBlock {
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
