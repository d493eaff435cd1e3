import { createReadStream } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { basename, dirname } from 'node:path';
import staticFiles from '@fastify/static';
import fastify from 'fastify';
import { ArtefactDirectory } from '../pipelines/caches/store/artefact-directory.ts';
import { startApiService } from './api-service.ts';

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

/** A substitute for the database: the rows of one publication and one key. */

async function startOurs({ directory, sha256, bytes }: ServerToStart): Promise<StartedServer> {
  const at = new Date();
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
    filter: null,
    deltas: [],
  };
  const { url, key, publish } = await startApiService(new ArtefactDirectory(directory));
  const artefact = { cache: 'spammer_phones', country: '', status: 'fresh', stale: null };
  await publish({ ...artefact, confirmedAsOf: at, published, previous: null });
  return { url: `${url}/v1/caches/spammer_phones`, headers: { authorization: `Bearer ${key}` } };
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
