import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { ERRORS, ServiceError, errorMessageOf, type ErrorCode } from '../../../runtime/errors.ts';
import type { VerificationDetailAnswer } from '../batches/client-verification.ts';
import {
  serverMessageForm,
  streamPath,
  verifiedStatus,
  type ReadyMessage,
  type ServerMessage,
  type StartRequest,
} from './stream-protocol.ts';

/** Unsent bytes above which the client pauses. */
const unsentBytesMax = 256 * 1024;

/** Milliseconds between two checks of the unsent bytes. */
const drainMs = 10;

/** Bytes that are read of the answer to a refused request. */
const problemBytesMax = 64 * 1024;

interface StreamClientOptions {
  /** Address of the console. */
  readonly url: string;
  readonly key: string | undefined;
  readonly signal: AbortSignal;
  /** Called with each message of the console. */
  readonly onMessage?: ((message: ServerMessage) => void) | undefined;
  /** Called with the reason for the end of the connection, also after a verification. */
  readonly onEnd?: ((reason: unknown) => void) | undefined;
}

/** One audio stream to a console, as its client. */
export class StreamClient {
  private readonly options: StreamClientOptions;
  private readonly socket: WebSocket;
  private readonly opened: Promise<void>;
  private readonly answers = new Map<'ready' | 'verification', (message: ServerMessage) => void>();
  private readonly ended: Promise<never>;
  private fail: (error: unknown) => void = () => {};

  constructor(options: StreamClientOptions) {
    const { url, key, signal } = options;
    this.options = options;
    this.socket = new WebSocket(socketUrl(url), {
      headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
      perMessageDeflate: false,
    });
    this.ended = new Promise((_resolve, reject) => (this.fail = reject));
    this.ended.catch((reason: unknown) => options.onEnd?.(reason)); // a pending answer rejects as well
    this.opened = once(this.socket, 'open').then(
      () => {},
      (cause: unknown) => this.fail(lost(`The console at ${url} cannot be reached.`, cause)),
    );
    this.socket.on('message', (data) => this.receive(data as Buffer));
    this.socket.on(
      'unexpected-response',
      (_request, response) => void responseError(response).then((error) => this.fail(error)),
    );
    this.socket.on('error', (cause) =>
      this.fail(lost(`The connection to ${url} failed: ${errorMessageOf(cause)}.`, cause)),
    );
    this.socket.on('close', (status, reason) =>
      this.fail(
        lost(`The console ended the connection (${status}${reason.length > 0 ? ` ${reason.toString()}` : ''}).`),
      ),
    );
    signal.addEventListener('abort', () => this.abandon(signal.reason), { once: true });
    if (signal.aborted) this.abandon(signal.reason);
  }

  /**
   * Begins the stream; returns the console's answer.
   * @throws ServiceError the console's own, or `stream_lost`
   */
  async start(request: Omit<StartRequest, 'type'>): Promise<ReadyMessage> {
    await Promise.race([this.opened, this.ended]);
    const ready = this.answer('ready');
    this.socket.send(JSON.stringify({ type: 'start', ...request }));
    return (await ready) as ReadyMessage;
  }

  /**
   * Sends audio, and waits while more than `unsentBytesMax` are unsent.
   * @throws ServiceError as `start`
   */
  async send(bytes: Uint8Array): Promise<void> {
    this.socket.send(bytes);
    while (this.socket.bufferedAmount > unsentBytesMax && this.socket.readyState === WebSocket.OPEN)
      await new Promise((resolve) => setTimeout(resolve, drainMs));
    if (this.socket.readyState !== WebSocket.OPEN) await this.ended;
  }

  /**
   * Ends the stream, and waits for its verification.
   * @throws ServiceError as `start`
   */
  async end(): Promise<VerificationDetailAnswer> {
    const verified = this.answer('verification');
    this.socket.send(JSON.stringify({ type: 'end' }));
    const message = await verified;
    this.socket.close(verifiedStatus);
    return (message as Extract<ServerMessage, { type: 'verification' }>).verification;
  }

  /** Closes the connection without an end message: the audio that arrived is verified all the same. */
  close(): void {
    this.socket.terminate();
  }

  private answer(type: 'ready' | 'verification'): Promise<ServerMessage> {
    return Promise.race([new Promise<ServerMessage>((resolve) => this.answers.set(type, resolve)), this.ended]);
  }

  private receive(data: Buffer): void {
    const parsed = serverMessageForm.safeParse(JSON.parse(data.toString()));
    if (!parsed.success) return this.abandon(lost('The console sent a message that an audio stream does not have.'));
    const message = parsed.data;
    if (message.type === 'error')
      this.fail(
        new ServiceError(message.code, {
          operation: 'stream audio',
          problem: message.problem,
          hint: message.hint ?? undefined,
        }),
      );
    else if (message.type === 'ready' || message.type === 'verification') this.answers.get(message.type)?.(message);
    this.options.onMessage?.(message);
  }

  private abandon(reason: unknown): void {
    this.fail(reason);
    this.socket.terminate();
  }
}

/** The WebSocket address of a console's streams. */
function socketUrl(url: string): URL {
  const address = new URL(streamPath, url);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  return address;
}

function lost(problem: string, cause?: unknown): ServiceError {
  return new ServiceError('stream_lost', { operation: 'stream audio', problem, cause });
}

const problemForm = z.object({
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
  detail: z.string().optional(),
});

/** The error that the console answered instead of opening a stream (RFC 9457). */
async function responseError(response: IncomingMessage): Promise<ServiceError> {
  try {
    let text = '';
    for await (const chunk of response) if (text.length < problemBytesMax) text += String(chunk);
    const { code, detail } = problemForm.parse(JSON.parse(text));
    return new ServiceError(code, { operation: 'stream audio', problem: detail });
  } catch (cause) {
    return lost(`The address is not that of a console: it answered ${response.statusCode ?? 'nothing'}.`, cause);
  }
}
