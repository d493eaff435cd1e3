import { nodeStreams } from '../../../format/base/built-ins.ts';
import { collectBytes, fromUtf8 } from '../../../format/base/bytes.ts';
import { ClientError, isClientErrorCode, messageOf, type ClientErrorCode } from '../../../format/base/errors.ts';

/** How requests are repeated. Tests make the times short. */
export interface RetryPolicy {
  /** Consecutive attempts at a request without progress before it fails. */
  readonly triesMax: number;
  /** Milliseconds before the second attempt; doubled for each further one, up to {@link waitMsMax}. */
  readonly firstWaitMs: number;
  /** Longest accepted Retry-After, in milliseconds. */
  readonly waitMsMax: number;
  /** Milliseconds without a byte after which a connection is closed; also over which {@link bytesPerSecondMin} is measured. */
  readonly silenceMsMax: number;
  /** A connection that is slower is closed, and its bytes count as no progress: a mirror cannot hold a client for ever. */
  readonly bytesPerSecondMin: number;
}

const defaultRetryPolicy: RetryPolicy = {
  triesMax: 6,
  firstWaitMs: 500,
  waitMsMax: 300_000,
  silenceMsMax: 30_000,
  bytesPerSecondMin: 1024,
};

interface ServiceClientOptions {
  /** Base URL of the service: `https://caches.example`. */
  readonly url: string;
  /** Sent to this URL only, never to the target of a redirect. */
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly retryPolicy?: RetryPolicy;
}

/** A JSON document with its entity tag, or that it is unchanged. */
type FetchedDocument =
  { readonly isKnown: true } | { readonly isKnown: false; readonly body: unknown; readonly etag: string | null };

/** The bytes of a file from an offset, as they arrive. */
export interface FetchedBytes {
  readonly status: number;
  readonly headers: Headers;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Closes the connection of an answer that is not read completely. */
  readonly discard: () => void;
}

/** A request that resumes after a lost connection. */
interface ResumableRequest<Result> {
  /** Of the next attempt: they request the missing bytes. */
  readonly headers: () => Record<string, string>;
  readonly take: (answer: FetchedBytes) => Promise<Result>;
  /** Grows with the bytes taken so far; absent: each attempt starts again. */
  readonly progress?: () => number;
  /** True: an answer 404 is taken too, else it is an error. */
  readonly missing?: boolean;
}

/** A connection that ended or became silent too early. Another attempt may get the rest. */
export class ConnectionLost extends Error {}

/** A connection that was closed because it was too slow. */
class ConnectionTooSlow extends ConnectionLost {}

/** Bytes of a document; manifests of 250 countries with 14 deltas each have about 1.5 MB. */
const documentBytesMax = 64 * 1024 * 1024;

/** Bytes of the body of an error that are read. */
const problemBytesMax = 64 * 1024;

const redirects = [301, 302, 303, 307, 308];
const isBrowser = nodeStreams === undefined;
/** A browser shows no address of a redirect. It follows one itself, and leaves the key out where that leads to another origin. */
const redirectMode = isBrowser ? 'follow' : 'manual';

/** 429 and 503 carry Retry-After. */
const retryableStatuses = [429, 500, 502, 503, 504];

/** HTTP requests to the service with key, retries and a count of received bytes. */
export class ServiceClient {
  readonly #base: string;
  readonly #key: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #retryPolicy: RetryPolicy;
  /** Bytes of all received bodies. */
  bytesReceived = 0;

  constructor({ url, key, signal, retryPolicy = defaultRetryPolicy }: ServiceClientOptions) {
    this.#base = baseOf(url);
    this.#key = key;
    this.#signal = signal;
    this.#retryPolicy = retryPolicy;
  }

  /** @throws the reason of the signal, if it was aborted */
  throwIfAborted(): void {
    this.#signal?.throwIfAborted();
  }

  /**
   * Reads a JSON document, unless it still has the entity tag.
   * @throws ClientError the code of the service's problem document if it is one of ours, else `download_failed`
   */
  async getDocument(href: string, etag?: string | null): Promise<FetchedDocument> {
    return this.#retry(async () => {
      const { status, headers, chunks } = await this.#ask(
        href,
        etag === undefined || etag === null ? {} : { 'If-None-Match': etag },
      );
      const text = fromUtf8(await readAll({ chunks }, documentBytesMax));
      if (status === 304) return { isKnown: true };
      return { isKnown: false, body: parseDocument(text), etag: headers.get('etag') };
    });
  }

  /**
   * Reads a small file; undefined if the service has none of this name (404).
   * @throws as {@link getDocument}; `download_damaged` if it has more bytes than `bytesMax`
   */
  async findBytes(href: string, { bytesMax }: { readonly bytesMax: number }): Promise<Uint8Array | undefined> {
    return this.#retry(async () => {
      const answer = await this.#ask(href, {}, { missing: true });
      if (answer.status !== 404) return readAll(answer, bytesMax);
      answer.discard();
      return undefined;
    });
  }

  /**
   * Passes the bytes of an answer to `take` as they arrive. After a lost connection, `take` is called again with the answer to
   * a request for the missing bytes. An attempt that raises `progress` resets the count of failed attempts.
   * @throws as {@link getDocument}, and what `take` throws
   */
  async getResumable<Result>(
    href: string,
    { headers, take, progress, missing = false }: ResumableRequest<Result>,
  ): Promise<Result> {
    return this.#retry(async () => {
      const answer = await this.#ask(href, headers(), { missing });
      try {
        return await take(answer);
      } finally {
        answer.discard();
      }
    }, progress);
  }

  /**
   * Received bytes do not measure progress: they include bodies of errors and of other requests, and those of a document that
   * each attempt reads from its start.
   */
  async #retry<Result>(work: () => Promise<Result>, progress: () => number = () => 0): Promise<Result> {
    for (let failures = 1; ; failures++) {
      const before = progress();
      try {
        return await work();
      } catch (error) {
        this.#signal?.throwIfAborted();
        const wait = retryOf(error);
        if (wait === undefined) throw error;
        if (progress() > before && !(error instanceof ConnectionTooSlow)) failures = 1;
        const { triesMax, waitMsMax, firstWaitMs } = this.#retryPolicy;
        if (failures >= triesMax || (wait.afterMs ?? 0) > waitMsMax) throw wait.error;
        const ms = wait.afterMs ?? Math.min(firstWaitMs * 2 ** (failures - 1), waitMsMax);
        await waitFor(ms + Math.random() * firstWaitMs, this.#signal);
      }
    }
  }

  /** One request; a redirect is followed once, without the key. */
  async #ask(
    href: string,
    headers: Record<string, string>,
    { missing = false }: { readonly missing?: boolean } = {},
  ): Promise<FetchedBytes> {
    const answer = await this.#fetch(
      `${this.#base}${href}`,
      this.#key === undefined ? headers : { ...headers, Authorization: `Bearer ${this.#key}` },
    );
    if (missing && answer.status === 404) return answer;
    if (!redirects.includes(answer.status)) return this.#accept(answer, href);
    answer.discard();
    const target = answer.headers.get('location');
    if (target === null)
      throw new ClientError('download_failed', {
        operation: 'download',
        object: href,
        problem: 'The answer is a redirect without a location.',
      });
    const { 'If-Range': _tag, ...others } = headers; // the object store has other entity tags, and its objects never change
    return this.#accept(await this.#fetch(new URL(target, this.#base).href, others), href);
  }

  async #fetch(url: string, headers: Record<string, string>): Promise<FetchedBytes> {
    const idle = new PaceWatch(this.#retryPolicy, this.#signal);
    try {
      const response = await fetch(url, { headers, redirect: redirectMode, signal: idle.signal });
      return {
        status: response.status,
        headers: response.headers,
        chunks: this.#count(response, idle),
        discard: () => idle.abort(),
      };
    } catch (error) {
      idle.stop();
      throw error;
    }
  }

  async *#count(response: Response, idle: PaceWatch): AsyncGenerator<Uint8Array> {
    try {
      const reader = response.body?.getReader();
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader!.read()) {
        idle.received(part.value.length);
        this.bytesReceived += part.value.length;
        yield part.value;
      }
    } finally {
      idle.stop();
    }
  }

  async #accept(answer: FetchedBytes, href: string): Promise<FetchedBytes> {
    if (answer.status < 400) return answer;
    throw answerError(answer, await readAll(answer, problemBytesMax).then(fromUtf8, () => ''), href);
  }
}

type Timer = ReturnType<typeof setTimeout>;

/** Aborts a request that receives no bytes for too long, or so few that it would never end. */
class PaceWatch {
  readonly #controller = new AbortController();
  readonly #msMax: number;
  #idle: Timer;
  readonly #pace: Timer;
  /** Bytes since the pace was last looked at. */
  #bytes = 0;
  readonly signal: AbortSignal;

  constructor({ silenceMsMax: msMax, bytesPerSecondMin }: RetryPolicy, outer: AbortSignal | undefined) {
    this.#msMax = msMax;
    this.#idle = this.#expectBytes();
    this.#pace = setInterval(() => {
      if (this.#bytes * 1000 < bytesPerSecondMin * msMax)
        this.#close(new ConnectionTooSlow(`fewer than ${bytesPerSecondMin} bytes a second arrived`));
      this.#bytes = 0;
    }, msMax);
    this.signal = outer === undefined ? this.#controller.signal : AbortSignal.any([outer, this.#controller.signal]);
  }

  received(bytes: number): void {
    this.#bytes += bytes;
    clearTimeout(this.#idle);
    this.#idle = this.#expectBytes();
  }

  #expectBytes(): Timer {
    return setTimeout(() => this.#close(new ConnectionLost(`no byte arrived for ${this.#msMax} ms`)), this.#msMax);
  }

  stop(): void {
    clearTimeout(this.#idle);
    clearInterval(this.#pace);
  }

  abort(): void {
    this.#close(new ConnectionLost('closed'));
  }

  #close(why: ConnectionLost): void {
    this.stop();
    this.#controller.abort(why);
  }
}

/** An error answer that may change later, with its Retry-After in milliseconds. */
class RetryableAnswer extends Error {
  readonly afterMs: number | undefined;
  readonly error: ClientError;

  constructor(error: ClientError, afterMs: number | undefined) {
    super(error.message);
    this.error = error;
    this.afterMs = afterMs;
  }
}

/** Undefined for a final error. */
function retryOf(error: unknown): { afterMs: number | undefined; error: ClientError } | undefined {
  if (error instanceof RetryableAnswer) return { afterMs: error.afterMs, error: error.error };
  if (!(error instanceof ConnectionLost) && !isConnectionError(error)) return undefined;
  return {
    afterMs: undefined,
    error: new ClientError('download_failed', {
      operation: 'download',
      problem: `The connection failed: ${rootMessage(error)}.`,
      cause: error,
    }),
  };
}

/** `fetch` throws a TypeError for a failed connection; in Node, where it throws others too, that one has a cause. */
function isConnectionError(error: unknown): error is TypeError {
  return error instanceof TypeError && (isBrowser || error.cause !== undefined);
}

/** Waits. @throws the reason of the signal */
async function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
  signal?.throwIfAborted();
}

/** The message of the innermost cause: that of `fetch` is only `fetch failed`. */
function rootMessage(error: Error): string {
  return error.cause instanceof Error ? rootMessage(error.cause) : messageOf(error);
}

/** The error for an answer, with the code of its problem document if that is one of ours. */
function answerError({ status, headers }: FetchedBytes, body: string, href: string): Error {
  const { code, detail } = parseProblem(body);
  const problem = `The service answers ${status}${detail === undefined ? '' : `: ${detail}`}`;
  if (!retryableStatuses.includes(status))
    return new ClientError(code ?? 'download_failed', { operation: 'download', object: href, problem });
  return new RetryableAnswer(
    new ClientError('download_failed', { operation: 'download', object: href, problem }),
    retryAfterMs(headers.get('retry-after')),
  );
}

function parseProblem(body: string): { code?: ClientErrorCode; detail?: string } {
  try {
    const { code, detail } = JSON.parse(body) as { code?: unknown; detail?: unknown };
    return { ...(isClientErrorCode(code) ? { code } : {}), ...(typeof detail === 'string' ? { detail } : {}) };
  } catch {
    return {}; // the answer of a proxy
  }
}

/** Retry-After in milliseconds: seconds, or a date (RFC 9110 section 10.2.3). */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** @throws ClientError `download_damaged` if there are more bytes than `bytesMax`: then the connection is closed */
async function readAll({ chunks }: Pick<FetchedBytes, 'chunks'>, bytesMax: number): Promise<Uint8Array> {
  const bytes = await collectBytes(chunks, bytesMax);
  if (bytes.length <= bytesMax) return bytes;
  throw new ClientError('download_damaged', {
    operation: 'download',
    problem: `The document is longer than ${bytesMax} bytes.`,
  });
}

function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ClientError('download_damaged', { operation: 'download', problem: 'The document is not JSON.', cause });
  }
}

/** @throws ClientError `usage_invalid` */
function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new ClientError('usage_invalid', {
      operation: 'read address',
      problem: 'The address of the service is not an http or https URL.',
    });
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
