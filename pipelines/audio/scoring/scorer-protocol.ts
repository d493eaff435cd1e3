import { z } from 'zod';
import { errorMessageOf, isServiceError, ServiceError } from '../../../runtime/errors.ts';
import type { ModelManifest } from '../models/manifest.ts';
import { AUDIO_REASONS, AudioRefusal, type AudioReason } from '../reasons.ts';
import {
  CHANNEL_MODES,
  DECISION_LABELS,
  SCORE_NAMES,
  UNDECIDED_REASONS,
  WINDOW_LABELS,
  type UndecidedReason,
} from '../verification.ts';

// The messages between the pool and its child processes, as JSON, checked on both sides: a file may have compromised a child, and
// nothing but these forms may leave it.

/** Longest text of a refusal or fault in a message. */
const detailCharactersMax = 1000;

/** Most buckets of a waveform: as many as a wide screen has columns. */
export const waveformBucketsMax = 2000;

const executionForm = z.object({ threads: z.int().positive(), windowsAtOnce: z.int().positive() }).optional();

/** A manifest in a message, which was checked when the registry was read. */
const manifestForm = z.looseObject({}).transform((given) => given as unknown as ModelManifest);

/** A model in a message. */
export const modelForm = z.object({
  name: z.string(),
  manifest: manifestForm,
  manifestSha256: z.string(),
  weightsFile: z.string(),
  execution: executionForm,
});

const limitsForm = z.object({
  bytesMax: z.number(),
  channelsMax: z.number(),
  sampleRateMin: z.number(),
  sampleRateMax: z.number(),
  secondsMax: z.number(),
  wallSecondsMax: z.number(),
});

/** The settings of a task. */
export const settingsForm = z.object({ channels: z.enum(CHANNEL_MODES) });

const scoreTask = z.object({
  kind: z.literal('score'),
  file: z.string(),
  models: z.object({ phone: modelForm.nullable(), digital: modelForm.nullable(), byRate: z.boolean() }),
  settings: settingsForm,
  limits: limitsForm,
});

const embedTask = z.object({ kind: z.literal('embed'), file: z.string(), directory: z.string(), limits: limitsForm });

const waveformTask = z.object({
  kind: z.literal('waveform'),
  file: z.string(),
  model: modelForm.nullable(),
  settings: settingsForm,
  limits: limitsForm,
});

/** The samples leave the child through a separate pipe (`pcm-intake.ts`); the answer has the number of their bytes. */
const decodeTask = z.object({
  kind: z.literal('decode'),
  file: z.string(),
  pcmBytesMax: z.number(),
  limits: limitsForm,
});

const probeTask = z.object({
  kind: z.literal('probe'),
  manifest: manifestForm,
  weightsFile: z.string(),
  execution: executionForm,
});

const taskForm = z.discriminatedUnion('kind', [scoreTask, embedTask, waveformTask, decodeTask, probeTask]);

/** A task, and the number that identifies its answer. */
export const requestForm = z.object({ id: z.number().int(), task: taskForm });

export type ScorerTask = z.output<typeof taskForm>;

const share = z.number().min(0).max(1);
const scoresForm = z.object(
  Object.fromEntries(SCORE_NAMES.map((name) => [name, share.nullable()])) as Record<
    (typeof SCORE_NAMES)[number],
    z.ZodNullable<z.ZodNumber>
  >,
);
const seconds = z.number().nonnegative();
/** A reason of the closed list. */
const reasonForm = z.enum(Object.keys(AUDIO_REASONS) as [AudioReason, ...AudioReason[]]);
const audioForm = z.object({
  format: z.string(),
  codec: z.string(),
  sampleRate: z.number().int().positive(),
  channels: z.number().int().positive(),
  durationSeconds: seconds,
});

/** A window with its scores. */
export const windowForm = z.object({
  channel: z.number().int().nonnegative().nullable(),
  start: seconds,
  end: seconds,
  label: z.enum(WINDOW_LABELS),
  scores: scoresForm.nullable(),
});

/** The scores of a recording in a child's answer. */
export const scoredForm = z.object({
  state: z.enum(['performed', 'performedWithoutScore']),
  model: z.string(),
  audio: audioForm,
  voiceSeconds: seconds,
  scores: scoresForm.nullable(),
  decision: z
    .object({
      label: z.enum(DECISION_LABELS),
      thresholds: scoresForm,
      policy: z.literal('thresholds/2'),
      reason: z.enum(Object.keys(UNDECIDED_REASONS) as [UndecidedReason, ...UndecidedReason[]]).nullable(),
      authenticFrom: scoresForm,
      falseAcceptance: scoresForm,
    })
    .nullable(),
  reason: reasonForm.nullable(),
  channelScores: z.array(
    z.object({
      channel: z.number().int().nonnegative(),
      voiceSeconds: seconds,
      scores: scoresForm.nullable(),
      reason: reasonForm.nullable(),
    }),
  ),
  windows: z.array(windowForm),
  notes: z.array(z.string()),
  computedMs: seconds,
});

/** The embedding of a voice in a child's answer. */
export const embeddedForm = z.object({ embedding: z.array(z.number()), voiceSeconds: seconds, audio: audioForm });

const sample = z.number().min(-1).max(1);
const drawnStretches = z.array(sample).max(waveformBucketsMax);

/** The waveform of a recording in a child's answer. */
export const waveformForm = z.object({
  durationSeconds: seconds,
  bucketSeconds: seconds,
  channels: z.array(
    z.object({
      channel: z.number().int().nonnegative().nullable(),
      lows: drawnStretches,
      highs: drawnStretches,
      voice: z
        .array(z.tuple([seconds, seconds]))
        .max(waveformBucketsMax)
        .nullable(),
    }),
  ),
});

/** The facts of decoded samples in a child's answer. */
export const decodedForm = z.object({
  sampleRate: z.number().int().positive(),
  channels: z.number().int().positive(),
  pcmBytes: z.number().int().nonnegative(),
});

/** The output of a model for a test signal. */
export const probedForm = z.object({ logits: z.array(z.record(z.string(), z.number())) });

/** A task that has no result, for a reason of the closed list. */
export const refusedForm = z.object({
  kind: z.literal('refused'),
  reason: reasonForm,
  detail: z.string().max(detailCharactersMax),
});

/** A task that has no result because of a fault. */
export const failedForm = z.object({
  kind: z.literal('failed'),
  isModelFault: z.boolean(),
  problem: z.string().max(detailCharactersMax),
});

type TaskFailure = z.output<typeof refusedForm> | z.output<typeof failedForm>;

/** What a child sends of an error of its work. */
export function failureOfTask(error: unknown): TaskFailure {
  if (error instanceof AudioRefusal)
    return { kind: 'refused', reason: error.reason, detail: error.detail.slice(0, detailCharactersMax) };
  const problem = isServiceError(error) ? error.problem : errorMessageOf(error);
  const isModelFault = isServiceError(error, 'model_invalid');
  return { kind: 'failed', isModelFault, problem: problem.slice(0, detailCharactersMax) };
}

/** The error that the parent throws for it. */
export function errorOfFailure(failure: TaskFailure, operation: string): AudioRefusal | ServiceError {
  if (failure.kind === 'refused') return new AudioRefusal(failure.reason, failure.detail);
  const { isModelFault, problem } = failure;
  return new ServiceError(isModelFault ? 'model_invalid' : 'internal', { operation, problem });
}

const answered = { id: z.number().int(), residentBytes: z.number() };

/** A message of a child: that it is ready, or the outcome of a request with the resident memory after it. */
export const answerForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('done'), ...answered, result: z.unknown() }),
  refusedForm.extend(answered),
  failedForm.extend(answered),
]);

export type ScorerAnswer = z.output<typeof answerForm>;
