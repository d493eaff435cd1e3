import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { readSimpleRequest, type SimpleRequest } from './http/simple-request.ts';

/** What {@link lookFirst} works with. */
export interface FirstLook {
  /** The answer to a simple request, or undefined if Node's parser and the routes are to give it. */
  readonly answer: (request: SimpleRequest, socket: Socket) => Promise<string | undefined>;
  /** Seconds in which the first request must begin. */
  readonly headersSecondsMax: number;
  /** Seconds that a connection is kept between two requests. */
  readonly keepAliveSecondsMax: number;
}

/**
 * Looks at what arrives on each connection before Node's HTTP parser: a simple request that is answered 304 takes no
 * request and no response object, which cost more than all else about it (bench/serve.ts). At the first bytes that are
 * anything else the connection goes to the parser, with those bytes, for good.
 */
export function lookFirst(server: Server, look: FirstLook): void {
  const [attach] = server.listeners('connection') as ((socket: Socket) => void)[]; // Node's own: it was the first
  server.removeListener('connection', attach!);
  server.prependListener('connection', (socket: Socket) => watch(socket, look, () => attach!.call(server, socket)));
}

function watch(
  socket: Socket,
  { answer, headersSecondsMax, keepAliveSecondsMax }: FirstLook,
  attach: () => void,
): void {
  let text = '';
  let request: SimpleRequest | undefined;
  let early: Buffer[] | undefined;

  const handOver = (bytes: Buffer) => {
    socket.off('data', take).off('end', end).off('timeout', cut).off('error', cut);
    socket.pause();
    socket.setTimeout(0);
    attach();
    socket.unshift(bytes);
    socket.resume();
  };
  const take = (bytes: Buffer) => {
    if (early !== undefined) return void early.push(bytes);
    const given = bytes.toString('latin1');
    if (given !== text) request = readSimpleRequest(given);
    text = given;
    if (request === undefined || socket.writableLength > 0) return handOver(bytes); // one that does not read its answers is the parser's to slow down
    early = [];
    answer(request, socket).then(
      (answered) => settle(answered, bytes),
      () => settle(undefined, bytes),
    );
  };
  const settle = (answered: string | undefined, bytes: Buffer) => {
    const later = early ?? [];
    early = undefined;
    if (socket.destroyed) return;
    if (answered === undefined) return handOver(Buffer.concat([bytes, ...later]));
    socket.write(answered, 'latin1');
    if (later.length > 0) return handOver(Buffer.concat(later));
    socket.setTimeout(keepAliveSecondsMax * 1000);
  };
  const end = () => void socket.end();
  const cut = () => void socket.destroy();
  socket.on('data', take).on('end', end).on('timeout', cut).on('error', cut);
  socket.setTimeout(headersSecondsMax * 1000);
}
