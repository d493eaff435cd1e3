import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll } from 'vitest';

/** A road to an HTTP server on which things go wrong. */
interface TroubledRoad {
  readonly url: string;
  /** Connections so far. */
  readonly connections: () => number;
  /** Bytes that came back so far. */
  readonly bytes: () => number;
  /** What happens from now on; an empty object ends the trouble. */
  set(trouble: Trouble): void;
}

interface Trouble {
  /** A connection is cut when this many bytes have come back on it. */
  readonly cutAfterBytes?: number;
  /** Bytes that come back in a second, on each connection. */
  readonly bytesPerSecond?: number;
  /** Connections are taken, and nothing comes back. */
  readonly silent?: boolean;
  /** This answer comes instead, this many times. */
  readonly answerInstead?: { readonly text: string; times: number };
}

/** Makes a road to the server of a URL; it is closed after the last test of the file. */
export async function useTroubledRoad(serverUrl: string): Promise<TroubledRoad> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let trouble: Trouble = {};
  let connections = 0;
  let bytes = 0;
  const server = createServer((socket) => {
    connections++;
    const onward = connect({ host: hostname, port: Number(port) });
    const end = () => {
      socket.destroy();
      onward.destroy();
    };
    for (const each of [socket, onward]) {
      sockets.add(each);
      each.on('error', end).on('close', () => {
        sockets.delete(each);
        end();
      });
    }
    let passed = 0;
    socket.on('data', (request: Buffer) => {
      const instead = trouble.answerInstead;
      if (instead !== undefined && instead.times-- > 0) socket.end(instead.text);
      else onward.write(request);
    });
    onward.on('data', (chunk: Buffer) => {
      const { cutAfterBytes = Infinity, bytesPerSecond = Infinity, silent = false } = trouble;
      if (silent) return;
      const allowed = chunk.subarray(0, Math.max(0, cutAfterBytes - passed));
      passed += allowed.length;
      bytes += allowed.length;
      socket.write(allowed);
      if (allowed.length < chunk.length) return void socket.end();
      if (bytesPerSecond === Infinity) return;
      onward.pause();
      setTimeout(() => onward.resume(), (chunk.length / bytesPerSecond) * 1000);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    bytes: () => bytes,
    set(next) {
      trouble = next;
      for (const socket of sockets) socket.destroy(); // kept connections would escape it
    },
  };
}
