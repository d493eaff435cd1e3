import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import type { Config } from '../../../runtime/config.ts';
import { errorMessageOf, isServiceError } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import { unmeasured, type Metrics } from '../../../runtime/metrics/metrics.ts';
import { resampleRates } from '../signal/resample.ts';
import type { DecodeLimits } from '../decode/recording.ts';
import type { ResolvedModel } from '../models/registry.ts';
import { executionOf, memoryOfModels } from './model-limits.ts';
import { AudioRefusal } from '../reasons.ts';
import type { ScoredRecording, ScoringSettings } from '../verification.ts';
import type { EmbeddedVoice, VoiceFile } from '../scoring/embed-voice.ts';
import type { RecordingWaveform, WaveformRequest } from '../scoring/recording-waveform.ts';
import { PcmNotTaken, type TakePcm } from '../scoring/pcm-intake.ts';
import type { DecodedPcm, PcmRequest } from '../scoring/recording-pcm.ts';
import { ScorerProcess, scoringInterrupted } from './scorer-process.ts';
import { decodedForm, embeddedForm, scoredForm, waveformForm, type ScorerTask } from '../scoring/scorer-protocol.ts';
import type { ModelChoice } from '../models/named-model.ts';

/** One recording to score. With both models, or `byRate`, its sample rate decides. */
export interface PoolRequest {
  readonly file: string;
  readonly model: ModelChoice;
  readonly settings: ScoringSettings;
}

/** One recording to draw, with the voice that the model's detector finds. */
type DrawingRequest = Pick<WaveformRequest, 'file' | 'model' | 'settings'>;

/** One recording to decode. */
interface DecodingRequest extends Pick<PcmRequest, 'file' | 'pcmBytesMax'> {
  readonly take: TakePcm;
}

/** Child processes that score recordings, several at a time, with a queue in front. */
export interface ScoringPool {
  /**
   * Scores one recording in a child process of the pool.
   * @throws AudioRefusal if it cannot be scored; `scoring_failed` for faults, whose cause is logged
   * @throws ServiceError `interrupted` if the signal fires or the pool closes, `scorer_unavailable` if no process can be started
   */
  score(request: PoolRequest, signal?: AbortSignal): Promise<ScoredRecording>;
  /**
   * Embeds the voice of a recording with the voiceprint model of a directory.
   * @throws AudioRefusal as `score`, and `no_voice`
   * @throws ServiceError as `score`
   */
  embed(request: VoiceFile, signal?: AbortSignal): Promise<EmbeddedVoice>;
  /**
   * Computes the waveform of a recording, with the voice that the model's detector finds.
   * @throws AudioRefusal as `score`
   * @throws ServiceError as `score`
   */
  waveform(request: DrawingRequest, signal?: AbortSignal): Promise<RecordingWaveform>;
  /**
   * Decodes a recording at its own rate and with all of its channels to samples of 16 bits, which `take` receives in parts.
   * @throws AudioRefusal as `score`, and `recording_too_long` if the samples take more than `pcmBytesMax`
   * @throws ServiceError as `score`; and what `take` throws, which ends the decoding
   */
  decode(request: DecodingRequest, signal?: AbortSignal): Promise<DecodedPcm>;
  /** The running processes, for measurements. */
  pids(): number[];
  /** Ends every process; queued and running tasks end as interrupted. */
  close(): Promise<void>;
}

type PoolConfig = Pick<
  Config,
  | 'audioScorers'
  | 'audioBytesMax'
  | 'audioChannelsMax'
  | 'audioSecondsMax'
  | 'audioWorkSecondsMax'
  | 'audioMemoryBytesMax'
  | 'modelMemoryBytesMax'
  | 'modelThreads'
>;

/** Tasks after which a process is replaced: native code may leak, and memory fragments. */
const tasksMax = 5000;

/**
 * Share of the memory limit that a process may keep between tasks. One that has scored Opus with digital/v3 keeps 200 MiB of the
 * limit's 300, and uses them again for the next recording; a fresh process costs 0.5 s, as much as a minute of audio.
 */
const idleMemoryShareMax = 0.8;

/** The limits of decoding by the settings. */
export function decodeLimitsOf(config: Omit<PoolConfig, 'modelMemoryBytesMax' | 'modelThreads'>): DecodeLimits {
  return {
    bytesMax: config.audioBytesMax,
    channelsMax: config.audioChannelsMax,
    sampleRateMin: resampleRates.min,
    sampleRateMax: resampleRates.max,
    secondsMax: config.audioSecondsMax,
    wallSecondsMax: config.audioWorkSecondsMax,
  };
}

interface PoolOptions {
  readonly config: PoolConfig;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly metrics?: Metrics;
}

/** Opens a pool, which starts processes when they are needed. */
export function openScoringPool(options: PoolOptions): ScoringPool {
  const pool = new Pool(options);
  options.metrics?.atScrape(['caller_trust_scorers_running'], (set) =>
    set('caller_trust_scorers_running', {}, pool.pids().length),
  );
  return pool;
}

interface Asking {
  readonly signal: AbortSignal | undefined;
  /** Receives the samples of a task that decodes. */
  readonly take?: TakePcm | undefined;
}

interface Waiting extends Asking {
  readonly task: ScorerTask;
  /** The memory limit of the process that may perform it. */
  readonly memoryBytesMax: number;
  /** Removes the request from the queue when its signal fires. */
  readonly leave: () => void;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

class Pool implements ScoringPool {
  private readonly config: PoolConfig;
  private readonly log: PoolOptions['log'];
  private readonly metrics: Metrics;
  private readonly idle: ScorerProcess[] = [];
  private readonly busy = new Set<ScorerProcess>();
  private readonly queue: Waiting[] = [];
  /** Processes that are starting, with the memory limit of each. */
  private readonly starting = new Map<Promise<unknown>, number>();
  private isClosed = false;

  constructor({ config, log, metrics = unmeasured }: PoolOptions) {
    this.config = config;
    this.log = log;
    this.metrics = metrics;
  }

  async score({ file, model, settings }: PoolRequest, signal?: AbortSignal): Promise<ScoredRecording> {
    return this.perform(
      {
        kind: 'score',
        file,
        models: {
          phone: this.sendable(model.phone),
          digital: this.sendable(model.digital),
          byRate: model.byRate === true,
        },
        settings,
        limits: decodeLimitsOf(this.config),
      },
      scoredForm,
      { signal },
    );
  }

  async embed({ file, directory }: VoiceFile, signal?: AbortSignal): Promise<EmbeddedVoice> {
    const { embedding, ...facts } = await this.perform(
      { kind: 'embed', file, directory, limits: decodeLimitsOf(this.config) },
      embeddedForm,
      { signal },
    );
    return { ...facts, embedding: Float32Array.from(embedding) };
  }

  waveform({ file, model, settings }: DrawingRequest, signal?: AbortSignal): Promise<RecordingWaveform> {
    return this.perform(
      { kind: 'waveform', file, model: this.sendable(model), settings, limits: decodeLimitsOf(this.config) },
      waveformForm,
      { signal },
    );
  }

  async decode({ file, pcmBytesMax, take }: DecodingRequest, signal?: AbortSignal): Promise<DecodedPcm> {
    try {
      return await this.perform(
        { kind: 'decode', file, pcmBytesMax, limits: decodeLimitsOf(this.config) },
        decodedForm,
        { signal, take },
      );
    } catch (error) {
      throw error instanceof PcmNotTaken ? error.cause : error;
    }
  }

  pids(): number[] {
    return [...this.idle, ...this.busy].flatMap(({ pid }) => pid ?? []);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { reject } of this.queue.splice(0)) reject(scoringInterrupted());
    await Promise.all(this.starting.keys());
    await Promise.all([...this.idle.splice(0), ...this.busy].map((scorer) => scorer.end()));
  }

  private async perform<Form extends z.ZodType>(task: ScorerTask, form: Form, asking: Asking): Promise<z.output<Form>> {
    try {
      const parsed = form.safeParse(await this.enqueue(task, asking));
      if (parsed.success) return parsed.data;
      throw new AudioRefusal('scorer_crashed', 'The process sent a malformed result.');
    } catch (error) {
      if (
        error instanceof AudioRefusal ||
        error instanceof PcmNotTaken ||
        isServiceError(error, 'interrupted') ||
        isServiceError(error, 'scorer_unavailable')
      )
        throw error;
      this.log.error({ err: error, ...fileFacts(task) }, 'a recording could not be scored');
      throw new AudioRefusal(
        'scoring_failed',
        isServiceError(error, 'model_invalid') ? errorMessageOf(error) : undefined,
      );
    }
  }

  private enqueue(task: ScorerTask, { signal, take }: Asking): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.isClosed || signal?.aborted) return reject(scoringInterrupted());
      const memoryBytesMax = memoryOfModels(
        modelsOf(task).map(({ manifest }) => manifest),
        this.config,
      );
      const waiting: Waiting = {
        task,
        memoryBytesMax,
        take,
        signal,
        resolve,
        reject,
        leave: () => this.leave(waiting),
      };
      signal?.addEventListener('abort', waiting.leave, { once: true });
      this.queue.push(waiting);
      this.dispatch();
    });
  }

  /** Rejects a request that is cancelled in the queue. */
  private leave(waiting: Waiting): void {
    const place = this.queue.indexOf(waiting);
    if (place === -1) return;
    this.queue.splice(place, 1);
    waiting.reject(scoringInterrupted());
  }

  /**
   * Gives queued tasks to idle processes of their memory limit, and starts others up to the limit of processes. Where all are idle
   * with another limit, one of them makes room.
   */
  private dispatch(): void {
    for (let place = this.idle.length - 1; place >= 0; place--)
      if (!this.idle[place]!.isAlive) {
        this.idle.splice(place, 1); // died between two recordings
        this.countEnd('lost');
      }
    const awaited = [...this.starting.values()];
    for (const waiting of this.queue.slice()) {
      const place = this.idle.findLastIndex(({ memoryBytesMax }) => memoryBytesMax === waiting.memoryBytesMax);
      const coming = awaited.indexOf(waiting.memoryBytesMax);
      if (place !== -1) {
        this.queue.splice(this.queue.indexOf(waiting), 1);
        void this.serve(this.idle.splice(place, 1)[0]!, waiting);
      } else if (coming !== -1) {
        awaited.splice(coming, 1);
      } else if (!this.isClosed) {
        const processes = this.busy.size + this.idle.length + this.starting.size;
        if (processes >= this.config.audioScorers && this.idle.length === 0) continue;
        const replaced = processes < this.config.audioScorers ? undefined : this.idle.shift();
        this.startOne(waiting.memoryBytesMax, replaced);
      }
    }
  }

  private startOne(memoryBytesMax: number, replaced: ScorerProcess | undefined): void {
    const starting: Promise<unknown> = Promise.resolve(replaced?.end())
      .then(() => ScorerProcess.start({ secondsMax: this.config.audioWorkSecondsMax, memoryBytesMax }))
      .then(
        async (scorer) => {
          this.metrics.count('caller_trust_scorer_starts_total', {});
          if (this.isClosed) await scorer.end();
          else this.idle.push(scorer);
        },
        (error: unknown) => {
          this.countEnd('start_failed');
          // The next task in the queue starts another process.
          const place = this.queue.findIndex((waiting) => waiting.memoryBytesMax === memoryBytesMax);
          const [first] = place === -1 ? [] : this.queue.splice(place, 1);
          first?.signal?.removeEventListener('abort', first.leave);
          first?.reject(error);
        },
      )
      .finally(() => {
        this.starting.delete(starting);
        this.dispatch();
      });
    this.starting.set(starting, memoryBytesMax);
  }

  private async serve(scorer: ScorerProcess, waiting: Waiting): Promise<void> {
    const { task, take, signal, leave, resolve, reject } = waiting;
    this.busy.add(scorer);
    await nextTurn(); // by then the end of an idle process is noticed, before it gets a recording
    if (!scorer.isAlive) {
      this.busy.delete(scorer);
      this.countEnd('lost');
      this.queue.unshift(waiting);
      return this.dispatch();
    }
    signal?.removeEventListener('abort', leave);
    try {
      resolve(await scorer.run(task, { signal, take }));
    } catch (error) {
      if (!scorer.isAlive && !isServiceError(error, 'interrupted') && !(error instanceof PcmNotTaken))
        this.log.warn({ err: error }, 'a scoring process was lost');
      reject(error);
    } finally {
      this.busy.delete(scorer);
      if (this.isWorn(scorer)) {
        if (!this.isClosed) this.countEnd('worn');
        await scorer.end();
      } else if (scorer.isAlive) this.idle.push(scorer);
      else if (!this.isClosed) this.countEnd('lost');
      this.dispatch();
    }
  }

  /** A model as it is sent to a child. */
  private sendable(model: ResolvedModel | null): ResolvedModel | null {
    return model && { ...model, execution: executionOf(this.config) };
  }

  private countEnd(cause: 'lost' | 'worn' | 'start_failed'): void {
    this.metrics.count('caller_trust_scorer_ends_total', { cause });
  }

  private isWorn(scorer: ScorerProcess): boolean {
    const { residentBytes, tasks, holdsPcm } = scorer.wear;
    return (
      scorer.isAlive &&
      (this.isClosed || holdsPcm || tasks >= tasksMax || residentBytes > idleMemoryShareMax * scorer.memoryBytesMax)
    );
  }
}

/** The models that a task runs. */
function modelsOf(task: ScorerTask): ResolvedModel[] {
  return task.kind === 'score' ? [task.models.phone, task.models.digital].filter((model) => model !== null) : [];
}

/** The files of a task, for the log of its fault. */
function fileFacts(task: ScorerTask): Record<string, string> {
  if (task.kind !== 'score') return {};
  const weights = modelsOf(task).map(({ weightsFile }) => weightsFile);
  return { recording: task.file, weights: weights.join(', ') };
}
