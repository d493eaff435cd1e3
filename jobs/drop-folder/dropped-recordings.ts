import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { BatchSubmission } from '../../pipelines/audio/batches/batch-intake.ts';
import type { SubmittedItem } from '../../pipelines/audio/batches/batch-items.ts';
import { parseRawAudio, type RawAudio } from '../../pipelines/audio/decode/raw-audio.ts';
import { walkFolder } from '../../pipelines/audio/batches/batch-list.ts';
import { CHANNEL_MODES } from '../../pipelines/audio/verification.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { parseStorableJson } from '../../runtime/stored-text.ts';
import { requesterOf } from './inbox.ts';
import { describeKind, type TakenEntry } from './taken-entry.ts';

/** Names in a dropped folder: the sender's request, and the watcher's answers. */
export const recordingNames = { request: 'request.json', result: 'result.json', rows: 'results.csv' } as const;

/** Names that are no recordings: those above, and files that desktops write. */
const otherNames: ReadonlySet<string> = new Set([...Object.values(recordingNames), 'Thumbs.db', 'desktop.ini']);

/** Bytes of request.json: its six fields have less than 1,000. */
const requestBytesMax = 64 * 1024;

/** The owner of recordings without one: the operator of the service. */
export const defaultOwner = 'operator';

const requestSchema = z.strictObject({
  model: z.string().max(200).optional(),
  channels: z.enum(CHANNEL_MODES).optional(),
  raw: z.string().optional(),
  owner: z.string().optional(),
  key: z.string().optional(),
  name: z.string().optional(),
});

/** Recordings of a dropped folder, in the order of their batch, with the form of raw audio if that is what they are. */
export async function* recordingsIn(folder: string, raw?: RawAudio): AsyncGenerator<SubmittedItem> {
  for await (const item of walkFolder(folder, otherNames)) yield raw === undefined ? item : { ...item, raw };
}

/**
 * The submission of what was dropped: a recording, or a folder of recordings.
 * @throws ServiceError `audio_request_invalid`
 */
export async function readDroppedRecordings(entry: TakenEntry): Promise<BatchSubmission> {
  const { id, name, path } = entry;
  const stats = await lstat(path);
  const given = { owner: defaultOwner, key: id, name, requestedBy: requesterOf(entry) };
  if (stats.isFile()) return { ...given, items: [{ path, source: name }] };
  if (!stats.isDirectory())
    throw invalidRecordings(`It is ${describeKind(stats)}, and must be a recording or a folder of recordings.`);
  const { channels, raw, ...request } = await readRecordingsRequest(join(path, recordingNames.request));
  const form = raw === undefined ? undefined : parseRawAudio(raw);
  return {
    ...given,
    ...request,
    settings: channels === undefined ? {} : { channels },
    items: recordingsIn(path, form),
  };
}

/** The fields of request.json; none if there is no such file. */
async function readRecordingsRequest(path: string): Promise<z.output<typeof requestSchema>> {
  const text = await readSmallFile(path);
  if (text === null) return {};
  let value: unknown;
  try {
    value = parseStorableJson(text);
  } catch {
    throw invalidRecordings('request.json is not JSON in UTF-8, or a text of it cannot be stored.');
  }
  const parsed = requestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRecordings(
    `request.json: ${parsed.error.issues.map((issue) => `${issue.path.join('.') || 'request'}: ${issue.message}`).join('; ')}.`,
  );
}

/** Text of a regular file within the limit; null if there is none. */
async function readSmallFile(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw invalidRecordings('request.json cannot be read.');
    },
  );
  if (file === null) return null;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > requestBytesMax)
      throw invalidRecordings(`request.json is not a regular file of at most ${requestBytesMax} bytes.`);
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } catch (error) {
    throw error instanceof TypeError ? invalidRecordings('request.json is not JSON in UTF-8.') : error;
  } finally {
    await file.close();
  }
}

function invalidRecordings(problem: string): ServiceError {
  return new ServiceError('audio_request_invalid', {
    operation: 'take dropped recordings',
    problem,
    hint: 'docs/audio.md shows what may be dropped.',
  });
}
