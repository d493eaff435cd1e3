import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
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
  '.json': 'application/json',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
};

/** Static sources of the pages, and compiled modules. */
const pagesDirectory = join(packageRoot, 'console', 'pages');
const modulesDirectory = join(packageRoot, 'dist', 'console', 'pages');

const require = createRequire(import.meta.url);

/** Modules of packages, by the path under which pages import them. */
const packageModules: Record<string, string> = {
  'preact.js': 'preact/dist/preact.module.js',
  'preact-hooks.js': 'preact/hooks/dist/hooks.module.js',
  'htm.js': 'htm/dist/htm.module.js',
  'uplot.js': 'uplot/dist/uPlot.esm.js',
  'uplot.css': 'uplot/dist/uPlot.min.css',
};

/** Replaces imports between packages with paths. */
const importsOfPackages: readonly (readonly [RegExp, string])[] = [[/from\s*(["'])preact\1/g, 'from"./preact.js"']];

/** Path prefixes without pages. */
const noPage = /^\/(api|pages|modules)(\/|$)/;

/** Serves modules and styles from memory, and the same document for the path of every page. */
export async function registerStaticFiles(app: FastifyInstance): Promise<void> {
  const files = await readFiles();
  for (const [path, file] of files)
    app.get(path, { config: { access: 'nobody', isCounted: false } }, (request, reply) =>
      sendFile(request, reply, file),
    );
  const page = files.get('/pages/index.html')!;
  app.get('/*', { config: { access: 'nobody' } }, (request, reply) => {
    if (noPage.test(request.url)) throw new ServiceError('route_unknown', { operation: 'route request' });
    return sendFile(request, reply, page); // the page itself reports an unknown path
  });
}

async function readFiles(): Promise<Map<string, StaticFile>> {
  const files = new Map<string, StaticFile>();
  const add = async (path: string, name: string, content: Buffer) => files.set(path, await makeFile(name, content));
  for (const name of namesIn(pagesDirectory).filter((each) => ['.html', '.css', '.svg'].includes(extname(each))))
    await add(`/pages/${name}`, name, readFileSync(join(pagesDirectory, name)));
  for (const name of namesIn(modulesDirectory).filter((each) => extname(each) === '.js'))
    await add(`/pages/${name}`, name, readFileSync(join(modulesDirectory, name)));
  for (const [name, path] of Object.entries(packageModules)) await add(`/modules/${name}`, name, readModule(path));
  return files;
}

function namesIn(directory: string): string[] {
  return existsSync(directory)
    ? readdirSync(directory, { recursive: true }).map((name) => String(name).replaceAll('\\', '/'))
    : [];
}

function readModule(path: string): Buffer {
  const directory = require.resolve.paths(path)!.find((each) => existsSync(join(each, path))); // bypasses the exports of a package, which may not include the browser module
  if (directory === undefined)
    throw new ServiceError('process_failed', {
      operation: 'read pages',
      object: path,
      problem: 'A module of the pages is not installed.',
      hint: 'Run `npm ci`.',
    });
  const text = readFileSync(join(directory, path), 'utf8');
  const adapted = importsOfPackages.reduce((code, [pattern, replacement]) => code.replace(pattern, replacement), text);
  return Buffer.from(adapted.replace(/\n?\/\/# sourceMappingURL=\S+\s*$/, '\n'));
}

/** Prepares a file; its extension decides the media type. */
export async function makeFile(name: string, plain: Buffer): Promise<StaticFile> {
  return {
    type: types[extname(name)]!,
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    gzipped: await compress(plain),
  };
}

/** Sends a file, compressed if the browser accepts that, or 304. */
export function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { type, etag, plain, gzipped }: StaticFile,
): FastifyReply {
  void reply.headers({ 'Cache-Control': 'no-cache', ETag: etag, Vary: 'Accept-Encoding' });
  if (headers['if-none-match'] === etag) return reply.code(304).send();
  const isGzipped = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
  if (isGzipped) void reply.header('Content-Encoding', 'gzip');
  return reply.type(type).send(isGzipped ? gzipped : plain);
}
