import { setImmediate as nextTurn } from 'node:timers/promises';
import { rowDeflateModule } from './row-deflate-module.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { instantiate } from '../../../runtime/web-assembly.ts';

/**
 * How rows are compressed. `fast` takes only what rows have in common: numbers, whole rests of lines, and words. `compact`
 * also looks for matches within names and texts, which costs up to twice the time and gains where they seldom repeat
 * (bench/row-deflate.ts).
 */
export const buildProfiles = ['compact', 'fast'] as const;
export type BuildProfile = (typeof buildProfiles)[number];

/** Names the encoder: other bytes may come of the same rows where this differs. */
export const rowDeflateVersion = sha256Of(rowDeflateModule).slice(0, 16);

/** What assembly/row-deflate.ts exports. */
interface Functions {
  readonly inputPlace: () => number;
  readonly outputPlace: () => number;
  readonly inputBytesMax: () => number;
  /** Encodes so many bytes of the input on their own, and returns how many the output has; it ends in a full flush. */
  readonly encode: (bytes: number, searchText: boolean) => number;
}

interface Encoder {
  readonly input: Uint8Array;
  readonly output: Buffer;
  readonly encode: Functions['encode'];
}

const newline = 0x0a;

let encoder: Encoder | undefined;

/**
 * Deflates whole bytes, best those of rows, into blocks that end in a full flush: byte-aligned, and referring to nothing before them.
 *
 * The encoder works on the calling thread. It is cheaper than handing the rows to another one: 1 MiB takes 3 to 10 ms, and
 * after each the event loop gets a turn; the COPY that the rows come from takes ten times as long.
 */
export async function deflateRows(plain: Buffer, profile: BuildProfile): Promise<Buffer> {
  encoder ??= makeEncoder();
  const deflated: Buffer[] = [];
  let from = 0;
  do {
    const to = endOfPiece(plain, from, encoder.input.length);
    if (from > 0) await nextTurn();
    deflated.push(encodePiece(encoder, plain.subarray(from, to), profile));
    from = to;
  } while (from < plain.length);
  return deflated.length === 1 ? deflated[0]! : Buffer.concat(deflated);
}

/** Where a piece of at most so many bytes ends: after a line, unless a line alone is longer. */
export function endOfPiece(plain: Buffer, from: number, bytesMax: number): number {
  if (plain.length - from <= bytesMax) return plain.length;
  const lineEnd = plain.subarray(from, from + bytesMax).lastIndexOf(newline);
  return lineEnd === -1 ? from + bytesMax : from + lineEnd + 1;
}

/** One call from beginning to end: the memory is shared by all who compress on this thread. */
function encodePiece({ input, output, encode }: Encoder, piece: Buffer, profile: BuildProfile): Buffer {
  input.set(piece);
  const bytes = encode(piece.length, profile === 'compact');
  return Buffer.from(output.subarray(0, bytes));
}

function makeEncoder(): Encoder {
  const { memory, functions } = instantiate<Functions>(rowDeflateModule);
  return {
    input: new Uint8Array(memory, functions.inputPlace(), functions.inputBytesMax()),
    output: Buffer.from(memory, functions.outputPlace()),
    encode: functions.encode,
  };
}
