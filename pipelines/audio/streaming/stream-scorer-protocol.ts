import { z } from 'zod';
import { modelForm, reasonForm, scoredForm, windowForm } from '../scoring/scorer-protocol.ts';
import { CHANNEL_MODES } from '../verification.ts';
import { STREAM_ENCODINGS } from './stream-format.ts';

/**
 * What the processes that score streams hear and say. Both sides check, as those that score files do. Streams have numbers of the process
 * that sends them; messages of one stream keep their order.
 */

const stream = z.number().int();

export const streamOrderForm = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('open'),
    stream,
    model: modelForm,
    format: z.object({ encoding: z.enum(STREAM_ENCODINGS), sampleRate: z.number().int(), channels: z.number().int() }),
    settings: z.object({ channels: z.enum(CHANNEL_MODES) }),
  }),
  z.object({ kind: z.literal('audio'), stream, bytes: z.instanceof(Uint8Array) }),
  z.object({ kind: z.literal('end'), stream }),
  z.object({ kind: z.literal('forget'), stream }),
]);

/** What such a process is told. */
export type StreamOrder = z.output<typeof streamOrderForm>;

export const streamNewsForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('window'), stream, window: windowForm }),
  /** So many bytes of the stream are scored, as far as they go. */
  z.object({
    kind: z.literal('taken'),
    stream,
    bytes: z.number().int().nonnegative(),
    voiceSeconds: z.number().nonnegative(),
  }),
  z.object({ kind: z.literal('scored'), stream, result: scoredForm }),
  z.object({ kind: z.literal('refused'), stream, reason: reasonForm, detail: z.string().max(1000) }),
  z.object({ kind: z.literal('failed'), stream, isModelFault: z.boolean(), problem: z.string().max(1000) }),
]);

/** What such a process says. After `scored`, `refused` and `failed` it has forgotten the stream. */
export type StreamNews = z.output<typeof streamNewsForm>;
