import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { readSimpleRequest, type SimpleRequest } from './http/simple-request.ts';

/** Options of {@link interceptSimpleRequests}. */
export interface InterceptOptions {
  /** The answer to a simple request, or undefined if Node's parser and the routes must give it. */
  readonly answer: (request: SimpleRequest, socket: Socket) => Promise<string | undefined>;
  /** Seconds within which the first request must begin. */
  readonly headersSecondsMax: number;
  /** Seconds for which an idle connection is kept open between requests. */
  readonly keepAliveSecondsMax: number;
}

/**
 * Reads each connection before Node's HTTP parser: answering a simple request with 304 then needs no request and response
 * objects, which cost more than everything else about it (bench/serve.ts). At the first bytes that are not such a request
 * the connection passes to the parser, with those bytes, permanently.
 */
export function interceptSimpleRequests(server: Server, options: InterceptOptions): void {
  const [attach] = server.listeners('connection') as ((socket: Socket) => void)[]; // Node's own listener, registered first
  server.removeListener('connection', attach!);
  server.prependListener('connection', (socket: Socket) => watch(socket, options, () => attach!.call(server, socket)));
}

function watch(
  socket: Socket,
  { answer, headersSecondsMax, keepAliveSecondsMax }: InterceptOptions,
  attach: () => void,
): void {
  let text = '';
  let request: SimpleRequest | undefined;
  let early: Buffer[] | undefined;

  const passToParser = (bytes: Buffer) => {
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
    if (request === undefined || socket.writableLength > 0) return passToParser(bytes); // backpressure on a client that does not read its answers is the parser's work
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
    if (answered === undefined) return passToParser(Buffer.concat([bytes, ...later]));
    socket.write(answered, 'latin1');
    if (later.length > 0) return passToParser(Buffer.concat(later));
    socket.setTimeout(keepAliveSecondsMax * 1000);
  };
  const end = () => void socket.end();
  const cut = () => void socket.destroy();
  socket.on('data', take).on('end', end).on('timeout', cut).on('error', cut);
  socket.setTimeout(headersSecondsMax * 1000);
}
