import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { BufferPool } from '../../../api/downloads/buffer-pool.ts';
import type { ByteSpan } from '../../../api/downloads/range.ts';
import { buffersPerWriteMax, sendSpan } from '../../../api/downloads/send-file.ts';
import { SharedFile } from '../../../api/downloads/shared-file.ts';
import { ReaderPace } from '../../../api/http/reader-pace.ts';
import type { StoredFile } from '../../../pipelines/caches/store/stored-file.ts';

const pageBytes = 4096;
const content = randomBytes(50 * pageBytes + 100);

/** A file in memory that counts what is read from it. Without `shared` its bytes come in order only, as from a bucket. */
class CountedFile implements StoredFile {
  readonly name = { cache: 'phones', country: 'US', sha256: '' };
  readonly size = content.length;
  readonly #shared: boolean;
  bytesRead = 0;

  constructor({ shared }: { shared: boolean }) {
    this.#shared = shared;
  }

  readSpan({ start, length }: ByteSpan) {
    let position = start;
    const skip = (bytes: number) => void (position += bytes);
    return {
      read: async (into: Buffer) => {
        const bytes = content.copy(into, 0, position, Math.min(position + into.length, start + length));
        position += bytes;
        this.bytesRead += bytes;
        return bytes;
      },
      ...(this.#shared && { skip }),
      close: () => {},
    };
  }

  async close() {}
}

/** Sends the spans of a file to as many clients at the same time and returns what each of them got. */
async function sendAll(stored: StoredFile, spans: readonly ByteSpan[], buffers: BufferPool): Promise<Buffer[]> {
  const file = new SharedFile(stored);
  const server = createServer(async (request, response) => {
    const span = spans[Number(request.url!.slice(1))]!;
    const release = file.hold();
    const pace = new ReaderPace({ bytesPerSecondMin: 1024, seconds: 60 }, pageBytes * buffersPerWriteMax);
    response.writeHead(200, { 'Content-Length': span.length });
    const reader = stored.readSpan(span);
    await sendSpan({ response, file, span, reader, buffers, pace, onBytes: () => {} });
    release();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Promise.all(
    spans.map(async (_span, at) => {
      const [response] = (await once(get({ port, path: `/${at}`, agent: false }), 'response')) as [IncomingMessage];
      return buffer(response);
    }),
  );
}

const whole = { start: 0, length: content.length };

it('reads a file about once for many downloads at the same time', async () => {
  const file = new CountedFile({ shared: true });
  const buffers = new BufferPool({ bufferBytes: pageBytes, buffersMax: 128 });
  const received = await sendAll(file, Array<ByteSpan>(20).fill(whole), buffers);
  expect(received.every((bytes) => bytes.equals(content))).toBe(true);
  expect(file.bytesRead).toBeLessThan(5 * content.length);
  expect(buffers.borrowed).toBe(0);
});

it.each([
  ['a file whose pages are shared', true],
  ['a file whose bytes come in order only', false],
])('sends each of many random ranges of %s, with few buffers', async (_name, shared) => {
  const spans = Array.from({ length: 60 }, () => {
    const start = randomInt(content.length);
    return { start, length: randomInt(1, content.length - start + 1) };
  });
  const buffers = new BufferPool({ bufferBytes: pageBytes, buffersMax: 6 });
  const received = await sendAll(new CountedFile({ shared }), spans, buffers);
  for (const [at, { start, length }] of spans.entries())
    expect(received[at]!.equals(content.subarray(start, start + length))).toBe(true);
  expect(buffers.borrowed).toBe(0);
});
