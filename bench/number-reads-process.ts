import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createPool, queryRow } from '../runtime/postgres.ts';
import { prepared, sql } from '../sql/sql.ts';

/** A bare server of bench/number-reads.ts, as a message to this program, which answers with its `url`. */
export interface NumberServer {
  readonly server: { readonly url: string; readonly isPrepared: boolean };
}

/** The clients of that bench, as a message: the program ends when all requests have been answered. */
export interface NumberClients {
  readonly clients: {
    readonly url: string;
    readonly key: string;
    readonly phones: readonly string[];
    readonly requests: number;
  };
}

const clientsAtOnce = 16;

/** As many as the API has for requests. */
const connectionsMax = 8;

async function serve({ url, isPrepared }: NumberServer['server']): Promise<void> {
  const db = createPool({ url, applicationName: 'bench', connectionsMax, onIdleError: () => {} });
  const statement = isPrepared ? prepared('api/read_number') : sql('api/read_number');
  const server = createServer((request, response) => {
    void queryRow(db, statement, [request.url!.split('/').at(-1), null]).then((row) => {
      const body = Buffer.from(JSON.stringify(row));
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

/** Sends requests one after another on each connection, over bare sockets: a client of HTTP takes as much time as a server. */
async function ask({ url, key, phones, requests }: NumberClients['clients']): Promise<void> {
  const { host, hostname, port } = new URL(url);
  let sent = 0;
  const client = () =>
    new Promise<void>((resolve, reject) => {
      let answer = '';
      const send = () => {
        if (sent === requests) return void socket.end(resolve);
        const phone = phones[sent++ % phones.length]!;
        socket.write(`GET /v1/numbers/${phone} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
      };
      const take = (text: string) => {
        answer += text;
        const [, headers, body] = /^([^]*?)\r\n\r\n([^]*)$/.exec(answer) ?? [];
        if (headers === undefined || body!.length < Number(/^content-length: (\d+)/im.exec(headers)![1])) return;
        if (!headers.startsWith('HTTP/1.1 200 ')) return reject(new Error(answer));
        answer = '';
        send();
      };
      const socket = connect({ host: hostname, port: Number(port) });
      socket.setEncoding('latin1').on('connect', send).on('data', take).on('error', reject);
    });
  await Promise.all(Array.from({ length: clientsAtOnce }, client));
}

process.once('disconnect', () => process.exit());
const [message] = (await once(process, 'message')) as [NumberServer | NumberClients];
if ('server' in message) await serve(message.server);
else {
  await ask(message.clients);
  process.exit();
}
