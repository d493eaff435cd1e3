import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that may wait for their turn; no client in use pipelines more than ten. */
export const waitingRequestsMax = 32;

/** Bytes that are parsed at once: most requests are in one slice, and a slice has at most some 75 of them. */
const sliceBytes = 2048;

/**
 * Handles the pipelined requests of a connection one after another, each when the answer before it has been handed to the
 * network. Node alone handles all that have arrived at once, and keeps every answer of a client that does not read: one
 * packet of 64 KiB can hold 2,400 requests. A connection on which more than {@link waitingRequestsMax} wait is closed,
 * as RFC 9112 section 9.3.2 allows, and the rest of its packet is not parsed. Call it after the framework has attached
 * its listener.
 */
export function answerInTurn(server: Server): void {
  const [handle] = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  const waiting = new WeakMap<Socket, (() => void)[]>();
  server.removeListener('request', handle!);
  server.on('connection', parseInSlices);
  server.on('request', (request, response) => {
    const { socket } = request;
    const answer = () => {
      response.once('close', () => {
        const next = waiting.get(socket)?.shift();
        if (next === undefined || socket.destroyed) waiting.delete(socket);
        else next();
      });
      handle!.call(server, request, response);
    };
    const before = waiting.get(socket);
    if (before === undefined) {
      waiting.set(socket, []);
      answer();
    } else if (before.length < waitingRequestsMax) before.push(answer);
    else socket.destroy();
  });
}

/** Gives the parser of a connection, which Node has attached, what arrives slice by slice, until the connection is closed. */
function parseInSlices(socket: Socket): void {
  const [parse] = socket.listeners('data') as ((this: Socket, bytes: Buffer) => void)[];
  socket.removeListener('data', parse!);
  socket.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length && !socket.destroyed; at += sliceBytes)
      parse!.call(socket, bytes.subarray(at, at + sliceBytes));
  });
}
