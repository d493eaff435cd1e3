import { open } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AudioStore } from '../../pipelines/audio/store/audio-store.ts';
import { loadRegistry } from '../../pipelines/audio/models/registry.ts';
import { deleteRecording } from '../../pipelines/audio/batches/retention.ts';
import { DECISION_LABELS, VERIFICATION_STATES } from '../../pipelines/audio/verification.ts';
import { cleanText } from '../../pipelines/phone/text-cleaning.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { recordAction, userOf } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import { sendBytes } from '../http/byte-answer.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { disconnectSignal } from '../http/leaving.ts';
import { sendLive } from '../http/live.ts';
import type { VerificationPlace } from '../../pipelines/audio/batches/stored-verifications.ts';
import { readModelFigures } from '../answers/model-figures.ts';
import { Playbacks } from '../media/playbacks.ts';
import {
  listVerifications,
  readVerification,
  type LiveVerification,
  type VerificationDetail,
} from '../answers/verification-answers.ts';
import { recordingNotStored, requireStored, Waveforms } from '../media/waveforms.ts';
import { isWorkerConnected } from '../answers/queue-answers.ts';

const instant = z.iso
  .datetime({ offset: true })
  .or(z.iso.date())
  .transform((text) => new Date(text));

/** A date includes the whole day. */
const endInstant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .or(z.iso.date().transform((text) => new Date(Date.parse(text) + 86_400_000)));

const listQuery = z.strictObject({
  state: z.enum(VERIFICATION_STATES).optional(),
  model: z
    .string()
    .trim()
    .toLowerCase()
    .regex(/^[a-z0-9/.-]{1,80}$/, 'is not a name of a model')
    .optional(),
  mode: z.enum(['api', 'webDemo']).optional(),
  batch: z.string().max(100).optional(),
  label: z.enum(DECISION_LABELS).optional(),
  from: instant.optional(),
  to: endInstant.optional(),
  before: z
    .string()
    .regex(/^[1-9]\d{0,14}\.[1-9]\d{0,8}$/, 'is not a place in the list')
    .transform(placeOf)
    .optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

const deletion = z.strictObject({ reason: z.string().max(500) });

function placeOf(text: string): VerificationPlace {
  const [batchId, line] = text.split('.').map(Number) as [number, number];
  return { batchId, line };
}

/** `/api/verifications`: the verifications of all clients with their recordings, and `/api/recordings`. */
export function registerVerificationRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db } = work;
  const waveforms = new Waveforms(work);
  const playbacks = new Playbacks(work);
  const listeningLog = new ListeningLog();
  const recordListening = async (request: FastifyRequest): Promise<VerificationDetail> => {
    const verification = await readVerification(db, idOf(request));
    const { sha256 } = requireStored(verification);
    await listeningLog.recordListening(`${userOf(request).name} ${sha256}`, () =>
      recordAction(db, request, {
        action: 'listen_to_recording',
        object: `recording ${sha256}`,
        detail: { verification: verification.id },
      }),
    );
    return verification;
  };
  app.get('/api/verifications', { config: { access: 'viewer' } }, (request) => {
    const { to, ...query } = parseBody(listQuery, request.query);
    return listVerifications(db, { ...query, until: to });
  });
  app.get('/api/verifications/:id', { config: { access: 'viewer' } }, async (request) =>
    withFigures(work, await readVerification(db, idOf(request))),
  );
  app.get('/api/verifications/:id/live', { config: { access: 'viewer' } }, (request, reply) => {
    const id = idOf(request);
    return sendLive(request, reply, {
      work,
      read: () => readLive(work, id),
      isLast: ({ verification }) => verification.times.ended !== null,
    });
  });
  app.get('/api/verifications/:id/waveform', { config: { access: 'viewer' } }, async (request, reply) =>
    waveforms.read(await readVerification(db, idOf(request)), disconnectSignal(reply, 'draw recording')),
  );
  app.get('/api/verifications/:id/audio', { config: { access: 'viewer' } }, async (request, reply) =>
    sendAudio(request, reply, work, await recordListening(request)),
  );
  app.get('/api/verifications/:id/playback', { config: { access: 'viewer' } }, async (request, reply) =>
    sendConverted(request, reply, playbacks, await recordListening(request)),
  );
  app.delete('/api/recordings/:sha256', { config: { access: 'operator' } }, async (request) => {
    const { sha256 } = parseBody(
      z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in lower-case hex') }),
      request.params,
    );
    const { reason } = parseBody(deletion, request.body);
    const record = (client: Queryable) =>
      recordAction(client, request, {
        action: 'delete_recording',
        object: `recording ${sha256}`,
        detail: { reason: cleanText(reason) },
      });
    const end = await deleteRecording({ db, store: new AudioStore(work.config.audioDir), record }, sha256, reason);
    playbacks.forget(sha256);
    return { sha256, ...end };
  });
}

function idOf({ params }: FastifyRequest): string {
  return (params as { id: string }).id;
}

async function withFigures(
  { db, config }: Pick<ConsoleWork, 'db' | 'config'>,
  verification: VerificationDetail,
): Promise<LiveVerification['verification']> {
  const entry =
    verification.model === null
      ? undefined
      : (await loadRegistry(db, config)).models().find(({ model }) => model === verification.model);
  return { ...verification, figures: await readModelFigures(entry) };
}

/** A verification in progress, and whether a worker is connected. */
async function readLive(work: ConsoleWork, id: string): Promise<LiveVerification> {
  const verification = await withFigures(work, await readVerification(work.db, id));
  return {
    verification,
    workerConnected: verification.times.ended === null ? await isWorkerConnected(work.queues) : null,
  };
}

/** Media types of the accepted containers, by their names in the service. */
const mediaTypes: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  flac: 'audio/flac',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  mp4: 'audio/mp4',
};

/** Sends the stored original file. */
async function sendAudio(
  request: FastifyRequest,
  reply: FastifyReply,
  { config }: Pick<ConsoleWork, 'config'>,
  { audio, recording }: VerificationDetail,
): Promise<FastifyReply> {
  const type = mediaTypes[recording?.format ?? ''];
  if (type === undefined) throw notOpened();
  const file = await open(new AudioStore(config.audioDir).pathOf(audio!.sha256)).catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? recordingNotStored() : error;
    },
  );
  try {
    const { size } = await file.stat();
    return sendBytes(request, reply, {
      type,
      etag: `"${audio!.sha256}"`,
      bytes: size,
      read: (range) => file.createReadStream(range),
    });
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Sends the recording as WAV. */
async function sendConverted(
  request: FastifyRequest,
  reply: FastifyReply,
  playbacks: Playbacks,
  { audio, recording }: VerificationDetail,
): Promise<FastifyReply> {
  if (recording?.playback == null) throw notOpened();
  const converted = await playbacks.read(audio!.sha256, disconnectSignal(reply, 'convert recording'));
  return sendBytes(request, reply, {
    type: 'audio/wav',
    etag: `"${audio!.sha256}-wav"`,
    bytes: converted.bytes,
    read: (range) => converted.read(range),
  });
}

function notOpened(): ServiceError {
  return new ServiceError('recording_refused', {
    operation: 'play recording',
    problem: 'Its format is not known, because it has not been opened yet or could not be.',
  });
}

/** Milliseconds for which requests of a user for a recording count as one listening: browsers request ranges. */
const sameListeningMs = 10 * 60_000;

/** Most remembered listenings. */
const listeningsMax = 10_000;

/** Recent listenings. */
class ListeningLog {
  private readonly since = new Map<string, number>();
  private readonly recordings = new Map<string, Promise<void>>();

  /** Records a listening at its first request, and remembers it once the record is written; concurrent requests wait for the record. */
  async recordListening(listening: string, record: () => Promise<void>): Promise<void> {
    if (performance.now() - (this.since.get(listening) ?? -Infinity) < sameListeningMs) return;
    const recording = this.recordings.get(listening) ?? record().finally(() => this.recordings.delete(listening));
    this.recordings.set(listening, recording);
    await recording;
    this.since.delete(listening);
    this.since.set(listening, performance.now());
    if (this.since.size > listeningsMax) this.since.delete(this.since.keys().next().value!);
  }
}
