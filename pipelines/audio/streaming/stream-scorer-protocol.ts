import { z } from 'zod';
import {
  failedForm,
  modelForm,
  refusedForm,
  scoredForm,
  settingsForm,
  windowForm,
} from '../scoring/scorer-protocol.ts';
import { streamFormatForm } from './stream-format.ts';

// The messages between the console and the processes that score streams, checked on both sides. The parent
// numbers the streams; messages of one stream keep their order.

const stream = z.number().int();

export const streamCommandForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('open'), stream, model: modelForm, format: streamFormatForm, settings: settingsForm }),
  z.object({ kind: z.literal('audio'), stream, bytes: z.instanceof(Uint8Array) }),
  z.object({ kind: z.literal('end'), stream }),
  z.object({ kind: z.literal('cancel'), stream }),
]);

/** A message to such a process. */
export type StreamCommand = z.output<typeof streamCommandForm>;

export const streamEventForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('window'), stream, window: windowForm }),
  /** Bytes from the beginning of the stream that are scored. */
  z.object({
    kind: z.literal('progress'),
    stream,
    bytes: z.number().int().nonnegative(),
    voiceSeconds: z.number().nonnegative(),
  }),
  z.object({ kind: z.literal('scored'), stream, result: scoredForm }),
  refusedForm.extend({ stream }),
  failedForm.extend({ stream }),
]);

/** A message from such a process. `scored`, `refused` and `failed` close the stream. */
export type StreamEvent = z.output<typeof streamEventForm>;
