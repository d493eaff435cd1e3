import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { errorMessageOf, isServiceError, ServiceError, factsOf } from '../../../runtime/errors.ts';
import { isRefusedValue } from '../../../runtime/postgres.ts';
import { repeat } from '../../../runtime/processes/repeat.ts';
import { loadRegistry, type ResolvedModel } from '../models/registry.ts';
import { AudioRefusal } from '../reasons.ts';
import { checkDeclared } from '../decode/limit-checks.ts';
import { decodeLimitsOf } from '../scorers/scoring-pool.ts';
import { chooseModel, requireModels } from '../models/named-model.ts';
import type { Batch, BatchMode } from '../batches/batch.ts';
import type { VerificationDetailAnswer } from '../batches/client-verification.ts';
import { LiveStream, type StreamWatcher } from './live-stream.ts';
import { audioBytesIn, frameBytesOf, secondsOf, type StreamFormat } from './stream-format.ts';
import { submitStream, isAudioStored, readOutcome, type SubmissionServices } from './stream-submission.ts';
import { silentMs } from './stream-holder.ts';
import type { StartMessage } from './stream-protocol.ts';
import { StreamScorers } from './stream-scorers.ts';
import { SpoolDirectory, type SpooledStream, type StreamSpool } from './stream-spool.ts';

/** Seconds between two searches for streams that a dead process left or that could not be submitted. */
const orphanSeconds = 30;

/** Share of all streams that one sender may have: the others are never kept out by one. */
const senderShareMax = 1 / 4;

/** Seconds between two heartbeats of the open streams: well within the time after which their process counts as dead. */
const touchSeconds = silentMs / 1000 / 6;

/** Seconds that a client waits for the workers, where the scores of the live stream cannot be used. */
const workerSecondsMax = 30;

/** Whose stream it is. */
export interface StreamOwner {
  /** The client, as API keys name it. */
  readonly owner: string;
  readonly requestedBy: string;
  readonly mode: BatchMode;
}

/** The audio streams of one console: received, scored while they arrive, and submitted as verifications. */
export class StreamService {
  private readonly services: SubmissionServices;
  private readonly spools: SpoolDirectory;
  private readonly scorers: StreamScorers;
  private readonly open = new Map<string, OpenStream>();
  private readonly ending = new Set<Promise<unknown>>();
  private isClosing = false;
  private readonly orphans: { stop(): Promise<void> };
  private readonly touches: { stop(): Promise<void> };

  /** Begins to accept streams, and submits those that a killed console left. */
  static async start(services: SubmissionServices): Promise<StreamService> {
    return new StreamService(services, await SpoolDirectory.open(join(services.config.stateDir, 'streams'), services));
  }

  private constructor(services: SubmissionServices, spools: SpoolDirectory) {
    const { config, log } = services;
    this.services = services;
    this.spools = spools;
    this.scorers = new StreamScorers({ config, log });
    this.orphans = repeat({
      seconds: orphanSeconds,
      work: () => this.submitOrphans(),
      onError: (error) => log.warn({ err: error }, 'orphaned streams could not be searched for'),
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
   * @throws ServiceError `streams_too_many`, `model_unknown`, `model_removed`, `model_invalid`, `recording_refused` if it could not
   * be scored, `interrupted`
   */
  async begin(
    { model: requested, format, channels, name }: StartMessage,
    owner: StreamOwner,
    watcher: StreamWatcher,
  ): Promise<OpenStream> {
    const { db, config } = this.services;
    this.requireRoom(owner.requestedBy);
    const id = randomUUID();
    const place = new OpenStream(id, owner.requestedBy);
    this.open.set(id, place); // it counts already while its model is resolved
    try {
      requireReadable(() => checkDeclared({ ...format, durationSeconds: null }, decodeLimitsOf(config)));
      const registry = await loadRegistry(db, config);
      const model = requireReadable(() =>
        chooseModel(requireModels(registry, requested), { ...format, isTelephone: false }),
      );
      const facts = { id, ...owner, model: requested, channels, name, format, startedAt: new Date().toISOString() };
      const spool = await this.spools.create(facts);
      if (this.isClosing) throw await this.abandon(spool);
      const live = new LiveStream({
        spool,
        scorers: this.scorers,
        model,
        format,
        settings: { channels },
        listener: watcher,
      });
      place.begin({ model, format, spool, live, end: () => this.endStream(place, spool, live) });
      return place;
    } catch (error) {
      this.open.delete(id);
      throw error;
    }
  }

  /** Waits until every stream is submitted, at most for `graceSeconds`; the next console submits the others. */
  async close(graceSeconds: number): Promise<void> {
    this.isClosing = true;
    for (const stream of this.open.values()) if (stream.hasBegun) void stream.end().catch(() => {}); // it was logged
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => (timer = setTimeout(resolve, graceSeconds * 1000)));
    await Promise.race([Promise.allSettled(this.ending), grace]);
    clearTimeout(timer);
    await this.scorers.close();
    await Promise.all([this.orphans.stop(), this.touches.stop()]);
    this.spools.close();
  }

  /** Removes the spool of a stream that began while the service closes. */
  private async abandon(spool: StreamSpool): Promise<ServiceError> {
    await spool.close();
    await this.spools.remove(spool.spooled);
    return new ServiceError('interrupted', { operation: 'begin stream', problem: 'The console stops.' });
  }

  private requireRoom(sender: string): void {
    const { streamConnectionsMax } = this.services.config;
    const ofSenderMax = Math.ceil(streamConnectionsMax * senderShareMax);
    const refuse = (problem: string) =>
      new ServiceError('streams_too_many', {
        operation: 'begin stream',
        problem,
        hint: 'Try again when one has ended.',
      });
    if (this.count() >= streamConnectionsMax) throw refuse(`${streamConnectionsMax} streams are open already.`);
    if (this.count(sender) >= ofSenderMax) throw refuse(`${ofSenderMax} streams of this sender are open already.`);
  }

  private endStream(place: OpenStream, spool: StreamSpool, live: LiveStream): Promise<VerificationDetailAnswer> {
    const ending = this.submitEnded(spool, live).finally(() => {
      this.open.delete(place.id);
      this.ending.delete(ending);
    });
    this.ending.add(ending);
    return ending;
  }

  /** If a step fails, the audio stays in the spool until it is submitted. */
  private async submitEnded(spool: StreamSpool, live: LiveStream): Promise<VerificationDetailAnswer> {
    const { log } = this.services;
    const { facts } = spool.spooled;
    try {
      const [scored] = await Promise.allSettled([live.end()]);
      const isComplete = await completeAndClose(spool);
      if (!isComplete) {
        await this.spools.remove(spool.spooled);
        throw new ServiceError('recording_refused', {
          operation: 'verify stream',
          object: facts.id,
          problem: 'No complete sample was received.',
          hint: 'Send audio as binary messages before the end message.',
        });
      }
      if (scored.status === 'rejected')
        log.warn(
          { err: scored.reason, stream: facts.id },
          'a stream could not be scored while it arrived; the workers score it',
        );
      const batch = await submitStream(
        this.services,
        spool.spooled,
        scored.status === 'fulfilled' ? scored.value : null,
      );
      await this.release(spool.spooled, batch);
      return await readOutcome(this.services, batch, workerSecondsMax);
    } catch (error) {
      if (!isServiceError(error, 'recording_refused'))
        log.error({ err: error, stream: facts.id }, 'a stream could not be submitted');
      throw error;
    }
  }

  private async submitOrphans(): Promise<void> {
    for (const spooled of await this.spools.orphans((id) => this.open.has(id))) await this.submitOrphan(spooled);
  }

  /** Removes the spool of a submitted stream, once its audio is stored. */
  private async release(spooled: SpooledStream, batch: Batch): Promise<void> {
    if (await isAudioStored(this.services, batch)) return this.spools.remove(spooled);
    this.services.log.error(
      { stream: spooled.facts.id, batch: batch.id },
      'the audio of a stream was refused; it is moved aside',
    );
    await this.spools.moveAside(spooled, `Its audio was refused: batch ${batch.id} has the reason.`);
  }

  /** Never throws: a stream that cannot be submitted does not delay the others. */
  private async submitOrphan(spooled: SpooledStream): Promise<void> {
    const { log } = this.services;
    try {
      if (!(await this.spools.completeOrphan(spooled))) return await this.spools.remove(spooled);
      const batch = await submitStream(this.services, spooled, null);
      log.info({ stream: spooled.facts.id, batch: batch.id }, 'an orphaned stream is submitted');
      await this.release(spooled, batch);
    } catch (error) {
      if (!isFinal(error))
        return log.warn({ err: error, stream: spooled.facts.id }, 'an orphaned stream could not be submitted yet');
      log.error({ err: error, stream: spooled.facts.id }, 'an orphaned stream cannot be submitted; it is moved aside');
      await this.spools
        .moveAside(spooled, `It could not be submitted: ${errorMessageOf(error)}`)
        .catch((cause: unknown) =>
          log.warn({ err: cause, stream: spooled.facts.id }, 'a stream could not be moved aside yet'),
        );
    }
  }
}

/** True for an error that another attempt does not mend. */
function isFinal(error: unknown): boolean {
  return isServiceError(error) ? !factsOf(error).retry : isRefusedValue(error);
}

/** False if no complete sample was received. */
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
  readonly end: () => Promise<VerificationDetailAnswer>;
}

/** A stream that a client is sending. */
export class OpenStream {
  readonly id: string;
  /** Who sends it: a client by its key, or a user. */
  readonly sender: string;
  private begun: BegunStream | undefined;
  private ended: Promise<VerificationDetailAnswer> | undefined;

  constructor(id: string, sender: string) {
    this.id = id;
    this.sender = sender;
  }

  /** Sets its parts, once its model is resolved and its spool is open. */
  begin(begun: BegunStream): void {
    this.begun = begun;
  }

  get hasBegun(): boolean {
    return this.begun !== undefined;
  }

  get model(): ResolvedModel {
    return this.parts.model;
  }

  /** Seconds of received audio. */
  get receivedSeconds(): number {
    return secondsOf(this.parts.spool.received, this.parts.format);
  }

  /** Bytes of received audio. */
  get receivedBytes(): number {
    return this.parts.spool.received;
  }

  /** Most bytes that it may have, in complete samples, by its duration and by the size of its file. */
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

  /** Appends bytes, which may end in the middle of a sample; resolves when they are on the disk. */
  append(bytes: Buffer): Promise<void> {
    return this.parts.live.append(bytes);
  }

  /**
   * Ends the stream; what was received is verified and stored. Further calls return the same promise.
   * @throws ServiceError `recording_refused` if no complete sample was received; other failures are retried later
   */
  end(): Promise<VerificationDetailAnswer> {
    return (this.ended ??= this.parts.end());
  }

  private get parts(): BegunStream {
    if (this.begun === undefined) throw new Error('the stream has not begun');
    return this.begun;
  }
}

/** A refusal of a recording as an error of its stream. @throws ServiceError `recording_refused` */
function requireReadable<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AudioRefusal)) throw error;
    const { reason, detail } = error;
    throw new ServiceError('recording_refused', { operation: 'begin stream', problem: `${detail} [${reason}]` });
  }
}
