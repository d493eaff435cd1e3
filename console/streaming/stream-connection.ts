import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from '@fastify/websocket';
import { StreamPace } from '../../pipelines/audio/streaming/stream-limits.ts';
import {
  clientMessageForm,
  closeStatusOf,
  verifiedStatus,
  type ClientMessage,
  type ServerMessage,
  type StartMessage,
} from '../../pipelines/audio/streaming/stream-protocol.ts';
import type { OpenStream, StreamOwner, StreamService } from '../../pipelines/audio/streaming/stream-service.ts';
import type { Config } from '../../runtime/config.ts';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { parseStorableJson } from '../../runtime/stored-text.ts';
import { streamLimits } from '../../pipelines/audio/streaming/stream-limits.ts';

/** Milliseconds between progress messages. */
const progressMs = 1000;

/** Milliseconds for a client to receive its last message. */
const closeMs = 10_000;

/** Fraction of `streamBehindSecondsMax` below which reading resumes. */
const behindShare = 0.5;

/** Largest text message of a client: a start message has about 300 bytes. */
const textBytesMax = 4096;

/** Why reading from a connection is paused. */
type Hold = 'message' | 'behind';

interface StreamConnectionOptions {
  readonly socket: WebSocket;
  readonly service: Pick<StreamService, 'begin'>;
  readonly owner: StreamOwner;
  /** Records the start of a stream. */
  readonly onBegin: (id: string) => Promise<void>;
  /** True while the key or the session of the owner may still send streams. */
  readonly isStillAllowed: () => Promise<boolean>;
  readonly config: Config;
  readonly log: Log;
}

/** The state of the protocol. `ending`: the received audio is verified, and no more is accepted. */
type Stage =
  | { readonly name: 'waiting' }
  | { readonly name: 'streaming'; readonly stream: OpenStream; readonly pace: StreamPace }
  | { readonly name: 'ending' };

/** One audio stream of a client: messages in, scores out. The received audio is verified however the stream ends. */
export class StreamConnection {
  private readonly options: StreamConnectionOptions;
  private readonly limits: typeof streamLimits;
  private readonly holds = new Set<Hold>();
  private readonly progress: NodeJS.Timeout;
  private stage: Stage = { name: 'waiting' };
  private deadline: NodeJS.Timeout | undefined;
  private lastProgress = '';
  private isCheckingOwner = false;
  /** Received messages that are not processed yet. */
  private waiting = 0;
  /** Messages are processed in order. */
  private work: Promise<void> = Promise.resolve();

  constructor(options: StreamConnectionOptions) {
    const { socket, config } = options;
    this.options = options;
    this.limits = { ...streamLimits, ...config };
    socket.on('message', (data, isBinary) => this.receive(data as Buffer, isBinary));
    socket.on('close', () => void (this.work = this.work.then(() => this.endStream()))); // messages before the close are processed first
    this.progress = setInterval(() => {
      this.sendProgress();
      void this.checkOwner();
    }, progressMs);
    const { streamStartSecondsMax } = this.limits;
    this.setDeadline(
      streamStartSecondsMax,
      () =>
        new ServiceError('request_timeout', {
          operation: 'begin stream',
          problem: `No first message came within ${streamStartSecondsMax} s.`,
          hint: 'Send the message `start` at once.',
        }),
    );
  }

  /** Ends the stream because the console stops. */
  stop(): void {
    this.fail(
      new ServiceError('interrupted', {
        operation: 'receive stream',
        problem: 'The console stops.',
        hint: 'The received audio is verified. Start a new stream.',
      }),
    );
  }

  private receive(data: Buffer, isBinary: boolean): void {
    this.waiting++;
    this.hold('message');
    this.work = this.work
      .then(() => (isBinary ? this.takeAudio(data) : this.takeText(data)))
      .catch((error: unknown) => this.fail(error))
      .finally(() => {
        if (--this.waiting === 0) this.release('message');
      });
  }

  private async takeText(data: Buffer): Promise<void> {
    if (this.stage.name === 'ending') return this.requireOpenSocket();
    const message = parseMessage(data);
    if (message.type === 'end') return this.end();
    if (this.stage.name === 'streaming') throw invalidMessage('The stream has begun already.', '`start` comes once.');
    await this.begin(message);
  }

  private async begin(start: StartMessage): Promise<void> {
    const { service, owner, onBegin, config } = this.options;
    const stream = await service.begin(start, owner, {
      onWindow: (window) => this.send({ type: 'window', ...window }),
      onProgress: () => this.pauseIfBehind(),
    });
    await onBegin(stream.id).catch(async (error: unknown) => {
      await stream.end().catch(() => {}); // no audio was received
      throw error;
    });
    if (this.stage.name !== 'waiting') return void stream.end().catch(() => {}); // it was abandoned meanwhile, without audio
    this.stage = { name: 'streaming', stream, pace: new StreamPace(this.limits, performance.now()) };
    this.awaitAudio();
    const { thresholds } = stream.model.manifest;
    this.send({
      type: 'ready',
      stream: stream.id,
      model: stream.model.name,
      thresholds: { synthesis: thresholds.synthesis ?? null, replay: thresholds.replay ?? null },
      limits: {
        secondsMax: config.audioSecondsMax,
        frameBytesMax: this.limits.streamFrameBytesMax,
        idleSecondsMax: this.limits.streamIdleSecondsMax,
        speedMax: this.limits.streamSpeedMax,
        burstSeconds: this.limits.streamBurstSeconds,
      },
    });
  }

  private async takeAudio(bytes: Buffer): Promise<void> {
    const { config } = this.options;
    if (this.stage.name === 'ending') return this.requireOpenSocket();
    if (bytes.length > this.limits.streamFrameBytesMax)
      throw new ServiceError('stream_frame_too_large', {
        operation: 'receive stream',
        problem: `It has ${bytes.length} bytes; at most ${this.limits.streamFrameBytesMax} are accepted.`,
        hint: 'Send smaller chunks.',
      });
    if (this.stage.name === 'waiting')
      throw invalidMessage('Audio came before the message `start`.', 'Send `start` first, and wait for `ready`.');
    if (bytes.length === 0) return; // no audio
    const { stream, pace } = this.stage;
    this.awaitAudio();
    const room = stream.bytesMax(config.audioSecondsMax, config.audioBytesMax) - stream.receivedBytes;
    const before = stream.receivedSeconds;
    await stream.append(bytes.subarray(0, room));
    if (bytes.length > room)
      throw new ServiceError('stream_too_long', {
        operation: 'receive stream',
        problem: `It has more than ${config.audioSecondsMax} s, or its file more than ${config.audioBytesMax} bytes.`,
        hint: 'The received audio is verified. Start a new stream.',
      });
    this.pauseIfBehind();
    const waitMs = pace.take(stream.receivedSeconds - before, performance.now());
    if (waitMs > 0) await sleep(waitMs); // delays the next message, and pauses reading
  }

  /** Refuses messages after the end; messages after an error are ignored. */
  private requireOpenSocket(): void {
    const { socket } = this.options;
    if (socket.readyState === socket.OPEN)
      throw invalidMessage('A message came after the end of the stream.', 'Wait for the verification after `end`.');
  }

  private async end(): Promise<void> {
    if (this.stage.name === 'waiting')
      throw invalidMessage('The end came before the message `start`.', 'Send `start` first.');
    if (this.stage.name !== 'streaming') return;
    const { stream } = this.stage;
    this.finishStage();
    void stream.end().then(
      (verification) => {
        this.sendProgressOf(stream);
        this.send({ type: 'verification', verification });
        this.close(verifiedStatus, 'verified');
      },
      (error: unknown) => this.fail(error),
    );
  }

  /** Ends the stream after the connection; the received audio is verified. */
  private endStream(): void {
    const { stage } = this;
    this.finishStage();
    if (stage.name === 'streaming') void stage.stream.end().catch(() => {}); // logged already
  }

  /** Sends the error and closes the connection; the received audio is verified. */
  private fail(thrown: unknown): void {
    const { socket, log } = this.options;
    const error = isServiceError(thrown)
      ? thrown
      : new ServiceError('internal', { operation: 'receive stream', cause: thrown });
    if (error.code === 'internal') log.error({ err: thrown }, 'a stream failed');
    if (socket.readyState === socket.OPEN)
      this.send({ type: 'error', code: error.code, problem: error.problem, hint: error.hint ?? null });
    this.close(closeStatusOf(error.code), error.code);
    this.endStream();
  }

  private finishStage(): void {
    this.stage = { name: 'ending' };
    clearTimeout(this.deadline);
    clearInterval(this.progress);
  }

  private send(message: ServerMessage): void {
    const { socket } = this.options;
    if (socket.readyState !== socket.OPEN) return;
    socket.send(JSON.stringify(message));
    if (socket.bufferedAmount > this.limits.streamUnsentBytesMax) this.terminateUnread();
  }

  /** Terminates the connection of a client that reads nothing, without a reason. */
  private terminateUnread(): void {
    this.options.log.warn(
      { code: 'stream_not_read' satisfies ServiceError['code'] },
      'a client does not read what its stream is answered',
    );
    this.options.socket.terminate();
  }

  /** Closes, and terminates the connection if the client does not answer the close in time. */
  private close(status: number, reason: string): void {
    const { socket } = this.options;
    this.holds.clear();
    socket.resume(); // the client's close must be read
    socket.close(status, reason);
    setTimeout(() => socket.terminate(), closeMs).unref();
  }

  private sendProgress(): void {
    if (this.stage.name === 'streaming') this.sendProgressOf(this.stage.stream);
  }

  /** Ends the stream when its session, role or key ends. */
  private async checkOwner(): Promise<void> {
    if (this.isCheckingOwner) return;
    this.isCheckingOwner = true;
    const isAllowed = await this.options.isStillAllowed().catch(() => true); // unknown for now: the next check decides
    this.isCheckingOwner = false;
    if (!isAllowed && this.stage.name !== 'ending')
      this.fail(
        new ServiceError('unauthenticated', {
          operation: 'receive stream',
          problem: 'The session, the role or the key of the stream has ended.',
          hint: 'The received audio is verified.',
        }),
      );
  }

  private sendProgressOf({ receivedSeconds, voiceSeconds }: OpenStream): void {
    const message = { type: 'progress', receivedSeconds, voiceSeconds } as const;
    const text = JSON.stringify(message);
    if (text !== this.lastProgress) this.send(message);
    this.lastProgress = text;
  }

  private awaitAudio(): void {
    const { streamIdleSecondsMax } = this.limits;
    this.setDeadline(
      streamIdleSecondsMax,
      () =>
        new ServiceError('stream_idle', {
          operation: 'receive stream',
          problem: `No audio came for ${streamIdleSecondsMax} s.`,
          hint: 'The received audio is verified. Send silence too.',
        }),
    );
  }

  /** Paused reading is not idleness of the client. */
  private setDeadline(seconds: number, error: () => ServiceError): void {
    clearTimeout(this.deadline);
    this.deadline = setTimeout(
      () => (this.holds.size > 0 ? this.setDeadline(seconds, error) : this.fail(error())),
      seconds * 1000,
    );
  }

  private pauseIfBehind(): void {
    if (this.stage.name !== 'streaming') return;
    const { streamBehindSecondsMax } = this.limits;
    const { behindSeconds } = this.stage.stream;
    if (behindSeconds > streamBehindSecondsMax) this.hold('behind');
    else if (behindSeconds <= streamBehindSecondsMax * behindShare) this.release('behind');
  }

  private hold(why: Hold): void {
    this.holds.add(why);
    this.options.socket.pause();
  }

  private release(why: Hold): void {
    if (this.holds.delete(why) && this.holds.size === 0) this.options.socket.resume();
  }
}

/** @throws ServiceError `stream_invalid` */
function parseMessage(data: Buffer): ClientMessage {
  if (data.length > textBytesMax)
    throw invalidMessage(
      `A text message has ${data.length} bytes; at most ${textBytesMax} are accepted.`,
      'Audio goes in binary messages.',
    );
  const parsed = clientMessageForm.safeParse(parseJson(data.toString()));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidMessage(
    `${issue!.path.length === 0 ? 'The message' : issue!.path.join('.')}: ${issue!.message}.`,
    'docs/streaming.md shows the messages.',
  );
}

/** @throws ServiceError `stream_invalid` */
function parseJson(text: string): unknown {
  try {
    return parseStorableJson(text);
  } catch {
    throw invalidMessage(
      'A text message is not JSON, or a text of it cannot be stored.',
      'Audio goes in binary messages.',
    );
  }
}

function invalidMessage(problem: string, hint: string): ServiceError {
  return new ServiceError('stream_invalid', { operation: 'receive stream', problem, hint });
}
