import { setImmediate as nextTurn } from 'node:timers/promises';
import { rowDeflateModule } from './row-deflate-module.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { instantiate } from '../../../runtime/web-assembly.ts';

/**
 * How rows are compressed. `fast` finds matches of numbers, ends of lines and words only. `compact` also searches within names
 * and texts, which takes up to twice the time and helps where they seldom repeat (bench/row-deflate.ts).
 */
export const buildProfiles = ['compact', 'fast'] as const;
export type BuildProfile = (typeof buildProfiles)[number];

/** Identifies the encoder: another one may give other bytes for the same rows. */
export const rowDeflateVersion = sha256Of(rowDeflateModule).slice(0, 16);

/** The exports of assembly/row-deflate.ts. */
interface RowDeflateExports {
  readonly inputPlace: () => number;
  readonly outputPlace: () => number;
  readonly inputBytesMax: () => number;
  /** Encodes the first `bytes` of the input, ends with a full flush, and returns the number of output bytes. */
  readonly encode: (bytes: number, searchText: boolean) => number;
}

interface Encoder {
  readonly input: Uint8Array;
  readonly output: Buffer;
  readonly encode: RowDeflateExports['encode'];
}

const newline = 0x0a;

let encoder: Encoder | undefined;

/**
 * Deflates rows into blocks that end with a full flush: byte-aligned, and without references to earlier bytes.
 *
 * Runs on the calling thread: 1 MiB takes 3 to 10 ms, with a turn of the event loop after each.
 */
export async function deflateRows(plain: Buffer, profile: BuildProfile): Promise<Buffer> {
  encoder ??= makeEncoder();
  const deflated: Buffer[] = [];
  let from = 0;
  do {
    const to = endOfChunk(plain, from, encoder.input.length);
    if (from > 0) await nextTurn();
    deflated.push(encodeChunk(encoder, plain.subarray(from, to), profile));
    from = to;
  } while (from < plain.length);
  return deflated.length === 1 ? deflated[0]! : Buffer.concat(deflated);
}

/** End of a chunk of at most `bytesMax`: after a line, unless a single line is longer. */
export function endOfChunk(plain: Buffer, from: number, bytesMax: number): number {
  if (plain.length - from <= bytesMax) return plain.length;
  const lineEnd = plain.subarray(from, from + bytesMax).lastIndexOf(newline);
  return lineEnd === -1 ? from + bytesMax : from + lineEnd + 1;
}

/** Synchronous, because all callers on this thread share the memory. */
function encodeChunk({ input, output, encode }: Encoder, chunk: Buffer, profile: BuildProfile): Buffer {
  input.set(chunk);
  const bytes = encode(chunk.length, profile === 'compact');
  return Buffer.from(output.subarray(0, bytes));
}

function makeEncoder(): Encoder {
  const { memory, functions } = instantiate<RowDeflateExports>(rowDeflateModule);
  return {
    input: new Uint8Array(memory, functions.inputPlace(), functions.inputBytesMax()),
    output: Buffer.from(memory, functions.outputPlace()),
    encode: functions.encode,
  };
}
