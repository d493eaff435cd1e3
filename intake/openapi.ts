import { z } from 'zod';
import { problemMediaType } from '../api/http/problem.ts';
import { UPLOAD_KINDS } from '../pipelines/submissions/upload.ts';
import type { Scope } from '../pipelines/access/keys.ts';
import { ERRORS, type ErrorCode } from '../runtime/errors.ts';
import { idempotencyKeyForm } from '../runtime/idempotency-key.ts';
import { batchSchema } from './routes/batch-routes.ts';
import { brandingSchema } from './routes/branding-routes.ts';
import { disputeSchema } from './routes/dispute-routes.ts';
import { loadSchema } from './routes/feed-routes.ts';

type Json = Record<string, unknown>;

/** Errors of every route that needs a key. */
const guardedCodes = [
  'request_invalid',
  'unauthenticated',
  'forbidden',
  'method_not_allowed',
  'rate_limited',
  'not_ready',
  'database_unavailable',
  'internal',
] as const satisfies readonly ErrorCode[];

/** Errors of every request that becomes work. */
const submissionCodes = [
  'idempotency_key_required',
  'idempotency_conflict',
  'upload_too_large',
  'media_type_unsupported',
  'overloaded',
  'queue_full',
  'storage_unavailable',
] as const satisfies readonly ErrorCode[];

const useCodes = ['upload_unknown', 'upload_incomplete', 'upload_invalid'] as const satisfies readonly ErrorCode[];

/** The OpenAPI 3.1 document of the intake. */
export function makeOpenApiDocument(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Caller Trust intake',
      version: '1',
      description:
        'Takes work from remote clients: files in pieces that can be resumed (draft-ietf-httpbis-resumable-upload-10), batches of recordings, requests for branding with letters, feeds, and disputes of labels. Each request becomes the work that the same command makes, once for its Idempotency-Key. What became of it is read at the API. Errors are `application/problem+json`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This intake.' }],
    tags: ['Uploads', 'Batches', 'Branding', 'Feeds', 'Disputes', 'Health'].map((name) => ({ name })),
    security: [{ key: [] }],
    paths: {
      '/v1/uploads': { post: openingOperation() },
      '/v1/uploads/{upload}': {
        parameters: [pathParameter('upload', 'Id of the upload.')],
        head: offsetOperation(),
        patch: continuingOperation(),
        delete: givingUpOperation(),
      },
      '/v1/batches': {
        post: submission({
          operationId: 'submitBatch',
          tag: 'Batches',
          scope: 'batches:write',
          summary: 'Have uploaded recordings verified',
          location: 'The batch at the API: `/v1/batches/{id}`.',
          schema: batchSchema,
          example: { name: 'calls of Monday', model: 'phone', items: [{ upload: exampleId, source: 'call-1.wav' }] },
          codes: [
            ...useCodes,
            'audio_request_invalid',
            'batch_too_large',
            'batch_ended',
            'model_unknown',
            'model_removed',
          ],
        }),
      },
      '/v1/branding-requests': {
        post: submission({
          operationId: 'submitBrandingRequest',
          tag: 'Branding',
          scope: 'branding:write',
          summary: 'Add or update a managed brand, or add phone numbers for branding',
          location: 'The brand at the API: `/v1/brands/{handle}`.',
          schema: brandingSchema,
          example: {
            operation: 'add_phone_number',
            handle: 'northwind-dental',
            numbers: ['+12025550123'],
            letter: exampleId,
          },
          codes: [...useCodes, 'brand_request_invalid', 'letter_file_invalid', 'numbers_file_invalid'],
        }),
      },
      '/v1/branding-requests/{id}': {
        parameters: [pathParameter('id', 'Id of the request.')],
        get: reading({
          operationId: 'getBrandingRequest',
          tag: 'Branding',
          scope: 'branding:write',
          summary: 'What became of a request for branding',
          codes: ['operation_unknown'],
        }),
      },
      '/v1/feeds/{feed}/loads': {
        parameters: [pathParameter('feed', 'Which feed it is: reputation, directory, complaints.')],
        post: submission({
          operationId: 'submitLoad',
          tag: 'Feeds',
          scope: 'feeds:write',
          summary: 'Load an uploaded feed',
          location: 'The load: `/v1/loads/{id}`.',
          schema: loadSchema,
          example: { upload: exampleId, fileName: 'levels.csv', options: { source: 'example' } },
          codes: [...useCodes, 'feed_unknown', 'feed_option_invalid'],
        }),
      },
      '/v1/loads/{id}': {
        parameters: [pathParameter('id', 'Id of the load.')],
        get: reading({
          operationId: 'getLoad',
          tag: 'Feeds',
          scope: 'feeds:write',
          summary: 'What became of a load',
          codes: ['feed_not_found'],
        }),
      },
      '/v1/disputes': {
        post: submission({
          operationId: 'fileDispute',
          tag: 'Disputes',
          scope: 'numbers:dispute',
          summary: 'Dispute the label of a number; a person decides',
          location: 'The number at the API: `/v1/numbers/{phone}`.',
          schema: disputeSchema,
          example: { phone: '+12025550123', reason: 'The number is ours since March.', contact: 'ops@example.com' },
          codes: ['dispute_invalid', 'phone_invalid', 'dispute_unneeded', 'disputes_too_many'],
        }),
      },
      '/v1/disputes/{id}': {
        parameters: [pathParameter('id', 'Id of the dispute.')],
        get: reading({
          operationId: 'getDispute',
          tag: 'Disputes',
          scope: 'numbers:dispute',
          summary: 'What became of a dispute',
          codes: ['dispute_unknown'],
        }),
      },
      '/healthz': { get: open('getHealth', 'The process lives') },
      '/readyz': { get: open('getReadiness', 'The intake can take work') },
      '/openapi.json': { get: open('getDocument', 'This document') },
    },
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

const exampleId = '3f0c2a9e-6a0c-4d5e-9f6e-0d8f4f3f7a10';

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

function openingOperation(): Json {
  return {
    operationId: 'openUpload',
    tags: ['Uploads'],
    summary: 'Send a file, or open an upload and send it in pieces',
    description: `With \`Upload-Complete: ?1\`, or without the field, the request has the whole file. With \`?0\` it has the first bytes or none, and PATCH sends the rest. Needs the scope of what it is for: ${scopesOfKinds()}.`,
    parameters: [
      { name: 'for', in: 'query', required: true, schema: { type: 'string', enum: Object.keys(UPLOAD_KINDS) } },
      headerParameter(
        'Upload-Complete',
        { type: 'string', enum: ['?0', '?1'] },
        'Whether the last byte comes with this request.',
      ),
      headerParameter('Upload-Length', { type: 'integer', minimum: 1 }, 'Bytes of the whole file; needed with `?0`.'),
      ...digestParameters,
    ],
    requestBody: { content: anyBytes },
    responses: {
      201: {
        description: 'The upload is open, or complete.',
        headers: { Location: { schema: { type: 'string' }, description: 'The upload.' }, ...uploadHeaders },
        content: uploadState,
      },
      ...problems([
        ...guardedCodes,
        'parameter_invalid',
        'parameter_unknown',
        'upload_invalid',
        'upload_too_large',
        'digest_required',
        'digest_wrong',
        'uploads_too_many',
        'uploads_full',
        'storage_unavailable',
      ]),
    },
  };
}

function offsetOperation(): Json {
  return {
    operationId: 'readUploadOffset',
    tags: ['Uploads'],
    summary: 'How much of an upload has arrived',
    description: 'Ends a transfer of this upload that still runs.',
    responses: {
      204: { description: 'The offset, in the headers.', headers: uploadHeaders },
      ...withoutBodies(problems([...guardedCodes, 'upload_unknown'])),
    },
  };
}

function continuingOperation(): Json {
  return {
    operationId: 'continueUpload',
    tags: ['Uploads'],
    summary: 'Send the next bytes of an upload',
    parameters: [
      headerParameter('Upload-Offset', { type: 'integer', minimum: 0 }, 'Where these bytes begin.', true),
      headerParameter(
        'Upload-Complete',
        { type: 'string', enum: ['?0', '?1'] },
        'Whether the last byte comes with this request.',
        true,
      ),
      ...digestParameters,
    ],
    requestBody: { content: { 'application/partial-upload': { schema: { type: 'string', format: 'binary' } } } },
    responses: {
      200: { description: 'The upload is complete.', headers: uploadHeaders, content: uploadState },
      204: { description: 'The bytes are there; more are to come.', headers: uploadHeaders },
      ...problems([
        ...guardedCodes,
        'upload_unknown',
        'upload_invalid',
        'upload_offset_wrong',
        'upload_completed',
        'digest_required',
        'digest_wrong',
        'media_type_unsupported',
        'storage_unavailable',
      ]),
    },
  };
}

function givingUpOperation(): Json {
  return {
    operationId: 'giveUpUpload',
    tags: ['Uploads'],
    summary: 'Give an upload up',
    responses: { 204: { description: 'It is gone.' }, ...problems([...guardedCodes, 'upload_unknown']) },
  };
}

interface Submission {
  readonly operationId: string;
  readonly tag: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly location: string;
  readonly schema: z.ZodType;
  readonly example: Json;
  readonly codes: readonly ErrorCode[];
}

function submission({ operationId, tag, scope, summary, location, schema, example, codes }: Submission): Json {
  return {
    operationId,
    tags: [tag],
    summary,
    description: `Needs the scope \`${scope}\`. The same request under the same Idempotency-Key is carried out once and gets the same answer.`,
    parameters: [
      headerParameter('Idempotency-Key', { type: 'string', maxLength: 128 }, `${idempotencyKeyForm}.`, true),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: jsonSchemaOf(schema), example } } },
    responses: {
      202: {
        description: 'It is stored, and is work now.',
        headers: { Location: { schema: { type: 'string' }, description: location } },
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      ...problems([...guardedCodes, ...submissionCodes, ...codes]),
    },
  };
}

function reading({
  operationId,
  tag,
  scope,
  summary,
  codes,
}: Pick<Submission, 'operationId' | 'tag' | 'scope' | 'summary' | 'codes'>): Json {
  return {
    operationId,
    tags: [tag],
    summary,
    description: `Needs the scope \`${scope}\`. Only what the client has sent through the intake.`,
    responses: {
      200: { description: summary, content: { 'application/json': { schema: { type: 'object' } } } },
      ...problems([...guardedCodes, ...codes]),
    },
  };
}

function open(operationId: string, summary: string): Json {
  return {
    operationId,
    tags: ['Health'],
    summary,
    security: [],
    responses: {
      200: { description: summary, content: { 'application/json': { schema: { type: 'object' } } } },
      ...problems(['not_ready', 'internal']),
    },
  };
}

/** What a client may send, before defaults are filled in. */
function jsonSchemaOf(schema: z.ZodType): Json {
  const { $schema: _version, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
}

/** The responses for a set of errors: one for each status, with the codes that it can carry. */
function problems(codes: readonly ErrorCode[]): Record<string, Json> {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].http))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const meanings = codes
        .filter((code) => ERRORS[code].http === status)
        .map((code) => `\`${code}\`: ${ERRORS[code].meaning}`);
      const content = { [problemMediaType]: { schema: { $ref: '#/components/schemas/Problem' } } };
      return [status, { description: meanings.join(' '), ...headersOfStatus[status], content }];
    }),
  );
}

const retryAfter = { headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait.' } } };
const headersOfStatus: Readonly<Record<number, Json>> = { 429: retryAfter, 503: retryAfter };

function withoutBodies(responses: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { content: _content, ...response }]) => [status, response]),
  );
}

function pathParameter(name: string, description: string): Json {
  return { name, in: 'path', required: true, description, schema: { type: 'string' } };
}

function headerParameter(name: string, schema: Json, description: string, required = false): Json {
  return { name, in: 'header', required, description, schema };
}

const digestParameters = [
  headerParameter(
    'Repr-Digest',
    { type: 'string' },
    'SHA-256 of the whole file (RFC 9530), with its last bytes at the latest.',
  ),
  headerParameter('Content-Digest', { type: 'string' }, 'SHA-256 of the bytes of this request.'),
];

const uploadHeaders = {
  'Upload-Complete': { schema: { type: 'string' }, description: '`?1` if every byte is there and has the digest.' },
  'Upload-Offset': { schema: { type: 'integer' }, description: 'Bytes that are there.' },
  'Upload-Limit': { schema: { type: 'string' }, description: '`max-size` in bytes, `max-age` in seconds.' },
  'Repr-Digest': { schema: { type: 'string' }, description: 'SHA-256 of a complete upload.' },
};

const uploadState = {
  'application/json': {
    schema: {
      type: 'object',
      required: ['upload', 'for', 'bytes', 'offset', 'complete', 'sha256'],
      properties: {
        upload: { type: 'string', format: 'uuid' },
        for: { type: 'string', enum: Object.keys(UPLOAD_KINDS) },
        bytes: { type: 'integer' },
        offset: { type: 'integer' },
        complete: { type: 'boolean' },
        sha256: { type: ['string', 'null'] },
      },
    },
    example: {
      upload: exampleId,
      for: 'recording',
      bytes: 64_044,
      offset: 64_044,
      complete: true,
      sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    },
  },
};

const anyBytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

function scopesOfKinds(): string {
  return Object.entries(UPLOAD_KINDS)
    .map(([kind, { scope }]) => `\`${scope}\` for a ${kind}`)
    .join(', ');
}
