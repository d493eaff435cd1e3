import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SpanReader } from '../../pipelines/caches/store/stored-file.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { BufferPool } from './buffer-pool.ts';
import type { ByteSpan } from './range.ts';
import type { ReaderPace } from '../http/reader-pace.ts';
import type { SharedFile } from './shared-file.ts';

/** A span of a file and where to send it. */
export interface SpanToSend {
  readonly response: ServerResponse;
  readonly file: SharedFile;
  readonly span: ByteSpan;
  readonly buffers: BufferPool;
  readonly pace: ReaderPace;
  readonly onBytes: (bytes: number) => void;
}

/**
 * Sends bytes of a file as the body of a response whose headers are written, and ends the response.
 * It holds one borrowed buffer at a time and sends one per turn of the event loop: the next read waits until the client
 * has received the last one and other answers have had their turn.
 * Resolves to false if the client disconnected. On any failure the connection is destroyed, so that a truncated body is
 * never mistaken for a complete one.
 * @throws ServiceError `artefact_damaged` if the file ends early or cannot be read.
 */
export async function sendSpan({ response, file, span, buffers, pace, onBytes }: SpanToSend): Promise<boolean> {
  const reader = file.stored.readSpan(span);
  try {
    for (let left = span.length; left > 0;) {
      const bytes = await sendChunk({ response, reader, buffers, pace, bytesMax: left });
      if (bytes === undefined) return false;
      onBytes(bytes);
      left -= bytes;
      if (left > 0) await nextTurn();
    }
    response.end();
    return true;
  } catch (error) {
    response.destroy();
    throw error instanceof ServiceError ? error : damaged(error);
  } finally {
    reader.close();
  }
}

/** Sends up to one buffer. Returns the number of bytes; undefined if the client has disconnected. */
async function sendChunk({
  response,
  reader,
  buffers,
  pace,
  bytesMax,
}: Pick<SpanToSend, 'response' | 'buffers' | 'pace'> & { reader: SpanReader; bytesMax: number }): Promise<
  number | undefined
> {
  const borrowed = buffers.take();
  const buffer = borrowed instanceof Promise ? await withoutIdleTimeout(response, borrowed) : borrowed;
  let sent = false;
  try {
    const read = reader.read(buffer.subarray(0, Math.min(buffer.length, pace.chunkBytes, bytesMax)));
    const bytes = typeof read === 'number' ? read : await withoutIdleTimeout(response, read);
    if (bytes === 0) throw damaged(undefined);
    pace.begin(performance.now());
    sent = true;
    if (!(await write(response, buffer.subarray(0, bytes)))) return undefined;
    sent = false;
    pace.end(performance.now(), bytes);
    return bytes;
  } finally {
    if (sent)
      buffers.abandon(); // the write was not confirmed: it may still read the buffer
    else buffers.giveBack(buffer);
  }
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
function write(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  const { socket } = response;
  if (socket === null || socket.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onClose = () => resolve(false);
    socket.once('close', onClose);
    response.write(bytes, (error) => {
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
