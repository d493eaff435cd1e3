import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requestVerification } from '../../jobs/queues/verification-producer.ts';
import { readBatch, type Batch } from '../../pipelines/audio/batches/batch.ts';
import type { BatchSubmission } from '../../pipelines/audio/batches/batch-intake.ts';
import { parseRawAudio } from '../../pipelines/audio/decode/raw-audio.ts';
import { CHANNEL_MODES } from '../../pipelines/audio/verification.ts';
import type { RecordRequest, Requester } from '../../pipelines/submissions/request-ledger.ts';
import { removeUploadFiles, uploadPath } from '../../pipelines/submissions/upload-file.ts';
import { forgetUploads, useCompleteUploads } from '../../pipelines/submissions/upload.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { sendJson } from '../http/answers.ts';
import { describeSubmission, exampleId, useCodes } from '../http/operations.ts';
import { acceptRequest, actorOf, parseJsonBody, requireRequester } from '../http/request-reading.ts';
import type { IntakeWork } from '../work/intake-work.ts';

const uploadId = z.string().max(64).describe('Id of a complete upload for a recording.');

/** A batch of recordings; `model`, `channels` and `raw` as of a dropped folder. */
const batchSchema = z.strictObject({
  name: z.string().max(200).optional().describe('Shown with the batch.'),
  model: z.string().max(200).optional().describe('`phone/v7`, `phone`, `digital` or `auto`, which is the default.'),
  channels: z.enum(CHANNEL_MODES).optional().describe('How recordings of several channels are scored.'),
  raw: z.string().max(64).optional().describe('The form of audio without a header, such as `mulaw@8000`.'),
  items: z
    .array(
      z.strictObject({
        upload: uploadId,
        source: z
          .string()
          .min(1)
          .max(1000)
          .optional()
          .describe('Name of the recording in results; default: the upload.'),
        model: z.string().max(200).optional().describe('Default: that of the batch.'),
      }),
    )
    .min(1)
    .describe('The recordings in the order of the batch.'),
});

type BatchRequest = z.output<typeof batchSchema>;

/** `POST /v1/batches`: uploaded recordings become a batch. */
export function registerBatchRoutes(app: FastifyInstance, work: IntakeWork): void {
  const post = describeSubmission({
    operationId: 'submitBatch',
    tag: 'Batches',
    scope: 'batches:write',
    summary: 'Have uploaded recordings verified',
    location: 'The batch at the API: `/v1/batches/{id}`.',
    schema: batchSchema,
    answer: { batch: exampleId, name: 'calls of Monday', state: 'queued', items: 1, model: 'phone' },
    example: { name: 'calls of Monday', model: 'phone', items: [{ upload: exampleId, source: 'call-1.wav' }] },
    codes: [...useCodes, 'audio_request_invalid', 'batch_too_large', 'batch_ended', 'model_unknown', 'model_removed'],
  });
  app.post('/v1/batches', { config: { operations: { post } } }, (request, reply) => submitBatch(work, request, reply));
}

async function submitBatch(work: IntakeWork, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { config, db, limits, room } = work;
  const requester = requireRequester(request, 'batches:write');
  const body = parseJsonBody(batchSchema, request.body, 'audio_request_invalid');
  requireFewFiles(body, limits.batchFilesMax);
  const ids = body.items.map(({ upload }) => upload);
  const { object, repeated, key } = await acceptRequest(
    work,
    request,
    { requester, kind: 'batch', content: body },
    (idempotencyKey, record) =>
      room.run('verifications', async () => {
        await useCompleteUploads(db, { client: requester.client, kind: 'recording' }, ids);
        return (await submit(work, requester, { body, key: idempotencyKey, record })).id;
      }),
  );
  const found = await readBatch(db, object);
  // Its submission was interrupted: the same request completes it.
  const isInterrupted = repeated && found.state === 'open';
  const batch = isInterrupted ? await room.run(null, () => submit(work, requester, { body, key })) : found;
  await forgetUploads(db, ids);
  await removeUploadFiles(config.intakeDir, ids);
  const { id, name, state, items, requestedModel } = batch;
  return sendJson(reply, {
    status: 202,
    headers: { Location: `${config.intakeApiOrigin ?? ''}/v1/batches/${id}` },
    body: { batch: id, name, state, items, model: requestedModel, repeated },
  });
}

async function submit(
  work: IntakeWork,
  requester: Requester,
  { body, key, record }: { readonly body: BatchRequest; readonly key: string; readonly record?: RecordRequest },
): Promise<Batch> {
  const { db, config, queues, log, signal } = work;
  const { name = 'batch', model, channels, raw, items } = body;
  const form = raw === undefined ? undefined : parseRawAudio(raw);
  const submission: BatchSubmission = {
    owner: requester.client,
    key,
    name,
    requestedBy: actorOf(requester),
    model,
    settings: channels === undefined ? {} : { channels },
    items: items.map((item) => ({
      path: uploadPath(config.intakeDir, item.upload),
      source: item.source ?? item.upload,
      model: item.model,
      raw: form,
    })),
  };
  const recorded = record && ((client: Parameters<RecordRequest>[0], { id }: Batch) => record(client, id));
  return (await requestVerification({ db, config, queues, log, signal, record: recorded }, submission)).batch;
}

function requireFewFiles({ items }: BatchRequest, filesMax: number): void {
  if (items.length > filesMax)
    throw new ServiceError('batch_too_large', {
      operation: 'read request',
      problem: `It has ${items.length} recordings, and may have ${filesMax}.`,
      hint: 'Split it.',
    });
  if (new Set(items.map(({ upload }) => upload)).size < items.length)
    throw new ServiceError('audio_request_invalid', {
      operation: 'read request',
      problem: 'It names an upload twice.',
    });
}
