import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CACHES, findCache, type CacheName } from '../pipelines/caches/definition.ts';
import { ServiceError } from '../runtime/errors.ts';
import { sendAnswer, sendDocument } from './answer.ts';
import { requireScope } from './authentication.ts';
import { describeDocument, describeDownload } from './descriptions.ts';
import { planDownload, type DownloadRequest } from './download-plan.ts';
import type { Downloads } from './downloads.ts';
import type { Metrics } from './metrics.ts';
import { withHeaders } from './problem.ts';
import type { PublicationIndex } from './publication-index.ts';
import { cacheQuery, categoryListSchema, manifestListSchema, manifestSchema, noQuery } from './schemas.ts';

/** What the routes of the caches answer from. */
export interface CacheRoutesOptions {
  readonly publications: PublicationIndex;
  readonly downloads: Downloads;
  readonly metrics: Metrics;
  readonly now: () => number;
}

const documentHeaders = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization' };

/** The caches: their files, their manifests, and the categories. Everything needs the scope `caches:read`. */
export function registerCacheRoutes(app: FastifyInstance, options: CacheRoutesOptions): void {
  app.addHook('onRequest', async (request) => void requireScope(request.caller, 'caches:read'));
  for (const { name, path } of CACHES) {
    registerDownload(app, name, `/v1/caches/${path}`, options);
    registerManifest(app, name, `/v1/caches/${path}/manifest`, options);
  }
  registerLists(app, options);
  app.get('/v1/caches/:cache/manifest', { schema: { hide: true } }, (request) => findCache((request.params as { cache: string }).cache));
}

function registerDownload(app: FastifyInstance, cache: CacheName, url: string, { publications, downloads, metrics, now }: CacheRoutesOptions): void {
  const definition = findCache(cache);
  const schema = { querystring: cacheQuery(definition), ...describeDownload(definition) };
  app.get(url, { schema }, async (request, reply) => {
    const artefact = publications.find({ cache, country: countryOf(request) });
    const plan = planDownload(request as DownloadRequest, artefact.representation, now());
    if ('refusal' in plan) throw withHeaders(new ServiceError(plan.refusal, { operation: 'read artefact' }), plan.headers);
    const { status, headers, send } = plan;
    if (send === undefined) sendAnswer(request, reply, { status, headers }, metrics);
    else await downloads.send(request, reply, { artefact, status, headers, span: send });
  });
}

function registerManifest(app: FastifyInstance, cache: CacheName, url: string, { publications, metrics }: CacheRoutesOptions): void {
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
    sendDocument(request, reply, manifestDocument, { headers: documentHeaders, metrics });
  });
}

function registerLists(app: FastifyInstance, { publications, metrics }: CacheRoutesOptions): void {
  const list = describeDocument({ operationId: 'listManifests', summary: 'Manifests of every published artefact', tag: 'Caches', schema: manifestListSchema });
  app.get('/v1/caches', { schema: { querystring: noQuery, ...list } }, async (request: FastifyRequest, reply: FastifyReply) =>
    sendDocument(request, reply, publications.snapshot.manifests, { headers: documentHeaders, metrics }));

  const categories = describeDocument({ operationId: 'listCategories', summary: 'Reputation categories', tag: 'Reputation', schema: categoryListSchema });
  app.get('/v1/reputation/categories', { schema: { querystring: noQuery, ...categories } }, async (request: FastifyRequest, reply: FastifyReply) =>
    sendDocument(request, reply, publications.snapshot.categories, { headers: documentHeaders, metrics }));
}

/** The country of a query that its schema has passed; '' for a cache that is not split by country. */
function countryOf(request: FastifyRequest): string {
  return (request.query as { country?: string }).country ?? '';
}
