import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ServiceError } from '../runtime/errors.ts';

/** How often idle connections are closed while the server stops. */
const idleCloseMs = 50;

/** A server that listens, until it is ended. */
export interface OpenServer {
  readonly url: string;
  /** Takes no more connections, and resolves when the last one has ended: by itself, or cut at the end of the grace. */
  end(options: { graceSeconds: number; close?: () => PromiseLike<unknown> }): Promise<void>;
}

/**
 * Listens on an address.
 * @throws ServiceError `address_unavailable`
 */
export async function openServer(server: Server, address: { host: string; port: number }): Promise<OpenServer> {
  const connections = new OpenConnections(server);
  const url = await listen(server, address);
  return {
    url,
    async end({ graceSeconds, close = () => closeServer(server) }) {
      const idle = setInterval(() => connections.closeIdle(), idleCloseMs); // a connection is idle when its last answer has ended
      const grace = setTimeout(() => server.closeAllConnections(), graceSeconds * 1000);
      await close();
      clearInterval(idle);
      clearTimeout(grace);
    },
  };
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new ServiceError('address_unavailable', { operation: 'listen', object: `${host}:${port}`, cause })),
    );
    server.listen({ host, port }, () => resolve(urlOf(server.address() as AddressInfo)));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** An URL under which this machine reaches a bound address. */
function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`;
}

/**
 * The connections of a server and how many answers each of them waits for. Node's own `closeIdleConnections` leaves a
 * connection open that never sent a request, and such a one would hold up a stop until the end of the grace.
 */
class OpenConnections {
  readonly #answersDue = new Map<Socket, number>();

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#answersDue.set(socket, 0);
      socket.once('close', () => this.#answersDue.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.#change(socket, 1);
      response.once('close', () => this.#change(socket, -1));
    });
  }

  /** Closes every connection that waits for no answer. */
  closeIdle(): void {
    for (const [socket, due] of this.#answersDue) if (due === 0) socket.destroy();
  }

  #change(socket: Socket, by: 1 | -1): void {
    const due = this.#answersDue.get(socket);
    if (due !== undefined) this.#answersDue.set(socket, due + by);
  }
}
