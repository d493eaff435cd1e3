import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a server and how many answers each of them waits for. Node's own `closeIdleConnections` leaves a
 * connection open that never sent a request, and such a one would hold up a stop until the end of the grace.
 */
export class OpenConnections {
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
