import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { withHeaders } from '../../api/http/problem.ts';
import { feedFileBytesMax } from '../../pipelines/feeds/feed-bytes.ts';
import { uploadHours } from '../../pipelines/submissions/upload-retention.ts';
import { requireScope } from '../../pipelines/access/authentication.ts';
import { SUBMITTED_FILES } from '../../pipelines/branding/submitted-file.ts';
import {
  appendBytes,
  createUploadFile,
  digestOfUpload,
  readOffset,
  removeUploadFiles,
  truncateUpload,
} from '../../pipelines/submissions/upload-file.ts';
import {
  announceDigest,
  clientBytesMax,
  completeUpload,
  findUpload,
  forgetUploads,
  openUpload,
  UPLOAD_KINDS,
  type Upload,
  type UploadKind,
} from '../../pipelines/submissions/upload.ts';
import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { sendJson } from '../http/answers.ts';
import {
  fieldsInvalid,
  formatDigest,
  readOpening,
  readUploadFields,
  type UploadFields,
} from '../http/upload-fields.ts';
import type { IntakeWork } from '../work/intake-work.ts';
import { TransferRoom } from '../work/transfer-room.ts';
import { continuingOperation, givingUpOperation, offsetOperation, openingOperation } from './upload-operations.ts';

/** Media type of the bytes that continue an upload. */
const partMediaType = 'application/partial-upload';

const hourSeconds = 3600;

/** An upload and the bytes that it has. */
interface UploadState {
  readonly upload: Upload;
  readonly offset: number;
}

/** `/v1/uploads`: files in pieces, in the form of draft-ietf-httpbis-resumable-upload-10. */
export async function registerUploadRoutes(app: FastifyInstance, work: IntakeWork): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null)); // the routes read the bytes
    scope.post('/v1/uploads', { config: { operations: { post: openingOperation() } } }, (request, reply) =>
      startUpload(work, request, reply),
    );
    scope.patch('/v1/uploads/:upload', { config: { operations: { patch: continuingOperation() } } }, (request, reply) =>
      continueUpload(work, request, reply),
    );
  });
  app.head('/v1/uploads/:upload', { config: { operations: { head: offsetOperation() } } }, async (request, reply) => {
    const { uploadId } = await findOwnUpload(work, request);
    const { upload, offset } = await work.writers.run(uploadId, async () => ({
      upload: await findOwnUpload(work, request), // as those before have left it
      offset: await readOffset(work.config.intakeDir, uploadId),
    }));
    const headers = headersOf(work, { upload, offset });
    return reply
      .code(204)
      .headers({ ...headers, 'Upload-Length': String(upload.bytes), 'Cache-Control': 'no-store' })
      .send();
  });
  app.delete(
    '/v1/uploads/:upload',
    { config: { operations: { delete: givingUpOperation() } } },
    async (request, reply) => {
      const { uploadId } = await findOwnUpload(work, request);
      await work.writers.run(uploadId, () => discardUpload(work, uploadId));
      return reply.code(204).send();
    },
  );
}

async function startUpload(work: IntakeWork, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const kind = readKind(request);
  const owner = requireScope(request.caller, UPLOAD_KINDS[kind].scope);
  const fields = readUploadFields(request.headers);
  const { complete, bytes } = readOpening(fields);
  if (complete) requireDigest(fields.wholeSha256 ?? fields.contentSha256);
  requireFitting(fields, bytes);
  const { config, db, limits, writers } = work;
  const upload = await openUpload(db, owner, {
    kind,
    bytes,
    sha256: fields.wholeSha256 ?? null,
    bytesMax: bytesMaxOf(kind, work),
    limits: { ...config, ...limits },
  });
  const { uploadId } = upload;
  await createUploadFile(config.intakeDir, uploadId);
  try {
    const state = await writers.run(uploadId, (signal) =>
      receive(work, request, { upload, offset: 0, complete, fields, signal, activeAt: Date.now() }),
    );
    return sendState(work, reply, { status: 201, state, headers: { Location: locationOf(upload) } });
  } catch (error) {
    await discardUpload(work, uploadId); // its client does not know where it is
    throw error;
  }
}

async function continueUpload(work: IntakeWork, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { uploadId, bytes } = await findOwnUpload(work, request);
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (type !== partMediaType)
    throw new ServiceError('media_type_unsupported', {
      operation: 'continue upload',
      problem: `The bytes that continue an upload have the media type ${partMediaType}.`,
    });
  const fields = readUploadFields(request.headers);
  const { complete, offset } = fields;
  if (complete === undefined || offset === undefined)
    throw fieldsInvalid('Upload-Offset and Upload-Complete are needed to continue an upload.');
  if (fields.length !== undefined && fields.length !== bytes)
    throw fieldsInvalid(`Upload-Length differs from the ${bytes} bytes with which the upload began.`);
  const state = await work.writers.run(uploadId, async (signal) => {
    signal.throwIfAborted();
    const upload = await findOwnUpload(work, request); // as the requests before have left it
    requireContinuation(upload, { present: await readOffset(work.config.intakeDir, uploadId), fields, work });
    return receive(work, request, { upload, offset, complete, fields, signal, activeAt: 0 });
  });
  return sendState(work, reply, { status: state.upload.completedAt === null ? 204 : 200, state, headers: {} });
}

/**
 * Refuses bytes that do not continue an upload.
 * @throws ServiceError `upload_completed`, `upload_offset_wrong`, `upload_invalid`, `digest_required`
 */
function requireContinuation(
  upload: Upload,
  { present, fields, work }: { readonly present: number; readonly fields: UploadFields; readonly work: IntakeWork },
): void {
  const { complete, offset, wholeSha256 } = fields;
  const operation = 'continue upload';
  if (upload.completedAt !== null)
    throw withHeaders(
      new ServiceError('upload_completed', { operation }),
      headersOf(work, { upload, offset: upload.bytes }),
    );
  if (upload.sha256 !== null && wholeSha256 !== undefined && wholeSha256 !== upload.sha256)
    throw fieldsInvalid('Repr-Digest differs from the one that the upload was announced with.');
  if (complete) requireDigest(upload.sha256 ?? wholeSha256);
  if (present !== offset)
    throw withHeaders(
      new ServiceError('upload_offset_wrong', {
        operation,
        problem: `The upload has ${present} bytes, and these begin at ${offset}.`,
        hint: 'Continue at the offset of the upload.',
      }),
      headersOf(work, { upload, offset: present }),
    );
  requireFitting(fields, upload.bytes - present);
}

/** Bytes to receive. */
interface Transfer extends UploadState {
  readonly complete: boolean;
  readonly fields: UploadFields;
  readonly signal: AbortSignal;
  /** When bytes of the upload last arrived, if that is known; else 0. */
  readonly activeAt: number;
}

/** Receives the bytes of a request. What is kept of the disk for others that did not come is given back. */
async function receive(work: IntakeWork, request: FastifyRequest, transfer: Transfer): Promise<UploadState> {
  const room = new TransferRoom(work, request, transfer);
  const { upload, offset } = transfer;
  try {
    return await receiveInto(room, work, request, transfer);
  } finally {
    const present = await readOffset(work.config.intakeDir, upload.uploadId).catch(() => offset); // it was given up
    if (present !== offset && present < upload.bytes)
      await room
        .giveBack(present)
        .catch((error: unknown) =>
          work.log.warn({ err: error, upload: upload.uploadId }, 'room of an upload could not be given back'),
        );
  }
}

/** Writes the bytes of a request, checks their digest, and completes the upload with the last of them. */
async function receiveInto(
  room: TransferRoom,
  { config, db, metrics }: IntakeWork,
  request: FastifyRequest,
  { upload, offset, complete, fields, signal }: Transfer,
): Promise<UploadState> {
  const { intakeDir } = config;
  const { uploadId, bytes } = upload;
  const announced = upload.sha256 ?? fields.wholeSha256;
  if (upload.sha256 === null && announced !== undefined) await announceDigest(db, upload, announced);
  const stop = () => request.raw.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const appended = await appendBytes(intakeDir, uploadId, {
    offset,
    bytesMax: bytes - offset,
    bytes: request.raw,
    beforeWrite: (reached) => room.admit(reached),
  });
  signal.removeEventListener('abort', stop);
  metrics.count('caller_trust_intake_upload_bytes_total', { kind: upload.kind }, appended.offset - offset);
  if (fields.contentSha256 !== undefined && fields.contentSha256 !== appended.sha256) {
    await truncateUpload(intakeDir, uploadId, offset);
    throw digestWrong('Content-Digest', `The upload has ${offset} bytes as before.`);
  }
  if (!complete) return { upload, offset: appended.offset };
  if (appended.offset !== bytes)
    throw fieldsInvalid(`Upload-Complete is ?1, but the upload has ${appended.offset} of its ${bytes} bytes.`);
  const sha256 = await digestOfUpload(intakeDir, uploadId); // of what is on the disk
  if (announced !== undefined && announced !== sha256) {
    await truncateUpload(intakeDir, uploadId, 0);
    throw digestWrong('Repr-Digest', 'The upload is empty again.');
  }
  return { upload: await completeUpload(db, upload, sha256), offset: bytes };
}

async function discardUpload({ db, config }: IntakeWork, uploadId: string): Promise<void> {
  await forgetUploads(db, [uploadId]);
  await removeUploadFiles(config.intakeDir, [uploadId]);
}

function locationOf({ uploadId }: Upload): string {
  return `/v1/uploads/${uploadId}`;
}

function readKind(request: FastifyRequest): UploadKind {
  const { for: kind, ...others } = request.query as Record<string, unknown>;
  const names = Object.keys(UPLOAD_KINDS);
  if (Object.keys(others).length > 0)
    throw new ServiceError('parameter_unknown', {
      operation: 'read parameters',
      problem: 'This resource has only the parameter for.',
    });
  if (typeof kind === 'string' && names.includes(kind)) return kind as UploadKind;
  throw new ServiceError('parameter_invalid', {
    operation: 'read parameters',
    problem: `The parameter for says what the upload is: ${names.join(', ')}.`,
  });
}

/** The upload of the path, for a key of its client that has its scope. */
async function findOwnUpload({ db }: IntakeWork, request: FastifyRequest): Promise<Upload> {
  const { upload: uploadId } = request.params as { upload: string };
  const { caller } = request;
  const scopes = [...new Set(Object.values(UPLOAD_KINDS).map(({ scope }) => scope))];
  const held = caller.kind === 'key' ? scopes.find((scope) => caller.principal.scopes.includes(scope)) : undefined;
  const { client } = requireScope(caller, held ?? scopes[0]!);
  const upload = await findUpload(db, client, uploadId);
  requireScope(caller, UPLOAD_KINDS[upload.kind].scope);
  return upload;
}

function requireDigest(sha256: string | undefined): void {
  if (sha256 !== undefined) return;
  throw new ServiceError('digest_required', {
    operation: 'receive upload',
    hint: 'Send Repr-Digest: sha-256=:BASE64: with the last bytes, or before.',
  });
}

/** Refuses what is too long before a byte of it is read. */
function requireFitting({ contentLength = 0 }: UploadFields, left: number): void {
  if (contentLength > left)
    throw fieldsInvalid(`The request has ${contentLength} bytes, and the upload only ${left} left.`);
}

function digestWrong(field: string, hint: string): ServiceError {
  return new ServiceError('digest_wrong', {
    operation: 'receive upload',
    problem: `The bytes do not have the SHA-256 of ${field}.`,
    hint: `${hint} Send the bytes again.`,
  });
}

/** Most bytes of an upload of a kind. */
function bytesMaxOf(kind: UploadKind, { config, limits }: Pick<IntakeWork, 'config' | 'limits'>): number {
  return Math.min(kindBytesMax(kind, config), clientBytesMax({ ...config, ...limits }));
}

function kindBytesMax(kind: UploadKind, config: Config): number {
  if (kind === 'recording') return config.audioBytesMax;
  return kind === 'feed' ? feedFileBytesMax(config) : SUBMITTED_FILES[kind].bytesMax;
}

function headersOf(
  work: Pick<IntakeWork, 'config' | 'limits'>,
  { upload, offset }: UploadState,
): Record<string, string> {
  const { kind, sha256, completedAt } = upload;
  const hours = completedAt === null ? uploadHours.incomplete : uploadHours.complete;
  const limits = `max-size=${bytesMaxOf(kind, work)}, max-age=${hours * hourSeconds}`;
  return {
    'Upload-Complete': completedAt === null ? '?0' : '?1',
    'Upload-Offset': String(offset),
    'Upload-Limit': limits,
    ...(completedAt === null || sha256 === null ? {} : { 'Repr-Digest': formatDigest(sha256) }),
  };
}

function sendState(
  work: IntakeWork,
  reply: FastifyReply,
  { status, state, headers }: { status: number; state: UploadState; headers: Record<string, string> },
): FastifyReply {
  const { upload, offset } = state;
  const all = { ...headersOf(work, state), ...headers };
  if (status === 204)
    return reply
      .code(204)
      .headers({ ...all, 'Cache-Control': 'no-store' })
      .send();
  const { uploadId, kind, bytes, sha256, completedAt } = upload;
  const body = { upload: uploadId, for: kind, bytes, offset, complete: completedAt !== null, sha256 };
  return sendJson(reply, { status, headers: all, body });
}
