import type { FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import { elementsOf, elementOf } from './object-store-answer.ts';
import type { FileSpan, SignedUrlOptions } from './stored-file.ts';
import { sha256Of } from '../../../runtime/digest.ts';

/** Address and limits of an S3-compatible object store. */
interface ObjectStoreSettings {
  /** Base URL; the bucket is the first part of the path below it. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly credentials: ObjectStoreCredentials;
  /** Seconds of an operation, with all attempts at its request. */
  readonly secondsMax: number;
  /** Seconds in which an answer must arrive whole; for a span that is read, each next chunk. */
  readonly attemptSecondsMax: number;
  /** Ends every request with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Larger files are uploaded in parts of this size. */
  readonly partBytes: number;
}

/** Secrets of the object store, which must not appear in errors or logs. */
interface ObjectStoreCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Attempts at one request within the time of its operation; the wait before each further one is at most 0.2, 0.4, 0.8 and 1.6 s. */
const attemptsMax = 5;
const firstWaitMs = 200;

/** Parts of an upload that are sent at the same time, each from memory. */
const partsInFlight = 2;

/** The limit of S3 for an object. */
const partsMax = 10_000;

/** A request, with a body that each attempt can send. */
interface ObjectRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** An answer that has arrived whole. */
interface StoreAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The objects of a bucket of an S3-compatible store. The only module with its protocol. */
export class ObjectStore {
  readonly #settings: ObjectStoreSettings;

  constructor(settings: ObjectStoreSettings) {
    this.#settings = settings;
  }

  get bucket(): string {
    return this.#settings.bucket;
  }

  /**
   * Bytes of an object; undefined if it does not exist.
   * @throws ServiceError `storage_unavailable`
   */
  async size(key: string): Promise<number | undefined> {
    const response = await this.#ask({ method: 'HEAD', key });
    return response.status === 404 ? undefined : Number(response.headers.get('content-length'));
  }

  /**
   * Stores the first `size` bytes of a file under a key, in parts if it is large. The object is visible only when it is
   * complete; the parts of a failed upload are deleted.
   * @throws ServiceError `storage_unavailable`
   */
  async upload(key: string, { handle, size }: { handle: FileHandle; size: number }): Promise<void> {
    if (size <= this.#settings.partBytes)
      await this.#demand({ method: 'PUT', key, body: await readUploadPart(handle, { start: 0, length: size }) });
    else await this.#uploadParts(key, { handle, size });
    const stored = await this.size(key);
    if (stored !== size)
      throw storeUnavailable('upload', key, `It holds ${stored ?? 'no'} bytes of an upload of ${size}.`);
  }

  /**
   * The chunks of a span, as they arrive.
   * @throws ServiceError `storage_unavailable`
   */
  async read(key: string, { start, length }: FileSpan): Promise<{ chunks: AsyncIterator<Uint8Array>; stop(): void }> {
    const stopping = new AbortController();
    const response = await this.#send(
      { method: 'GET', key, headers: { range: `bytes=${start}-${start + length - 1}` } },
      async (begun) => begun,
      stopping,
    );
    if (response.status !== 206 || response.body === null) {
      stopping.abort();
      throw storeUnavailable(
        'read',
        key,
        response.status === 404 ? 'The object does not exist.' : `It answered ${response.status} to a range.`,
      );
    }
    return {
      chunks: this.#withTimeLimit(response.body[Symbol.asyncIterator](), stopping),
      stop: () => stopping.abort(),
    };
  }

  /** Every object whose key has a prefix. */
  async list(prefix: string): Promise<{ key: string; bytes: number }[]> {
    const objects: { key: string; bytes: number }[] = [];
    for (let token: string | undefined = ''; token !== undefined;) {
      const query = { 'list-type': '2', prefix, ...(token === '' ? {} : { 'continuation-token': token }) };
      const { text: answer }: StoreAnswer = await this.#demand({ method: 'GET', key: '', query });
      for (const content of elementsOf(answer, 'Contents'))
        objects.push({ key: elementOf(content, 'Key') ?? '', bytes: Number(elementOf(content, 'Size')) });
      token = elementOf(answer, 'IsTruncated') === 'true' ? elementOf(answer, 'NextContinuationToken') : undefined;
    }
    return objects;
  }

  async remove(key: string): Promise<void> {
    await this.#ask({ method: 'DELETE', key });
  }

  /** A URL that allows anybody to read the object for some time. */
  async sign(key: string, { seconds, contentType, contentDisposition }: SignedUrlOptions): Promise<string> {
    const query = {
      'X-Amz-Expires': String(seconds),
      'response-content-type': contentType,
      'response-content-disposition': contentDisposition,
    };
    const { url } = await this.#signer({ method: 'GET', key, query }, { signQuery: true }).sign();
    return url.href;
  }

  async #uploadParts(key: string, { handle, size }: { handle: FileHandle; size: number }): Promise<void> {
    const { text: started } = await this.#demand({ method: 'POST', key, query: { uploads: '' } });
    const uploadId = elementOf(started, 'UploadId');
    if (uploadId === undefined) throw storeUnavailable('upload', key, 'It started no upload in parts.');
    try {
      const tags = await this.#sendParts(key, { handle, size, uploadId });
      const parts = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
      const { text: answer } = await this.#demand({ method: 'POST', key, query: { uploadId }, body });
      // S3 can send the status 200 and fail later.
      if (/<Error>/.test(answer))
        throw storeUnavailable(
          'upload',
          key,
          `It could not join the parts: ${elementOf(answer, 'Code') ?? 'no code'}.`,
        );
    } catch (error) {
      // If the answer was lost after the parts were joined, the store no longer knows the upload, but has the object.
      if ((await this.size(key).catch(() => undefined)) === size) return;
      await this.#ask({ method: 'DELETE', key, query: { uploadId } }).catch(() => {}); // a rule of the bucket removes parts that remain
      throw error;
    }
  }

  /** Sends all parts, some at a time, and returns their tags in order. */
  async #sendParts(
    key: string,
    { handle, size, uploadId }: { handle: FileHandle; size: number; uploadId: string },
  ): Promise<string[]> {
    const partBytes = Math.max(this.#settings.partBytes, Math.ceil(size / partsMax));
    const tags: string[] = new Array(Math.ceil(size / partBytes));
    let next = 0;
    const sendNext = async () => {
      while (next < tags.length) {
        const at = next++;
        const body = await readUploadPart(handle, {
          start: at * partBytes,
          length: Math.min(partBytes, size - at * partBytes),
        });
        const response = await this.#demand({
          method: 'PUT',
          key,
          query: { partNumber: String(at + 1), uploadId },
          body,
        });
        tags[at] = response.headers.get('etag') ?? '';
      }
    };
    const senders = await Promise.allSettled(
      Array.from({ length: partsInFlight }, () =>
        sendNext().catch((error: unknown) => {
          next = tags.length; // the others end after their current part
          throw error;
        }),
      ),
    );
    for (const sender of senders) if (sender.status === 'rejected') throw sender.reason;
    return tags;
  }

  /** As {@link #ask}, but 404 is an error. */
  async #demand(request: ObjectRequest): Promise<StoreAnswer> {
    const answer = await this.#ask(request);
    if (answer.status === 404)
      throw storeUnavailable(request.method, request.key, `It answered 404 ${elementOf(answer.text, 'Code') ?? ''}.`);
    return answer;
  }

  #ask(request: ObjectRequest): Promise<StoreAnswer> {
    return this.#send(request, async (response) => ({
      status: response.status,
      headers: response.headers,
      text: await response.text(),
    }));
  }

  /**
   * Sends a request, again after temporary errors, until the time of the operation is over. `receive` takes an answer with 2xx or 404,
   * within the time of an attempt.
   */
  async #send<Received extends object>(
    request: ObjectRequest,
    receive: (response: Response) => Promise<Received>,
    stopping = new AbortController(),
  ): Promise<Received> {
    const { secondsMax, signal } = this.#settings;
    const until = performance.now() + secondsMax * 1000;
    for (let attempt = 1; ; attempt++) {
      const received = await this.#try(request, receive, { stopping, until });
      if (!isServiceError(received)) return received;
      signal?.throwIfAborted();
      const waitMs = Math.random() * firstWaitMs * 2 ** (attempt - 1);
      const isOver = attempt === attemptsMax || performance.now() + waitMs >= until;
      if (!mayTryAgain(received) || isOver || stopping.signal.aborted) throw received;
      await sleep(waitMs);
    }
  }

  async #try<Received>(
    request: ObjectRequest,
    receive: (response: Response) => Promise<Received>,
    { stopping, until }: { stopping: AbortController; until: number },
  ): Promise<Received | ServiceError> {
    const { method, key, body } = request;
    const { attemptSecondsMax, signal } = this.#settings;
    const late = new AbortController();
    const timeMs = Math.min(attemptSecondsMax * 1000, until - performance.now());
    const timer = setTimeout(() => late.abort(), timeMs);
    try {
      const { url, headers } = await this.#signer(request).sign();
      const response = await fetch(url, {
        method,
        headers,
        body: body ?? null,
        redirect: 'manual',
        signal: AbortSignal.any([late.signal, stopping.signal, ...(signal === undefined ? [] : [signal])]),
      });
      if (response.ok || response.status === 404) return await receive(response);
      const code = elementOf(await response.text(), 'Code') ?? 'no code';
      return storeUnavailable(method, key, `It answered ${response.status} ${code}.`, { status: response.status });
    } catch (error) {
      return storeUnavailable(
        method,
        key,
        late.signal.aborted
          ? `It did not answer within ${Math.ceil(timeMs / 1000)} s.`
          : `It cannot be reached: ${networkCodeOf(error)}.`,
        { cause: error },
      );
    } finally {
      clearTimeout(timer);
    }
  }

  /** The signature covers the body, so that the store refuses one that was changed in transit. */
  #signer({ method, key, query = {}, headers = {}, body }: ObjectRequest, { signQuery = false } = {}): AwsV4Signer {
    const { endpoint, bucket, region, credentials } = this.#settings;
    const url = new URL(`${endpoint.replace(/\/$/, '')}/${bucket}${key === '' ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const digest = signQuery ? {} : { 'x-amz-content-sha256': sha256Of(body ?? '') };
    return new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, ...digest },
      service: 's3',
      region,
      signQuery,
      ...withoutUndefined(credentials),
    });
  }

  /** Aborts a body if its next chunk does not arrive in time. */
  #withTimeLimit(chunks: AsyncIterator<Uint8Array>, stopping: AbortController): AsyncIterator<Uint8Array> {
    return {
      next: async () => {
        const timer = setTimeout(() => stopping.abort(), this.#settings.attemptSecondsMax * 1000);
        try {
          return await chunks.next();
        } finally {
          clearTimeout(timer);
        }
      },
    };
  }
}

/** True after overload and faults of the store, when the same request can succeed; false for clock differences and wrong keys. */
function mayTryAgain({ cause }: ServiceError): boolean {
  const { status } = cause as { status?: number };
  return status === undefined || status === 408 || status === 429 || status >= 500;
}

async function readUploadPart(handle: FileHandle, { start, length }: FileSpan): Promise<Buffer> {
  const part = Buffer.allocUnsafe(length);
  for (let at = 0; at < length;) {
    const { bytesRead } = await handle.read(part, at, length - at, start + at);
    if (bytesRead === 0)
      throw new ServiceError('artefact_not_stored', {
        operation: 'read file to upload',
        problem: 'The file ends early.',
      });
    at += bytesRead;
  }
  return part;
}

/** An error with a code only from the store or the network: their texts contain keys and addresses. */
function storeUnavailable(
  operation: string,
  key: string,
  problem: string,
  { status, cause }: { status?: number; cause?: unknown } = {},
): ServiceError {
  const facts = status === undefined ? { code: cause === undefined ? undefined : networkCodeOf(cause) } : { status };
  return new ServiceError('storage_unavailable', {
    operation: `${operation} object`,
    object: key,
    problem,
    cause: facts,
  });
}

function networkCodeOf(error: unknown): string {
  const { cause = error, name } = error as { cause?: unknown; name?: string };
  const { code } = cause as { code?: unknown };
  return typeof code === 'string' ? code : (name ?? 'no code');
}

function withoutUndefined({ accessKeyId, secretAccessKey, sessionToken }: ObjectStoreCredentials): {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
} {
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}
