import { z } from 'zod';
import { BATCH_STATES } from '../pipelines/audio/batch.ts';
import { AUDIO_REASONS, type AudioReason } from '../pipelines/audio/reasons.ts';
import { CHANNEL_MODES, DECISION_LABELS, VERIFICATION_STATES, WINDOW_LABELS } from '../pipelines/audio/verification.ts';
import { pageParameters } from './paging.ts';
import { nameSchemas } from './schemas.ts';

const time = z.iso.datetime().describe('ISO 8601, UTC.');
const count = z.int().nonnegative();
const seconds = z.number().nonnegative().describe('Seconds.');
const path = z.string().describe('Path on this service.');
const next = z.string().nullable().describe('Path and query of the next page; null where this is the last. The same as the header `Link` with `rel="next"`.');
const model = z.string().describe('`family/version` in lower case.');
const verificationState = z.enum(VERIFICATION_STATES);

const batchState = z.enum(BATCH_STATES).describe('`open`: recordings are still being handed in. `done`: each has an outcome.');
const mode = z.enum(['api', 'webDemo']);

const probability = z.number().min(0).max(1);
const scores = z.object({
  synthesis: probability.nullable().describe('Probability that the voice is NOT synthesized; null where the model has no such score.'),
  replay: probability.nullable().describe('Probability that the recording is NOT a replay; null where the model has no such score.'),
});

/** Names a model in a filter; case does not matter. */
const modelFilter = z.string().regex(/^(phone|digital)\/v[0-9a-z.-]{1,40}$/i).transform((name) => name.toLowerCase());

/** Parameters in the path. What has not the form of an id is unknown, so these forms are for the documentation. */
export const verificationParameters = z.object({ id: z.string().describe('Id of the verification.') });
export const batchParameters = z.object({ id: z.string().describe('Id of the batch.') });

export const verificationListQuery = z.strictObject({
  state: verificationState.optional().describe('Verifications in this state only.'),
  model: modelFilter.optional().describe('Verifications that this model performs only, such as `phone/v8`.'),
  batch: z.guid().toLowerCase().optional().describe('Verifications of this batch only.'),
  ...pageParameters,
});
export const batchListQuery = z.strictObject({ state: batchState.optional().describe('Batches in this state only.'), ...pageParameters });
export const batchQuery = z.strictObject({ state: verificationState.optional().describe('Verifications in this state only. The counts are of all.'), ...pageParameters });

export const verificationSchema = z.object({
  id: z.guid(),
  batch: z.guid().describe('Id of the batch that it belongs to.'),
  state: verificationState,
  mode,
  requestedModel: z.string().describe('As it was asked for: a model, a family, or `auto`.'),
  model: model.nullable().describe('The model that performs it, decided when it was queued; null while the sample rate is still to decide, or where no model could be.'),
  release: z.string().describe('Release of the model registry that decided.'),
  audio: z
    .object({
      sha256: z.string().regex(/^[0-9a-f]{64}$/).describe('SHA-256 of the file in lower-case hex.'),
      sampleRate: z.int().positive().nullable().describe('Hz.'),
      channels: z.int().positive().nullable(),
      duration: seconds.nullable(),
      voiceDuration: seconds.nullable().describe('Seconds of voice that were found.'),
    })
    .nullable()
    .describe('Null for a file that could not be read. What is not known yet is null.'),
  scores: scores.nullable().describe('Null unless `performed`.'),
  scoreDirection: z.literal('higher-is-authentic'),
  decision: z
    .object({
      label: z.enum(DECISION_LABELS),
      thresholds: scores.describe('A score below its threshold is not authentic.'),
      policy: z.literal('thresholds/1'),
    })
    .nullable(),
  reason: z.enum(Object.keys(AUDIO_REASONS) as [AudioReason, ...AudioReason[]]).nullable().describe('Why there is no score.'),
  attempts: count.describe('How often scoring was begun; 0 where the same audio had been scored before.'),
  times: z.object({ queued: time, started: time.nullable(), ended: time.nullable() }),
  links: z.object({ self: path, batch: path }),
});

export const verificationDetailSchema = verificationSchema.extend({
  windows: z
    .array(
      z.object({
        channel: count.nullable().describe('From 0; null where the channels were mixed.'),
        start: seconds,
        end: seconds,
        label: z.enum(WINDOW_LABELS),
        scores: scores.nullable().describe('Null unless the label is `validVoice`.'),
      }),
    )
    .describe('Stretches of the recording in the order of time within a channel; empty until there is a result.'),
});

export const verificationListSchema = z.object({ verifications: z.array(verificationSchema), next });

export const batchSchema = z.object({
  id: z.guid(),
  name: z.string(),
  state: batchState,
  mode,
  requestedModel: z.string(),
  release: z.string().describe('Release of the model registry when the batch was requested.'),
  models: z.object({ phone: model.nullable(), digital: model.nullable() }).describe('What the request stood for then; null for a family that it does not take.'),
  channels: z.enum(CHANNEL_MODES).describe('`apart`: each channel is scored on its own, and the lower score counts.'),
  items: count.describe('Recordings handed in so far.'),
  times: z.object({ requested: time, ended: time.nullable() }),
  links: z.object({ self: path, verifications: path }),
});

export const batchListSchema = z.object({ batches: z.array(batchSchema), next });

export const batchDetailSchema = batchSchema.extend({
  counts: z.object(Object.fromEntries(VERIFICATION_STATES.map((state) => [state, count])) as { [State in (typeof VERIFICATION_STATES)[number]]: typeof count }).describe('Verifications of the batch in each state, whatever the page shows.'),
  verifications: z.array(verificationSchema).describe('A page of them, in the order in which they were handed in.'),
  next,
});

/** A verification as it is listed. */
export type VerificationAnswer = z.output<typeof verificationSchema>;
/** A verification with its windows. */
export type VerificationDetailAnswer = z.output<typeof verificationDetailSchema>;
/** A batch as it is listed. */
export type BatchAnswer = z.output<typeof batchSchema>;
/** How many verifications of a batch are in each state. */
export type BatchCounts = z.output<typeof batchDetailSchema>['counts'];

nameSchemas([
  [verificationSchema, 'Verification'],
  [verificationDetailSchema, 'VerificationDetail'],
  [verificationListSchema, 'VerificationList'],
  [batchSchema, 'Batch'],
  [batchListSchema, 'BatchList'],
  [batchDetailSchema, 'BatchDetail'],
]);
