import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect } from 'vitest';
import { Seeded } from '../../runtime/seeded.ts';
import type { Figures } from './run-size.ts';
import type { ServiceProcess } from './service-process.ts';

/** Requests that are sent one after another on a connection. */
const requestsPerConnection = 8;
const connectionsAtATime = 64;
/** Resident memory of a process, which is 200 MiB at rest. */
const memoryBytesMax = 500 * 2 ** 20;

/** A process that takes requests, and what is asked of it. */
export interface Door {
  readonly url: string;
  readonly service: ServiceProcess;
  /** Of every request; the values of some are odd in some. */
  readonly headers: () => Record<string, string>;
  /** Those whose value may be odd in any request. */
  readonly spoiled: string;
  readonly operations: readonly Operation[];
  /** Codes of answers of 503 that say that a limit is reached. */
  readonly limits: readonly string[];
}

export interface Operation {
  readonly method: string;
  /** With values for its parameters. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly type?: string | undefined;
}

const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE', 'PATCH', 'PUT', 'BREW', ''];
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
/** Values of JSON that no form expects. */
const oddValues = [
  'null',
  'true',
  '-1',
  '1e999',
  '99999999999999999999',
  '""',
  '"\\u0000"',
  '"a\\ud800"',
  '"\\u202e"',
  `"${'x'.repeat(5000)}"`,
  '[]',
  '{}',
  '{"__proto__":1}',
  `${'['.repeat(200)}${']'.repeat(200)}`,
  '[1,"2",null]',
];

class Requests {
  readonly #choose: Seeded;
  readonly #door: Door;

  constructor(door: Door, seed: number) {
    this.#door = door;
    this.#choose = new Seeded(seed);
  }

  /** The last request on a connection may be one that ends it. */
  next(isLast: boolean): Buffer {
    const choose = this.#choose;
    const odd = () => choose.pick(isLast ? rawTexts : oddTexts);
    const operation = choose.pick(this.#door.operations);
    const method = choose.chance(0.9) ? operation.method : choose.pick(methods.slice(0, isLast ? methods.length : -2));
    const path = choose.chance(0.5) ? operation.path : this.#spoil(operation.path, odd());
    const body = this.#body(operation);
    const type = choose.chance(0.95) ? (operation.type ?? 'application/json') : choose.pick(['text/plain', odd()]);
    const headers = [
      ...this.#headers(odd),
      ...(body === undefined ? [] : [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`]),
      ...(isLast ? [...this.#lastHeaders(odd), 'Connection: close'] : []),
    ];
    const text = Buffer.from(`${method} ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`, 'latin1');
    const whole = body === undefined ? text : Buffer.concat([text, Buffer.from(body)]);
    return isLast && choose.chance(0.5) ? this.#damaged(whole) : whole;
  }

  /** A body of the operation with an odd value, or damaged. */
  #body({ body }: Operation): string | undefined {
    const choose = this.#choose;
    if (body === undefined || choose.chance(0.2)) return body;
    if (choose.chance(0.1)) return this.#spoil(body, choose.pick(rawTexts));
    const values = [...body.matchAll(/"[^"]*"(?!\s*:)|\b\d+\b/g)];
    if (values.length === 0) return body;
    const { 0: value, index } = choose.pick(values);
    return `${body.slice(0, index)}${choose.pick(oddValues)}${body.slice(index + value.length)}`;
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
    const { headers, spoiled } = this.#door;
    const own = Object.entries(headers()).map(
      ([name, value]) => `${name}: ${name === spoiled && choose.chance(0.1) ? odd() : value}`,
    );
    return [...own, ...conditions.map((make) => make())];
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

/** Statuses of answers, and codes of those that are the service's own failures. */
interface Answers {
  readonly statuses: readonly number[];
  readonly failures: readonly string[];
}

/** Sends requests on one connection, the last one when the others are answered. */
function send(api: URL, requests: readonly Buffer[]): Promise<Answers> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const found = (form: RegExp) =>
      [...Buffer.concat(chunks).toString('latin1').matchAll(form)].map(([, text]) => text!);
    const statuses = () => found(/HTTP\/1\.1 (\d{3}) /g).map(Number);
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
    socket.on('close', () => resolve({ statuses: statuses(), failures: found(/HTTP\/1\.1 5[^]*?"code":"(\w+)"/g) }));
  });
}

async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
}

/** Sends odd and damaged requests: none is answered with a failure, and the process stays within the limit of memory. */
export async function attack(door: Door, { size, seed }: { size: number; seed: number }): Promise<Figures> {
  const requests = new Requests(door, seed);
  const statuses = new Map<number, number>();
  const failures = new Set<string>();
  let [sent, answered, memory] = [0, 0, 0];
  const client = async () => {
    while (answered < size && sent < 4 * size) {
      sent += requestsPerConnection;
      const each = Array.from({ length: requestsPerConnection }, (_none, at) =>
        requests.next(at === requestsPerConnection - 1),
      );
      const answers = await send(new URL(door.url), each);
      answered += answers.statuses.length;
      for (const status of answers.statuses) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      for (const code of answers.failures) failures.add(code);
      if (sent % 10_000 < requestsPerConnection) memory = Math.max(memory, await memoryOf(door.service.pid));
    }
  };
  await Promise.all(Array.from({ length: connectionsAtATime }, client));
  memory = Math.max(memory, await memoryOf(door.service.pid));
  const answers = [...statuses];
  expect(door.service.log()).toBe('');
  expect([...failures].filter((code) => !door.limits.includes(code))).toEqual([]);
  expect(answers.filter(([status]) => status >= 500 && ![501, 503, 505].includes(status))).toEqual([]);
  expect(answered).toBeGreaterThanOrEqual(size);
  expect(statuses.get(200)).toBeGreaterThan(0);
  expect(memory).toBeLessThan(memoryBytesMax);
  return { requests: sent, answers: answered, mebibytes: [memory / 2 ** 20] };
}
