import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';
import { packageRoot } from '../../runtime/package-root.ts';

const compress = promisify(gzip);

/** A file of the pages, in memory. */
interface StaticFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** What the build makes for browsers. */
const pagesDirectory = join(packageRoot, 'dist', 'console', 'pages');

/** Name of the document of every page, in which `{digest}` is replaced by {@link digestOf} the other files. */
const documentName = 'index.html';

/** The other files have their digest in their path: a browser keeps them, for a year at most, and asks for them once a version. */
const kept = 'private, max-age=31536000, immutable';

/** The document is asked for again each time: it names the version. */
const askedAgain = 'no-cache';

/** Paths without pages; requests for them are counted. */
const noPages = ['/api/*', '/pages/*'];

/**
 * Serves the program and the styles of the pages from memory, and the same document for the path of every page. They are not
 * counted by the limiter, and read no database, so that a page can always say what is wrong.
 */
export async function registerStaticFiles(app: FastifyInstance): Promise<void> {
  const config = { access: 'nobody', isCounted: false } as const;
  const files = readFiles();
  const digest = digestOf(files);
  for (const [name, content] of files) {
    const file = await makeFile(name, content);
    app.get(`/pages/${digest}/${name}`, { config }, (request, reply) => sendFile(request, reply, file, kept));
  }
  const document = readFileSync(join(pagesDirectory, documentName), 'utf8').replaceAll('{digest}', digest);
  const page = await makeFile(documentName, Buffer.from(document));
  for (const path of noPages)
    app.get(path, { config: { access: 'nobody' } }, () => {
      throw new ServiceError('route_unknown', { operation: 'route request' });
    });
  app.get('/*', { config }, (request, reply) => sendFile(request, reply, page, askedAgain)); // the page itself reports an unknown path
}

/** The files other than the document, by name. */
function readFiles(): Map<string, Buffer> {
  if (!existsSync(join(pagesDirectory, documentName)))
    throw new ServiceError('process_failed', {
      operation: 'read pages',
      object: pagesDirectory,
      problem: 'The pages are not built.',
      hint: 'Run `npm run build`.',
    });
  const names = readdirSync(pagesDirectory).filter(
    (name) => name !== documentName && types[extname(name)] !== undefined,
  );
  return new Map(names.sort().map((name) => [name, readFileSync(join(pagesDirectory, name))]));
}

function digestOf(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash('sha256');
  for (const [name, content] of files) hash.update(`${name}\0${content.length}\0`).update(content);
  return hash.digest('hex').slice(0, 16);
}

/** Prepares a file; its extension decides the media type. */
async function makeFile(name: string, plain: Buffer): Promise<StaticFile> {
  return {
    type: types[extname(name)]!,
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    gzipped: await compress(plain),
  };
}

/** Sends a file, compressed if the browser accepts that, or 304. */
function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { type, etag, plain, gzipped }: StaticFile,
  caching: string,
): FastifyReply {
  void reply.headers({ 'Cache-Control': caching, ETag: etag, Vary: 'Accept-Encoding' });
  if (headers['if-none-match'] === etag) return reply.code(304).send();
  const isGzipped = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
  if (isGzipped) void reply.header('Content-Encoding', 'gzip');
  return reply.type(type).send(isGzipped ? gzipped : plain);
}
