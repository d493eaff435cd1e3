import { z } from 'zod';
import { BATCH_STATES } from '../../pipelines/audio/batches/batch.ts';
import { verificationDetailForm, verificationForm } from '../../pipelines/audio/batches/client-verification.ts';
import { CHANNEL_MODES, VERIFICATION_STATES } from '../../pipelines/audio/verification.ts';
import { pageParameters } from '../documents/paging.ts';
import { countSchema, nameSchemas, nextPageSchema, pathSchema, timeSchema } from '../documents/schemas.ts';

const model = z.string().describe('`family/version` in lower case.');
const verificationState = z.enum(VERIFICATION_STATES);

const batchState = z
  .enum(BATCH_STATES)
  .describe('`open`: recordings are still being submitted. `done`: each has an outcome.');
const mode = z.enum(['api', 'webDemo']);

/** The name of a model in a filter; case does not matter. */
const modelFilter = z
  .string()
  .regex(/^(phone|digital)\/v[0-9a-z.-]{1,40}$/i)
  .transform((name) => name.toLowerCase());

/** Parameters in the path, for the documentation: the routes answer other text as unknown. */
export const verificationParameters = z.object({ id: z.string().describe('Id of the verification.') });
export const batchParameters = z.object({ id: z.string().describe('Id of the batch.') });

export const verificationListQuery = z.strictObject({
  state: verificationState.optional().describe('Verifications in this state only.'),
  model: modelFilter.optional().describe('Verifications that this model performs only, such as `phone/v8`.'),
  batch: z.guid().toLowerCase().optional().describe('Verifications of this batch only.'),
  ...pageParameters,
});
export const batchListQuery = z.strictObject({
  state: batchState.optional().describe('Batches in this state only.'),
  ...pageParameters,
});
export const batchQuery = z.strictObject({
  state: verificationState.optional().describe('Verifications in this state only. The counts are of all.'),
  ...pageParameters,
});

const verificationSchema = verificationForm;
export const verificationDetailSchema = verificationDetailForm;

export const verificationListSchema = z.object({ verifications: z.array(verificationSchema), next: nextPageSchema });

const batchSchema = z.object({
  id: z.guid(),
  name: z.string(),
  state: batchState,
  mode,
  requestedModel: z.string(),
  release: z.string().describe('Release of the model registry when the batch was requested.'),
  models: z
    .object({ phone: model.nullable(), digital: model.nullable() })
    .describe('What the request stood for then; null for a family that it does not take.'),
  channels: z.enum(CHANNEL_MODES).describe('`apart`: each channel is scored on its own, and the lower score counts.'),
  items: countSchema.describe('Recordings submitted so far.'),
  times: z.object({ requested: timeSchema, ended: timeSchema.nullable() }),
  links: z.object({ self: pathSchema, verifications: pathSchema }),
});

export const batchListSchema = z.object({ batches: z.array(batchSchema), next: nextPageSchema });

export const batchDetailSchema = batchSchema.extend({
  counts: z
    .object(
      Object.fromEntries(VERIFICATION_STATES.map((state) => [state, countSchema])) as {
        [State in (typeof VERIFICATION_STATES)[number]]: typeof countSchema;
      },
    )
    .describe('Verifications of the batch in each state, on all pages.'),
  verifications: z.array(verificationSchema).describe('A page of them, in the order of submission.'),
  next: nextPageSchema,
});

export type BatchAnswer = z.output<typeof batchSchema>;

nameSchemas([
  [verificationSchema, 'Verification'],
  [verificationDetailSchema, 'VerificationDetail'],
  [verificationListSchema, 'VerificationList'],
  [batchSchema, 'Batch'],
  [batchListSchema, 'BatchList'],
  [batchDetailSchema, 'BatchDetail'],
]);
