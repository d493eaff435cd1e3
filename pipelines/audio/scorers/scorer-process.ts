import type { Readable } from 'node:stream';
import { ServiceError } from '../../../runtime/errors.ts';
import { ChildFailure, type SandboxedChild } from '../../../runtime/processes/sandboxed-child.ts';
import { AudioRefusal } from '../reasons.ts';
import { PcmIntake, PcmNotTaken, pcmDescriptor, type TakePcm } from '../scoring/pcm-intake.ts';
import {
  answerForm,
  decodedForm,
  errorOfFailure,
  type ScorerAnswer,
  type ScorerTask,
} from '../scoring/scorer-protocol.ts';
import { startScorer, throwUnavailable } from './start-scorer.ts';

/** Limits of one task; a process that exceeds one is killed. */
interface TaskLimits {
  readonly secondsMax: number;
  /** Resident memory of the process. */
  readonly memoryBytesMax: number;
}

type TaskAnswer = Exclude<ScorerAnswer, { kind: 'ready' }>;

interface Running {
  readonly id: number;
  readonly isDecoding: boolean;
  readonly resolve: (answer: TaskAnswer) => void;
}

/** One child process that scores. A task that fails, is cancelled or exceeds a limit ends the process. */
export class ScorerProcess {
  private readonly child: SandboxedChild;
  private readonly secondsMax: number;
  /** Its memory limit. */
  readonly memoryBytesMax: number;
  private readonly pcm: PcmIntake;
  private running: Running | undefined;
  private lastId = 0;
  private residentBytes = 0;
  /** True while decoded samples may be in the pipe, and permanently if their recording was not decoded to its end. */
  private holdsPcm = false;

  /**
   * Starts a process and waits until it is ready.
   * @throws ServiceError `scorer_unavailable`
   */
  static async start({ secondsMax, memoryBytesMax }: TaskLimits): Promise<ScorerProcess> {
    const child = await startScorer('recordings', memoryBytesMax);
    const scorer = new ScorerProcess(child, { secondsMax, memoryBytesMax });
    await child.untilReady().catch(throwUnavailable);
    return scorer;
  }

  private constructor(child: SandboxedChild, { secondsMax, memoryBytesMax }: TaskLimits) {
    this.child = child;
    this.secondsMax = secondsMax;
    this.memoryBytesMax = memoryBytesMax;
    this.pcm = new PcmIntake(child.process.stdio[pcmDescriptor] as Readable, (fault) =>
      fault === 'unasked'
        ? child.fail('protocol', 'The process sent samples that nobody requested.')
        : child.fail('cancelled', fault.message, fault),
    );
    child.process.on('message', (message) => this.receive(message));
    child.failed.catch(() => this.pcm.destroy());
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isAlive(): boolean {
    return this.child.isAlive;
  }

  /** Resident bytes after the last task, tasks so far, and whether samples of the last one may be left in its pipe. */
  get wear(): { readonly residentBytes: number; readonly tasks: number; readonly holdsPcm: boolean } {
    return { residentBytes: this.residentBytes, tasks: this.lastId, holdsPcm: this.holdsPcm };
  }

  /**
   * Performs one task at a time. A failed task kills the process. One that decodes passes its samples to
   * `take`. A process that is found over its memory limit after its task is killed, and the answer of the task is valid.
   * @throws AudioRefusal that the child made, or `time_exceeded`, `memory_exceeded`, `scorer_crashed`
   * @throws PcmNotTaken with what `take` threw
   * @throws ServiceError `interrupted` if the signal fires, `model_invalid`, or `internal` with what failed in the child
   */
  async run(
    task: ScorerTask,
    { signal, take }: { readonly signal?: AbortSignal | undefined; readonly take?: TakePcm | undefined } = {},
  ): Promise<unknown> {
    if (signal?.aborted) throw scoringInterrupted();
    if (!this.isAlive) throw new AudioRefusal('scorer_crashed', 'The process had ended before it got the recording.');
    try {
      const answer = Promise.race([this.request(task, take), this.child.failed]);
      return resultOf(await this.child.supervise(answer, { secondsMax: this.secondsMax, signal }));
    } catch (error) {
      throw error instanceof ChildFailure ? taskErrorOf(error) : error;
    } finally {
      this.running = undefined;
      this.pcm.close();
    }
  }

  /** Kills the process; resolves when it is gone. A running task ends as interrupted. */
  end(): Promise<void> {
    return this.child.end();
  }

  private request(task: ScorerTask, take: TakePcm | undefined): Promise<TaskAnswer> {
    return new Promise((resolve) => {
      const id = ++this.lastId;
      this.running = { id, isDecoding: take !== undefined, resolve };
      this.holdsPcm = take !== undefined;
      if (take !== undefined) this.pcm.open(take);
      this.child.process.send({ id, task });
    });
  }

  private receive(message: unknown): void {
    const { data } = answerForm.safeParse(message);
    if (data?.kind === 'ready' && this.lastId === 0) return this.child.markReady();
    const { running } = this;
    if (data === undefined || data.kind === 'ready' || data.id !== running?.id) return this.failProtocol();
    this.residentBytes = data.residentBytes;
    if (running.isDecoding && data.kind === 'done') this.awaitPcm(running, data);
    else running.resolve(data);
  }

  /** The samples arrive through a separate pipe, perhaps after the answer that has their number. */
  private awaitPcm({ resolve }: Running, answer: Extract<TaskAnswer, { kind: 'done' }>): void {
    const decoded = decodedForm.safeParse(answer.result);
    if (!decoded.success) return this.failProtocol();
    void this.pcm.all(decoded.data.pcmBytes).then(() => {
      this.holdsPcm = false;
      resolve(answer);
    });
  }

  private failProtocol(): void {
    this.child.fail('protocol', 'The process sent a malformed answer.');
  }
}

function resultOf(answer: TaskAnswer): unknown {
  if (answer.kind === 'done') return answer.result;
  throw errorOfFailure(answer, 'score recording');
}

function taskErrorOf({ kind, message, cause }: ChildFailure): Error {
  if (cause instanceof PcmNotTaken) return cause;
  if (kind === 'cancelled') return scoringInterrupted();
  if (kind === 'time') return new AudioRefusal('time_exceeded', message);
  if (kind === 'memory') return new AudioRefusal('memory_exceeded', message);
  return new AudioRefusal('scorer_crashed', message);
}

/** The error of a recording whose scoring was stopped. */
export function scoringInterrupted(): ServiceError {
  return new ServiceError('interrupted', { operation: 'score recording' });
}
