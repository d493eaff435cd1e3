import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import { repeat } from '../../../runtime/shutdown.ts';
import { resampleRates } from '../signal/resample.ts';
import { loadRegistry, type ModelRegistry, type ResolvedModel } from '../models/registry.ts';
import { AudioRefusal } from '../reasons.ts';
import { chooseModel } from '../scoring/score-recording.ts';
import type { Batch } from '../batches/batch.ts';
import type { ScoredRecording, ScoredWindow } from '../verification.ts';
import type { VerificationDetailAnswer } from '../batches/verification-answer.ts';
import { LiveStream } from './live-stream.ts';
import { audioBytesIn, frameBytesOf, secondsOf, type StreamFormat } from './stream-format.ts';
import { handInStream, isAudioStored, readOutcome, type StreamHandIn } from './stream-hand-in.ts';
import { silentMs } from './stream-holder.ts';
import type { StartMessage } from './stream-protocol.ts';
import { StreamScorers } from './stream-scorers.ts';
import { SpoolDirectory, type SpooledStream, type StreamSpool } from './stream-spool.ts';

/** Seconds between two looks for streams that a dead process left, or that could not be handed in. */
const orphanSeconds = 30;

/** Seconds after which a console says again which streams it receives: well within the time after which it would be taken for dead. */
const touchSeconds = silentMs / 1000 / 6;

/** Seconds that a client waits for the workers, where the scores that were made while audio came cannot be used. */
const workerSecondsMax = 30;

/** Whose stream it is. */
export interface StreamOwner {
  /** The client, as API keys name it. */
  readonly owner: string;
  readonly requestedBy: string;
  readonly mode: 'api' | 'webDemo';
}

/** Told of a stream while it arrives. */
export interface StreamWatcher {
  onWindow(window: ScoredWindow): void;
  /** More of it is scored. */
  onProgress(): void;
}

/** The audio streams of one console: received, scored while they arrive, and handed in. */
export class StreamService {
  private readonly handIn: StreamHandIn;
  private readonly spools: SpoolDirectory;
  private readonly scorers: StreamScorers;
  private readonly open = new Map<string, OpenStream>();
  private readonly settling = new Set<Promise<unknown>>();
  private readonly orphans: { stop(): Promise<void> };
  private readonly touches: { stop(): Promise<void> };

  /** Begins to take streams, and hands in what a console left that was killed. */
  static async start(handIn: StreamHandIn): Promise<StreamService> {
    return new StreamService(handIn, await SpoolDirectory.open(join(handIn.config.stateDir, 'streams'), handIn));
  }

  private constructor(handIn: StreamHandIn, spools: SpoolDirectory) {
    const { config, log } = handIn;
    this.handIn = handIn;
    this.spools = spools;
    this.scorers = new StreamScorers({ config, log });
    this.orphans = repeat({
      seconds: orphanSeconds,
      work: () => this.handInOrphans(),
      onError: (error) => log.warn({ err: error }, 'streams that were left could not be looked for'),
    });
    this.touches = repeat({
      seconds: touchSeconds,
      work: () => this.spools.touch(this.open.keys()),
      onError: (error) => log.warn({ err: error }, 'open streams could not be touched'),
    });
  }

  /** Streams that are open now, of all senders or of one. */
  count(sender?: string): number {
    return [...this.open.values()].filter((stream) => sender === undefined || stream.sender === sender).length;
  }

  /**
   * Begins a stream.
   * @throws ServiceError `streams_too_many`, `model_unknown`, `model_removed`, `model_invalid`, `recording_refused` if it could not be scored
   */
  async begin(
    { model: requested, format, channels, name }: StartMessage,
    owner: StreamOwner,
    watcher: StreamWatcher,
  ): Promise<OpenStream> {
    const { db, config } = this.handIn;
    this.requireRoom(owner.requestedBy);
    const id = randomUUID();
    const place = new OpenStream(id, owner.requestedBy);
    this.open.set(id, place); // while its model is looked up it counts
    try {
      requireReadable(format, config);
      const model = modelOf(await loadRegistry(db, config), requested, format.sampleRate);
      const facts = { id, ...owner, model: requested, channels, name, format, startedAt: new Date().toISOString() };
      const spool = await this.spools.create(facts);
      const live = new LiveStream({
        spool,
        scorers: this.scorers,
        model,
        format,
        settings: { channels },
        listener: watcher,
      });
      place.begin({ model, format, spool, live, settle: () => this.settle(place, spool, live) });
      return place;
    } catch (error) {
      this.open.delete(id);
      throw error;
    }
  }

  /** Waits until every stream is handed in, or `graceSeconds` are over: what is left then the next console hands in. */
  async close(graceSeconds: number): Promise<void> {
    for (const stream of this.open.values()) void stream.settle().catch(() => {}); // it was logged
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => (timer = setTimeout(resolve, graceSeconds * 1000)));
    await Promise.race([Promise.allSettled(this.settling), grace]);
    clearTimeout(timer);
    await this.scorers.close();
    await Promise.all([this.orphans.stop(), this.touches.stop()]);
    this.spools.close();
  }

  private requireRoom(sender: string): void {
    const { streamConnectionsMax, streamConnectionsPerOwnerMax } = this.handIn.config;
    const refuse = (problem: string) =>
      new ServiceError('streams_too_many', {
        operation: 'begin stream',
        problem,
        hint: 'Try again when one has ended.',
      });
    if (this.count() >= streamConnectionsMax) throw refuse(`${streamConnectionsMax} streams are open already.`);
    if (this.count(sender) >= streamConnectionsPerOwnerMax)
      throw refuse(`${streamConnectionsPerOwnerMax} streams of this sender are open already.`);
  }

  private settle(place: OpenStream, spool: StreamSpool, live: LiveStream): Promise<VerificationDetailAnswer> {
    const settling = this.settleStream(spool, live).finally(() => {
      this.open.delete(place.id);
      this.settling.delete(settling);
    });
    this.settling.add(settling);
    return settling;
  }

  /** Whatever goes wrong once audio has come, it stays in the spool until it is handed in. */
  private async settleStream(spool: StreamSpool, live: LiveStream): Promise<VerificationDetailAnswer> {
    const { log } = this.handIn;
    const { facts } = spool.spooled;
    try {
      const scored = await endOf(live);
      const isComplete = await completeAndClose(spool);
      if (!isComplete) {
        await this.spools.remove(spool.spooled);
        throw new ServiceError('recording_refused', {
          operation: 'verify stream',
          object: facts.id,
          problem: 'No whole sample came.',
          hint: 'Send audio as binary messages before the end.',
        });
      }
      if (!('result' in scored))
        log.warn(
          { err: scored.error, stream: facts.id },
          'a stream could not be scored while it arrived; the workers score it',
        );
      const batch = await handInStream(this.handIn, spool.spooled, 'result' in scored ? scored.result : null);
      await this.release(spool.spooled, batch);
      return await readOutcome(this.handIn, batch, workerSecondsMax);
    } catch (error) {
      if (!isServiceError(error, 'recording_refused'))
        log.error({ err: error, stream: facts.id }, 'a stream could not be handed in');
      throw error;
    }
  }

  private async handInOrphans(): Promise<void> {
    for (const spooled of await this.spools.orphans((id) => this.open.has(id))) await this.handInOrphan(spooled);
  }

  /** Lets go of a stream that was handed in, once its audio is stored. */
  private async release(spooled: SpooledStream, batch: Batch): Promise<void> {
    if (await isAudioStored(this.handIn, batch)) return this.spools.remove(spooled);
    this.handIn.log.error(
      { stream: spooled.facts.id, batch: batch.id },
      'the audio of a stream was refused, and is put aside',
    );
    await this.spools.setAside(spooled);
  }

  /** One that cannot be handed in does not hold up the others. */
  private async handInOrphan(spooled: SpooledStream): Promise<void> {
    const { log } = this.handIn;
    try {
      if (!(await this.spools.mend(spooled))) return await this.spools.remove(spooled);
      const batch = await handInStream(this.handIn, spooled, null);
      log.info({ stream: spooled.facts.id, batch: batch.id }, 'a stream that was left is handed in');
      await this.release(spooled, batch);
    } catch (error) {
      if (!isServiceError(error) || error.facts.retry)
        return log.warn({ err: error, stream: spooled.facts.id }, 'a stream that was left could not be handed in yet');
      log.error(
        { err: error, stream: spooled.facts.id },
        'a stream that was left cannot be handed in, and is put aside',
      );
      await this.spools
        .setAside(spooled)
        .catch((cause: unknown) =>
          log.warn({ err: cause, stream: spooled.facts.id }, 'a stream could not be put aside yet'),
        );
    }
  }
}

/** False if no whole sample came. */
async function completeAndClose(spool: StreamSpool): Promise<boolean> {
  try {
    return await spool.complete();
  } finally {
    await spool.close();
  }
}

interface BegunStream {
  readonly model: ResolvedModel;
  readonly format: StreamFormat;
  readonly spool: StreamSpool;
  readonly live: LiveStream;
  readonly settle: () => Promise<VerificationDetailAnswer>;
}

/** A stream that a client sends. */
export class OpenStream {
  readonly id: string;
  /** Who sends it: a client by its key, or a user. */
  readonly sender: string;
  private begun: BegunStream | undefined;
  private settled: Promise<VerificationDetailAnswer> | undefined;

  constructor(id: string, sender: string) {
    this.id = id;
    this.sender = sender;
  }

  /** Told once its model and its spool are there. */
  begin(begun: BegunStream): void {
    this.begun = begun;
  }

  get model(): ResolvedModel {
    return this.parts.model;
  }

  /** Seconds of audio that came. */
  get receivedSeconds(): number {
    return secondsOf(this.parts.spool.received, this.parts.format);
  }

  /** Bytes of audio that came. */
  get receivedBytes(): number {
    return this.parts.spool.received;
  }

  /** Bytes that it may have, in whole samples: those of so many seconds, in a file of so many bytes. */
  bytesMax(secondsMax: number, fileBytesMax: number): number {
    const { format } = this.parts;
    return Math.min(
      Math.floor(secondsMax * format.sampleRate) * frameBytesOf(format),
      audioBytesIn(fileBytesMax, format),
    );
  }

  get voiceSeconds(): number {
    return this.parts.live.voiceSeconds;
  }

  /** Seconds of audio that wait to be scored. */
  get behindSeconds(): number {
    return this.parts.live.behindSeconds;
  }

  /** Takes the next bytes, which may end anywhere; resolves when they are on the disk. */
  append(bytes: Buffer): Promise<void> {
    return this.parts.live.append(bytes);
  }

  /**
   * Ends the stream; what came is verified and stored. Asked again it says the same.
   * @throws ServiceError `recording_refused` if no whole sample came; what else goes wrong is made up for later
   */
  settle(): Promise<VerificationDetailAnswer> {
    return (this.settled ??=
      this.begun === undefined
        ? Promise.reject(new ServiceError('interrupted', { operation: 'begin stream' }))
        : this.begun.settle());
  }

  private get parts(): BegunStream {
    if (this.begun === undefined) throw new Error('the stream has not begun');
    return this.begun;
  }
}

type End = { readonly result: ScoredRecording } | { readonly error: unknown };

function endOf(live: LiveStream): Promise<End> {
  return live.end().then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
}

/** @throws ServiceError `recording_refused` for a format that no recording may have */
function requireReadable(
  { sampleRate, channels }: StreamFormat,
  { audioSampleRateMax, audioChannelsMax }: StreamHandIn['config'],
): void {
  const sampleRateMax = Math.min(audioSampleRateMax, resampleRates.max);
  if (sampleRate > sampleRateMax)
    throw refused(
      new AudioRefusal('sample_rate_too_high', `It has ${sampleRate} Hz; ${sampleRateMax} Hz are read at most.`),
    );
  if (sampleRate < resampleRates.min)
    throw refused(
      new AudioRefusal('sample_rate_too_low', `It has ${sampleRate} Hz; ${resampleRates.min} Hz are read at least.`),
    );
  if (channels > audioChannelsMax)
    throw refused(
      new AudioRefusal('channels_too_many', `It has ${channels} channels; ${audioChannelsMax} are read at most.`),
    );
}

/** The model of a stream, which is known before any of its audio. @throws ServiceError as {@link StreamService.begin} */
function modelOf(registry: ModelRegistry, requested: string, sampleRate: number): ResolvedModel {
  const resolution = registry.resolve(requested);
  if (resolution.kind === 'unknown')
    throw new ServiceError('model_unknown', {
      operation: 'begin stream',
      object: requested,
      hint: '`caller-trust models list` shows those there are.',
    });
  if (resolution.kind === 'removed') {
    const { model, replacedBy } = resolution;
    throw new ServiceError('model_removed', {
      operation: 'begin stream',
      object: model,
      hint: replacedBy === null ? undefined : `${replacedBy} takes its place.`,
    });
  }
  try {
    return chooseModel(
      resolution.kind === 'auto' ? { ...resolution, byRate: true } : { phone: resolution.model, digital: null },
      sampleRate,
    );
  } catch (error) {
    throw error instanceof AudioRefusal ? refused(error) : error;
  }
}

function refused({ reason, detail }: AudioRefusal): ServiceError {
  return new ServiceError('recording_refused', { operation: 'begin stream', problem: `${detail} [${reason}]` });
}
