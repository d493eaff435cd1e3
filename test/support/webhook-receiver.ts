import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';

/** A delivery that a receiver got. */
interface ReceivedMessage {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of webhooks on a free port of the loopback. */
export interface WebhookReceiver {
  readonly url: string;
  readonly received: ReceivedMessage[];
  /** Answers a delivery; 204 unless a test says otherwise. */
  answer: (response: ServerResponse, message: ReceivedMessage) => void | Promise<void>;
  close(): Promise<void>;
}

/** Starts a receiver, on the given port where a test starts it again. */
export async function startReceiver(port = 0): Promise<WebhookReceiver> {
  const receiver: WebhookReceiver = {
    url: '',
    received: [],
    answer: (response) => void response.writeHead(204).end(),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const message = { path: request.url!, headers: request.headers, body };
      receiver.received.push(message);
      return receiver.answer(response, message);
    });
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return Object.assign(receiver, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

/** How many of the message's signatures are of this secret. */
export function signaturesOf({ headers, body }: ReceivedMessage, secret: string): number {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature'])
    .split(' ')
    .filter((signature) => signature === expected).length;
}
