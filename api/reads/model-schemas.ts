import { z } from 'zod';
import { FAMILIES } from '../../pipelines/audio/models/manifest.ts';
import { SCORE_NAMES } from '../../pipelines/audio/verification.ts';
import { countSchema, nameSchemas, pathSchema } from '../documents/schemas.ts';

const rate = z.number().min(0).max(1);
const release = z.string().describe('Name of a release of the audio service.');

export const modelQuery = z.strictObject({
  release: z
    .string()
    .min(1)
    .max(40)
    .optional()
    .describe('Answers as of this release of the audio service, such as `2025.11.r1p0`; without it as of now.'),
});

/** Parameters in the path, for the documentation: the routes answer other text as unknown. */
export const familyParameters = z.object({ family: z.string().describe('`phone` or `digital`.') });
export const modelParameters = familyParameters.extend({
  version: z.string().describe('Such as `v8`. Case does not matter.'),
});

const errorRate = z.object({
  channel: z.string(),
  score: z.enum(SCORE_NAMES),
  equalErrorRate: rate,
  interval: z
    .object({ low: z.number(), high: z.number() })
    .nullable()
    .describe('95 %, over speakers and synthesizers.'),
  nuisanceEqualErrorRate: rate
    .nullable()
    .describe('Of a classifier that hears no voice, on the same recordings. Near 0.5: the test set does not leak.'),
  bonafide: countSchema.describe('Recordings.'),
  attacks: countSchema.describe('Recordings. Replays are simulated.'),
  speakers: countSchema,
  synthesizers: countSchema,
});

const unseenSystems = z.object({
  seconds: z.number().positive().describe('Length of the recordings.'),
  systems: countSchema.describe('Synthesizers.'),
  families: countSchema.describe('Families of vocoders; shares of attacks are means over them.'),
  genuine: countSchema.describe('Recordings.'),
  genuineSpeakers: countSchema,
  synthetic: countSchema.describe('Recordings.'),
  equalErrorRate: rate.describe('0.5 is chance.'),
  interval: z.object({ low: z.number(), high: z.number() }).describe('95 %, over speakers and synthesizers.'),
  attacksMissed: rate.describe('Attacks that are not called one, at the threshold of the model.'),
  genuineCalledAttacks: rate.describe('Genuine recordings below the threshold of the model.'),
});

export const modelSchema = z.object({
  model: z.string().describe('`family/version` in lower case.'),
  family: z.enum(FAMILIES),
  version: z.string(),
  release: release
    .nullable()
    .describe('The release that brought it; null for a model that was added to this installation.'),
  state: z.enum(['available', 'removed']),
  default: z.boolean().describe('True for the model that a request for the family takes.'),
  removedIn: release.nullable().describe('The release that took it away, as far as this answer goes.'),
  replacedBy: z
    .string()
    .nullable()
    .describe('What takes the place of a removed model. A request for a removed one is never answered by another.'),
  origin: z.enum(['shipped', 'added']),
  note: z.string().nullable(),
  weights: z
    .object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int().positive(), parameters: countSchema })
    .nullable()
    .describe('Null where no weights are here.'),
  input: z
    .object({
      sampleRate: z.int().positive().describe('Hz.'),
      sampleRateMin: z.int().positive().describe('Lowest rate of a recording, in Hz.'),
      windowSeconds: z.number().positive(),
      hopSeconds: z.number().positive(),
      minimumVoiceSeconds: z.number().positive(),
    })
    .nullable(),
  voiceActivity: z.string().nullable().describe('Detector of voice activity.'),
  scores: z.array(z.enum(SCORE_NAMES)),
  thresholds: z.partialRecord(z.enum(SCORE_NAMES), rate).describe('A score below its threshold is not authentic.'),
  unseenSystems: z
    .array(unseenSystems)
    .describe(
      'What the synthesis score is worth on synthesizers that neither training nor calibration saw, by length. Empty where it was not measured.',
    ),
  errorRates: z
    .array(errorRate)
    .describe(
      'Of a shipped model on its development set, which was partly in sight when its weights were chosen: `unseenSystems` is what to expect of others. Empty where it was not evaluated.',
    ),
  links: z.object({ self: pathSchema }),
});

export const modelListSchema = z.object({
  release: release.describe('The release that the answer is of.'),
  models: z.array(modelSchema).describe('Oldest first. Rows are only ever added.'),
});

export type ModelAnswer = z.output<typeof modelSchema>;

nameSchemas([
  [modelSchema, 'Model'],
  [modelListSchema, 'ModelList'],
]);
