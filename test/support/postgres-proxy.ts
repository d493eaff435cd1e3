import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What the proxy does to the stream from the server, by the type of a message (PostgreSQL's "Message Formats"). */
export type Interference =
  | { readonly at: 'copyDone'; readonly then: 'cut' | 'stall' }
  | { readonly at: 'copyCommandComplete'; readonly then: 'cut' | 'stall' }
  /** When the server is ready for the COMMIT that follows the COPY, which it never hears of then. */
  | { readonly at: 'readyForCommit'; readonly then: 'cut' | 'stall' }
  /** When the server is ready for the rows of a COPY FROM. */
  | { readonly at: 'copyIn'; readonly then: 'cut' | 'stall' }
  | { readonly at: 'copyData'; readonly after: number; readonly then: 'cut' | 'stall' };

export interface PostgresProxy {
  /** The URL of the database through the proxy. */
  readonly url: string;
  /** How often it interfered. */
  readonly interferences: () => number;
  /** Interferes no more, and cuts the connections that it holds up. */
  release(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A proxy in front of PostgreSQL that lets every message pass up to the named one, which still passes; then it cuts both
 * sides, or falls silent.
 */
export async function startPostgresProxy(databaseUrl: string, interference: Interference): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const held = new Set<Socket>();
  let count = 0;
  let released = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.pipe(upstream);
    if (released) return void upstream.pipe(client);
    forwardUntil(upstream, client, interference, () => {
      count++;
      held.add(upstream);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxied = new URL(databaseUrl);
  proxied.port = String((server.address() as AddressInfo).port);
  return {
    url: proxied.href,
    interferences: () => count,
    async release() {
      released = true;
      for (const socket of held) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const types = { copyIn: 0x47, copyData: 0x64, copyDone: 0x63, commandComplete: 0x43, readyForQuery: 0x5a } as const;

function forwardUntil(upstream: Socket, client: Socket, interference: Interference, onInterference: () => void): void {
  let pending = Buffer.alloc(0);
  let rows = 0;
  let copied = false;
  let stopped = false;
  upstream.on('data', (chunk: Buffer) => {
    if (stopped) return;
    pending = Buffer.concat([pending, chunk]);
    let at = 0;
    while (pending.length - at >= 5) {
      const end = at + 1 + pending.readUInt32BE(at + 1);
      if (end > pending.length) break;
      const type = pending[at];
      const body = pending.toString('latin1', at + 5, Math.min(end, at + 12));
      at = end;
      if (type === types.copyData) rows++;
      if (type === types.copyDone) copied = true;
      if (!matches(interference, { type, body, rows, copied })) continue;
      stopped = true;
      onInterference();
      client.write(pending.subarray(0, at), () => {
        if (interference.then === 'cut') upstream.destroy();
      });
      return;
    }
    client.write(pending.subarray(0, at));
    pending = pending.subarray(at);
  });
}

interface Seen {
  readonly type: number | undefined;
  readonly body: string;
  readonly rows: number;
  readonly copied: boolean;
}

function matches(interference: Interference, { type, body, rows, copied }: Seen): boolean {
  switch (interference.at) {
    case 'copyIn':
      return type === types.copyIn;
    case 'copyDone':
      return type === types.copyDone;
    case 'copyCommandComplete':
      return type === types.commandComplete && body.startsWith('COPY');
    case 'readyForCommit':
      return copied && type === types.readyForQuery;
    case 'copyData':
      return type === types.copyData && rows === interference.after;
  }
}
