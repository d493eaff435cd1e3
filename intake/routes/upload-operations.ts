import { UPLOAD_KINDS } from '../../pipelines/submissions/upload.ts';
import {
  exampleId,
  exampleSha256,
  guardedCodes,
  headerParameter,
  keyNeeded,
  pathParameter,
  problems,
  type Json,
} from '../http/operations.ts';

const ofUploads = { tags: ['Uploads'], security: keyNeeded };
const uploadParameter = pathParameter('upload', 'Id of the upload.');

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

export function openingOperation(): Json {
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

export function offsetOperation(): Json {
  const failures = Object.entries(problems([...guardedCodes, 'upload_unknown']));
  return {
    operationId: 'readUploadOffset',
    ...ofUploads,
    parameters: [uploadParameter],
    summary: 'How much of an upload has arrived',
    description: 'Ends a transfer of this upload that still runs.',
    responses: {
      204: { description: 'The offset, in the headers.', headers: uploadHeaders },
      ...Object.fromEntries(failures.map(([status, { content: _content, ...response }]) => [status, response])),
    },
  };
}

export function continuingOperation(): Json {
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
        'uploads_too_many',
        'uploads_full',
        'interrupted',
        'storage_unavailable',
      ]),
    },
  };
}

export function givingUpOperation(): Json {
  return {
    operationId: 'giveUpUpload',
    ...ofUploads,
    parameters: [uploadParameter],
    summary: 'Give an upload up',
    responses: { 204: { description: 'It is gone.' }, ...problems([...guardedCodes, 'upload_unknown']) },
  };
}

function scopesOfKinds(): string {
  return Object.entries(UPLOAD_KINDS)
    .map(([kind, { scope }]) => `\`${scope}\` for a ${kind}`)
    .join(', ');
}
