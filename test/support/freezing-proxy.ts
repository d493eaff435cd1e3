import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface FreezingProxy {
  /** The URL of the database through the proxy. */
  readonly url: string;
  /**
   * Freezes at the next statement with this text, or at a later `occurrence` of it: it is still passed on, and then nothing is,
   * either way.
   */
  freezeAt(text: string, occurrence?: number): void;
  /** The same for the one connection that sends the statement; the others continue. */
  freezeConnectionAt(text: string): void;
  /** True while everything is frozen, and after one connection was. */
  readonly isFrozen: () => boolean;
  /** Passes on what was held back, and everything after it. */
  thaw(): void;
  close(): Promise<void>;
}

/**
 * A proxy in front of PostgreSQL that falls silent without closing anything: what a server sees of a client whose process is
 * frozen or whose network is gone. New connections are accepted and hear nothing.
 */
export async function startFreezingProxy(databaseUrl: string, onFreeze: () => void = () => {}): Promise<FreezingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let watched: { readonly text: string; readonly alone: boolean; left: number } | undefined;
  let frozen: 'no' | 'all' | 'one' = 'no';
  const freeze = (connection: readonly Socket[]): void => {
    frozen = watched!.alone ? 'one' : 'all';
    for (const socket of watched!.alone ? connection : sockets) socket.pause();
    watched = undefined;
    onFreeze();
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('data', (chunk: Buffer) => {
        to.write(chunk);
        if (from === client && watched !== undefined && chunk.includes(watched.text) && --watched.left === 0)
          freeze([client, upstream]);
      });
      if (frozen === 'all') from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxied = new URL(databaseUrl);
  proxied.port = String((server.address() as AddressInfo).port);
  return {
    url: proxied.href,
    freezeAt: (text, occurrence = 1) => (watched = { text, alone: false, left: occurrence }),
    freezeConnectionAt: (text) => (watched = { text, alone: true, left: 1 }),
    isFrozen: () => frozen !== 'no',
    thaw() {
      frozen = 'no';
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
