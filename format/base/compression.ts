import { nodeStreams, nodeZlib } from './built-ins.ts';
import { joinBytes } from './bytes.ts';

/** Bytes that cannot be decompressed: they are damaged or cut off. */
export class DamagedCompression extends Error {}

/** Bytes of text that the decompressor gives at a time. */
const chunkBytes = 256 * 1024;

/**
 * The text of gzip data as it is decompressed.
 * @throws DamagedCompression, or the error of the chunks
 */
export async function* decompressGzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let failure: { readonly error: unknown } | undefined;
  const watched = watchFailure(chunks, (error) => (failure = { error }));
  try {
    yield* nodeZlib === undefined
      ? readThrough(watched, new DecompressionStream('gzip'))
      : gunzipInNode(watched, nodeZlib.createGunzip({ chunkSize: chunkBytes }));
  } catch (cause) {
    if (failure !== undefined) throw failure.error;
    throw new DamagedCompression('The gzip data is damaged or cut off.', { cause });
  }
}

async function* watchFailure(
  chunks: AsyncIterable<Uint8Array>,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    onFailure(error);
    throw error;
  }
}

type Gunzip = ReturnType<NonNullable<typeof nodeZlib>['createGunzip']>;

async function* gunzipInNode(chunks: AsyncIterable<Uint8Array>, gunzip: Gunzip): AsyncGenerator<Uint8Array> {
  nodeStreams!.pipeline(chunks, gunzip, () => {}); // its error is that of the loop
  yield* gunzip;
}

/** More than the minimum chunk size of zlib. */
const spareBytes = 64;

/** Largest output buffer: the sizes of an index are untrusted. */
const outputBytesMax = 64 * 1024 * 1024;

/**
 * The text of deflate blocks without a final one; more than `plainBytes` are an error.
 * @throws DamagedCompression
 */
export async function inflateBlocks(deflated: Uint8Array, plainBytes: number): Promise<Uint8Array> {
  try {
    return await (nodeZlib === undefined
      ? inflateInBrowser(deflated, plainBytes)
      : inflateInNode(deflated, plainBytes));
  } catch (cause) {
    throw new DamagedCompression('The deflate block is damaged.', { cause });
  }
}

/** Rows of numbers become 1.4 % larger than with gzip -6, in less than half of its time; level 7 takes twice as long for 5 % less. */
const level = 5;

/** A deflate block of a text without a final one, byte-aligned: blocks can be joined. Not in browsers. */
export function deflateBlock(plain: Uint8Array): Promise<Uint8Array> {
  const { Z_FILTERED, Z_FULL_FLUSH } = nodeZlib!.constants;
  // Without the short matches that rows of numbers are full of.
  const options = { level, strategy: Z_FILTERED, finishFlush: Z_FULL_FLUSH };
  return new Promise((resolve, reject) =>
    nodeZlib!.deflateRaw(plain, options, (error, deflated) => (error === null ? resolve(deflated) : reject(error))),
  );
}

/** One output buffer with spare bytes: else the work returns to the event loop after each 16 KiB, and once more at the end. */
function inflateInNode(deflated: Uint8Array, plainBytes: number): Promise<Uint8Array> {
  const options = {
    finishFlush: nodeZlib!.constants.Z_SYNC_FLUSH,
    maxOutputLength: plainBytes + 1,
    chunkSize: Math.min(plainBytes + spareBytes, outputBytesMax),
  };
  return new Promise((resolve, reject) =>
    nodeZlib!.inflateRaw(deflated, options, (error, plain) => (error === null ? resolve(plain) : reject(error))),
  );
}

/** An empty deflate block with the final bit set, fixed codes: without one, browsers take the data for cut off. */
export const finalBlock = Uint8Array.of(0x03, 0x00);

async function inflateInBrowser(deflated: Uint8Array, plainBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of readThrough([deflated, finalBlock], new DecompressionStream('deflate-raw'))) {
    parts.push(part);
    bytes += part.length;
    if (bytes > plainBytes) throw new Error(`more than ${plainBytes} bytes of text`);
  }
  return joinBytes(parts);
}

/** The output of a browser's transforming stream for the chunks. */
async function* readThrough(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  stream: DecompressionStream,
): AsyncGenerator<Uint8Array> {
  const [writer, reader] = [stream.writable.getWriter(), stream.readable.getReader()];
  const writing = (async () => {
    for await (const chunk of chunks) await writer.write(chunk as Uint8Array<ArrayBuffer>);
    await writer.close();
  })();
  writing.catch((error: unknown) => writer.abort(error).catch(() => {})); // the reader throws it
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value as Uint8Array;
    }
    await writing;
  } finally {
    reader.cancel().catch(() => {});
  }
}
