import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { ServiceError } from '../../../runtime/errors.ts';
import { AudioRefusal } from '../reasons.ts';
import { forkScorer, startSecondsMax } from './forked-scorer.ts';
import { PcmIntake, type TakePcm } from './pcm-intake.ts';
import { pcmDescriptor } from './pcm-pipe.ts';
import { answerForm, decodedForm, type ScorerAnswer, type ScorerTask } from './scorer-protocol.ts';

/** What one task may take; over it, the process is killed. */
export interface TaskLimits {
  readonly secondsMax: number;
  /** Resident memory of the process. */
  readonly memoryBytesMax: number;
}

/** How often memory is looked at while a task runs. The kernel keeps the high-water mark, so that no peak between two looks is missed. */
const pollMs = 50;

/** What is kept of what a process that does not start prints. */
const printedMax = 2000;

type Ended = Exclude<ScorerAnswer, { kind: 'ready' }>;

interface Running {
  readonly id: number;
  readonly isDecoding: boolean;
  readonly resolve: (answer: Ended) => void;
  readonly reject: (error: Error) => void;
}

/** One child process that scores. After a task that was given up, or that it did not survive, it is gone. */
export class ScorerProcess {
  private readonly child: ChildProcess;
  private readonly limits: TaskLimits;
  private readonly exited: Promise<void>;
  private readonly pcm: PcmIntake;
  private running: Running | undefined;
  private ended = false;
  private lastId = 0;
  /** Resident memory after the last task; null before the first. */
  private residentBytes: number | null = null;
  /** High-water mark after the last task. What is over the limit then must not be charged to the next one. */
  private peak = 0;
  /** True while decoded samples may be in the pipe, and from then on if their recording did not come to its end. */
  private holdsPcm = false;

  /**
   * Starts a process and waits until it is up.
   * @throws ServiceError `scorer_unavailable`
   */
  static async start(limits: TaskLimits): Promise<ScorerProcess> {
    const child = await forkScorer('scoring/scorer-child', limits);
    let printed = '';
    child.stderr!.on('data', (chunk: Buffer) => (printed = (printed + chunk.toString()).slice(-printedMax)));
    const scorer = new ScorerProcess(child, limits);
    try {
      await scorer.up();
      return scorer;
    } catch (cause) {
      await scorer.end();
      throw new ServiceError('scorer_unavailable', {
        operation: 'start scorer',
        problem: `It did not start: ${printed.trim() || 'it printed nothing'}.`,
        hint: 'Build the project; check the packages and the memory limits.',
        cause,
      });
    }
  }

  private constructor(child: ChildProcess, limits: TaskLimits) {
    this.child = child;
    this.limits = limits;
    this.pcm = new PcmIntake(child.stdio[pcmDescriptor] as Readable, (fault) =>
      this.giveUp(
        fault === 'unasked'
          ? new AudioRefusal('scorer_crashed', 'The process sent samples that nobody asked for.')
          : fault,
      ),
    );
    this.exited = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => child.pid === undefined && resolve());
    });
    child.on('message', (message) => this.receive(message));
    child.on('exit', (code, signal) => this.fell(signal ?? `code ${code}`));
    child.on('error', () => {}); // a message that cannot be sent: the exit says more
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isAlive(): boolean {
    return !this.ended;
  }

  /** Resident bytes after the last task, whether it went over the limit unseen, tasks so far, and whether samples of the last one may be left in its pipe. */
  get wear(): {
    readonly residentBytes: number;
    readonly isOver: boolean;
    readonly tasks: number;
    readonly holdsPcm: boolean;
  } {
    return {
      residentBytes: this.residentBytes ?? 0,
      isOver: this.peak > this.limits.memoryBytesMax,
      tasks: this.lastId,
      holdsPcm: this.holdsPcm,
    };
  }

  /**
   * Performs one task; the next may be given when it has ended. When it is given up the process is killed. One that decodes gives its
   * samples to `take`.
   * @throws AudioRefusal that the child made, or `time_exceeded`, `memory_exceeded`, `scorer_crashed`
   * @throws PcmNotTaken with what `take` threw
   * @throws ServiceError `interrupted` if the signal fires, `model_invalid`, or `internal` with what failed in the child
   */
  async run(
    task: ScorerTask,
    { signal, take }: { readonly signal?: AbortSignal | undefined; readonly take?: TakePcm | undefined } = {},
  ): Promise<unknown> {
    if (signal?.aborted) throw interrupted();
    const deadline = setTimeout(
      () => this.giveUp(new AudioRefusal('time_exceeded', `It took more than ${this.limits.secondsMax} s.`)),
      this.limits.secondsMax * 1000,
    );
    const poll = setInterval(() => this.checkMemory(), pollMs);
    const abort = () => this.giveUp(interrupted());
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return resultOf(await this.ask(task, take));
    } finally {
      this.pcm.close();
      clearTimeout(deadline);
      clearInterval(poll);
      signal?.removeEventListener('abort', abort);
      if (this.ended) await this.exited;
      else this.peak = peakBytes(this.child.pid!);
    }
  }

  /** Kills the process; resolves when it is gone. A task in hand ends as interrupted. */
  async end(): Promise<void> {
    this.giveUp(interrupted());
    await this.exited;
  }

  private async up(): Promise<void> {
    const timeout = setTimeout(
      () => this.giveUp(new Error(`not up after ${startSecondsMax} s`)),
      startSecondsMax * 1000,
    );
    try {
      await new Promise<void>((resolve, reject) => {
        this.running = { id: 0, isDecoding: false, resolve: () => resolve(), reject };
      });
    } finally {
      clearTimeout(timeout);
    }
  }

  private ask(task: ScorerTask, take: TakePcm | undefined): Promise<Ended> {
    return new Promise((resolve, reject) => {
      if (this.ended)
        return reject(
          new AudioRefusal('scorer_crashed', 'The process was gone before the recording was handed to it.'),
        );
      const id = ++this.lastId;
      this.running = { id, isDecoding: take !== undefined, resolve, reject };
      this.holdsPcm = take !== undefined;
      if (take !== undefined) this.pcm.open(take);
      this.child.send({ id, task });
    });
  }

  private receive(message: unknown): void {
    const parsed = answerForm.safeParse(message);
    const running = this.running;
    if (
      !parsed.success ||
      running === undefined ||
      (parsed.data.kind === 'ready' ? 0 : parsed.data.id) !== running.id
    ) {
      return this.giveUp(noAnswer());
    }
    const answer: Ended =
      parsed.data.kind === 'ready' ? { kind: 'done', id: 0, residentBytes: 0, result: undefined } : parsed.data;
    if (answer.id > 0) this.residentBytes = answer.residentBytes;
    if (running.isDecoding && answer.kind === 'done') return this.awaitPcm(running, answer);
    this.settle(running, answer);
  }

  /** The samples come on a way of their own, and may be behind the answer that says how many they are. */
  private awaitPcm(running: Running, answer: Extract<Ended, { kind: 'done' }>): void {
    const decoded = decodedForm.safeParse(answer.result);
    if (!decoded.success) return this.giveUp(noAnswer());
    void this.pcm.all(decoded.data.pcmBytes).then(() => {
      this.holdsPcm = false;
      this.settle(running, answer);
    });
  }

  private settle(running: Running, answer: Ended): void {
    if (this.running !== running) return; // given up meanwhile
    this.running = undefined;
    running.resolve(answer);
  }

  /** The process ended by itself. */
  private fell(how: string): void {
    this.ended = true;
    this.pcm.destroy();
    this.running?.reject(new AudioRefusal('scorer_crashed', `The process ended with ${how}.`));
    this.running = undefined;
  }

  /** The first reason counts. */
  private giveUp(reason: Error): void {
    this.ended = true;
    this.child.kill('SIGKILL');
    this.running?.reject(reason);
    this.running = undefined;
  }

  /** Systems without /proc tell nothing: there the process is looked at between tasks only. */
  private checkMemory(): void {
    const { memoryBytesMax } = this.limits;
    if (this.running !== undefined && peakBytes(this.child.pid!) > memoryBytesMax)
      this.giveUp(
        new AudioRefusal('memory_exceeded', `It needed more than ${Math.round(memoryBytesMax / 1024 / 1024)} MiB.`),
      );
  }
}

/** High-water mark of the resident memory of a process; 0 if that is not known. /proc is memory: to read it asynchronously costs ten times as much. */
function peakBytes(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function resultOf(answer: Ended): unknown {
  if (answer.kind === 'done') return answer.result;
  if (answer.kind === 'refused') throw new AudioRefusal(answer.reason, answer.detail);
  throw new ServiceError(answer.isModelFault ? 'model_invalid' : 'internal', {
    operation: 'score recording',
    problem: answer.problem,
  });
}

function noAnswer(): AudioRefusal {
  return new AudioRefusal('scorer_crashed', 'The process answered what is no answer.');
}

function interrupted(): ServiceError {
  return new ServiceError('interrupted', { operation: 'score recording' });
}
