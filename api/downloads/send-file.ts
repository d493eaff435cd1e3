import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SpanReader } from '../../pipelines/caches/store/stored-file.ts';
import { ServiceError, isServiceError } from '../../runtime/errors.ts';
import type { BufferPool, PooledBuffer } from './buffer-pool.ts';
import type { ByteSpan } from './range.ts';
import type { ReaderPace } from '../http/reader-pace.ts';
import type { SharedFile } from './shared-file.ts';

/** Buffers that one write sends at most, where other downloads have filled them. Eight were not faster (commit 96725380). */
export const buffersPerWriteMax = 4;

/** A span of a file and where to send it. */
interface SpanToSend {
  readonly response: ServerResponse;
  readonly file: SharedFile;
  readonly span: ByteSpan;
  /** Of the span. It is closed in the end. */
  readonly reader: SpanReader;
  readonly buffers: BufferPool;
  readonly pace: ReaderPace;
  readonly onBytes: (bytes: number) => void;
}

/**
 * Sends bytes of a file as the body of a response whose headers are written, and ends the response.
 * It borrows buffers for one write at a time and makes one write per turn of the event loop: the next read waits until the
 * client has received the last one and other answers have had their turn.
 * Resolves to false if the client disconnected. On any failure the connection is destroyed, so that a truncated body is
 * never mistaken for a complete one.
 * @throws ServiceError `artefact_damaged` if the file ends early or cannot be read.
 */
export async function sendSpan({ response, file, span, reader, buffers, pace, onBytes }: SpanToSend): Promise<boolean> {
  const end = span.start + span.length;
  try {
    for (let start = span.start; start < end;) {
      const length = Math.min(pace.chunkBytes, end - start);
      const pieces = findPieces(buffers, { file, reader, start, length }) ?? [
        await readPiece(response, buffers, { file, reader, start, length }),
      ];
      const bytes = await sendPieces({ response, buffers, pace }, pieces);
      if (bytes === undefined) return false;
      onBytes(bytes);
      start += bytes;
      if (start < end) await nextTurn();
    }
    response.end();
    return true;
  } catch (error) {
    response.destroy();
    throw isServiceError(error) ? error : damaged(error);
  } finally {
    reader.close();
  }
}

/** Bytes to send, and the borrowed buffer that they are in. */
interface Piece {
  readonly buffer: PooledBuffer;
  readonly bytes: Buffer;
}

/** Where to read. */
interface Place {
  readonly file: SharedFile;
  readonly reader: SpanReader;
  readonly start: number;
  readonly length: number;
}

/** The next bytes from pages that other downloads have read, as far as there are any; undefined if there are none. */
function findPieces(buffers: BufferPool, { file, reader, start, length }: Place): Piece[] | undefined {
  if (reader.skip === undefined) return undefined;
  const pieces: Piece[] = [];
  let found = 0;
  while (found < length && (pieces.length === 0 || !buffers.scarce)) {
    const offset = (start + found) % buffers.bufferBytes;
    const buffer = buffers.find(file, start + found - offset);
    if (buffer === undefined) break;
    const bytes = buffer.memory.subarray(offset, Math.min(buffer.page!.bytes, offset + length - found));
    pieces.push({ buffer, bytes });
    found += bytes.length;
  }
  reader.skip(found);
  return pieces.length === 0 ? undefined : pieces;
}

/** Reads the next bytes, not beyond their page. */
async function readPiece(
  response: ServerResponse,
  buffers: BufferPool,
  { file, reader, start, length }: Place,
): Promise<Piece> {
  const taken = buffers.take();
  const buffer = taken instanceof Promise ? await withoutIdleTimeout(response, taken) : taken;
  try {
    const offset = start % buffers.bufferBytes;
    const read = reader.read(buffer.memory.subarray(0, Math.min(length, buffers.bufferBytes - offset)));
    const bytes = typeof read === 'number' ? read : await withoutIdleTimeout(response, read);
    if (bytes === 0) throw damaged(undefined);
    const whole = offset === 0 && bytes === Math.min(buffers.bufferBytes, file.stored.size - start);
    if (whole && reader.skip !== undefined && file.readers > 1) buffers.share(buffer, { file, start, bytes });
    return { buffer, bytes: buffer.memory.subarray(0, bytes) };
  } catch (error) {
    buffers.giveBack(buffer, { sent: true });
    throw error;
  }
}

/** Sends pieces with one write and gives their buffers back. Returns the number of bytes; undefined if the client has disconnected. */
async function sendPieces(
  { response, buffers, pace }: Pick<SpanToSend, 'response' | 'buffers' | 'pace'>,
  pieces: readonly Piece[],
): Promise<number | undefined> {
  pace.begin(performance.now());
  const sent = await write(response, pieces);
  for (const { buffer } of pieces) buffers.giveBack(buffer, { sent });
  if (!sent) return undefined;
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  pace.end(performance.now(), bytes);
  return bytes;
}

/** Suspends the idle timeout of the connection while the server, not the client, causes the wait. */
async function withoutIdleTimeout<Result>({ socket }: ServerResponse, work: Promise<Result>): Promise<Result> {
  const idleMs = socket?.timeout ?? 0;
  socket?.setTimeout(0);
  try {
    return await work;
  } finally {
    socket?.setTimeout(idleMs);
  }
}

function damaged(cause: unknown): ServiceError {
  return new ServiceError('artefact_damaged', {
    operation: 'send artefact',
    problem: 'The file ends early or cannot be read.',
    cause,
  });
}

/** Resolves to true when the connection has accepted the bytes, to false when it has closed. */
function write(response: ServerResponse, pieces: readonly Piece[]): Promise<boolean> {
  const { socket } = response;
  if (socket === null || socket.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onClose = () => resolve(false);
    socket.once('close', onClose);
    const last = pieces.length - 1;
    for (let at = 0; at < last; at++) response.write(pieces[at]!.bytes);
    response.write(pieces[last]!.bytes, (error) => {
      socket.off('close', onClose);
      resolve(error === null || error === undefined);
    });
  });
}

/**
 * Waits until a response is next on its connection: answers to pipelined requests are sent in order.
 * Resolves to false if the connection closes before that.
 */
export function waitForTurn(response: ServerResponse, connection: Socket): Promise<boolean> {
  if (response.socket !== null) return Promise.resolve(!response.socket.destroyed);
  if (connection.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onClose = () => resolve(false);
    connection.once('close', onClose);
    response.once('socket', () => {
      connection.off('close', onClose);
      resolve(true);
    });
  });
}
