import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../../clients/typescript/service/byte-store.ts';
import { lookUp } from '../../../../clients/typescript/service/look-up.ts';
import { ServiceClient } from '../../../../clients/typescript/service/service-client.ts';
import { Seeded } from '../../../../runtime/seeded.ts';
import { sha256Of } from '../../../../runtime/digest.ts';
import { seed, sizes } from '../../../support/run-size.ts';
import { writeFile } from '../../publication-set.ts';

const artefact = { cache: 'phones', country: 'US' } as const;
const columns = ['phone', 'reputation_level', 'reputation_category', 'display_name'].map((name) => ({
  name,
  type: 'text',
  meaning: 'What a reader of this column has to know about its values.',
}));
const random = new Seeded(seed);
const oneOf = (...words: string[]) => words[Math.floor(random.next() * words.length)]!;

/** Numbers as 5 million of them lie in the plan of the United States: one in 560 that there can be. */
const phones = Array.from(
  { length: sizes.lookUpRows },
  (_, at) => `+1${2_012_000_000 + 560 * at + Math.floor(560 * random.next())}`,
);

/** A level, a category, or a name of two words and a number. */
function rowOf(phone: string): string {
  if (random.next() < 0.4) return `${phone}\t${oneOf('SPAM', 'FRAUD')}\t${oneOf('1', '2', '6', '7', '9', '10')}\t\n`;
  const name = `${oneOf('Acme', 'Lakeside', 'Northern', 'Union')} ${oneOf('Dental', 'Bank', 'Clinic', 'Motors')}`;
  return `${phone}\tNEUTRAL\t\t${name} ${Math.floor(1000 * random.next())}\n`;
}

async function* rowsOf(listed: readonly string[]): AsyncGenerator<Buffer> {
  for (let at = 0; at < listed.length; at += 5000) {
    const rows = listed.slice(at, at + 5000).map(rowOf);
    yield Buffer.from(rows.join(''));
  }
}

/** A version as a service serves it, with 14 deltas in its manifest. */
async function publish(version: number, listed: readonly string[]) {
  const { bytes, index, facts, indexFacts } = await writeFile(rowsOf(listed));
  const deltas = Array.from({ length: 14 }, (_, at) => ({
    from: version - 1 - at,
    href: `/v1/caches/phones/delta?from=${version - 1 - at}&country=US`,
    bytes: 500_000,
    sha256: sha256Of(Buffer.from(String(at))),
    added: 1000,
    changed: 10_000,
    removed: 1000,
  }));
  const manifest = Buffer.from(
    JSON.stringify({
      schema: 'caller-trust/manifest/1',
      ...artefact,
      version,
      rows: listed.length,
      columns,
      file: { href: '/rows', ...facts },
      deltas,
      index: { href: '/index', ...indexFacts },
      filter: null,
    }),
  );
  const files = [bytes, index, manifest].map((content) => ({ content, etag: `"${sha256Of(content)}"` }));
  return { indexFacts, files: new Map(['/rows', '/index', manifestPath].map((path, at) => [path, files[at]!])) };
}

const manifestPath = '/v1/caches/phones/manifest?country=US';
const published = await publish(15, phones);
const next = await publish(16, phones.slice(0, 5000));
let { files } = published;

let asked: string[] = [];
let afterManifest = () => {};
const server = createServer((request, response) => {
  const { content, etag } = files.get(request.url!)!;
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  asked.push(request.url!);
  if (request.url === manifestPath) afterManifest();
  if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
  if (start === undefined || request.headers['if-range'] !== etag)
    return void response.writeHead(200, { ETag: etag }).end(content);
  response
    .writeHead(206, { ETag: etag, 'Content-Range': `bytes ${start}-${end}/${content.length}` })
    .end(content.subarray(Number(start), Number(end) + 1));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => void server.close().closeAllConnections());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** What a look-up finds, receives and asks for. */
async function look(phone: string, options: { store?: MemoryStore } = {}) {
  asked = [];
  const client = new ServiceClient({ url });
  const { version, row } = await lookUp({ client, artefact, phone, ...options });
  return { version, found: row?.['phone'], received: client.bytesReceived, asked };
}

const [first, last] = [phones[0]!, phones.at(-1)!];

describe('a look-up in a published file', () => {
  it('receives fewer than 50,000 bytes, whichever number it is', async () => {
    const received: number[] = [];
    for (let turn = 0; turn < 40; turn++) {
      const phone = phones[Math.floor(random.next() * phones.length)]!;
      const looked = await look(phone);
      expect(looked.found).toBe(phone);
      received.push(looked.received);
    }
    expect(Math.max(...received)).toBeLessThan(50_000);
    expect(Math.min(...received)).toBeGreaterThan(10_000);
  });

  it('asks for directory, page and segment, and the next time for what it has not kept', async () => {
    const store = new MemoryStore();
    expect((await look(first, { store })).asked).toEqual([manifestPath, '/index', '/index', '/rows']);
    const ofSamePage = await look(phones[1]!, { store });
    expect([ofSamePage.found, ofSamePage.asked]).toEqual([phones[1], [manifestPath, '/rows']]);
    expect(ofSamePage.received).toBeLessThanOrEqual(published.indexFacts.blockBytesMax);
    expect((await look(last, { store })).asked).toEqual([manifestPath, '/index', '/rows']);
  });

  it('begins again with the version that is published meanwhile, whatever was kept', async () => {
    const store = new MemoryStore();
    await look(last, { store });
    afterManifest = () => void ({ files } = next);
    expect(await look(first, { store })).toMatchObject({ version: 16, found: first });
    expect((await look(last, { store })).found).toBeUndefined();
  });
});
