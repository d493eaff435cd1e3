import { z } from 'zod';
import { exampleProblem, explainErrors, problemMediaType } from '../../api/http/problem.ts';
import type { Scope } from '../../pipelines/access/keys.ts';
import type { ErrorCode } from '../../runtime/errors.ts';
import { idempotencyKeyForm } from '../../runtime/idempotency-key.ts';

export type Json = Record<string, unknown>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route in the OpenAPI document: its operation by its method. */
    operations?: Readonly<Record<string, Json>>;
  }
}

/** Errors of every route that needs a key. */
export const guardedCodes = [
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

/** Errors of every request that uses uploads. */
export const useCodes: readonly ErrorCode[] = ['upload_unknown', 'upload_incomplete', 'upload_invalid'];

export const exampleId = '3f0c2a9e-6a0c-4d5e-9f6e-0d8f4f3f7a10';
export const exampleSha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
export const exampleTime = '2026-11-24T15:05:51.989Z';

/** Security of an operation that needs a key. */
export const keyNeeded = [{ key: [] }];

/** The description of a request that becomes work. */
export interface SubmissionDescription {
  readonly parameters?: readonly Json[];
  readonly operationId: string;
  readonly tag: string;
  readonly scope: Scope;
  readonly summary: string;
  /** What `Location` names. */
  readonly location: string;
  readonly schema: z.ZodType;
  readonly example: Json;
  /** An example of the answer, without `repeated`. */
  readonly answer: Json;
  readonly codes: readonly ErrorCode[];
}

/** The operation that takes work. */
export function describeSubmission({ tag, scope, parameters = [], ...submission }: SubmissionDescription): Json {
  const { operationId, summary, location, schema, example, answer, codes } = submission;
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

/** An operation without a key that reports the state of the process. */
export function describeOpen(operationId: string, summary: string, answer: Json): Json {
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

export function jsonAnswer(example: Json): Json {
  return { 'application/json': { schema: { type: 'object' }, example } };
}

/** What a client may send, before defaults are filled in. */
export function jsonSchemaOf(schema: z.ZodType): Json {
  const { $schema: _version, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
}

/** The responses for a set of errors: one for each status, with the codes that it can carry. */
export function problems(codes: readonly ErrorCode[]): Record<string, Json> {
  return Object.fromEntries(
    explainErrors(codes).map(({ status, description, codes: [code] }) => {
      const body = { schema: { $ref: '#/components/schemas/Problem' }, example: exampleProblem(code!, exampleId) };
      return [status, { description, ...headersOfStatus[status], content: { [problemMediaType]: body } }];
    }),
  );
}

const retryAfter = { headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait.' } } };
const headersOfStatus: Readonly<Record<number, Json>> = { 429: retryAfter, 503: retryAfter };

export function pathParameter(name: string, description: string): Json {
  return { name, in: 'path', required: true, description, schema: { type: 'string' } };
}

export function headerParameter(name: string, schema: Json, description: string, required = false): Json {
  return { name, in: 'header', required, description, schema };
}
