import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '../runtime/errors.ts';
import type { BufferPool } from './buffer-pool.ts';
import type { ByteSpan } from './range.ts';
import type { SharedFile } from './shared-file.ts';

/** What {@link sendSpan} works with. */
export interface SpanToSend {
  readonly response: ServerResponse;
  readonly file: SharedFile;
  readonly span: ByteSpan;
  readonly buffers: BufferPool;
  readonly onBytes: (bytes: number) => void;
}

/**
 * Sends bytes of a file as the body of a response whose header is written, and ends it.
 * One borrowed buffer at a time: the next read waits until the client has taken what was read before.
 * Resolves to false if the client went away. On any failure the connection is cut, so that a body that is
 * too short is never taken for a whole one.
 * @throws ServiceError `artefact_damaged` if the file ends early or cannot be read.
 */
export async function sendSpan({ response, file, span, buffers, onBytes }: SpanToSend): Promise<boolean> {
  const buffer = buffers.take();
  const end = span.start + span.length;
  for (let position = span.start; position < end; ) {
    const bytes = await readSome(file, buffer, { position, length: Math.min(buffer.length, end - position) });
    if (bytes instanceof ServiceError) {
      buffers.giveBack(buffer);
      response.destroy();
      throw bytes;
    }
    if (!(await write(response, buffer.subarray(0, bytes)))) return false; // the buffer may still be read from: it is not given back
    onBytes(bytes);
    position += bytes;
  }
  buffers.giveBack(buffer);
  response.end();
  return true;
}

async function readSome(file: SharedFile, buffer: Buffer, at: { position: number; length: number }): Promise<number | ServiceError> {
  const damaged = (cause?: unknown) => new ServiceError('artefact_damaged', { operation: 'send artefact', problem: 'The file ends early or cannot be read.', cause });
  try {
    const bytes = await file.read(buffer, at);
    return bytes === 0 ? damaged() : bytes;
  } catch (error) {
    return damaged(error);
  }
}

/** Resolves when the connection has taken the bytes, to false when it is gone. */
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
 * Waits until a response is the next one of its connection: the answers to pipelined requests take their turns.
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
