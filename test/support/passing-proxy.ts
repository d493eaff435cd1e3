import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterAll } from 'vitest';

/**
 * A reverse proxy that keeps its connections to the service, passes bodies on as they arrive, and drops interim answers, as RFC 9110
 * allows. It ends after the last test of the file.
 */
export async function startPassingProxy({
  upstream,
  port,
}: {
  readonly upstream: string;
  readonly port: number;
}): Promise<string> {
  const { hostname, port: upstreamPort } = new URL(upstream);
  const ask = ({ method, url, headers }: IncomingMessage) =>
    request({ hostname, port: upstreamPort, method, path: url, headers });
  const server = createServer((incoming, answer) => {
    const asked = ask(incoming);
    incoming.pipe(asked);
    asked.on('response', (answered) => {
      answer.writeHead(answered.statusCode!, answered.headers);
      answered.pipe(answer);
    });
    asked.on('error', () => answer.destroy());
    incoming.on('aborted', () => asked.destroy());
  });
  server.on('upgrade', (incoming, socket: Duplex) => {
    const asked = ask(incoming);
    asked.on('upgrade', ({ headers }, other: Duplex) => {
      const fields = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields.join('')}\r\n`);
      other.on('error', () => socket.destroy());
      socket.on('error', () => other.destroy());
      other.pipe(socket).pipe(other);
    });
    asked.on('error', () => socket.destroy());
    asked.end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${port}`;
}
