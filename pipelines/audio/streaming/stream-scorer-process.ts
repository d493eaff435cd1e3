import type { SandboxedChild } from '../../../runtime/processes/sandboxed-child.ts';
import { startScorer, throwUnavailable } from '../scorers/start-scorer.ts';
import { streamEventForm, type StreamCommand, type StreamEvent } from './stream-scorer-protocol.ts';

/** An event of one stream. */
export type ScoringEvent = Exclude<StreamEvent, { kind: 'ready' }>;

interface ScoringListener {
  onEvent(event: ScoringEvent): void;
  /** The process is gone, with the state of the stream. */
  onLost(): void;
}

/** A stream, and how many answers of the process are pending: one for each audio message, and one for its end. */
interface AssignedStream {
  readonly listener: ScoringListener;
  pending: number;
}

interface StreamScorerLimits {
  readonly memoryBytesMax: number;
  /** Seconds without a message, while an answer is pending, after which the process is killed. */
  readonly silentSecondsMax: number;
}

/** One child process that scores several streams. */
export class StreamScorerProcess {
  private readonly child: SandboxedChild;
  private readonly streams = new Map<number, AssignedStream>();
  private readonly silentSecondsMax: number;
  private lastStream = 0;

  /**
   * Starts a process and waits until it is ready.
   * @throws ServiceError `scorer_unavailable`
   */
  static async start({ memoryBytesMax, silentSecondsMax }: StreamScorerLimits): Promise<StreamScorerProcess> {
    const child = await startScorer('streams', memoryBytesMax);
    const scorer = new StreamScorerProcess(child, silentSecondsMax);
    await child.untilReady().catch(throwUnavailable);
    return scorer;
  }

  private constructor(child: SandboxedChild, silentSecondsMax: number) {
    this.child = child;
    this.silentSecondsMax = silentSecondsMax;
    child.process.on('message', (message) => this.receive(message));
    child.failed.catch(() => this.loseStreams());
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isAlive(): boolean {
    return this.child.isAlive;
  }

  /** True if it was killed because it was silent. */
  get hasHung(): boolean {
    return this.child.failure?.kind === 'time';
  }

  /** Streams that it scores now. */
  get load(): number {
    return this.streams.size;
  }

  /** Assigns a stream to it, and returns the number of the stream in commands. */
  open(command: Omit<Extract<StreamCommand, { kind: 'open' }>, 'kind' | 'stream'>, listener: ScoringListener): number {
    const stream = ++this.lastStream;
    this.streams.set(stream, { listener, pending: 0 });
    this.send({ kind: 'open', stream, ...command });
    return stream;
  }

  send(command: StreamCommand): void {
    if (!this.isAlive) return;
    this.child.process.send(command);
    const assigned = this.streams.get(command.stream);
    if (assigned === undefined || (command.kind !== 'audio' && command.kind !== 'end')) return;
    if (!this.isBusy()) this.child.limitTime(this.silentSecondsMax);
    assigned.pending++;
  }

  /** Closes a stream without a result; it has no more events. */
  cancel(stream: number): void {
    if (this.streams.delete(stream)) this.send({ kind: 'cancel', stream });
    this.renewDeadline();
  }

  /** Kills the process; resolves when it is gone. Its streams are lost. */
  end(): Promise<void> {
    return this.child.end();
  }

  private receive(message: unknown): void {
    const { data: event } = streamEventForm.safeParse(message);
    if (event === undefined) return this.child.fail('protocol', 'The process sent a malformed event.');
    if (event.kind === 'ready') return this.child.markReady();
    const assigned = this.streams.get(event.stream);
    if (event.kind === 'scored' || event.kind === 'refused' || event.kind === 'failed')
      this.streams.delete(event.stream);
    if (event.kind === 'progress' && assigned !== undefined) assigned.pending--;
    this.renewDeadline();
    assigned?.listener.onEvent(event);
  }

  private isBusy(): boolean {
    return [...this.streams.values()].some(({ pending }) => pending > 0);
  }

  /** A process that hangs would block its streams for ever. */
  private renewDeadline(): void {
    if (this.isBusy()) this.child.limitTime(this.silentSecondsMax);
    else this.child.releaseTime();
  }

  private loseStreams(): void {
    const lost = [...this.streams.values()];
    this.streams.clear();
    for (const { listener } of lost) listener.onLost();
  }
}
