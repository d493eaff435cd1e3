import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { createKey, SCOPES } from '../../pipelines/access/keys.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { useTestDatabase } from '../support/database.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { type Figures, inPortions, sizes } from '../support/run-size.ts';
import { inventedRows, PublishedHistory } from '../support/segmented-artefacts.ts';
import { killProcessesAfterEach, startProcess, untilServing } from '../support/service-process.ts';

const count = sizes.requests;
vi.setConfig({ testTimeout: 300_000 + count * 5 });

const { db, url: databaseUrl, apiUrl } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-hostile-requests-'));
afterAll(() => rm(stateDir, { recursive: true, force: true }));
killProcessesAfterEach();
const secret = 'a secret of the tests, long enough to be one';

/** Requests that are sent one after another on a connection. */
const requestsPerConnection = 8;
const connectionsAtATime = 64;
/** Resident memory of the API, which is 200 MiB at rest. */
const memoryBytesMax = 500 * 2 ** 20;

const paths = [
  '/v1/caches',
  '/v1/caches/phones?country=US',
  '/v1/caches/phones/manifest?country=US',
  '/v1/caches/phones/delta?from=1&country=US',
  '/v1/caches/phones/index?country=US',
  '/v1/categories',
  '/v1/numbers/+12025550001',
  '/v1/brands?owner=acme&limit=5&after=x',
  '/v1/verifications?limit=3',
  '/v1/models',
  '/openapi.json',
  '/readyz',
  '/docs',
];
const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE', 'BREW', ''];
/** Odd values that leave a request readable, and those after which a server may close the connection. */
const oddTexts = [
  '%00',
  '%2e%2e%2f',
  '%ff',
  ';',
  '&&',
  '=',
  '+1',
  '-1',
  '1e9',
  '99999999999999999999',
  'US',
  'us',
  '[]',
  '../..',
  '{}',
  '*',
];
const rawTexts = ['\u00e9', '"', '\u0000', '\t', ' ', '\r', '\u007f', ...oddTexts];

class Requests {
  readonly #choose: Seeded;
  readonly #key: string;

  constructor(key: string, seed: number) {
    this.#key = key;
    this.#choose = new Seeded(seed);
  }

  /** The last request on a connection may be one that ends it. */
  next(isLast: boolean): Buffer {
    const choose = this.#choose;
    const odd = () => choose.pick(isLast ? rawTexts : oddTexts);
    const method = choose.chance(0.8) ? 'GET' : choose.pick(methods.slice(0, isLast ? methods.length : -2));
    const path = choose.chance(0.5) ? choose.pick(paths) : this.#spoil(choose.pick(paths), odd());
    const headers = [
      'Host: x',
      ...this.#headers(odd),
      ...(isLast ? [...this.#lastHeaders(odd), 'Connection: close'] : []),
    ];
    const text = Buffer.from(`${method} ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`, 'latin1');
    return isLast && choose.chance(0.5) ? this.#damaged(text) : text;
  }

  #headers(odd: () => string): string[] {
    const choose = this.#choose;
    const conditions = [
      () => `Range: bytes=${choose.pick(['0-', '-5', '5-1', '0-0,3-4', '99999999999-', odd()])}`,
      () => `If-None-Match: ${choose.pick(['*', '"x"', 'W/"x"', odd()])}`,
      () => `If-Range: ${choose.pick(['"x"', 'Thu, 01 Jan 2026 00:00:00 GMT', odd()])}`,
      () => `If-Modified-Since: ${choose.pick(['Thu, 01 Jan 2026 00:00:00 GMT', odd()])}`,
      () => `Accept: ${odd()}`,
      () => `X-Request-Id: ${odd()}`,
    ].filter(() => choose.chance(0.15));
    const key = choose.chance(0.9) ? this.#key : odd();
    return [`Authorization: Bearer ${key}`, ...conditions.map((make) => make())];
  }

  /** Headers that change where a request ends, or are too long. */
  #lastHeaders(odd: () => string): string[] {
    const choose = this.#choose;
    return [
      () => `Content-Length: ${choose.pick(['0', '-1', '5', odd()])}`,
      () => `Transfer-Encoding: ${choose.pick(['chunked', 'gzip', odd()])}`,
      () => `Expect: ${choose.pick(['100-continue', odd()])}`,
      () => `Upgrade: ${odd()}`,
      () => `X-${'a'.repeat(choose.below(2000))}: ${'b'.repeat(choose.below(20_000))}`,
    ]
      .filter(() => choose.chance(0.2))
      .map((make) => make());
  }

  #spoil(path: string, text: string): string {
    const at = this.#choose.whole(1, path.length);
    return `${path.slice(0, at)}${text}${path.slice(at + this.#choose.below(3))}`;
  }

  #damaged(text: Buffer): Buffer {
    const choose = this.#choose;
    const bytes = Buffer.from(text);
    for (let change = choose.whole(1, 3); change > 0; change--) bytes[choose.below(bytes.length)] = choose.below(256);
    return choose.chance(0.3) ? bytes.subarray(0, choose.whole(1, bytes.length)) : bytes;
  }
}

/** Sends requests on one connection, the last one when the others are answered, and returns the statuses of the answers. */
function send(api: URL, requests: readonly Buffer[]): Promise<number[]> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const statuses = () =>
      [
        ...Buffer.concat(chunks)
          .toString('latin1')
          .matchAll(/HTTP\/1\.1 (\d{3}) /g),
      ].map(([, status]) => Number(status));
    const socket = connect({ host: api.hostname, port: Number(api.port) });
    let last = requests.at(-1);
    socket.setTimeout(10_000, () => socket.destroy());
    socket.on('connect', () => socket.write(Buffer.concat(requests.slice(0, -1))));
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (last === undefined || statuses().length < requests.length - 1) return;
      socket.write(last);
      socket.setTimeout(100); // a request that was cut off is waited for
      last = undefined;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(statuses()));
  });
}

async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
}

it(`${count} odd and damaged requests are answered without a 5xx, within the limit of memory`, async () => {
  await putNumbers(db, manyNumbers(50));
  const history = new PublishedHistory({
    db,
    store: new ArtefactDirectory(join(stateDir, 'artefacts')),
    artefact: { cache: 'phones', country: 'US' },
  });
  await history.publish(inventedRows(200));
  await history.publish(inventedRows(210));
  const { key } = await createKey(db, { client: 'hostile', scopes: [...SCOPES], secret });
  const service = startProcess('api/main.js', {
    DATABASE_URL: databaseUrl,
    API_DATABASE_URL: apiUrl,
    STATE_DIR: stateDir,
    API_KEY_SECRET: secret,
    API_PORT: '0',
    METRICS_PORT: '0',
    API_REQUESTS_PER_MINUTE_MAX: '1000000000',
    LOG_LEVEL: 'error',
  });
  const api = new URL((await untilServing(stateDir, 'api')).url);

  const sendMany = async ({ size, seed }: { size: number; seed: number }): Promise<Figures> => {
    const requests = new Requests(key, seed);
    const statuses = new Map<number, number>();
    let [sent, memory] = [0, 0];
    const client = async () => {
      while (sent < size) {
        sent += requestsPerConnection;
        const each = Array.from({ length: requestsPerConnection }, (_none, at) =>
          requests.next(at === requestsPerConnection - 1),
        );
        for (const status of await send(api, each)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (sent % 10_000 < requestsPerConnection) memory = Math.max(memory, await memoryOf(service.pid));
      }
    };
    await Promise.all(Array.from({ length: connectionsAtATime }, client));
    memory = Math.max(memory, await memoryOf(service.pid));
    const answers = [...statuses];
    expect(answers.filter(([status]) => status >= 500 && status !== 501 && status !== 505)).toEqual([]);
    const answered = answers.reduce((sum, [, times]) => sum + times, 0);
    expect(answered).toBeGreaterThan(size / 2);
    expect(statuses.get(200)).toBeGreaterThan(0);
    expect(memory).toBeLessThan(memoryBytesMax);
    expect(service.log()).toBe('');
    return { requests: sent, answers: answered, mebibytes: [memory / 2 ** 20] };
  };
  await inPortions('requests', { size: count, portion: 100_000 }, sendMany);
  expect((await fetch(new URL('/healthz', api))).status).toBe(200);
});
