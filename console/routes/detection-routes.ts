import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { requestVerification } from '../../jobs/queues/verification-producer.ts';
import { consoleClient } from '../../pipelines/access/keys.ts';
import type { Batch } from '../../pipelines/audio/batches/batch.ts';
import { listVerifications } from '../../pipelines/audio/batches/stored-verifications.ts';
import { parseRawAudio } from '../../pipelines/audio/decode/raw-audio.ts';
import { CHANNEL_MODES } from '../../pipelines/audio/verification.ts';
import { cleanText } from '../../pipelines/phone/text-cleaning.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { readDetectionFacts, type SubmittedRecording } from '../answers/detection-answers.ts';
import { withForm } from '../http/uploads.ts';

/** Characters kept of a recording's name. */
const nameCharactersMax = 200;

const fields = z.strictObject({
  key: z.string().regex(/^[A-Za-z0-9-]{8,64}$/, 'is not a key of 8 to 64 letters, digits and hyphens'),
  model: z.string().trim().toLowerCase().max(80).default('auto'),
  channels: z.enum(CHANNEL_MODES).default(CHANNEL_MODES[0]),
  raw: z.string().optional(),
});

/** `/api/detection`: verifies a recording from a web page like any other. */
export function registerDetectionRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db, config } = work;
  app.get('/api/detection', { config: { access: 'viewer' } }, () => readDetectionFacts(work));
  app.post('/api/detection', { config: { access: 'reviewer' } }, (request) =>
    withForm(request, { filesMax: 1, fileBytesMax: config.audioBytesMax }, async (form) => {
      const { key, model, channels, raw } = parseBody(fields, form.fields);
      const [file] = form.files;
      if (file === undefined)
        throw new ServiceError('parameter_invalid', {
          operation: 'receive recording',
          problem: 'The form has no file.',
          hint: 'Choose a recording.',
        });
      const source = (cleanText(file.name) ?? 'recording').slice(0, nameCharactersMax);
      const record = async (client: Queryable, { batchId }: Batch) => {
        const [item] = await listVerifications(client, batchId, { after: 0, limit: 1, windows: false });
        await recordAction(client, request, {
          action: 'hand_in_recording',
          object: `verification ${item!.id}`,
          detail: { model, channels, bytes: file.bytes },
        });
      };
      const { batch, repeated } = await requestVerification(
        { ...work, record },
        {
          owner: consoleClient,
          key: `web-${key}`,
          name: source,
          requestedBy: actorOf(request),
          mode: 'webDemo',
          model,
          settings: { channels },
          items: [{ path: file.path, source, raw: raw === undefined ? undefined : parseRawAudio(raw) }],
        },
      );
      const [item] = await listVerifications(db, batch.batchId, { after: 0, limit: 1, windows: false });
      return { batch: batch.id, verification: item!.id, repeated } satisfies SubmittedRecording;
    }),
  );
}
