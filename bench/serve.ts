/**
 * Claim: a nightly client that has the file already costs the API well under a millisecond and no disk, and a download
 * is not slower than `fs.createReadStream().pipe(response)` on a bare `node:http` server.
 *
 *   npx tsc -p tsconfig.build.json && node dist/bench/serve.js [MiB=256] [rounds=3]
 *
 * The clients run in a process of their own; the CPU time is that of the server.
 */
import { fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer as createHttpServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatKey, generateKey, hashKey } from '../api/key-text.ts';
import { KeyTable } from '../api/key-table.ts';
import { createMetrics } from '../api/metrics.ts';
import { PublicationIndex } from '../api/publication-index.ts';
import { RequestReads } from '../api/request-reads.ts';
import { createServer } from '../api/server.ts';
import { ArtefactStore } from '../pipelines/caches/artefact-store.ts';
import { loadConfig } from '../runtime/config.ts';
import { createLog } from '../runtime/log.ts';
import type { Queryable } from '../runtime/postgres.ts';
import { sql } from '../sql/sql.ts';
import { printSideBySide, runSideBySide } from './side-by-side.ts';

/** So many requests over so many connections that are kept alive. */
interface Load {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly requests: number;
  readonly connections: number;
  readonly status: number;
}

const secret = 'x'.repeat(32);
const conditionalRequests = 20_000;
const downloads = 4;

async function runClient(load: Load): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  let left = load.requests;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      get(load.url, { agent, headers: load.headers }, (response) => {
        if (response.statusCode !== load.status) reject(new Error(`status ${response.statusCode}`));
        response.resume().once('end', resolve);
      }).once('error', reject);
    });
  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      while (left-- > 0) await one();
    }),
  );
  agent.destroy();
}

async function runLoad(load: Load): Promise<void> {
  const client = fork(import.meta.filename, ['client', JSON.stringify(load)]);
  const [code] = (await once(client, 'exit')) as [number];
  if (code !== 0) throw new Error('the clients failed');
}

/** Stands for the database: the rows of one publication and one key. */
function makeRows(answers: Record<string, unknown[]>): Queryable {
  return { query: async (text: string) => ({ rows: answers[text] ?? [] }) } as unknown as Queryable;
}

async function startOurs(directory: string, bytes: Buffer): Promise<{ url: string; key: string; etag: string; path: string; close(): Promise<unknown> }> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const store = new ArtefactStore(directory);
  const name = { cache: 'spammer_phones', country: '', sha256 };
  const file = await store.start('bench');
  await file.handle.writeFile(bytes);
  await file.keep(name);
  const at = new Date();
  const parts = generateKey();
  const published = { ...name, version: 1, status: 'fresh', stale_code: null, confirmed_as_of: at, build_id: 1, as_of: at, built_at: at, published_at: at, rows: 1, levels: {}, categories_version: 1 };
  const db = makeRows({
    [sql('caches/list_publications')]: [{ ...published, file_sha256: sha256, file_bytes: bytes.length, plain_sha256: sha256, plain_bytes: bytes.length, previous_version: null }],
    [sql('api/list_usable_keys')]: [{ key_id: parts.keyId, client: 'bench', key_hash: hashKey(parts.random, secret), scopes: ['caches:read'], expires_at: null }],
  });
  const log = createLog({ level: 'silent', process: 'bench' });
  const publications = new PublicationIndex({ store, log });
  const keys = new KeyTable({ secret });
  await publications.refresh(db);
  await keys.refresh(db);
  const limits = loadConfig({ API_REQUESTS_PER_MINUTE_MAX: '100000000' });
  const metrics = createMetrics({ publications });
  const app = await createServer({ limits, publications, keys, reads: new RequestReads({ opened: () => undefined, metrics }), modelDir: directory, metrics, readiness: () => { throw new Error('not asked'); }, log });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url: `${url}/v1/caches/spammer_phones`, key: formatKey(parts), etag: `"${sha256}"`, path: store.path(name), close: () => app.close() };
}

async function main(mib: number, rounds: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'caller-trust-serve-'));
  const ours = await startOurs(directory, randomBytes(mib * 1024 * 1024));
  const plain = createHttpServer((request, response) => {
    if (request.headers['if-none-match'] === ours.etag) return void response.writeHead(304, { ETag: ours.etag }).end();
    response.writeHead(200, { 'Content-Length': mib * 1024 * 1024 });
    createReadStream(ours.path).pipe(response);
  }).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const plainUrl = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/`;

  const authorization = { authorization: `Bearer ${ours.key}` };
  const known = { headers: { ...authorization, 'if-none-match': ours.etag }, requests: conditionalRequests, connections: 32, status: 304 };
  console.log(`${conditionalRequests} conditional requests, answered 304`);
  printSideBySide(await runSideBySide([{ name: 'ours', run: () => runLoad({ url: ours.url, ...known }) }, { name: 'node:http, no checks', run: () => runLoad({ url: plainUrl, ...known }) }], rounds), 'node:http, no checks');

  const whole = { headers: authorization, requests: downloads, connections: downloads, status: 200 };
  console.log(`${downloads} downloads of ${mib} MiB at a time`);
  printSideBySide(await runSideBySide([{ name: 'ours', run: () => runLoad({ url: ours.url, ...whole }) }, { name: 'createReadStream().pipe()', run: () => runLoad({ url: plainUrl, ...whole }) }], rounds), 'createReadStream().pipe()');

  await ours.close();
  plain.close();
  await rm(directory, { recursive: true });
}

if (process.argv[2] === 'client') await runClient(JSON.parse(process.argv[3] ?? '') as Load);
else await main(Number(process.argv[2] ?? 256), Number(process.argv[3] ?? 3));
