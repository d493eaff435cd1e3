import { z } from 'zod';
import type { CacheDefinition } from '../../pipelines/caches/definition.ts';
import { filterMediaType, indexMediaType } from '../../pipelines/caches/manifest.ts';
import { segmentColumns } from '../../format/artefact/segment-index.ts';
import type { ApiErrorCode } from '../http/error-codes.ts';
import { explainErrors, problemMediaType } from '../http/problem.ts';
import { problemSchema } from './schemas.ts';

/** The OpenAPI description of an operation, without its parameters. */
interface OperationDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: string[];
  readonly security: Record<string, string[]>[];
  readonly response: Record<string, unknown>;
}

/** Errors of every route that needs a key. */
const guardedCodes = [
  'parameter_unknown',
  'request_invalid',
  'unauthenticated',
  'forbidden',
  'method_not_allowed',
  'precondition_failed',
  'rate_limited',
  'not_ready',
  'internal',
] as const satisfies readonly ApiErrorCode[];

/** Errors of every public document. */
const publicCodes = [
  'parameter_unknown',
  'request_invalid',
  'method_not_allowed',
  'precondition_failed',
  'rate_limited',
  'internal',
] as const satisfies readonly ApiErrorCode[];

/** Errors of routes that read the database. */
export const databaseCodes = ['database_unavailable', 'database_unsuitable'] as const satisfies readonly ApiErrorCode[];

const countryCodes = ['country_required', 'country_invalid'] as const satisfies readonly ApiErrorCode[];

/** Name of the keys' security scheme in the document. */
export const keySecurity = 'key';

const notModified = z
  .undefined()
  .describe('The client has it already: If-None-Match or If-Modified-Since still holds.');
const redirected = z
  .undefined()
  .describe(
    'The bytes are at the address in Location for a short time, where the operator has set that. It needs no key.',
  );
const binary = z.string().meta({ format: 'binary' });

/** The operation that downloads a cache. */
export function describeDownload({ name, title, perCountry, columns }: CacheDefinition): OperationDescription {
  return describeFileOperation({
    operationId: `download_${name}`,
    summary: `Download the ${title.toLowerCase()}`,
    description: `One gzip member of UTF-8 text, tab separated, LF after every line, no header line. Columns in order: ${columns.map((column) => column.name).join(', ')}. Answers one range; several are answered with the whole file.`,
    content: { 'application/gzip': { schema: binary } },
    codes: perCountry ? countryCodes : [],
  });
}

/** The operation that downloads a delta of a cache. */
export function describeDelta({ name, title, perCountry }: CacheDefinition): OperationDescription {
  return describeFileOperation({
    operationId: `downloadDelta_${name}`,
    summary: `Download what changed in the ${title.toLowerCase()} since a version`,
    description:
      'One gzip member of lines: `+`, tab, a row that was added; `~`, tab, the new row of a number; `-`, tab, a phone that was removed. They ascend by phone; where they do not, the step to the next version begins. The manifest lists the versions that there are deltas from.',
    content: { 'application/gzip': { schema: binary } },
    codes: [...(perCountry ? countryCodes : []), 'parameter_invalid', 'delta_gone'],
  });
}

/** The operation that downloads the segment index of a cache. */
export function describeIndex({ name, title, perCountry }: CacheDefinition): OperationDescription {
  return describeFileOperation({
    operationId: `downloadIndex_${name}`,
    summary: `Download the segment index of the ${title.toLowerCase()}`,
    description: `Lines, ascending by prefix, tab separated. Columns in order: ${segmentColumns.join(', ')}. With it one range of the file can be read and decompressed alone.`,
    content: { [indexMediaType]: { schema: z.string() } },
    codes: perCountry ? countryCodes : [],
  });
}

/** The operation that downloads the filter of a cache. */
export function describeFilter({ name, title }: CacheDefinition): OperationDescription {
  return describeFileOperation({
    operationId: `downloadFilter_${name}`,
    summary: `Download the filter of the ${title.toLowerCase()}`,
    description:
      'A binary fuse filter of the keys, which finds each of them, and of others the share that the manifest states: a hit says only that it is worth asking. docs/filters.md describes it byte for byte.',
    content: { [filterMediaType]: { schema: binary } },
    codes: [],
  });
}

/** The operation that downloads a file that the signed metadata names. */
export function describeSignedFile(operationId: string): OperationDescription {
  return describeFileOperation({
    operationId,
    summary: 'Download a file that the signed metadata names',
    description:
      'The bytes below a digest never change. A file of an earlier set is unknown: begin again with `timestamp.json`.',
    content: { 'application/octet-stream': { schema: binary } },
    codes: ['trust_document_unknown'],
    tag: 'Trust',
  });
}

interface FileOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly content: Record<string, unknown>;
  readonly codes: readonly ApiErrorCode[];
  readonly tag?: string;
}

function describeFileOperation({ content, codes, tag = 'Caches', ...operation }: FileOperation): OperationDescription {
  return {
    ...operation,
    tags: [tag],
    security: [{ [keySecurity]: [] }],
    response: {
      200: { description: 'The whole file.', content },
      206: { description: 'The bytes that Range asked for.', content },
      304: notModified,
      307: redirected,
      ...problemResponses([...guardedCodes, ...codes, 'artefact_not_found', 'range_not_satisfiable', 'overloaded']),
    },
  };
}

/** The operation that answers with a JSON document; `open`: without a key. */
export function describeDocument({
  operationId,
  summary,
  tag,
  schema,
  codes = [],
  perCountry = false,
  access = 'key',
}: {
  operationId: string;
  summary: string;
  tag: string;
  schema: z.ZodType;
  codes?: readonly ApiErrorCode[];
  perCountry?: boolean;
  access?: 'key' | 'open';
}): OperationDescription {
  return {
    operationId,
    summary,
    tags: [tag],
    security: access === 'key' ? [{ [keySecurity]: [] }] : [],
    response: {
      200: { description: summary, content: { 'application/json': { schema } } },
      304: notModified,
      ...problemResponses([
        ...(access === 'key' ? guardedCodes : publicCodes),
        ...(perCountry ? countryCodes : []),
        ...codes,
      ]),
    },
  };
}

/** The responses for a set of errors: one for each status, with the codes that it can carry. */
export function problemResponses(codes: readonly ApiErrorCode[]): Record<string, unknown> {
  const content = { [problemMediaType]: { schema: problemSchema } };
  return Object.fromEntries(explainErrors(codes).map(({ status, description }) => [status, { description, content }]));
}
