import type { LookupAddress } from 'node:dns';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { signMessage } from '../../../pipelines/webhooks/message.ts';
import { sendMessage, type SendLimits } from '../../../pipelines/webhooks/send-message.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';

const receiver = await startReceiver();
const { answer: answerWell } = receiver;
afterAll(() => receiver.close());
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = answerWell;
});

const { port } = new URL(receiver.url);
const limits: SendLimits = { webhookNetworksAllowed: 'loopback' };
const strict: SendLimits = { ...limits, webhookNetworksAllowed: undefined };
const message = signMessage(
  { messageId: 'msg_1', type: 'webhook.test', occurredAt: new Date(0), data: {} },
  [Buffer.alloc(32, 1)],
  new Date(),
);

function send(
  url: string,
  given: SendLimits = limits,
  resolve?: (host: string) => Promise<LookupAddress[]>,
  signal = new AbortController().signal,
) {
  return sendMessage({ url, message, limits: given, signal, secondsMax: 1, ...(resolve && { resolve }) });
}

describe('a message', () => {
  it('is delivered by a status of 2xx, with its headers and body', async () => {
    expect(await send(`${receiver.url}/hooks?a=1`)).toEqual({ status: 204, failure: null, retryAfterSeconds: null });
    expect(receiver.received).toMatchObject([
      {
        path: '/hooks?a=1',
        body: message.body,
        headers: { 'webhook-id': 'msg_1', 'content-type': 'application/json' },
      },
    ]);
  });

  it('is not delivered by a redirect, which is not followed', async () => {
    receiver.answer = (response) => void response.writeHead(307, { Location: `${receiver.url}/elsewhere` }).end();
    expect(await send(receiver.url)).toMatchObject({ status: 307, failure: 'redirected' });
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    [500, 'status_refused'],
    [404, 'status_refused'],
    [410, 'gone'],
  ] as const)('is not delivered by the status %i', async (status, failure) => {
    receiver.answer = (response) => void response.writeHead(status, { 'Retry-After': '7' }).end('no');
    expect(await send(receiver.url)).toEqual({ status, failure, retryAfterSeconds: 7 });
  });

  it('is given up when the answer does not come in time', async () => {
    receiver.answer = () => {};
    expect(await send(receiver.url)).toMatchObject({ status: null, failure: 'timed_out' });
    const never = () => new Promise<LookupAddress[]>(() => {});
    expect(await send(`http://slow.example:${port}`, limits, never)).toMatchObject({ failure: 'timed_out' });
  });

  it('is delivered once the status is there: an endless answer is not read to its end', async () => {
    let sent = 0;
    receiver.answer = (response) => {
      response.writeHead(200);
      const block = Buffer.alloc(16 * 1024);
      const write = (): void => {
        if (response.destroyed) return;
        sent += block.length;
        response.write(block, () => setImmediate(write));
      };
      write();
    };
    expect(await send(receiver.url)).toMatchObject({ status: 200, failure: null });
    expect(sent).toBeLessThan(16 * 1024 * 1024); // what the buffers of the two sockets take beyond 64 KiB
  });

  it('ends with the signal of its job', async () => {
    receiver.answer = () => {};
    const stopping = new AbortController();
    const sending = send(receiver.url, limits, undefined, stopping.signal);
    stopping.abort(new Error('stopping'));
    await expect(sending).rejects.toThrow('stopping');
  });

  it('fails with its reason where nobody listens, the name is unknown, or the port speaks no TLS', async () => {
    const closed = await startReceiver();
    await closed.close();
    expect(await send(closed.url)).toMatchObject({ failure: 'connection_failed' });
    expect(await send('http://name.invalid')).toMatchObject({ failure: 'name_unresolved' });
    expect(await send(`https://127.0.0.1:${port}`)).toMatchObject({ failure: 'tls_failed' });
  });
});

describe('a private address', () => {
  it.each([
    ['http://127.0.0.1'],
    ['http://localhost'],
    ['http://[::1]'],
    ['http://[::ffff:127.0.0.1]'],
    ['http://2130706433'],
    ['http://0x7f.1'],
    ['http://169.254.169.254'],
  ])('is refused without a connection, however it is written: %s', async (base) => {
    expect(await send(`${base}:${port}`, strict)).toEqual({
      status: null,
      failure: 'address_refused',
      retryAfterSeconds: null,
    });
    expect(receiver.received).toEqual([]);
  });

  it('is refused together with a public one of the same name', async () => {
    const both = async () => [
      { address: '8.8.8.8', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    expect(await send(`http://two.example:${port}`, strict, both)).toMatchObject({ failure: 'address_refused' });
  });

  it('cannot be given after the check: a name is resolved once, and the connection goes to what was checked', async () => {
    const asked: string[] = [];
    const changing = async (host: string) => {
      asked.push(host);
      return [{ address: asked.length === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    };
    expect(await send(`http://rebind.example:${port}/x`, limits, changing)).toMatchObject({ status: 204 });
    expect(asked).toEqual(['rebind.example']);
    expect(receiver.received[0]!.headers.host).toBe(`rebind.example:${port}`);
  });
});

it('an address without TLS is refused unless all that it leads to is in a network that the setting allows', async () => {
  const mixed = async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '8.8.8.8', family: 4 },
  ];
  const url = `http://mixed.example:${new URL(receiver.url).port}`;
  expect(await send(url, limits, mixed)).toMatchObject({ failure: 'http_refused' });
  expect(await send('http://8.8.8.8', strict)).toMatchObject({ failure: 'http_refused' });
  expect(receiver.received).toEqual([]);
});
