import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../../runtime/errors.ts';
import { CHANNEL_MODES, WINDOW_LABELS } from '../verification.ts';
import { scoresForm, verificationDetailForm } from '../batches/client-verification.ts';
import { streamFormatForm } from './stream-format.ts';

/**
 * The messages of an audio stream between the console and its clients. docs/streaming.md shows them.
 * A client's messages may have no unknown fields. Answers may gain fields, so a client ignores those that it does not know.
 */

/** Path of the WebSocket on the console. */
export const streamPath = '/api/stream';

const seconds = z.number().nonnegative();

const startForm = z.strictObject({
  type: z.literal('start'),
  /** `phone/v8`, `phone`, `digital`; with `auto` the sample rate decides the family. */
  model: z.string().min(1).max(80).default('auto'),
  format: streamFormatForm,
  channels: z.enum(CHANNEL_MODES).default(CHANNEL_MODES[0]),
  /** Name of the recording in lists. */
  name: z.string().min(1).max(200).default('stream'),
});

/** The text messages of a client; binary messages are audio. */
export const clientMessageForm = z.discriminatedUnion('type', [startForm, z.strictObject({ type: z.literal('end') })]);

export type ClientMessage = z.output<typeof clientMessageForm>;

/** The first message, with its defaults and as a client may send it. */
export type StartMessage = z.output<typeof startForm>;
export type StartRequest = z.input<typeof startForm>;

const readyForm = z.object({
  type: z.literal('ready'),
  stream: z.guid(),
  /** `family/version`. */
  model: z.string(),
  /** A score below its threshold is not authentic. */
  thresholds: scoresForm,
  limits: z.object({
    secondsMax: z.number(),
    frameBytesMax: z.number(),
    idleSecondsMax: z.number(),
    /** Seconds of audio per second in the long run, and what may be sent at once beyond that. */
    speedMax: z.number(),
    burstSeconds: z.number(),
  }),
});

/** Replaces an earlier window with the same channel and start: more of its voice has been found since. */
const windowMessageForm = z.object({
  type: z.literal('window'),
  channel: z.int().nonnegative().nullable(),
  start: seconds,
  end: seconds,
  label: z.enum(WINDOW_LABELS),
  scores: scoresForm.nullable(),
});

const progressForm = z.object({ type: z.literal('progress'), receivedSeconds: seconds, voiceSeconds: seconds });

const verificationMessageForm = z.object({ type: z.literal('verification'), verification: verificationDetailForm });

const errorForm = z.object({
  type: z.literal('error'),
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
  problem: z.string(),
  hint: z.string().nullable(),
});

/** What the console answers. */
export const serverMessageForm = z.discriminatedUnion('type', [
  readyForm,
  windowMessageForm,
  progressForm,
  verificationMessageForm,
  errorForm,
]);

export type ServerMessage = z.output<typeof serverMessageForm>;
export type ReadyMessage = z.output<typeof readyForm>;
export type WindowMessage = z.output<typeof windowMessageForm>;

/** Close status of a verified stream. */
export const verifiedStatus = 1000;

/** Close statuses (RFC 6455 section 7.4.1) of errors that have one of their own. */
const statuses: Partial<Record<ErrorCode, number>> = {
  stream_frame_too_large: 1009,
  internal: 1011,
  interrupted: 1012,
};

/** Close status after an error: one of its own, else 1013 for an error that may be retried and 1008 for one that may not. */
export function closeStatusOf(code: ErrorCode): number {
  return statuses[code] ?? (ERRORS[code].retry ? 1013 : 1008);
}
