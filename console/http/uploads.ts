import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { cleanText } from '../../pipelines/phone/text-cleaning.ts';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import { Turns } from './turns.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Receives forms with files; see {@link registerUploads}. */
    uploads: Uploads;
  }
}

interface Uploads {
  readonly directory: string;
  readonly turns: Turns;
}

/** Forms that are received at a time, and forms that wait before their files are read. */
export const formsMax = { receiving: 6, waiting: 12 };

/** A received file, in a folder of its own. */
export interface UploadedFile {
  readonly field: string;
  /** The browser's name of it, cleaned and without a path; for display only. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A received form. */
interface ReceivedForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly UploadedFile[];
}

/** Limits of a form. */
interface FormLimits {
  readonly filesMax: number;
  readonly fileBytesMax: number;
  /** Bytes of all files together; by default the product of the other limits. */
  readonly formBytesMax?: number | undefined;
}

/** Folder names contain the process id, so that folders of killed processes are found. */
const directoryPrefix = 'caller-trust-upload-';

/** The folder of forms, below STATE_DIR: the system's temporary folder may be in memory. */
export function uploadsDirectory(stateDir: string): string {
  return join(stateDir, 'uploads');
}

/** Creates the folder of forms, and removes the leftovers of ended processes of this machine. */
export async function sweepUploads(stateDir: string): Promise<void> {
  const directory = uploadsDirectory(stateDir);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory)) {
    const pid = Number(new RegExp(`^${directoryPrefix}(\\d+)-`).exec(name)?.[1]);
    if (Number.isInteger(pid) && isGone(pid))
      await rm(join(directory, name), { recursive: true, force: true }).catch(() => {}); // folders of another user stay
  }
}

/** Sets the folder in which the routes of a server receive forms. */
export function registerUploads(app: FastifyInstance, stateDir: string): void {
  const refusal = {
    code: 'overloaded',
    operation: 'receive form',
    problem: 'Other forms with files are being received.',
  } as const;
  app.decorate('uploads', {
    directory: uploadsDirectory(stateDir),
    turns: new Turns({ runningMax: formsMax.receiving, waitingMax: formsMax.waiting, refusal }),
  });
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Characters kept of a file name. */
const fileNameCharactersMax = 200;

function nameOf(given: string | undefined): string {
  const name = cleanText((given ?? '').replace(/^.*[/\\]/s, ''));
  return [...(name ?? 'a file without a name')].slice(0, fileNameCharactersMax).join('');
}

/** Largest text field, and most text fields. */
const fieldBytesMax = 64 * 1024;
const fieldsMax = 40;

/**
 * Receives a form (multipart/form-data, RFC 7578), stores its files in a new folder, runs `work`, and removes the folder.
 * @throws ServiceError `request_invalid` if the body is not a form, `upload_too_large`, `overloaded` beyond {@link formsMax}
 */
export async function withForm<Result>(
  request: FastifyRequest,
  limits: FormLimits,
  work: (form: ReceivedForm) => Promise<Result>,
): Promise<Result> {
  if (!request.isMultipart())
    throw new ServiceError('request_invalid', {
      operation: 'receive form',
      problem: 'The request is not a form with files.',
      hint: 'Send multipart/form-data.',
    });
  const { uploads } = request.server;
  await mkdir(uploads.directory, { recursive: true, mode: 0o700 });
  const directory = await mkdtemp(join(uploads.directory, `${directoryPrefix}${process.pid}-`));
  try {
    const form = await uploads.turns.take(
      () => receive(request, limits, directory).catch((error: unknown) => Promise.reject(toFormError(error))),
      connectionLossSignal(request),
    );
    return await work(form);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A signal that fires if the connection is lost before the form is complete. */
function connectionLossSignal({ raw }: FastifyRequest): AbortSignal {
  const lost = new AbortController();
  raw.once(
    'close',
    () =>
      raw.complete ||
      lost.abort(new ServiceError('interrupted', { operation: 'receive form', problem: 'The browser disconnected.' })),
  );
  return lost.signal;
}

/** Maps errors of the form parser to the closed list; disk errors are rethrown. */
function toFormError(error: unknown): unknown {
  if (!(error instanceof Error) || isServiceError(error) || 'statusCode' in error || 'syscall' in error) return error;
  return new ServiceError('request_invalid', {
    operation: 'receive form',
    problem: 'The form is broken, or was cut off.',
    hint: 'Send it again.',
    cause: error,
  });
}

async function receive(
  request: FastifyRequest,
  { filesMax, fileBytesMax, formBytesMax = filesMax * fileBytesMax }: FormLimits,
  directory: string,
): Promise<ReceivedForm> {
  const fields: Record<string, string> = {};
  const files: UploadedFile[] = [];
  let formBytes = 0;
  const parts = request.parts({
    limits: { files: filesMax, fileSize: fileBytesMax, fieldSize: fieldBytesMax, fields: fieldsMax },
  });
  for await (const part of parts) {
    if (part.type === 'field') {
      if (part.valueTruncated || part.fieldnameTruncated)
        throw tooLarge(`The field ${part.fieldname} is longer than ${fieldBytesMax} bytes.`);
      fields[part.fieldname] = String(part.value);
      continue;
    }
    const path = join(directory, String(files.length));
    const { bytes, sha256 } = await store(part.file, path, formBytesMax - formBytes);
    formBytes += bytes;
    if (part.file.truncated) throw tooLarge(`A file is larger than ${fileBytesMax} bytes.`);
    if (formBytes > formBytesMax) throw tooLarge(`The files are larger than ${formBytesMax} bytes together.`);
    files.push({ field: part.fieldname, name: nameOf(part.filename), path, bytes, sha256 });
  }
  return { fields, files };
}

/** Stores a file up to the limit; counts all received bytes. */
async function store(
  source: AsyncIterable<Buffer>,
  path: string,
  bytesMax: number,
): Promise<{ bytes: number; sha256: string }> {
  const file = await open(path, 'wx', 0o600);
  const digest = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of source) {
      digest.update(chunk);
      bytes += chunk.length;
      if (bytes <= bytesMax) await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  return { bytes, sha256: digest.digest('hex') };
}

function tooLarge(problem: string): ServiceError {
  return new ServiceError('upload_too_large', { operation: 'receive form', problem });
}
