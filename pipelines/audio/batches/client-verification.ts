import { z } from 'zod';
import type { Queryable } from '../../../runtime/postgres.ts';
import { AUDIO_REASONS, type AudioReason } from '../reasons.ts';
import { findVerificationRecord, type VerificationItem } from './stored-verifications.ts';
import { NEXT_STEPS, nextStepOf, type NextStep } from '../next-step.ts';
import {
  DECISION_LABELS,
  UNDECIDED_REASONS,
  VERIFICATION_STATES,
  WINDOW_LABELS,
  type UndecidedReason,
} from '../verification.ts';

// A verification as its client gets it: from the API, and from the console at the end of a stream.

const time = z.iso.datetime().describe('ISO 8601, UTC.');
const count = z.int().nonnegative();
const seconds = z.number().nonnegative().describe('Seconds.');
const path = z.string().describe('Path on this service.');
const model = z.string().describe('`family/version` in lower case.');

const probability = z.number().min(0).max(1);

/** Scores in an answer. */
export const scoresForm = z.object({
  synthesis: probability
    .nullable()
    .describe('Probability that the voice is NOT synthesized; null where the model has no such score.'),
  replay: probability
    .nullable()
    .describe('Probability that the recording is NOT a replay; null where the model has no such score.'),
});

/** A verification as it is listed. */
export const verificationForm = z.object({
  id: z.guid(),
  batch: z.guid().describe('Id of the batch that it belongs to.'),
  state: z.enum(VERIFICATION_STATES),
  mode: z.enum(['api', 'webDemo']),
  requestedModel: z.string().describe('As it was asked for: a model, a family, or `auto`.'),
  model: model
    .nullable()
    .describe(
      'The model that performs it, decided when it was queued; null while the band of the recording is still to decide, or where no model could be.',
    ),
  release: z.string().describe('Release of the model registry that decided.'),
  audio: z
    .object({
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .describe('SHA-256 of the file in lower-case hex; of raw audio, with the header that it is stored with.'),
      sampleRate: z.int().positive().nullable().describe('Hz.'),
      channels: z.int().positive().nullable(),
      duration: seconds.nullable(),
      voiceDuration: seconds.nullable().describe('Seconds of voice that were found.'),
    })
    .nullable()
    .describe('Null for a file that could not be read. What is not known yet is null.'),
  scores: scoresForm.nullable().describe('Null unless `performed`.'),
  scoreDirection: z.literal('higher-is-authentic'),
  decision: z
    .object({
      label: z.enum(DECISION_LABELS),
      thresholds: scoresForm.describe('A score below its threshold is not authentic.'),
      policy: z.literal('thresholds/2').describe('How scores become a label: what is not known is left open.'),
      reason: z
        .enum(Object.keys(UNDECIDED_REASONS) as [UndecidedReason, ...UndecidedReason[]])
        .nullable()
        .describe('Why it is `undecided`; null for other labels.'),
      authenticFrom: scoresForm.describe(
        'From here on a score is authentic; null where no score is known to be enough.',
      ),
      falseAcceptance: scoresForm.describe(
        'Share of attacks of a kind never seen that reach `authenticFrom`, as measured; null where it is.',
      ),
    })
    .nullable()
    .describe('Null unless `performed`. No decision is not a pass: see `nextStep`.'),
  nextStep: z
    .enum(Object.keys(NEXT_STEPS) as [NextStep, ...NextStep[]])
    .nullable()
    .describe('What to do with it; null until it has ended. Only `proceed` is a pass.'),
  reason: z
    .enum(Object.keys(AUDIO_REASONS) as [AudioReason, ...AudioReason[]])
    .nullable()
    .describe('Why there is no score.'),
  attempts: count.describe('How often scoring was begun; 0 where the same audio had been scored before.'),
  times: z.object({ queued: time, started: time.nullable(), ended: time.nullable() }),
  links: z.object({ self: path, batch: path }),
});

/** A verification with its windows. */
export const verificationDetailForm = verificationForm.extend({
  windows: z
    .array(
      z.object({
        channel: count.nullable().describe('From 0; null where the channels were mixed.'),
        start: seconds,
        end: seconds,
        label: z.enum(WINDOW_LABELS),
        scores: scoresForm.nullable().describe('Null unless the label is `validVoice`.'),
      }),
    )
    .describe('Stretches of the recording in the order of time within a channel; empty until there is a result.'),
  notes: z
    .array(z.string())
    .describe(
      'What was repaired or detected, such as `telephone_band`; docs/audio-formats.md has the list. New ones may be added.',
    ),
});

/** A verification as it is listed. */
type VerificationAnswer = z.output<typeof verificationForm>;

/** A verification with its windows. */
export type VerificationDetailAnswer = z.output<typeof verificationDetailForm>;

const answeredFields = verificationForm.omit({ times: true, links: true, nextStep: true }).keyof().options;

/** The answer for a verification: the fields of its record that the form has. */
export function verificationAnswerOf(item: VerificationItem): VerificationAnswer {
  const fields = Object.fromEntries(answeredFields.map((field) => [field, item[field]]));
  const { queued, started, ended } = item.times;
  return {
    ...(fields as Pick<VerificationItem, (typeof answeredFields)[number]>),
    nextStep: nextStepOf(item),
    times: {
      queued: queued.toISOString(),
      started: started?.toISOString() ?? null,
      ended: ended?.toISOString() ?? null,
    },
    links: { self: `/v1/verifications/${item.id}`, batch: `/v1/batches/${item.batch}` },
  };
}

/** A verification with its windows; undefined if the client has none with this id. */
export async function findVerification(
  db: Queryable,
  { client, id }: { readonly client: string; readonly id: string },
): Promise<VerificationDetailAnswer | undefined> {
  const record = await findVerificationRecord(db, { id, owner: client });
  if (record === undefined) return undefined;
  const windows = record.windows ?? [];
  return {
    ...verificationAnswerOf(record),
    windows: windows.map(({ channel, start, end, label, scores }) => ({ channel, start, end, label, scores })),
    notes: [...record.notes],
  };
}
