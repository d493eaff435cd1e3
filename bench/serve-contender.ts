import { createReadStream } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { basename, dirname } from 'node:path';
import staticFiles from '@fastify/static';
import fastify from 'fastify';
import { formatKey, generateKey, hashKey } from '../pipelines/access/key-text.ts';
import { KeyTable } from '../pipelines/access/key-table.ts';
import { openMetrics } from '../runtime/metrics/prometheus.ts';
import { createMetrics } from '../api/http/metrics.ts';
import { PublicationIndex } from '../api/downloads/publication-index.ts';
import { SignedDocuments } from '../api/downloads/signed-documents.ts';
import { RequestReads } from '../api/http/request-reads.ts';
import { createServer } from '../api/server.ts';
import { ArtefactDirectory } from '../pipelines/caches/store/artefact-directory.ts';
import { loadConfig } from '../runtime/config.ts';
import { createLog } from '../runtime/log.ts';
import type { Queryable } from '../runtime/postgres.ts';
import { sql } from '../sql/sql.ts';

/** The parameters of a server of the bench, as JSON on its command line. */
export interface ServerToStart {
  readonly contender: 'ours' | 'static' | 'pipe';
  readonly directory: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly path: string;
}

/** What it answers: where the file is, and what a client must send. */
export interface StartedServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const secret = 'x'.repeat(32);

/** A substitute for the database: the rows of one publication and one key. */
function makeRows(answers: Record<string, unknown[]>): Queryable {
  return { query: async (text: string) => ({ rows: answers[text] ?? [] }) } as unknown as Queryable;
}

async function startOurs({ directory, sha256, bytes }: ServerToStart): Promise<StartedServer> {
  const at = new Date();
  const parts = generateKey();
  const published = {
    version: 1,
    buildId: 1,
    asOf: at,
    builtAt: at,
    publishedAt: at,
    rows: 1,
    levels: {},
    categoriesVersion: 1,
    file: {
      bytes,
      sha256,
      plainBytes: bytes,
      plainCrc32: null,
      contentSha256: sha256,
      segmentRowsMax: 1,
      plainSha256: null,
    },
    index: null,
    deltas: [],
  };
  const db = makeRows({
    [sql('caches/list_publications')]: [
      {
        cache: 'spammer_phones',
        country: '',
        status: 'fresh',
        stale: null,
        confirmedAsOf: at,
        published,
        previous: null,
      },
    ],
    [sql('access/list_usable_keys')]: [
      {
        keyId: parts.keyId,
        client: 'bench',
        hash: hashKey(parts.random, secret),
        scopes: ['caches:read'],
        brand: null,
        expiresAt: null,
      },
    ],
  });
  const log = createLog({ level: 'silent', process: 'bench' });
  const publications = new PublicationIndex({ store: new ArtefactDirectory(directory), log });
  const keys = new KeyTable({ secret: async () => secret });
  await publications.refresh(db);
  await keys.refresh(db);
  const limits = loadConfig({ API_REQUESTS_PER_MINUTE_MAX: '100000000' });
  const metrics = createMetrics({ metrics: openMetrics('api'), publications });
  const app = await createServer({
    limits,
    publications,
    signed: new SignedDocuments(),
    keys,
    reads: new RequestReads({ opened: () => undefined, metrics }),
    modelDir: directory,
    metrics,
    readiness: () => {
      throw new Error('not asked');
    },
    log,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url: `${url}/v1/caches/spammer_phones`, headers: { authorization: `Bearer ${formatKey(parts)}` } };
}

async function startStatic({ path }: ServerToStart): Promise<StartedServer> {
  const app = fastify();
  await app.register(staticFiles, { root: dirname(path) });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url: `${url}/${basename(path)}`, headers: {} };
}

/** What few lines give: no keys, no conditions but one, no limits. */
async function startPipe({ path, sha256, bytes }: ServerToStart): Promise<StartedServer> {
  const server = createHttpServer((request, response) => {
    if (request.headers['if-none-match'] === `"${sha256}"`)
      return void response.writeHead(304, { ETag: `"${sha256}"` }).end();
    response.writeHead(200, { 'Content-Length': bytes, ETag: `"${sha256}"` });
    if (request.method === 'HEAD') response.end();
    else createReadStream(path).pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, headers: {} };
}

const asked = JSON.parse(process.argv[2] ?? '') as ServerToStart;
const start = { ours: startOurs, static: startStatic, pipe: startPipe }[asked.contender];
process.once('disconnect', () => process.exit());
process.send!(await start(asked));
