import { ServiceError } from '../../../runtime/errors.ts';
import { errorOfFailure } from '../scoring/scorer-protocol.ts';
import type { ScoredRecording, ScoredWindow } from '../verification.ts';
import { frameBytesOf, secondsOf } from './stream-format.ts';
import type { ScoringEvent, StreamScorerProcess } from './stream-scorer-process.ts';
import type { StreamScorers } from './stream-scorers.ts';
import type { StreamScoringRequest } from './stream-scoring.ts';
import type { StreamSpool } from './stream-spool.ts';

/** Most seconds of audio in one message to a process, which scores it before it turns to its other streams. */
const messageSeconds = 0.5;

/**
 * Least seconds of audio in a message, and milliseconds after which a shorter one is sent: clients send 20 ms at a time, and a message for
 * each cost more than its scores.
 */
const messageSecondsMin = 0.06;
const messageDelayMs = 50;

/** Seconds of audio that a process may have received and not scored. */
const aheadSeconds = 2;

/** Processes that one stream may lose before it is scored from its file instead. */
const lossesMax = 2;

/** Receives what is scored of a stream while it arrives. */
export interface StreamWatcher {
  onWindow(window: ScoredWindow): void;
  /** More audio was scored, or scoring has ended. */
  onProgress(): void;
}

interface LiveStreamOptions extends StreamScoringRequest {
  readonly spool: StreamSpool;
  readonly scorers: StreamScorers;
  readonly listener: StreamWatcher;
}

/**
 * A stream that is scored while it arrives. Its process is fed from the spool: when it dies, another one starts from the
 * beginning, and windows that were emitted before are not emitted again.
 */
export class LiveStream {
  private readonly options: LiveStreamOptions;
  private readonly messageBytes: number;
  private readonly aheadBytes: number;
  private readonly messageBytesMin: number;
  private readonly emitted = new Map<string, ScoredWindow['label']>();
  private readonly scored: Promise<ScoredRecording>;
  private outcome: { resolve(result: ScoredRecording): void; reject(error: unknown): void } = {
    resolve() {},
    reject() {},
  };
  private scorer: { readonly process: StreamScorerProcess; readonly stream: number } | undefined;
  private sent = 0;
  private scoredBytes = 0;
  private losses = 0;
  private isEnding = false;
  private endIsSent = false;
  private isPumping = false;
  /** Send all received audio, even if it is less than a message should have. */
  private isDue = false;
  private due: NodeJS.Timeout | undefined;
  private isOver = false;
  private voiced = 0;

  constructor(options: LiveStreamOptions) {
    const { format } = options;
    this.options = options;
    this.messageBytes = Math.max(1, Math.round(messageSeconds * format.sampleRate)) * frameBytesOf(format);
    this.aheadBytes = aheadSeconds * format.sampleRate * frameBytesOf(format);
    this.messageBytesMin = Math.round(messageSecondsMin * format.sampleRate) * frameBytesOf(format);
    this.scored = new Promise((resolve, reject) => (this.outcome = { resolve, reject }));
    this.scored.catch(() => {}); // handled where the end of the stream is awaited
    void this.assignScorer();
  }

  /** Seconds of voice so far. */
  get voiceSeconds(): number {
    return this.voiced;
  }

  /** Seconds of received audio that are not scored yet; 0 after scoring has ended. */
  get behindSeconds(): number {
    return this.isOver ? 0 : secondsOf(this.options.spool.received - this.scoredBytes, this.options.format);
  }

  /** Appends bytes; resolves when they are in the spool. */
  async append(bytes: Buffer): Promise<void> {
    await this.options.spool.append(bytes);
    this.due ??= setTimeout(() => this.sendRest(), messageDelayMs);
    void this.pump();
  }

  /**
   * Ends the stream, and waits for its scores.
   * @throws AudioRefusal if it cannot be scored
   * @throws ServiceError `scorer_unavailable` if the processes died or none starts, `model_invalid`, `internal`
   */
  end(): Promise<ScoredRecording> {
    this.isEnding = true;
    this.sendRest();
    return this.scored;
  }

  /** Sends all received audio. */
  private sendRest(): void {
    clearTimeout(this.due);
    this.due = undefined;
    this.isDue = true;
    void this.pump();
  }

  private async assignScorer(): Promise<void> {
    const { scorers, model, format, settings } = this.options;
    try {
      const process = await scorers.assign();
      if (this.isOver) return;
      const stream = process.open(
        { model, format, settings },
        { onEvent: (event) => this.receive(event), onLost: () => this.loseScorer() },
      );
      this.scorer = { process, stream };
      await this.pump();
    } catch (error) {
      this.fail(error);
    }
  }

  private loseScorer(): void {
    this.scorer = undefined;
    [this.sent, this.scoredBytes, this.endIsSent] = [0, 0, false];
    if (++this.losses <= lossesMax) void this.assignScorer();
    else
      this.fail(
        new ServiceError('scorer_unavailable', {
          operation: 'score stream',
          problem: `${this.losses} processes that scored it have died.`,
        }),
      );
  }

  private receive(event: ScoringEvent): void {
    switch (event.kind) {
      case 'window':
        return this.emitWindow(event.window);
      case 'progress':
        [this.scoredBytes, this.voiced] = [event.bytes, Math.max(this.voiced, event.voiceSeconds)];
        this.options.listener.onProgress();
        return void this.pump();
      case 'scored':
        this.isOver = true;
        return this.outcome.resolve(event.result);
      case 'refused':
      case 'failed':
        return this.fail(errorOfFailure(event, 'score stream'));
    }
  }

  private emitWindow(window: ScoredWindow): void {
    const key = `${window.channel} ${window.start} ${window.end}`;
    if (this.emitted.get(key) === window.label) return;
    this.emitted.set(key, window.label);
    this.options.listener.onWindow(window);
  }

  /** Sends audio from the spool, up to `aheadSeconds` beyond what is scored. */
  private async pump(): Promise<void> {
    if (this.isPumping || this.isOver) return;
    this.isPumping = true;
    try {
      const { spool } = this.options;
      while (this.scorer !== undefined && this.hasMessage() && this.sent - this.scoredBytes < this.aheadBytes) {
        const { scorer, sent } = this;
        const bytes = await spool.read(sent, this.messageBytes);
        if (bytes.length === 0)
          throw new ServiceError('internal', {
            operation: 'score stream',
            object: spool.spooled.facts.id,
            problem: 'Its file is shorter than the audio that was written to it.',
          });
        if (this.scorer !== scorer) continue;
        this.sent += bytes.length;
        scorer.process.send({ kind: 'audio', stream: scorer.stream, bytes });
      }
      this.isDue &&= this.sent < spool.bytes;
      if (this.scorer !== undefined && this.isEnding && !this.endIsSent && this.sent === spool.received) {
        this.endIsSent = true;
        this.scorer.process.send({ kind: 'end', stream: this.scorer.stream });
      }
    } catch (error) {
      this.scorer?.process.cancel(this.scorer.stream);
      this.fail(error); // the spool cannot be read
    } finally {
      this.isPumping = false;
    }
  }

  /** True if there is enough audio for a message. */
  private hasMessage(): boolean {
    const ready = this.options.spool.bytes - this.sent;
    return ready > 0 && (this.isDue || this.isEnding || ready >= this.messageBytesMin);
  }

  private fail(error: unknown): void {
    clearTimeout(this.due);
    this.isOver = true;
    this.outcome.reject(error);
    this.options.listener.onProgress();
  }
}
