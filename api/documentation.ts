import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { CACHES } from '../pipelines/caches/definition.ts';
import { sendDocument } from './http/answer.ts';
import { keySecurity } from './documents/descriptions.ts';
import { makeJsonDocument, type JsonDocument } from './http/json-document.ts';
import type { Metrics } from './http/metrics.ts';
import { namedSchemas } from './documents/schemas.ts';

/** The part of an OpenAPI document that {@link finishDocument} changes. */
interface ApiDocument {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, unknown> };
}

interface Operation {
  operationId?: string;
  responses?: Record<string, { description?: string; content?: unknown; headers?: Record<string, unknown> }>;
}

/** The documentation page loads from this server only, scripts and styles only from files. */
const pagePolicy = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** Collects the schemas of the routes registered after it, and serves `/openapi.json` and `/docs`. */
export async function registerDocumentation(app: FastifyInstance, { metrics }: { metrics: Metrics }): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Caller Trust',
        version: '1',
        description:
          'Nightly caches of phone reputation and branded calling, their signatures, the labels of numbers, the standing of brands, verifications of recordings, and the registry of their models. Read only: every path answers GET and HEAD. Errors are `application/problem+json`.',
      },
      tags: [
        { name: 'Caches' },
        { name: 'Trust' },
        { name: 'Reputation' },
        { name: 'Numbers' },
        { name: 'Branding' },
        { name: 'Verifications' },
        { name: 'Models' },
        { name: 'Releases' },
        { name: 'Health' },
      ],
      components: {
        securitySchemes: {
          [keySecurity]: {
            type: 'http',
            scheme: 'bearer',
            description:
              'A key from `caller-trust keys create`: with the scope `caches:read` for caches and categories, with `numbers:read` for numbers, with `branding:read` for brands, with `verifications:read` for verifications and batches.',
          },
        },
      },
    },
    transform: createJsonSchemaTransform({ schemaRegistry: namedSchemas }),
    transformObject: createJsonSchemaTransformObject({ schemaRegistry: namedSchemas }),
  });
  let finished: { document: ApiDocument; json: JsonDocument } | undefined;
  const read = () => {
    if (finished === undefined) {
      const document = finishDocument(app.swagger() as ApiDocument);
      finished = { document, json: makeJsonDocument(document) };
    }
    return finished;
  };
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: pagePolicy,
    transformSpecification: () => read().document as Record<string, unknown>,
    transformSpecificationClone: false,
    uiConfig: { validatorUrl: null, supportedSubmitMethods: ['get', 'head'] },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async (request, reply) =>
    sendDocument(request, reply, read().json, { headers: { 'Cache-Control': 'no-cache' }, metrics }),
  );
}

/**
 * Adds what the framework cannot know: the headers of each answer, and HEAD beside each GET. Removes the schemas of
 * request bodies, which the framework generates beside each schema: no request has a body.
 */
function finishDocument(document: ApiDocument): ApiDocument {
  const paths = Object.entries(document.paths ?? {}).map(([path, { get, ...others }]) => {
    if (get === undefined) return [path, others] as const;
    const described = {
      ...get,
      responses: Object.fromEntries(
        Object.entries(get.responses ?? {}).map(([status, response]) => [
          status,
          { ...response, headers: headersOf(path, status) },
        ]),
      ),
    };
    return [path, { ...others, get: described, head: headOf(described) }] as const;
  });
  const schemas = Object.entries(document.components?.schemas ?? {}).filter(([name]) => !name.endsWith('Input'));
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: { ...document.components, schemas: Object.fromEntries(schemas) },
  };
}

/** The same operation without bodies and without the answers to Range, which applies to GET only. */
function headOf({ operationId, responses, ...operation }: Operation): Operation {
  const withoutBodies = Object.entries(responses ?? {})
    .filter(([status]) => status !== '206' && status !== '416')
    .map(([status, { content: _content, ...response }]) => [status, response]);
  return { ...operation, operationId: `${operationId}_head`, responses: Object.fromEntries(withoutBodies) };
}

const text = (description: string) => ({ description, schema: { type: 'string' } });
const integer = (description: string) => ({ description, schema: { type: 'integer' } });

const versionHeaders = {
  ETag: text('Strong: the SHA-256 of the gzip bytes.'),
  'Last-Modified': text('When the version was published.'),
  'Cache-Control': text('`private, no-cache`: keep it, and ask before using it again.'),
  'X-Cache-Version': integer('Version of the artefact.'),
  'X-Cache-Rows': integer('Lines of the file.'),
  'X-Cache-As-Of': text('Time of the snapshot that the file was built from.'),
};
const contentHeaders = {
  'Content-Disposition': text('File name with cache, country and version.'),
  'Content-Length': integer('Bytes of this body.'),
  'Repr-Digest': text('SHA-256 of the whole file (RFC 9530).'),
  'Accept-Ranges': text('`bytes`'),
};
const requestId = { 'X-Request-Id': text('Names this request in the log of the service.') };
const link = { Link: text('`rel="next"`: the next page. Not on the last one.') };
const pagedPaths: ReadonlySet<string> = new Set([
  '/v1/brands',
  '/v1/brands/{handle}/numbers',
  '/v1/brands/{handle}/letters',
  '/v1/verifications',
  '/v1/batches',
  '/v1/batches/{id}',
]);
const downloadPaths = new Set(CACHES.map(({ path }) => `/v1/caches/${path}`));

function headersOf(path: string, status: string): Record<string, unknown> {
  const isDownload = downloadPaths.has(path);
  if (status === '206')
    return { ...versionHeaders, ...contentHeaders, 'Content-Range': text('Which bytes of how many.'), ...requestId };
  if (status === '200' && isDownload) return { ...versionHeaders, ...contentHeaders, ...requestId };
  if (status === '304' && isDownload) return { ...versionHeaders, ...requestId };
  if ((status === '200' || status === '304') && path.startsWith('/v1/'))
    return { ETag: text('Strong entity tag of the document.'), ...(pagedPaths.has(path) ? link : {}), ...requestId };
  return { ...errorHeaders[status], ...requestId };
}

const errorHeaders: Readonly<Record<string, Record<string, unknown>>> = {
  401: { 'WWW-Authenticate': text('`Bearer`') },
  405: { Allow: text('`GET, HEAD`') },
  416: { 'Content-Range': text('`bytes */` and the bytes of the file.') },
  429: { 'Retry-After': integer('Seconds to wait.') },
  503: { 'Retry-After': integer('Seconds to wait.') },
};
