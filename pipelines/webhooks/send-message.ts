import { lookup, type LookupAddress } from 'node:dns';
import { request as requestHttp, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { addressRules } from './public-address.ts';
import type { SignedMessage } from './message.ts';
import type { Config } from '../../runtime/config.ts';

/** The closed list of reasons why an attempt failed. docs/webhooks.md is checked against it both ways. */
export const DELIVERY_FAILURES = {
  name_unresolved: 'The name of the endpoint has no address.',
  address_refused: 'The name of the endpoint has an address inside a private network.',
  http_refused: 'The endpoint has no TLS, and is in none of the private networks that are allowed.',
  connection_failed: 'No connection could be made, or it broke.',
  tls_failed: 'The certificate of the endpoint is not valid for its name.',
  timed_out: 'The endpoint did not answer in time.',
  redirected: 'The endpoint answered with a redirect, which is not followed.',
  status_refused: 'The endpoint answered with another status than 2xx.',
  gone: 'The endpoint answered 410: it wants no deliveries any more.',
  secret_sealed: 'The secret of the endpoint cannot be opened with the master key of the worker.',
  not_attempted: 'The worker failed or crashed during the attempt.',
  endpoint_disabled: 'The endpoint was disabled.',
} as const;

export type DeliveryFailure = keyof typeof DELIVERY_FAILURES;

/** How an attempt ended. */
export interface AttemptEnd {
  /** Status of the answer; null without one. */
  readonly status: number | null;
  /** Null after a success. */
  readonly failure: DeliveryFailure | null;
  /** Seconds for which the receiver asks to wait. */
  readonly retryAfterSeconds: number | null;
}

/** See the setting of the same name. */
export type SendLimits = Pick<Config, 'webhookNetworksAllowed'>;

interface SendOptions {
  readonly url: string;
  readonly message: SignedMessage;
  readonly limits: SendLimits;
  readonly signal: AbortSignal;
  /** Default: {@link answerSecondsMax}. */
  readonly secondsMax?: number;
  /** Default: the resolver of the system. */
  readonly resolve?: (host: string) => Promise<LookupAddress[]>;
}

/** Seconds in which an endpoint must answer, connection and name included; receivers are asked to answer first and work afterwards. */
const answerSecondsMax = 15;

/** Bytes of an answer that are read; what follows is not. Its status alone counts. */
const answerBytesMax = 64 * 1024;
const headerBytesMax = 16 * 1024;

/** Failures of node:tls by their codes: X.509 verification (openssl-verify(1)) and the name in the certificate. */
const certificateFault = /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH)/;

/**
 * Sends a message to an endpoint with POST. Its name is resolved once, every address is checked, and the connection goes to one of
 * these, so that a name cannot change its address between check and connection. Redirects are not followed.
 * @throws the reason of `signal`; every other failure is an outcome
 */
export async function sendMessage(options: SendOptions): Promise<AttemptEnd> {
  const { url, limits, signal, secondsMax = answerSecondsMax, resolve = resolveName } = options;
  const target = new URL(url);
  const timeout = AbortSignal.timeout(secondsMax * 1000);
  try {
    const addresses = await untilFired(timeout, resolve(target.hostname.replace(/^\[|\]$/g, '')));
    const { allows, names } = addressRules(limits.webhookNetworksAllowed);
    if (addresses.length === 0) return failed('name_unresolved');
    if (!addresses.every(({ address }) => allows(address))) return failed('address_refused');
    if (target.protocol !== 'https:' && !addresses.every(({ address }) => names(address)))
      return failed('http_refused');
    return await post(target, { ...options, addresses, signal: AbortSignal.any([signal, timeout]) });
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return failed('timed_out');
    return failed(failureOfConnection(error));
  }
}

function failed(failure: DeliveryFailure): AttemptEnd {
  return { status: null, failure, retryAfterSeconds: null };
}

function failureOfConnection(error: unknown): DeliveryFailure {
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  if (syscall === 'getaddrinfo') return 'name_unresolved';
  return certificateFault.test(code) ? 'tls_failed' : 'connection_failed';
}

/** All addresses of a name, without a search for others later. An address is its own. */
function resolveName(host: string): Promise<LookupAddress[]> {
  return new Promise((found, fail) =>
    lookup(host, { all: true }, (error, addresses) => (error === null ? found(addresses) : fail(error))),
  );
}

async function untilFired<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  signal.throwIfAborted();
  return Promise.race([
    work,
    new Promise<never>((_, fail) =>
      signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true }),
    ),
  ]);
}

interface PostOptions extends Pick<SendOptions, 'message' | 'signal'> {
  readonly addresses: readonly LookupAddress[];
}

async function post(target: URL, { message, addresses, signal }: PostOptions): Promise<AttemptEnd> {
  const bytes = Buffer.from(message.body);
  const options: RequestOptions = {
    method: 'POST',
    headers: { 'User-Agent': 'caller-trust', 'Content-Length': bytes.length, ...message.headers },
    agent: false, // a connection of its own for each attempt: none is kept to an address that was checked long ago
    lookup: lookupIn(addresses),
    maxHeaderSize: headerBytesMax,
    signal,
  };
  const request = target.protocol === 'https:' ? requestHttps(target, options) : requestHttp(target, options);
  const answer = await answerOf(request, bytes);
  const end = judgeAnswer(answer);
  await discard(answer);
  return end;
}

/** Answers the connection's question for the addresses of its name with those that were checked. */
function lookupIn(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, answer) => {
    if (all === true) answer(null, [...addresses]);
    else answer(null, addresses[0]!.address, addresses[0]!.family);
  };
}

function answerOf(request: ClientRequest, bytes: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject); // also after the answer, when nobody waits
    request.end(bytes);
  });
}

/** What the status of an answer means. */
function judgeAnswer({ statusCode: status = 0, headers }: IncomingMessage): AttemptEnd {
  const retryAfterSeconds = parseRetryAfter(headers['retry-after']);
  if (status >= 200 && status < 300) return { status, failure: null, retryAfterSeconds: null };
  if (status >= 300 && status < 400) return { status, failure: 'redirected', retryAfterSeconds: null };
  return { status, failure: status === 410 ? 'gone' : 'status_refused', retryAfterSeconds };
}

/** Seconds of Retry-After, which may be an instant (RFC 9110 section 10.2.3). */
function parseRetryAfter(text: string | undefined): number | null {
  if (text === undefined) return null;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

/** Reads the rest of an answer, so that its sender sees no error, but not more than {@link answerBytesMax}. */
async function discard(answer: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length;
      if (bytes > answerBytesMax) break; // leaving the loop destroys the stream
    }
  } catch {
    // The status has arrived, and decides.
  }
}
