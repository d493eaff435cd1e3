import { createHash } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { countStates, hasEnded, readBatch, type Batch, type StateCounts } from '../../pipelines/audio/batches/batch.ts';
import type { BatchSubmission } from '../../pipelines/audio/batches/batch-intake.ts';
import type { SubmittedItem } from '../../pipelines/audio/batches/batch-items.ts';
import { formatResults, resultsHeader } from '../../pipelines/audio/batches/batch-results.ts';
import {
  listVerifications,
  readVerifications,
  type VerificationRecord,
} from '../../pipelines/audio/batches/stored-verifications.ts';
import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { queryRow, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Queues } from '../queues/backend.ts';
import {
  isOffered,
  openInbox,
  requesterOf,
  observeFile,
  type DropResult,
  type Inbox,
  type InboxDefinition,
  type Observation,
} from './inbox.ts';
import type { TakenEntry } from './taken-entry.ts';
import { readDroppedRecordings, recordingNames, recordingsIn } from './dropped-recordings.ts';
import { isFolder, replaceFile, statOrUndefined } from './taken-entry.ts';
import { requestVerification } from '../queues/verification-producer.ts';
import { within } from '../../runtime/processes/repeat.ts';

/** Settings and services of the inbox of recordings. */
interface RecordingsInboxOptions {
  readonly config: Pick<
    Config,
    'dropDir' | 'dropSettleSeconds' | 'audioDir' | 'modelDir' | 'audioBytesMax' | 'batchItemsMax'
  >;
  readonly db: Pool;
  readonly queues: Queues;
  readonly log: Log;
  /** Fires when the watcher stops; unfinished submissions continue at its next start. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for which a poll waits for a running submission, which continues between polls. Default: 1,000. */
  readonly waitMs?: number | undefined;
}

/** Enough to see the end of most submissions, while a folder of 100,000 recordings, which takes minutes, does not delay the poll. */
const waitMsDefault = 1000;

/** Entries that one watcher submits at a time: a small folder need not wait for a large one. */
const submissionsMax = 4;

/** A running submission. It holds no lock: if another watcher submits the same entry, under the same key, both get one batch. */
interface RunningSubmission {
  readonly end: Promise<{ readonly batch: Batch } | { readonly error: unknown }>;
  readonly stopping: AbortController;
  /** By `Date.now()`; undefined while it runs. */
  endedAt?: number;
}

/** Milliseconds after which the end of a submission is forgotten if no poll has read it: another watcher has finished the entry. */
const forgottenMs = 600_000;

/** The inbox with its running submissions, by the id of the taken entry. */
type OpenInbox = RecordingsInboxOptions & { readonly running: Map<string, RunningSubmission> };

/**
 * The inbox of recordings: a recording is a batch of one, a folder is one batch of all its recordings, with the fields of its
 * `request.json` if there is one. When the batch has ended, the folder is moved to `done/` with `result.json` and `results.csv`,
 * a single recording next to `<name>.result.json`. Refused entries are moved to `rejected/`.
 */
export function recordingsInbox(options: RecordingsInboxOptions): Inbox {
  const { config, db, log } = options;
  const inbox: OpenInbox = { ...options, running: new Map() };
  const definition: InboxDefinition<Batch, RecordingsDropResult> = {
    name: 'recordings',
    answersInside: true,
    observe: (path) => observeRecordings(path, config),
    find: (client, entry) => findDroppedBatch(inbox, client, entry),
    submit: (entry) => submitRecordings(inbox, entry),
    end: async (client, entry, batch) => {
      if (!hasEnded(batch)) return undefined;
      if (await isFolder(entry)) await writeResultRows(db, entry.path, batch);
      return recordingsResult(client, entry, batch);
    },
    refuse: async (entry, { code, problem, hint = '' }) => {
      if (await isFolder(entry)) await rm(join(entry.path, recordingNames.rows), { recursive: true, force: true }); // of an earlier attempt
      return { ...emptyRecordingsResult(entry), outcome: 'rejected', failure: { code, reason: problem, hint } };
    },
    close: async () => {
      await Promise.all([...inbox.running.values()].map(({ end }) => end));
    },
  };
  return openInbox(definition, { dropDir: config.dropDir, log });
}

/** Changes with any file of the folder; null while one of them has the name of an unfinished file. */
async function observeRecordings(path: string, config: RecordingsInboxOptions['config']): Promise<Observation | null> {
  const stats = await statOrUndefined(path);
  if (stats === undefined || !stats.isDirectory()) return observeFile(path, config);
  const digest = createHash('sha256').update(`${stats.ino}`);
  for await (const { path: file, source } of recordingsIn(path)) {
    if (!isOffered(source.split('/').at(-1)!)) return null;
    const { size, mtimeMs, ino } = await lstat(file);
    digest.update(`${source}\0${size} ${mtimeMs} ${ino}\n`);
  }
  const request = await observeFile(join(path, recordingNames.request), config);
  return {
    fingerprint: digest.update(request?.fingerprint ?? '').digest('hex'),
    stableSeconds: config.dropSettleSeconds,
  };
}

/** The content of `result.json`. An entry that is refused at once has no batch. */
interface RecordingsDropResult extends DropResult {
  readonly schema: 'caller-trust/recordings-drop-result/1';
  /** Of the taken entry; kept with the batch as `drop folder <id>`. */
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
  /** The outcome of a single recording; those of a folder are in `results.csv`. */
  readonly verification: VerificationRecord | null;
  /** Why there is no batch. */
  readonly failure: { readonly code: string; readonly reason: string; readonly hint: string } | null;
}

/** Undefined also for a batch that is not submitted completely: its submission continues. */
async function findDroppedBatch(
  { running }: OpenInbox,
  client: Queryable,
  entry: TakenEntry,
): Promise<Batch | undefined> {
  const row = await queryRow<{ publicId: string }>(client, sql('jobs/find_dropped_batch'), [requesterOf(entry)]);
  const batch = row === undefined ? undefined : await readBatch(client, row.publicId);
  if (batch === undefined || batch.state === 'open') return undefined;
  running.get(entry.id)?.stopping.abort(submissionInterrupted()); // another watcher may have submitted it
  return batch;
}

/** The batch of a taken entry (that of an earlier entry with the same key); undefined while there is more to submit. */
async function submitRecordings(inbox: OpenInbox, entry: TakenEntry): Promise<Batch | undefined> {
  const { running, log, waitMs = waitMsDefault } = inbox;
  for (const [id, { endedAt = Infinity }] of running) if (Date.now() - endedAt > forgottenMs) running.delete(id);
  const unended = [...running.values()].filter(({ endedAt }) => endedAt === undefined);
  if (!running.has(entry.id) && unended.length >= submissionsMax) return undefined;
  const submission = running.get(entry.id) ?? startSubmission(inbox, entry);
  running.set(entry.id, submission);
  const end = await within(waitMs, submission.end);
  if (end === undefined) return undefined;
  running.delete(entry.id);
  if ('error' in end) throw end.error;
  log.info({ name: entry.name, batch: end.batch.id, items: end.batch.items }, 'dropped recordings are queued');
  return end.batch;
}

function startSubmission(inbox: OpenInbox, entry: TakenEntry): RunningSubmission {
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, ...(inbox.signal === undefined ? [] : [inbox.signal])]);
  const work = async () => {
    const { items, ...submission } = await readDroppedRecordings(entry);
    return requestVerification({ ...inbox, signal }, { ...submission, items: itemsUntilAborted(items, signal) });
  };
  const end = work().then(
    ({ batch }) => ({ batch }),
    (error: unknown) => ({ error }),
  );
  const submission: RunningSubmission = { end, stopping };
  void end.then(() => (submission.endedAt = Date.now()));
  return submission;
}

async function* itemsUntilAborted(items: BatchSubmission['items'], signal: AbortSignal): AsyncGenerator<SubmittedItem> {
  for await (const item of items) {
    signal.throwIfAborted();
    yield item;
  }
}

function submissionInterrupted(): ServiceError {
  return new ServiceError('interrupted', { operation: 'submit recordings' });
}

function emptyRecordingsResult({ id, name }: TakenEntry): Omit<RecordingsDropResult, 'outcome'> {
  return { schema: 'caller-trust/recordings-drop-result/1', id, name, batch: null, verification: null, failure: null };
}

async function recordingsResult(client: Queryable, entry: TakenEntry, batch: Batch): Promise<RecordingsDropResult> {
  const { id, owner, key, name, requestedModel, release, settings, items, requestedAt, endedAt, batchId } = batch;
  const counts = await countStates(client, batchId);
  const single =
    items === 1 ? await listVerifications(client, batchId, { after: 0, limit: 1, windows: true }) : undefined;
  return {
    ...emptyRecordingsResult(entry),
    outcome: batch.state === 'cancelled' ? 'cancelled' : 'done',
    batch: { id, owner, key, name, requestedModel, release, settings, items, requestedAt, endedAt, counts },
    verification: single?.[0] ?? null,
  };
}

async function writeResultRows(db: Pool, folder: string, { batchId }: Batch): Promise<void> {
  await replaceFile(join(folder, recordingNames.rows), async (append) => {
    await append(resultsHeader);
    for await (const page of readVerifications(db, batchId, { windows: false })) await append(formatResults(page));
  });
}
