import type { Json } from './http/operations.ts';

/** The OpenAPI 3.1 document of the intake, from the operations that its routes describe. */
export function makeOpenApiDocument(paths: Readonly<Record<string, Json>>): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Caller Trust intake',
      version: '1',
      description:
        'Takes work from remote clients: files in pieces that can be resumed (draft-ietf-httpbis-resumable-upload-10), batches of recordings, requests for branding with letters, feeds, and disputes of labels. Each request becomes the work that the same command makes, once for its Idempotency-Key. The outcome is read at the API. Errors are `application/problem+json`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This intake.' }],
    tags: [
      { name: 'Uploads', description: 'Files, in one piece or in several, before the request that uses them.' },
      { name: 'Batches', description: 'Recordings to be verified.' },
      { name: 'Branding', description: 'Managed brands, their letters and their numbers.' },
      { name: 'Feeds', description: 'What senders of feeds know about numbers.' },
      { name: 'Disputes', description: 'Requests that a person looks at the label of a number again.' },
      { name: 'Health', description: 'The state of this process.' },
    ],
    paths,
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A key from `caller-trust keys create` with the scope of the operation: `batches:write`, `branding:write`, `feeds:write` or `numbers:dispute`.',
        },
      },
      schemas: { Problem: problemSchema },
    },
  };
}

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', description: 'Stable; docs/errors.md has every code.' },
    detail: { type: 'string' },
    requestId: { type: 'string' },
  },
};
