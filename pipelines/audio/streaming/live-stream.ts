import { ServiceError } from '../../../runtime/errors.ts';
import { AudioRefusal } from '../reasons.ts';
import type { ScoredRecording, ScoredWindow } from '../verification.ts';
import { frameBytesOf, secondsOf } from './stream-format.ts';
import type { NewsOfStream, StreamScorerProcess } from './stream-scorer-process.ts';
import type { StreamScorers } from './stream-scorers.ts';
import type { StreamScoringRequest } from './stream-scoring.ts';
import type { StreamSpool } from './stream-spool.ts';

/** Seconds of audio that go to a process in one message: what it does between two looks at its other streams. */
const pieceSeconds = 0.5;

/**
 * Seconds of audio that are gathered for a message, and milliseconds for which that may take: clients send pieces of 20 ms, and a message
 * for each cost more than its scores.
 */
const gatherSeconds = 0.06;
const gatherMs = 50;

/** Seconds of audio that a process is given before it has answered. */
const aheadSeconds = 2;

/** Processes that one stream may lose before it is scored from its file instead. */
const lossesMax = 2;

/** Told of what the scores do. */
export interface LiveStreamListener {
  onWindow(window: ScoredWindow): void;
  /** More is scored. */
  onTaken(): void;
}

export interface LiveStreamOptions extends StreamScoringRequest {
  readonly spool: StreamSpool;
  readonly scorers: StreamScorers;
  readonly listener: LiveStreamListener;
}

/**
 * A stream that is scored while it arrives. The process that scores it reads from the spool: when it dies, another one reads from the
 * beginning, and windows that were told are not told again.
 */
export class LiveStream {
  private readonly options: LiveStreamOptions;
  private readonly pieceBytes: number;
  private readonly aheadBytes: number;
  private readonly gatherBytes: number;
  private readonly told = new Map<string, ScoredWindow['label']>();
  private readonly scored: Promise<ScoredRecording>;
  private settle: { resolve(result: ScoredRecording): void; reject(error: unknown): void } = {
    resolve() {},
    reject() {},
  };
  private seat: { readonly process: StreamScorerProcess; readonly stream: number } | undefined;
  private sent = 0;
  private taken = 0;
  private losses = 0;
  private isEnding = false;
  private endIsSent = false;
  private isPumping = false;
  /** What has come is sent, however little it is. */
  private isDue = false;
  private due: NodeJS.Timeout | undefined;
  private isOver = false;
  private voiced = 0;

  constructor(options: LiveStreamOptions) {
    const { format } = options;
    this.options = options;
    this.pieceBytes = Math.max(1, Math.round(pieceSeconds * format.sampleRate)) * frameBytesOf(format);
    this.aheadBytes = aheadSeconds * format.sampleRate * frameBytesOf(format);
    this.gatherBytes = Math.round(gatherSeconds * format.sampleRate) * frameBytesOf(format);
    this.scored = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    this.scored.catch(() => {}); // whoever ends the stream learns of it
    void this.sitDown();
  }

  /** Seconds of voice that were found so far. */
  get voiceSeconds(): number {
    return this.voiced;
  }

  /** Seconds of audio that came and are not scored yet; none once it is clear that they will not be. */
  get behindSeconds(): number {
    return this.isOver ? 0 : secondsOf(this.options.spool.received - this.taken, this.options.format);
  }

  /** Takes the next bytes; resolves when they are in the spool. */
  async append(bytes: Buffer): Promise<void> {
    await this.options.spool.append(bytes);
    this.due ??= setTimeout(() => this.sendRest(), gatherMs);
    void this.pump();
  }

  /**
   * Ends the stream, and waits for what its scores come to.
   * @throws AudioRefusal if it cannot be scored
   * @throws ServiceError `scorer_unavailable` if the processes died or none starts, `model_invalid`, `internal`
   */
  end(): Promise<ScoredRecording> {
    this.isEnding = true;
    this.sendRest();
    return this.scored;
  }

  /** Sends what there is. */
  private sendRest(): void {
    clearTimeout(this.due);
    this.due = undefined;
    this.isDue = true;
    void this.pump();
  }

  private async sitDown(): Promise<void> {
    const { scorers, model, format, settings } = this.options;
    try {
      const process = await scorers.seat();
      if (this.isOver) return;
      const { name, manifest, manifestSha256, weightsFile } = model;
      const stream = process.open(
        { model: { name, manifest, manifestSha256, weightsFile }, format, settings },
        { onNews: (news) => this.hear(news), onLost: () => this.lose() },
      );
      this.seat = { process, stream };
      await this.pump();
    } catch (error) {
      this.fail(error);
    }
  }

  private lose(): void {
    this.seat = undefined;
    [this.sent, this.taken, this.endIsSent] = [0, 0, false];
    if (++this.losses <= lossesMax) void this.sitDown();
    else
      this.fail(
        new ServiceError('scorer_unavailable', {
          operation: 'score stream',
          problem: `${this.losses} processes that scored it have died.`,
        }),
      );
  }

  private hear(news: NewsOfStream): void {
    switch (news.kind) {
      case 'window':
        return this.tell(news.window);
      case 'taken':
        [this.taken, this.voiced] = [news.bytes, Math.max(this.voiced, news.voiceSeconds)];
        this.options.listener.onTaken();
        return void this.pump();
      case 'scored':
        this.isOver = true;
        return this.settle.resolve(news.result);
      case 'refused':
        return this.fail(new AudioRefusal(news.reason, news.detail));
      case 'failed':
        return this.fail(
          new ServiceError(news.isModelFault ? 'model_invalid' : 'internal', {
            operation: 'score stream',
            problem: news.problem,
          }),
        );
    }
  }

  private tell(window: ScoredWindow): void {
    const key = `${window.channel} ${window.start} ${window.end}`;
    if (this.told.get(key) === window.label) return;
    this.told.set(key, window.label);
    this.options.listener.onWindow(window);
  }

  /** Sends on what is in the spool, no more than the process should have at a time. */
  private async pump(): Promise<void> {
    if (this.isPumping || this.isOver) return;
    this.isPumping = true;
    try {
      const { spool } = this.options;
      while (this.seat !== undefined && this.hasPiece() && this.sent - this.taken < this.aheadBytes) {
        const { seat, sent } = this;
        const bytes = await spool.read(sent, this.pieceBytes);
        if (bytes.length === 0)
          throw new ServiceError('internal', {
            operation: 'score stream',
            object: spool.spooled.facts.id,
            problem: 'Its file has lost what was written to it.',
          });
        if (this.seat !== seat) continue;
        this.sent += bytes.length;
        seat.process.send({ kind: 'audio', stream: seat.stream, bytes });
      }
      this.isDue &&= this.sent < spool.bytes;
      if (this.seat !== undefined && this.isEnding && !this.endIsSent && this.sent === spool.received) {
        this.endIsSent = true;
        this.seat.process.send({ kind: 'end', stream: this.seat.stream });
      }
    } catch (error) {
      this.seat?.process.forget(this.seat.stream);
      this.fail(error); // the spool cannot be read
    } finally {
      this.isPumping = false;
    }
  }

  /** True if there is as much to send as is worth a message. */
  private hasPiece(): boolean {
    const ready = this.options.spool.bytes - this.sent;
    return ready > 0 && (this.isDue || this.isEnding || ready >= this.gatherBytes);
  }

  private fail(error: unknown): void {
    clearTimeout(this.due);
    this.isOver = true;
    this.settle.reject(error);
    this.options.listener.onTaken(); // nobody waits for the scores any more
  }
}
