import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { loadRegistry } from '../../pipelines/audio/models/registry.ts';
import { requireModels } from '../../pipelines/audio/models/named-model.ts';
import { enrolVoiceprint, type VoiceWork } from '../../pipelines/audio/voices/voice-enrolment.ts';
import { openVoiceModel } from '../../pipelines/audio/voices/voice-model.ts';
import { verifyVoice } from '../../pipelines/audio/voices/voice-verification.ts';
import { enrolmentLimits } from '../../pipelines/audio/voiceprint/enrolment.ts';
import {
  consentReferenceCharactersMax,
  deleteVoiceprint,
  readVoiceprint,
  voiceprintNameCharactersMax,
} from '../../pipelines/audio/voices/voiceprint-store.ts';
import { cleanText } from '../../pipelines/phone/text-cleaning.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { disconnectSignal } from '../http/leaving.ts';
import { Turns } from '../http/turns.ts';
import { withForm, type UploadedFile } from '../http/uploads.ts';
import {
  listComparisons,
  listVoiceprints,
  readEnrolmentLimits,
  readShownVoiceprint,
} from '../answers/voice-answers.ts';

const voiceOperation = 'process recordings';

/** Concurrent enrolments and comparisons: each occupies the scoring processes for seconds. */
const voiceWorkMax = 2;

/** Those that may wait after their uploads. */
const voiceWaitingMax = 8;

const pageMax = 200;

const listForm = z.strictObject({
  owner: z.string().max(voiceprintNameCharactersMax).optional(),
  deleted: z.enum(['true', 'false']).default('false'),
  before: z.coerce.number().int().positive().optional(),
  limit: z.coerce.number().int().min(1).max(pageMax).default(50),
});
const comparisonsForm = z.strictObject({
  before: z.coerce.number().int().positive().optional(),
  limit: z.coerce.number().int().min(1).max(pageMax).default(20),
});
const idForm = z.strictObject({ id: z.uuid() });
const reasonForm = z.strictObject({ reason: z.string().max(1000) });
const comparisonForm = z.strictObject({ model: z.string().min(1).max(60).default('auto') });

const enrolmentForm = z.strictObject({
  owner: z.string(),
  subject: z.string(),
  consentReference: z.string().max(consentReferenceCharactersMax),
  consentAt: z.iso.date(),
  consentCovers: z.literal('yes', { error: 'Confirm what the consent covers' }),
});

/** `/api/voiceprints`: enrolled voices. Viewers read; reviewers enrol and compare; operators delete. */
export function registerVoiceRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db, config } = work;
  const turns = new Turns({
    runningMax: voiceWorkMax,
    waitingMax: voiceWaitingMax,
    refusal: {
      code: 'overloaded',
      operation: voiceOperation,
      problem: 'Other voices are being enrolled and compared.',
    },
  });
  const inTurn = <Result>(reply: FastifyReply, perform: (signal: AbortSignal) => Promise<Result>) => {
    const signal = AbortSignal.any([work.signal, disconnectSignal(reply, voiceOperation)]);
    return turns.take(() => perform(signal), signal);
  };

  app.get('/api/voiceprints', { config: { access: 'viewer' } }, async (request) => {
    const { deleted, ...filter } = parseBody(listForm, request.query);
    return listVoiceprints(db, { ...filter, withDeleted: deleted === 'true' });
  });

  app.get('/api/voiceprints/:id', { config: { access: 'viewer' } }, async (request) =>
    readShownVoiceprint(db, parseBody(idForm, request.params).id),
  );

  app.get('/api/voiceprints/:id/comparisons', { config: { access: 'viewer' } }, async (request) => {
    const { id } = parseBody(idForm, request.params);
    await readVoiceprint(db, id);
    return listComparisons(db, id, parseBody(comparisonsForm, request.query));
  });

  app.get('/api/voiceprint-limits', { config: { access: 'viewer' } }, () => readEnrolmentLimits(config));

  app.post('/api/voiceprints', { config: { access: 'reviewer' } }, async (request, reply) =>
    withForm(
      request,
      {
        filesMax: enrolmentLimits.recordingsMax + 1,
        fileBytesMax: config.audioBytesMax,
        formBytesMax: config.audioBytesMax,
      },
      ({ fields, files }) =>
        inTurn(reply, async (signal) => {
          const { owner, subject, consentReference, consentAt } = parseBody(enrolmentForm, fields);
          const consent = { reference: consentReference, at: new Date(consentAt), recordedBy: actorOf(request) };
          const record = (client: Queryable, id: string) =>
            recordAction(client, request, {
              action: 'enrol_voice',
              object: `voiceprint ${id}`,
              detail: { owner: cleanText(owner), recordings: files.length },
            });
          const enrolled = await enrolVoiceprint(
            { ...(await openVoiceWork(work, signal)), record },
            { owner, subject, consent, files: await numberFiles(files) },
          );
          void reply.code(201);
          return enrolled;
        }),
    ),
  );

  app.post('/api/voiceprints/:id/comparisons', { config: { access: 'reviewer' } }, async (request, reply) =>
    withForm(request, { filesMax: 1, fileBytesMax: config.audioBytesMax }, ({ fields, files }) =>
      inTurn(reply, async (signal) => {
        const { id } = parseBody(idForm, request.params);
        const { model } = parseBody(comparisonForm, fields);
        const authenticity = requireModels(await loadRegistry(db, config), model);
        const record = (client: Queryable, verification: string) =>
          recordAction(client, request, {
            action: 'verify_voice',
            object: `voiceprint ${id}`,
            detail: { verification },
          });
        const result = await verifyVoice(
          { ...(await openVoiceWork(work, signal)), pool: work.scoring, authenticity, record },
          { id, file: onlyFile(files), actor: actorOf(request) },
        );
        return { ...result, scoreDirection: 'higher-is-authentic' };
      }),
    ),
  );

  app.delete('/api/voiceprints/:id', { config: { access: 'operator' } }, async (request) => {
    const { id } = parseBody(idForm, request.params);
    const record = (client: Queryable) =>
      recordAction(client, request, { action: 'delete_voiceprint', object: `voiceprint ${id}` });
    const { deletedAt } = await deleteVoiceprint(db, id, {
      actor: actorOf(request),
      reason: reasonOf(request),
      record,
    });
    return { id, deletedAt };
  });
}

/** Resources for enrolment and comparison; the signal fires when the browser disconnects. */
async function openVoiceWork({ db, vault, config, scoring }: ConsoleWork, signal: AbortSignal): Promise<VoiceWork> {
  return { db, vault, model: await openVoiceModel(), pool: scoring, limits: config, signal, now: () => new Date() };
}

function reasonOf({ body }: FastifyRequest): string {
  return cleanText(parseBody(reasonForm, body).reason) ?? '';
}

/** Renames the uploaded files by their number on the page, which problems refer to; returns their paths. */
async function numberFiles(files: readonly UploadedFile[]): Promise<string[]> {
  const paths: string[] = [];
  for (const [at, { path, name }] of files.entries()) {
    const numbered = join(dirname(path), `recording ${at + 1} (${[...name].slice(0, 40).join('')})`);
    await rename(path, numbered);
    paths.push(numbered);
  }
  return paths;
}

function onlyFile([file]: readonly UploadedFile[]): string {
  if (file === undefined)
    throw new ServiceError('recording_refused', {
      operation: 'verify voice',
      problem: 'No recording was sent.',
      hint: 'Choose a file, or record one.',
    });
  return file.path;
}
