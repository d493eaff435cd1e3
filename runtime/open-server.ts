import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ServiceError } from './errors.ts';

/** How often idle connections are closed while the server stops. */
const idleCloseMs = 50;

/** A listening server. */
export interface OpenServer {
  readonly url: string;
  /** Stops accepting connections, and resolves when the last one has closed, at the latest at the end of the grace period. */
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
      const idle = setInterval(() => connections.closeIdle(), idleCloseMs); // a connection becomes idle when its last answer has ended
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
 * The connections of a server and the number of pending answers of each. Node's `closeIdleConnections` leaves connections
 * open that never sent a request; they would delay a stop until the end of the grace period.
 */
class OpenConnections {
  readonly #pendingAnswers = new Map<Socket, number>();

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#pendingAnswers.set(socket, 0);
      socket.once('close', () => this.#pendingAnswers.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.#change(socket, 1);
      response.once('close', () => this.#change(socket, -1));
    });
  }

  /** Closes every connection without a pending answer. */
  closeIdle(): void {
    for (const [socket, pending] of this.#pendingAnswers) if (pending === 0) socket.destroy();
  }

  #change(socket: Socket, by: 1 | -1): void {
    const pending = this.#pendingAnswers.get(socket);
    if (pending !== undefined) this.#pendingAnswers.set(socket, pending + by);
  }
}
