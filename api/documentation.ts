import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { CACHES } from '../pipelines/caches/definition.ts';
import { indexMediaType } from '../pipelines/caches/manifest.ts';
import { EXAMPLES } from './documents/examples.ts';
import { API_ERROR_CODES } from './http/error-codes.ts';
import { exampleProblem, problemMediaType } from './http/problem.ts';
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
  responses?: Record<string, Response>;
}

interface Response {
  description?: string;
  content?: Record<string, { schema?: { $ref?: string }; example?: unknown }>;
  headers?: Record<string, unknown>;
}

/** What each group of operations is about, in the order of the page. */
const tags = [
  { name: 'Caches', description: 'Manifests, files, deltas and segment indexes of the nightly caches.' },
  { name: 'Trust', description: 'Signed metadata, and the files that it names.' },
  { name: 'Reputation', description: 'What the categories mean.' },
  { name: 'Numbers', description: 'The label of one number as it is now, with its reason.' },
  { name: 'Branding', description: 'Brands, their numbers and their letters.' },
  { name: 'Verifications', description: 'Verifications of recordings, and the batches that they belong to.' },
  { name: 'Models', description: 'The registry of models.' },
  { name: 'Releases', description: 'What changed from release to release.' },
  { name: 'Health', description: 'Whether the process lives, and whether it can answer.' },
];

/** The name of the service, instead of the logo of the page's library. */
const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="170" height="40" viewBox="0 0 170 40"><text x="2" y="27" font-family="sans-serif" font-size="22" font-weight="600" fill="#fff">Caller Trust</text></svg>`;
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#1b4b66"/><text x="16" y="22" text-anchor="middle" font-family="sans-serif" font-size="16" font-weight="600" fill="#fff">CT</text></svg>`;

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
          'Nightly caches of phone reputation and branded calling, their signatures, the labels of numbers, the standing of brands, verifications of recordings, and the registry of their models. Read only: every path answers GET, and HEAD with the same headers. Errors are `application/problem+json`. Figures in examples are invented.',
      },
      servers: [{ url: '/', description: 'The service that serves this document.' }],
      tags,
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
    logo: { type: 'image/svg+xml', content: Buffer.from(logo) },
    theme: {
      title: 'Caller Trust API',
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: icon }],
    },
    uiConfig: { validatorUrl: null, supportedSubmitMethods: ['get', 'head'] },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async (request, reply) =>
    sendDocument(request, reply, read().json, { headers: { 'Cache-Control': 'no-cache' }, metrics }),
  );
}

/**
 * Adds what the framework cannot know: the headers and an example of each answer. HEAD is not described for each GET: it has the
 * same headers. Removes the schemas of request bodies, which the framework generates with each schema: no request has a body.
 */
function finishDocument(document: ApiDocument): ApiDocument {
  const paths = Object.entries(document.paths ?? {}).map(([path, { get }]) => {
    const responses = Object.entries(get?.responses ?? {}).map(([status, response]) => [
      status,
      { ...withExamples(response), headers: headersOf(path, status) },
    ]);
    return [path, { get: { ...get, responses: Object.fromEntries(responses) } }] as const;
  });
  const schemas = Object.entries(document.components?.schemas ?? {}).filter(([name]) => !name.endsWith('Input'));
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: { ...document.components, schemas: Object.fromEntries(schemas) },
  };
}

/** A request id for examples. */
const requestId = '5f0c5a86-5a5e-4b53-9a3f-1c0f7e2c9d11';

/** A segment index has no schema of its own. */
const indexExample = `+1\t10\t9761\t46441\t1118\t8f3a0c1e\t402\t520\t196\t${'5'.repeat(64)}\t77c1d2e0\n`;

function withExamples(response: Response): Response {
  if (response.content === undefined) return response;
  const content = Object.entries(response.content).map(([mediaType, body]) => {
    const example = exampleOf(response, { mediaType, schema: body.schema });
    return [mediaType, example === undefined ? body : { ...body, example }] as const;
  });
  return { ...response, content: Object.fromEntries(content) };
}

/** Undefined for compressed files. */
function exampleOf(
  { description = '' }: Response,
  { mediaType, schema }: { mediaType: string; schema?: { $ref?: string } },
): unknown {
  if (mediaType === indexMediaType) return indexExample;
  if (mediaType !== problemMediaType) return EXAMPLES[schema?.$ref?.split('/').at(-1) ?? ''];
  const code = API_ERROR_CODES.find((each) => description.startsWith(`\`${each}\``));
  return code && exampleProblem(code, requestId);
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
const requestIdHeader = { 'X-Request-Id': text('Names this request in the log of the service.') };
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
    return {
      ...versionHeaders,
      ...contentHeaders,
      'Content-Range': text('Which bytes of how many.'),
      ...requestIdHeader,
    };
  if (status === '200' && isDownload) return { ...versionHeaders, ...contentHeaders, ...requestIdHeader };
  if (status === '304' && isDownload) return { ...versionHeaders, ...requestIdHeader };
  if ((status === '200' || status === '304') && path.startsWith('/v1/'))
    return {
      ETag: text('Strong entity tag of the document.'),
      ...(pagedPaths.has(path) ? link : {}),
      ...requestIdHeader,
    };
  return { ...errorHeaders[status], ...requestIdHeader };
}

const errorHeaders: Readonly<Record<string, Record<string, unknown>>> = {
  401: { 'WWW-Authenticate': text('`Bearer`') },
  405: { Allow: text('`GET, HEAD`') },
  416: { 'Content-Range': text('`bytes */` and the bytes of the file.') },
  429: { 'Retry-After': integer('Seconds to wait.') },
  503: { 'Retry-After': integer('Seconds to wait.') },
};
