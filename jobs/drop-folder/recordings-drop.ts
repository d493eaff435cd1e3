import { createHash } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { countStates, hasEnded, readBatch, type Batch, type StateCounts } from '../../pipelines/audio/batches/batch.ts';
import type { SubmittedItem } from '../../pipelines/audio/batches/batch-intake.ts';
import { formatResults, resultsHeader } from '../../pipelines/audio/batches/batch-results.ts';
import {
  listVerifications,
  readVerifications,
  type VerificationRecord,
} from '../../pipelines/audio/batches/verification-record.ts';
import type { Config } from '../../runtime/config.ts';
import { isServiceError, type ServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { queryRow, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Queues } from '../queues/backend.ts';
import { isOffered, type Inbox, type Sight } from './drop-folder.ts';
import type { TakenEntry } from './put-away.ts';
import { readDroppedRecordings, recordingNames, recordingsIn, requesterOf } from './dropped-recordings.ts';
import { sightOfFile } from './feed-drop.ts';
import { putFileAway, putFolderAway, replaceFile, statOrUndefined, type DropResult } from './put-away.ts';
import { SlicedSubmission } from './sliced-submission.ts';
import { requestVerification } from '../queues/verification-producer.ts';

/** What the inbox of recordings works with. */
export interface RecordingsInboxOptions {
  readonly config: Pick<
    Config,
    'dropDir' | 'dropSettleSeconds' | 'audioDir' | 'modelDir' | 'audioBytesMax' | 'batchItemsMax'
  >;
  readonly db: Pool;
  readonly queues: Queues;
  readonly log: Log;
  /** Fires when the watcher stops: what is being handed in goes on at its next start. */
  readonly signal?: AbortSignal | undefined;
  /** Default: 10,000. */
  readonly sliceMs?: number | undefined;
}

/** Milliseconds for which one folder is handed in before the other inboxes have their turn, and a piece of it longer at most. */
const sliceMsDefault = 10_000;

type Submissions = Map<string, SlicedSubmission<SubmittedItem, { batch: Batch }>>;

/** The inbox with what is being handed in, by the id of the taken thing. */
type OpenInbox = RecordingsInboxOptions & { readonly submissions: Submissions };

/**
 * The inbox of recordings: a recording is a batch of one, a folder is a batch of all that lie in it, with the wishes of its
 * `request.json` if there is one. When the batch has ended, the folder lies in `done/` with `result.json` and `results.csv` in it; a
 * single recording lies there beside `<name>.result.json`. What no batch could be made of lies in `rejected/`.
 */
export function recordingsInbox(options: RecordingsInboxOptions): Inbox {
  const inbox = { ...options, submissions: new Map() as Submissions };
  return {
    name: 'recordings',
    sight: (path) => sightOfRecordings(path, options.config),
    advance: (client, entry) => advanceRecordings(inbox, client, entry),
  };
}

/** Changes while anything in the folder does; null while a name in it says that it is being written. */
async function sightOfRecordings(path: string, config: RecordingsInboxOptions['config']): Promise<Sight | null> {
  const stats = await statOrUndefined(path);
  if (stats === undefined || !stats.isDirectory()) return sightOfFile(path, config);
  const digest = createHash('sha256').update(`${stats.ino}`);
  for await (const { path: file, source } of recordingsIn(path)) {
    if (!isOffered(source.split('/').at(-1)!)) return null;
    const { size, mtimeMs, ino } = await lstat(file);
    digest.update(`${source}\0${size} ${mtimeMs} ${ino}\n`);
  }
  const request = await sightOfFile(join(path, recordingNames.request), config);
  return { seen: digest.update(request?.seen ?? '').digest('hex'), settleSeconds: config.dropSettleSeconds };
}

/** What `result.json` says. Of what was refused at once there is no batch. */
interface RecordingsDropResult extends DropResult {
  readonly schema: 'caller-trust/recordings-drop-result/1';
  /** Of the taken thing; kept with the batch as `drop folder <id>`. */
  readonly id: string;
  readonly name: string;
  readonly outcome: 'done' | 'cancelled' | 'rejected';
  readonly batch:
    | (Pick<
        Batch,
        | 'id'
        | 'owner'
        | 'key'
        | 'name'
        | 'requestedModel'
        | 'release'
        | 'settings'
        | 'items'
        | 'requestedAt'
        | 'endedAt'
      > & { readonly counts: StateCounts })
    | null;
  /** What became of a single recording; the outcomes of a folder are in `results.csv`. */
  readonly verification: VerificationRecord | null;
  /** Why no batch was made. */
  readonly failure: { readonly code: string; readonly reason: string; readonly hint: string } | null;
}

/** The results are written before anything is moved: a watcher that was killed in between does both again. */
async function advanceRecordings(options: OpenInbox, client: Queryable, entry: TakenEntry): Promise<void> {
  const found = await findBatch(client, entry);
  const batch = found === undefined || found.state === 'open' ? await submit(options, entry) : found;
  if (batch === undefined) return;
  if (batch === found) await forget(options, entry); // another watcher may have handed it in
  if (!hasEnded(batch)) return;
  await putAway(options, entry, await resultOf(client, entry, batch), batch);
}

async function findBatch(client: Queryable, { id }: TakenEntry): Promise<Batch | undefined> {
  const row = await queryRow<{ publicId: string }>(client, sql('jobs/find_dropped_batch'), [requesterOf(id)]);
  return row === undefined ? undefined : readBatch(client, row.publicId);
}

/** The batch of what was taken, which another one may have asked for under the same key; undefined if it was refused, or there is more to hand in. */
async function submit(options: OpenInbox, entry: TakenEntry): Promise<Batch | undefined> {
  try {
    const end = await (await submissionOf(options, entry)).goOn(options.sliceMs ?? sliceMsDefault);
    if (end === undefined) return undefined;
    const { batch } = end.result;
    options.submissions.delete(entry.id);
    options.log.info({ name: entry.name, batch: batch.id, items: batch.items }, 'dropped recordings are queued');
    return batch;
  } catch (error) {
    options.submissions.delete(entry.id);
    if (!isServiceError(error) || error.facts.retry || error.code === 'setting_invalid') throw error;
    await putAway(options, entry, refusalOf(entry, error), null);
    return undefined;
  }
}

async function submissionOf(
  options: OpenInbox,
  entry: TakenEntry,
): Promise<SlicedSubmission<SubmittedItem, { batch: Batch }>> {
  const begun = options.submissions.get(entry.id);
  if (begun !== undefined) return begun;
  const { items, ...submission } = await readDroppedRecordings(entry);
  const started = new SlicedSubmission(items, (paced) => requestVerification(options, { ...submission, items: paced }));
  options.submissions.set(entry.id, started);
  return started;
}

async function forget({ submissions }: OpenInbox, { id }: TakenEntry): Promise<void> {
  await submissions.get(id)?.abandon();
  submissions.delete(id);
}

function refusalOf({ id, name }: TakenEntry, { code, problem, hint = '' }: ServiceError): RecordingsDropResult {
  return {
    schema: 'caller-trust/recordings-drop-result/1',
    id,
    name,
    outcome: 'rejected',
    batch: null,
    verification: null,
    failure: { code, reason: problem, hint },
  };
}

async function resultOf(client: Queryable, { id, name }: TakenEntry, batch: Batch): Promise<RecordingsDropResult> {
  const { owner, key, requestedModel, release, settings, items, requestedAt, endedAt } = batch;
  return {
    schema: 'caller-trust/recordings-drop-result/1',
    id,
    name,
    outcome: batch.state === 'cancelled' ? 'cancelled' : 'done',
    batch: {
      id: batch.id,
      owner,
      key,
      name: batch.name,
      requestedModel,
      release,
      settings,
      items,
      requestedAt,
      endedAt,
      counts: await countStates(client, batch.batchId),
    },
    verification:
      items === 1
        ? ((await listVerifications(client, batch.batchId, { after: 0, limit: 1, windows: true }))[0] ?? null)
        : null,
    failure: null,
  };
}

async function putAway(
  { config, db, log }: RecordingsInboxOptions,
  entry: TakenEntry,
  result: RecordingsDropResult,
  batch: Batch | null,
): Promise<void> {
  const folder = join(config.dropDir, result.outcome === 'rejected' ? 'rejected' : 'done');
  const isFolder = (await statOrUndefined(entry.path))?.isDirectory() === true;
  if (isFolder) await writeResults(db, entry.path, result, batch);
  const name = isFolder ? await putFolderAway(folder, entry) : await putFileAway(folder, entry, result);
  log.info(
    { name, outcome: result.outcome, batch: result.batch?.id, failure: result.failure?.code },
    'dropped recordings are put away',
  );
}

async function writeResults(
  db: Pool,
  folder: string,
  result: RecordingsDropResult,
  batch: Batch | null,
): Promise<void> {
  if (batch === null)
    await rm(join(folder, recordingNames.rows), { recursive: true, force: true }); // of an earlier try
  else {
    await replaceFile(join(folder, recordingNames.rows), async (append) => {
      await append(resultsHeader);
      for await (const page of readVerifications(db, batch.batchId, { windows: false }))
        await append(formatResults(page));
    });
  }
  await replaceFile(join(folder, recordingNames.result), (append) => append(`${JSON.stringify(result, null, 2)}\n`));
}
