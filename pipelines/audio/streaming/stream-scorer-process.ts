import type { ChildProcess } from 'node:child_process';
import { ServiceError } from '../../../runtime/errors.ts';
import { forkScorer, startSecondsMax, type ForkLimits } from '../scoring/forked-scorer.ts';
import { streamNewsForm, type StreamNews, type StreamOrder } from './stream-scorer-protocol.ts';

/** What is said of one stream. */
export type NewsOfStream = Exclude<StreamNews, { kind: 'ready' }>;

/** Who listens to one stream. */
export interface StreamListener {
  onNews(news: NewsOfStream): void;
  /** The process is gone, with all that it knew of the stream. */
  onLost(): void;
}

/** A stream with what the process owes of it: an answer to each piece, and to its end. */
interface Seat extends StreamListener {
  owed: number;
}

/** What a process is held to. */
export interface StreamScorerLimits extends ForkLimits {
  /** Seconds without a word, while it owes an answer, after which it is killed. */
  readonly quietSecondsMax: number;
}

/** What is kept of what a process that does not start prints. */
const printedMax = 2000;

/** One child process that scores streams, as many as it is given. */
export class StreamScorerProcess {
  private readonly child: ChildProcess;
  private readonly exited: Promise<void>;
  private readonly seats = new Map<number, Seat>();
  private readonly quietMs: number;
  private readonly isUp: Promise<void>;
  private up: () => void = () => {};
  private lastStream = 0;
  private ended = false;
  private hung = false;
  private watchdog: NodeJS.Timeout | undefined;

  /**
   * Starts a process and waits until it is up.
   * @throws ServiceError `scorer_unavailable`
   */
  static async start(limits: StreamScorerLimits): Promise<StreamScorerProcess> {
    const child = await forkScorer('streaming/stream-scorer-child', limits);
    let printed = '';
    child.stderr!.on('data', (chunk: Buffer) => (printed = (printed + chunk.toString()).slice(-printedMax)));
    const scorer = new StreamScorerProcess(child, limits);
    if (await scorer.waitUntilUp()) return scorer;
    await scorer.end();
    throw new ServiceError('scorer_unavailable', {
      operation: 'start scorer',
      problem: `It did not start: ${printed.trim() || 'it printed nothing'}.`,
      hint: 'Build the project; check the packages and the memory limits.',
    });
  }

  private constructor(child: ChildProcess, { quietSecondsMax }: StreamScorerLimits) {
    this.child = child;
    this.quietMs = quietSecondsMax * 1000;
    this.exited = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => child.pid === undefined && resolve());
    });
    this.isUp = new Promise((resolve) => (this.up = resolve));
    child.on('message', (message) => this.receive(message));
    child.on('exit', () => this.fell());
    child.on('error', () => {}); // a message that cannot be sent: the exit says more
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isAlive(): boolean {
    return !this.ended;
  }

  /** True if it was killed because it said nothing any more. */
  get hasHung(): boolean {
    return this.hung;
  }

  /** Streams that it scores now. */
  get load(): number {
    return this.seats.size;
  }

  /** Gives it a stream; what is told of it then carries this number. */
  open(order: Omit<Extract<StreamOrder, { kind: 'open' }>, 'kind' | 'stream'>, listener: StreamListener): number {
    const stream = ++this.lastStream;
    this.seats.set(stream, { owed: 0, onNews: (news) => listener.onNews(news), onLost: () => listener.onLost() });
    this.send({ kind: 'open', stream, ...order });
    return stream;
  }

  send(order: StreamOrder): void {
    if (this.ended) return;
    this.child.send(order);
    const seat = this.seats.get(order.stream);
    if (seat === undefined || (order.kind !== 'audio' && order.kind !== 'end')) return;
    seat.owed++;
    if (this.watchdog === undefined) this.watch();
  }

  /** Takes a stream away; nothing more is told of it. */
  forget(stream: number): void {
    if (this.seats.delete(stream)) this.send({ kind: 'forget', stream });
    this.watch();
  }

  /** Kills the process; resolves when it is gone. Its streams are lost. */
  async end(): Promise<void> {
    this.fell();
    this.child.kill('SIGKILL');
    await this.exited;
  }

  private async waitUntilUp(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, startSecondsMax * 1000)));
    const isReady = await Promise.race([
      this.isUp.then(() => true),
      this.exited.then(() => false),
      late.then(() => false),
    ]);
    clearTimeout(timer);
    return isReady;
  }

  private receive(message: unknown): void {
    const parsed = streamNewsForm.safeParse(message);
    if (!parsed.success) return void this.end();
    const news = parsed.data;
    if (news.kind === 'ready') return this.up();
    const seat = this.seats.get(news.stream);
    if (news.kind === 'scored' || news.kind === 'refused' || news.kind === 'failed') this.seats.delete(news.stream);
    if (news.kind === 'taken' && seat !== undefined) seat.owed--;
    this.watch();
    seat?.onNews(news);
  }

  /** Waits anew for a word, if one is owed. A process that hangs would hold its streams for ever. */
  private watch(): void {
    clearTimeout(this.watchdog);
    const owes = !this.ended && [...this.seats.values()].some(({ owed }) => owed > 0);
    this.watchdog = owes ? setTimeout(() => this.giveUp(), this.quietMs) : undefined;
  }

  private giveUp(): void {
    this.hung = true;
    void this.end();
  }

  private fell(): void {
    this.ended = true;
    const lost = [...this.seats.values()];
    this.seats.clear();
    this.watch();
    for (const seat of lost) seat.onLost();
  }
}
