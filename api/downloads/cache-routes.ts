import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requireScope } from '../../pipelines/access/authentication.ts';
import { CACHES, findCache, type CacheName } from '../../pipelines/caches/definition.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { privateHeaders, sendAnswer, sendDocument } from '../http/answer.ts';
import {
  describeDelta,
  describeDocument,
  describeDownload,
  describeFilter,
  describeIndex,
} from '../documents/descriptions.ts';
import { planDownload, type DownloadPlan, type DownloadRequest, type Representation } from './download-plan.ts';
import type { Downloads } from './downloads.ts';
import type { Headers } from '../http/conditional.ts';
import type { Metrics } from '../http/metrics.ts';
import { withHeaders } from '../http/problem.ts';
import type { PublicationIndex, ServedArtefact } from './publication-index.ts';
import {
  cacheQuery,
  categoryListSchema,
  deltaQuery,
  manifestListSchema,
  manifestSchema,
  noQuery,
} from '../documents/schemas.ts';
import { waitForTurn } from './send-file.ts';
import type { VersionFile } from './version-files.ts';

/** Dependencies of the cache routes. */
export interface CacheRoutesOptions {
  readonly publications: PublicationIndex;
  readonly downloads: Downloads;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** Cache files, manifests and categories. Every route needs the scope `caches:read`. */
export function registerCacheRoutes(app: FastifyInstance, options: CacheRoutesOptions): void {
  app.addHook('onRequest', async (request) => void requireScope(request.caller, 'caches:read'));
  for (const { name, path, filterKeys } of CACHES) {
    registerDownload(app, name, `/v1/caches/${path}`, options);
    registerManifest(app, name, `/v1/caches/${path}/manifest`, options);
    registerDelta(app, name, `/v1/caches/${path}/delta`, options);
    registerSideFile(app, name, 'index', { path, ...options });
    if (filterKeys !== null) registerSideFile(app, name, 'filter', { path, ...options });
  }
  registerLists(app, options);
  for (const part of ['manifest', 'delta', 'index'])
    app.get(`/v1/caches/:cache/${part}`, { schema: { hide: true } }, (request) =>
      findCache((request.params as { cache: string }).cache),
    );
  app.get('/v1/caches/:cache/filter', { schema: { hide: true } }, (request) =>
    refuseFilter((request.params as { cache: string }).cache),
  );
}

/** @throws ServiceError `cache_unknown`, or `artefact_not_found` for a cache that has no filter */
function refuseFilter(cache: string): never {
  findCache(cache);
  const having = CACHES.filter(({ filterKeys }) => filterKeys !== null).map(({ name }) => name);
  throw new ServiceError('artefact_not_found', {
    operation: 'read filter',
    problem: `This cache has no filter; ${having.join(' and ')} have one.`,
  });
}

function registerDownload(
  app: FastifyInstance,
  cache: CacheName,
  url: string,
  { publications, downloads, metrics, now }: CacheRoutesOptions,
): void {
  const definition = findCache(cache);
  const schema = { querystring: cacheQuery(definition), ...describeDownload(definition) };
  app.get(url, { schema }, async (request, reply) => {
    const artefact = publications.find({ cache, country: countryOf(request) });
    const { status, headers, send } = planAnswer(request, artefact.representation, now());
    if (send === undefined) sendAnswer(request, reply, { status, headers }, metrics);
    else await downloads.send(request, reply, { artefact, status, headers, span: send });
  });
}

/** The answer to a request for a file. @throws ServiceError `precondition_failed`, `range_not_satisfiable` */
export function planAnswer(
  request: FastifyRequest,
  representation: Representation,
  now: number,
): Exclude<DownloadPlan, { refusal: unknown }> {
  const plan = planDownload(request as DownloadRequest, representation, now);
  if ('refusal' in plan)
    throw withHeaders(new ServiceError(plan.refusal, { operation: 'read artefact' }), plan.headers);
  return plan;
}

function registerDelta(app: FastifyInstance, cache: CacheName, url: string, options: CacheRoutesOptions): void {
  const definition = findCache(cache);
  const schema = { querystring: deltaQuery(definition), ...describeDelta(definition) };
  app.get(url, { schema }, async (request, reply) => {
    const artefact = options.publications.find({ cache, country: countryOf(request) });
    const delta = artefact.deltas.get((request.query as { from: number }).from);
    const unavailable = deltaGone(artefact);
    if (delta === undefined) throw unavailable;
    await sendVersionFile(request, reply, { artefact, file: delta, unavailable, ...options });
  });
}

function deltaGone({ manifest }: ServedArtefact): ServiceError {
  return new ServiceError('delta_gone', {
    operation: 'read delta',
    problem: `No delta leads from that version to version ${manifest.version}.`,
    hint: `Take the whole file: ${manifest.file.href}`,
  });
}

/** The files of a version other than its rows. */
const sideFiles = {
  index: { name: 'segment index', describe: describeIndex },
  filter: { name: 'filter', describe: describeFilter },
} as const;

function registerSideFile(
  app: FastifyInstance,
  cache: CacheName,
  part: keyof typeof sideFiles,
  { path, ...options }: CacheRoutesOptions & { readonly path: string },
): void {
  const definition = findCache(cache);
  const { name, describe } = sideFiles[part];
  const schema = { querystring: cacheQuery(definition), ...describe(definition) };
  app.get(`/v1/caches/${path}/${part}`, { schema }, async (request, reply) => {
    const artefact = options.publications.find({ cache, country: countryOf(request) });
    const file = artefact[part];
    const operation = `read ${name}`;
    if (file === undefined)
      throw new ServiceError('artefact_not_found', {
        operation,
        problem: 'The published version has no filter; the next night makes one.',
      });
    const unavailable = new ServiceError('not_ready', {
      operation,
      problem: `The ${name} cannot be read at the moment.`,
    });
    await sendVersionFile(request, reply, { artefact, file, unavailable, ...options });
  });
}

/** A requested file of a version, and the error to throw if it cannot be opened. */
interface VersionFileAnswer extends CacheRoutesOptions {
  readonly artefact: ServedArtefact;
  readonly file: VersionFile;
  readonly unavailable: ServiceError;
  /** Instead of those of the file. */
  readonly extraHeaders?: Headers;
}

/**
 * Answers with a file of a version, opened for this answer only and, with pipelined requests, only when the answer is
 * next on its connection: one connection never holds more than one descriptor.
 */
export async function sendVersionFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { artefact, file, unavailable, extraHeaders = {}, ...options }: VersionFileAnswer,
): Promise<void> {
  const { publications, downloads, metrics, now } = options;
  const { status, headers: planned, send } = planAnswer(request, file.representation, now());
  const headers = { ...planned, ...extraHeaders };
  if (send === undefined) return sendAnswer(request, reply, { status, headers }, metrics);
  if (!(await waitForTurn(reply.raw, request.raw.socket))) return void reply.hijack();
  const opened = await publications.openVersionFile(file);
  if (opened === undefined) throw unavailable;
  try {
    await downloads.send(request, reply, {
      artefact: { name: artefact.name, file: opened },
      status,
      headers,
      span: send,
    });
  } finally {
    opened.retire();
  }
}

function registerManifest(
  app: FastifyInstance,
  cache: CacheName,
  url: string,
  { publications, metrics }: CacheRoutesOptions,
): void {
  const definition = findCache(cache);
  const description = describeDocument({
    operationId: `getManifest_${cache}`,
    summary: `Manifest of the ${definition.title.toLowerCase()}`,
    tag: 'Caches',
    schema: manifestSchema,
    codes: ['artefact_not_found'],
    perCountry: definition.perCountry,
  });
  app.get(url, { schema: { querystring: cacheQuery(definition), ...description } }, async (request, reply) => {
    const { manifestDocument } = publications.find({ cache, country: countryOf(request) });
    sendDocument(request, reply, manifestDocument, { headers: privateHeaders, metrics });
  });
}

function registerLists(app: FastifyInstance, { publications, metrics }: CacheRoutesOptions): void {
  const list = describeDocument({
    operationId: 'listManifests',
    summary: 'Manifests of every published artefact',
    tag: 'Caches',
    schema: manifestListSchema,
  });
  app.get(
    '/v1/caches',
    { schema: { querystring: noQuery, ...list } },
    async (request: FastifyRequest, reply: FastifyReply) =>
      sendDocument(request, reply, publications.snapshot.manifests, { headers: privateHeaders, metrics }),
  );

  const categories = describeDocument({
    operationId: 'listCategories',
    summary: 'Reputation categories',
    tag: 'Reputation',
    schema: categoryListSchema,
  });
  app.get(
    '/v1/reputation/categories',
    { schema: { querystring: noQuery, ...categories } },
    async (request: FastifyRequest, reply: FastifyReply) =>
      sendDocument(request, reply, publications.snapshot.categories, { headers: privateHeaders, metrics }),
  );
}

/** The country of a validated query; '' for a cache that is not split by country. */
function countryOf(request: FastifyRequest): string {
  return (request.query as { country?: string }).country ?? '';
}
