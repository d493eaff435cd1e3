import { setTimeout as sleep } from 'node:timers/promises';
import { ERRORS, errorMessageOf, ServiceError, type ErrorCode } from '../../../runtime/errors.ts';

/** How a client of the service behaves where nothing else is said. Tests make the times short. */
export interface ClientPatience {
  /** Tries of a request in a row that bring nothing of what is asked for; then it is given up. */
  readonly triesMax: number;
  /** Milliseconds before the second try; they double with each one, to {@link waitMsMax}. */
  readonly firstWaitMs: number;
  /** Longest wait that an answer (Retry-After) may ask for. */
  readonly waitMsMax: number;
  /** Milliseconds without a byte after which a connection is given up. */
  readonly silenceMsMax: number;
}

export const patience: ClientPatience = { triesMax: 6, firstWaitMs: 500, waitMsMax: 300_000, silenceMsMax: 30_000 };

export interface ServiceClientOptions {
  /** Address of the service, without a path of its own: `https://caches.example`. */
  readonly url: string;
  /** Sent to this address alone, never to where it redirects. */
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly patience?: ClientPatience;
}

/** A JSON document with its entity tag, or the word that the client has it already. */
export type FetchedDocument =
  { readonly isKnown: true } | { readonly isKnown: false; readonly body: unknown; readonly etag: string | null };

/** The bytes of a file from an offset, as they arrive. */
export interface FetchedBytes {
  readonly status: number;
  readonly headers: Headers;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Ends the connection of an answer that is not read to its end. */
  readonly discard: () => void;
}

/** A request that goes on where a connection was cut. */
export interface PiecewiseRequest<Result> {
  /** Of the next try: they name what is still missing. */
  readonly headers: () => Record<string, string>;
  readonly take: (answer: FetchedBytes) => Promise<Result>;
  /** Grows with what was taken and is not asked for again; without it, each try begins anew. */
  readonly progress?: () => number;
}

/** A connection that ended or fell silent before everything had come. Another try may bring the rest. */
export class CutShort extends Error {}

/** Longest document, in bytes: manifests of 250 countries with 14 deltas each have some 1.5 MB. */
const documentBytesMax = 64 * 1024 * 1024;

const redirects = [301, 302, 303, 307, 308];
/** What may pass by itself. 429 and 503 say how long to wait. */
const passing = [429, 500, 502, 503, 504];

/** Speaks HTTP with the service: keys, waiting, trying again, and counting the bytes that came. */
export class ServiceClient {
  readonly #base: string;
  readonly #key: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #patience: ClientPatience;
  /** Bytes of all bodies so far. */
  bytesReceived = 0;

  constructor({ url, key, signal, patience: wanted = patience }: ServiceClientOptions) {
    this.#base = baseOf(url);
    this.#key = key;
    this.#signal = signal;
    this.#patience = wanted;
  }

  /**
   * Reads a JSON document, unless it is still the one of the entity tag.
   * @throws ServiceError the code of the service's answer where it is one of ours, else `download_failed`
   */
  async getDocument(href: string, etag?: string | null): Promise<FetchedDocument> {
    return this.#trying(async () => {
      const { status, headers, chunks } = await this.#ask(
        href,
        etag === undefined || etag === null ? {} : { 'If-None-Match': etag },
      );
      const text = await collectText(chunks);
      if (status === 304) return { isKnown: true };
      return { isKnown: false, body: parseJson(text), etag: headers.get('etag') };
    });
  }

  /** Reads a small file whole. @throws as {@link getDocument} */
  async getBytes(
    href: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Headers; bytes: Buffer }> {
    return this.#trying(async () => {
      const answer = await this.#ask(href, headers);
      const parts: Uint8Array[] = [];
      for await (const chunk of answer.chunks) parts.push(chunk);
      return { status: answer.status, headers: answer.headers, bytes: Buffer.concat(parts) };
    });
  }

  /**
   * Hands the bytes of an answer to `take` as they arrive, again and again until it has what it needs: `take` is called anew,
   * and asks for what is still missing, when a connection was cut. A try after which `progress` is more does not count as one in vain.
   * @throws as {@link getDocument}, and what `take` throws
   */
  async getInPieces<Result>(href: string, { headers, take, progress }: PiecewiseRequest<Result>): Promise<Result> {
    return this.#trying(async () => {
      const answer = await this.#ask(href, headers());
      try {
        return await take(answer);
      } finally {
        answer.discard();
      }
    }, progress);
  }

  /**
   * Only what `progress` says is gained. The bytes received are no measure: the bodies of refusals are among them, those of other
   * requests, and those of a document that begins anew with each try.
   */
  async #trying<Result>(work: () => Promise<Result>, progress: () => number = () => 0): Promise<Result> {
    for (let inVain = 1; ; inVain++) {
      const before = progress();
      try {
        return await work();
      } catch (error) {
        this.#signal?.throwIfAborted();
        const wait = waitAfter(error);
        if (wait === undefined) throw error;
        if (progress() > before) inVain = 1;
        if (inVain >= this.#patience.triesMax || (wait.asked ?? 0) > this.#patience.waitMsMax) throw wait.error;
        const ms = wait.asked ?? Math.min(this.#patience.firstWaitMs * 2 ** (inVain - 1), this.#patience.waitMsMax);
        await sleep(ms + Math.random() * this.#patience.firstWaitMs, undefined, { signal: this.#signal });
      }
    }
  }

  /** One request; a redirect is followed once, without the key. */
  async #ask(href: string, headers: Record<string, string>): Promise<FetchedBytes> {
    const answer = await this.#fetch(
      `${this.#base}${href}`,
      this.#key === undefined ? headers : { ...headers, Authorization: `Bearer ${this.#key}` },
    );
    if (!redirects.includes(answer.status)) return this.#accept(answer, href);
    answer.discard();
    const target = answer.headers.get('location');
    if (target === null)
      throw new ServiceError('download_failed', {
        operation: 'download',
        object: href,
        problem: 'The answer is a redirect to nowhere.',
      });
    const { 'If-Range': _tag, ...others } = headers; // there the entity tag is another one; what it names never changes
    return this.#accept(await this.#fetch(new URL(target, this.#base).href, others), href);
  }

  async #fetch(url: string, headers: Record<string, string>): Promise<FetchedBytes> {
    const silence = new SilenceAlarm(this.#patience.silenceMsMax, this.#signal);
    try {
      const response = await fetch(url, { headers, redirect: 'manual', signal: silence.signal });
      return {
        status: response.status,
        headers: response.headers,
        chunks: this.#count(response, silence),
        discard: () => silence.hangUp(),
      };
    } catch (error) {
      silence.end();
      throw error;
    }
  }

  async *#count(response: Response, silence: SilenceAlarm): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of response.body ?? []) {
        silence.heard();
        this.bytesReceived += (chunk as Uint8Array).length;
        yield chunk as Uint8Array;
      }
    } finally {
      silence.end();
    }
  }

  async #accept(answer: FetchedBytes, href: string): Promise<FetchedBytes> {
    if (answer.status < 400) return answer;
    throw refusalOf(answer, await collectText(answer.chunks).catch(() => ''), href);
  }
}

/** Ends a request that has been silent for too long. */
class SilenceAlarm {
  readonly #controller = new AbortController();
  readonly #msMax: number;
  #timer: NodeJS.Timeout;
  readonly signal: AbortSignal;

  constructor(msMax: number, outer: AbortSignal | undefined) {
    this.#msMax = msMax;
    this.#timer = this.#start();
    this.signal = outer === undefined ? this.#controller.signal : AbortSignal.any([outer, this.#controller.signal]);
  }

  heard(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  hangUp(): void {
    this.end();
    this.#controller.abort(new CutShort('hung up'));
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(new CutShort(`no byte came for ${this.#msMax} ms`)), this.#msMax);
  }
}

/** An answer that a later try may change, with the wait that it asks for in milliseconds. */
class PassingRefusal extends Error {
  readonly asked: number | undefined;
  readonly refusal: ServiceError;

  constructor(refusal: ServiceError, asked: number | undefined) {
    super(refusal.message);
    this.refusal = refusal;
    this.asked = asked;
  }
}

/** Undefined for an error that no later try changes. */
function waitAfter(error: unknown): { asked: number | undefined; error: ServiceError } | undefined {
  if (error instanceof PassingRefusal) return { asked: error.asked, error: error.refusal };
  if (!(error instanceof CutShort) && !isOfConnection(error)) return undefined;
  return {
    asked: undefined,
    error: new ServiceError('download_failed', {
      operation: 'download',
      problem: `The connection failed: ${rootMessage(error)}.`,
      cause: error,
    }),
  };
}

/** `fetch` throws a TypeError for a connection that failed, and only then with its cause. */
function isOfConnection(error: unknown): error is TypeError {
  return error instanceof TypeError && error.cause !== undefined;
}

/** `fetch failed` says nothing; its cause does. */
function rootMessage(error: Error): string {
  return error.cause instanceof Error ? rootMessage(error.cause) : errorMessageOf(error);
}

/** The error of an answer: by the code of its problem document where it has one of ours. */
function refusalOf({ status, headers }: FetchedBytes, body: string, href: string): Error {
  const { code, detail } = problemOf(body);
  const problem = `The service answers ${status}${detail === undefined ? '' : `: ${detail}`}`;
  if (!passing.includes(status))
    return new ServiceError(code ?? 'download_failed', { operation: 'download', object: href, problem });
  return new PassingRefusal(
    new ServiceError('download_failed', { operation: 'download', object: href, problem }),
    retryAfterMs(headers.get('retry-after')),
  );
}

function problemOf(body: string): { code?: ErrorCode; detail?: string } {
  try {
    const { code, detail } = JSON.parse(body) as { code?: unknown; detail?: unknown };
    return {
      ...(typeof code === 'string' && Object.hasOwn(ERRORS, code) ? { code: code as ErrorCode } : {}),
      ...(typeof detail === 'string' ? { detail } : {}),
    };
  } catch {
    return {}; // an answer of something between us and the service
  }
}

/** Retry-After in milliseconds: seconds, or a date (RFC 9110 section 10.2.3). */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

async function collectText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > documentBytesMax)
      throw new ServiceError('download_damaged', {
        operation: 'download',
        problem: `The document is longer than ${documentBytesMax} bytes.`,
      });
  }
  return Buffer.concat(parts).toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError('download_damaged', { operation: 'download', problem: 'The document is not JSON.', cause });
  }
}

/** @throws ServiceError `usage_invalid` */
function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new ServiceError('usage_invalid', {
      operation: 'read address',
      problem: 'The address of the service is not an http or https URL.',
    });
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
