import { createServer, connect, type Server, type Socket } from 'node:net';
import { afterAll } from 'vitest';

/** A road to a database that can be cut, or fall silent. */
interface CuttableRoad {
  readonly url: string;
  /** Closes every connection and takes no new one. */
  cut(): void;
  /** Lets nothing pass in either direction, without closing anything. New connections are taken and hear nothing. */
  stall(): void;
  /** Closes what is stalled and lets everything pass again. */
  restore(): Promise<void>;
}

/** Makes a road to the server of a URL; it is closed after the last test of the file. */
export async function useCuttableRoad(databaseUrl: string): Promise<CuttableRoad> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let stalled = false;
  const server: Server = createServer((socket) => {
    const onward = connect({ host: target.hostname, port: Number(target.port) });
    for (const end of [socket, onward]) {
      sockets.add(end);
      end.on('error', () => {});
      end.on('close', () => {
        sockets.delete(end);
        socket.destroy();
        onward.destroy();
      });
    }
    if (!stalled) socket.pipe(onward).pipe(socket);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  await listen(0);
  const { port } = server.address() as { port: number };
  const url = new URL(databaseUrl);
  url.port = String(port);
  afterAll(
    () =>
      new Promise<void>((resolve) => {
        destroyAll();
        server.close(() => resolve());
      }),
  );
  return {
    url: url.href,
    cut() {
      server.close();
      destroyAll();
    },
    stall() {
      stalled = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    async restore() {
      stalled = false;
      destroyAll();
      if (!server.listening) await listen(port);
    },
  };
}
