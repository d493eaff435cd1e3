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
    paths: {
      '/v1/uploads': { post: openingOperation() },
      '/v1/uploads/{upload}': { head: offsetOperation(), patch: continuingOperation(), delete: givingUpOperation() },
      '/v1/batches': {
        post: submission({
          operationId: 'submitBatch',
          tag: 'Batches',
          scope: 'batches:write',
          summary: 'Have uploaded recordings verified',
          location: 'The batch at the API: `/v1/batches/{id}`.',
          schema: batchSchema,
          answer: batchAnswer,
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
          answer: { ...brandingAnswer, status: '/v1/branding-requests/12' },
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
        get: reading({
          parameter: pathParameter('id', 'Id of the request.'),
          operationId: 'getBrandingRequest',
          answer: brandingAnswer,
          tag: 'Branding',
          scope: 'branding:write',
          summary: 'Outcome of a branding request',
          codes: ['operation_unknown'],
        }),
      },
      '/v1/feeds/{feed}/loads': {
        post: submission({
          parameters: [pathParameter('feed', 'Which feed it is: reputation, directory, complaints.')],
          operationId: 'submitLoad',
          tag: 'Feeds',
          scope: 'feeds:write',
          summary: 'Load an uploaded feed',
          location: 'The load: `/v1/loads/{id}`.',
          schema: loadSchema,
          answer: loadAnswer,
          example: { upload: exampleId, fileName: 'levels.csv', options: { source: 'example' } },
          codes: [...useCodes, 'feed_unknown', 'feed_option_invalid'],
        }),
      },
      '/v1/loads/{id}': {
        get: reading({
          parameter: pathParameter('id', 'Id of the load.'),
          operationId: 'getLoad',
          answer: loadAnswer,
          tag: 'Feeds',
          scope: 'feeds:write',
          summary: 'Outcome of a load',
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
          answer: { ...disputeAnswer, status: '/v1/disputes/3' },
          example: { phone: '+12025550123', reason: 'The number is ours since March.', contact: 'ops@example.com' },
          codes: ['dispute_invalid', 'phone_invalid', 'dispute_unneeded', 'disputes_too_many'],
        }),
      },
      '/v1/disputes/{id}': {
        get: reading({
          parameter: pathParameter('id', 'Id of the dispute.'),
          operationId: 'getDispute',
          answer: disputeAnswer,
          tag: 'Disputes',
          scope: 'numbers:dispute',
          summary: 'Outcome of a dispute',
          codes: ['dispute_unknown'],
        }),
      },
      '/healthz': { get: open('getHealth', 'The process lives', { status: 'live' }) },
      '/readyz': { get: open('getReadiness', 'The intake can take work', readiness) },
      '/openapi.json': { get: open('getDocument', 'This document', { openapi: '3.1.0' }) },
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
const exampleSha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const exampleTime = '2026-11-24T15:05:51.989Z';

const readiness = { status: 'ready', database: { reachable: true }, keys: { known: true }, stopping: false };
const batchAnswer = { batch: exampleId, name: 'calls of Monday', state: 'queued', items: 1, model: 'phone' };
const brandingAnswer = {
  request: 12,
  operation: 'add_phone_number',
  handle: 'northwind-dental',
  state: 'queued',
  requestedAt: exampleTime,
  finishedAt: null,
  outcome: null,
  result: null,
  failure: null,
};
const loadAnswer = {
  load: 7,
  feed: 'reputation',
  fileName: 'levels.csv',
  source: 'example',
  sha256: exampleSha256,
  state: 'queued',
  requestedAt: exampleTime,
  finishedAt: null,
  rowsGiven: null,
  rowsAccepted: null,
  rowsRejected: null,
  rejectsByCode: {},
  rowsChanged: null,
  gates: [],
  failure: null,
};
const disputeAnswer = {
  dispute: 3,
  phone: '+12025550123',
  label: { level: 'SPAM', category: 6, source: 'feed' },
  state: 'open',
  filedAt: exampleTime,
  decision: null,
};

const keyNeeded = [{ key: [] }];
const ofUploads = { tags: ['Uploads'], security: keyNeeded };
const uploadParameter = pathParameter('upload', 'Id of the upload.');

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
    ...ofUploads,
    summary: 'Send a file, or open an upload and send it in pieces',
    description: `With \`Upload-Complete: ?1\`, or without the field, the request has the whole file. With \`?0\` it has the first bytes or none, and PATCH sends the rest. Needs the scope of what it is for: ${scopesOfKinds()}.`,
    parameters: [
      {
        name: 'for',
        in: 'query',
        required: true,
        description: 'What the file is.',
        schema: { type: 'string', enum: Object.keys(UPLOAD_KINDS) },
      },
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
    ...ofUploads,
    parameters: [uploadParameter],
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
    ...ofUploads,
    summary: 'Send the next bytes of an upload',
    parameters: [
      uploadParameter,
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
    ...ofUploads,
    parameters: [uploadParameter],
    summary: 'Give an upload up',
    responses: { 204: { description: 'It is gone.' }, ...problems([...guardedCodes, 'upload_unknown']) },
  };
}

interface Submission {
  readonly parameters?: readonly Json[];
  readonly operationId: string;
  readonly tag: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly location: string;
  readonly schema: z.ZodType;
  readonly example: Json;
  readonly answer: Json;
  readonly codes: readonly ErrorCode[];
}

function submission({
  operationId,
  tag,
  scope,
  summary,
  location,
  schema,
  example,
  answer,
  codes,
  parameters = [],
}: Submission): Json {
  return {
    operationId,
    tags: [tag],
    security: keyNeeded,
    summary,
    description: `Needs the scope \`${scope}\`. The same request under the same Idempotency-Key is performed once and gets the same answer.`,
    parameters: [
      ...parameters,
      headerParameter('Idempotency-Key', { type: 'string', maxLength: 128 }, `${idempotencyKeyForm}.`, true),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: jsonSchemaOf(schema), example } } },
    responses: {
      202: {
        description: 'It is stored, and is work now.',
        headers: { Location: { schema: { type: 'string' }, description: location } },
        content: jsonAnswer({ ...answer, repeated: false }),
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
  answer,
  codes,
  parameter,
}: Pick<Submission, 'operationId' | 'tag' | 'scope' | 'summary' | 'answer' | 'codes'> & {
  readonly parameter: Json;
}): Json {
  return {
    operationId,
    tags: [tag],
    security: keyNeeded,
    summary,
    description: `Needs the scope \`${scope}\`. Only what the client has sent through the intake.`,
    parameters: [parameter],
    responses: { 200: { description: summary, content: jsonAnswer(answer) }, ...problems([...guardedCodes, ...codes]) },
  };
}

function open(operationId: string, summary: string, answer: Json): Json {
  return {
    operationId,
    tags: ['Health'],
    summary,
    security: [],
    responses: {
      200: { description: summary, content: jsonAnswer(answer) },
      ...problems(['method_not_allowed', 'not_ready', 'internal']),
    },
  };
}

function jsonAnswer(example: Json): Json {
  return { 'application/json': { schema: { type: 'object' }, example } };
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
      const [code] = codes.filter((each) => ERRORS[each].http === status) as [ErrorCode];
      const content = {
        [problemMediaType]: { schema: { $ref: '#/components/schemas/Problem' }, example: exampleProblem(code) },
      };
      return [status, { description: meanings.join(' '), ...headersOfStatus[status], content }];
    }),
  );
}

function exampleProblem(code: ErrorCode): Json {
  const { http: status, meaning } = ERRORS[code];
  const type = `urn:caller-trust:error:${code}`;
  return { type, title: meaning, status, code, detail: meaning, requestId: exampleId };
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
      sha256: exampleSha256,
    },
  },
};

const anyBytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

function scopesOfKinds(): string {
  return Object.entries(UPLOAD_KINDS)
    .map(([kind, { scope }]) => `\`${scope}\` for a ${kind}`)
    .join(', ');
}
