import { connect, type Socket } from 'node:net';

/**
 * The clients of bench/serve.ts in a process of their own: `serve-client.js JSON`, of {@link DownloadLoad}.
 * Sockets with one buffer that is read into again and again, because a client that is slower than the servers measures itself.
 */
export interface DownloadLoad {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly clients: number;
  /** Bytes of the body that each client must be sent. */
  readonly bytes: number;
}

const bufferBytes = 1024 * 1024;

async function download({ url, headers, bytes }: DownloadLoad): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const fields = Object.entries({ Host: hostname, ...headers, Connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  let header: string | undefined = '';
  let left = bytes;
  const take = (count: number, buffer: Uint8Array) => {
    let body = count;
    if (header !== undefined) {
      const before = header.length;
      header += Buffer.from(buffer.buffer, buffer.byteOffset, count).toString('latin1');
      const end = header.indexOf('\r\n\r\n');
      if (end === -1) return true;
      if (!header.startsWith('HTTP/1.1 200 ')) throw new Error(header.slice(0, 200));
      body = count - (end + 4 - before);
      header = undefined;
    }
    left -= body;
    return true;
  };
  await new Promise<void>((resolve, reject) => {
    const socket: Socket = connect({
      host: hostname,
      port: Number(port),
      onread: { buffer: Buffer.alloc(bufferBytes), callback: take },
    });
    socket.once('connect', () => socket.write(`GET ${pathname} HTTP/1.1\r\n${fields.join('')}\r\n`));
    socket.once('error', reject);
    socket.once('close', () => resolve());
  });
  if (left !== 0) throw new Error(`${left} bytes of ${url} are missing`);
}

const load = JSON.parse(process.argv[2] ?? '') as DownloadLoad;
await Promise.all(Array.from({ length: load.clients }, () => download(load)));
