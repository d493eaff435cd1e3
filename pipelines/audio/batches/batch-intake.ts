import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import { inTransaction, queryRow, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { cleanText } from '../../phone/text-cleaning.ts';
import { cancelBatch, finishBatch, readBatch, type Batch, type BatchMode, type BatchState } from './batch.ts';
import { loadRegistry } from '../models/registry.ts';
import { CHANNEL_MODES, defaultSettings, type ScoringSettings } from '../verification.ts';
import { requireResolution } from '../models/named-model.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { isIdempotencyKey, idempotencyKeyForm } from '../../../runtime/idempotency-key.ts';
import {
  type SubmittedItem,
  type BatchIntake,
  canonicalName,
  modelJudge,
  prepareItems,
  storeGroup,
  conflict,
} from './batch-items.ts';

/** A batch to submit. */
export interface BatchSubmission {
  /** The client whose batch it is, as API keys name it. */
  readonly owner: string;
  /** Printable ASCII without spaces, at most 128 characters. The same key of the same owner gives the same batch. */
  readonly key: string;
  readonly name: string;
  readonly requestedBy: string;
  readonly mode?: BatchMode | undefined;
  /** `phone/v7`, `phone`, `digital`, `auto`; default `auto`. */
  readonly model?: string | undefined;
  readonly settings?: Partial<ScoringSettings> | undefined;
  /** In the order of the batch; read once. */
  readonly items: AsyncIterable<SubmittedItem> | Iterable<SubmittedItem>;
}

/** Characters that are kept of the name of a batch; one that comes from a path is cut. */
export const batchNameCharactersMax = 200;

/** Items of one transaction: many enough that it costs little, few enough that a cancel does not wait for it. */
const groupItems = 500;

/**
 * Submits a batch: stores the batch, then its items with their audio in groups, then closes it for its jobs. A submission
 * that is killed in between leaves the batch open, and the same submission under the same key continues it. Under the
 * key of a complete batch it returns that batch. The same submission has the same request, sources and contents in the same order; a file
 * that no longer exists counts as it was stored.
 * @throws ServiceError `audio_request_invalid`, `model_unknown`, `model_removed`, `model_invalid`, `batch_too_large`,
 * `batch_ended`, `idempotency_conflict`
 */
export async function submitBatch(
  intake: BatchIntake,
  submission: BatchSubmission,
): Promise<{ batch: Batch; repeated: boolean }> {
  const request = checkSubmission(submission);
  const groups = groupsOf(submission.items);
  try {
    return await submitGroups(intake, request, groups);
  } finally {
    await groups.return(undefined); // closes a source that was not read to its end
  }
}

async function submitGroups(
  intake: BatchIntake,
  request: CheckedSubmission,
  groups: ReturnType<typeof groupsOf>,
): Promise<{ batch: Batch; repeated: boolean }> {
  let group = await groups.next();
  if (group.done === true) throw submissionInvalid('It names no recording.');
  const found = await findOrMakeBatch(intake, request);
  const batch = await readBatch(intake.db, found.id);
  const judge = modelJudge(intake, batch);
  let items = 0;
  for (; group.done !== true; group = await groups.next()) {
    intake.signal?.throwIfAborted();
    await requireBatchRoom(intake, batch, items + group.value.length);
    await storeGroup(intake, batch, prepareItems(group.value, items, batch, judge));
    items += group.value.length;
    intake.onProgress?.(items);
  }
  const closed = await closeBatch(intake.db, batch, items);
  return { batch: await readBatch(intake.db, batch.id), repeated: !closed };
}

interface CheckedSubmission {
  readonly owner: string;
  readonly key: string;
  readonly name: string;
  readonly mode: BatchMode;
  readonly model: string;
  readonly settings: ScoringSettings;
  readonly requestedBy: string;
}

function checkSubmission(submission: BatchSubmission): CheckedSubmission {
  const { key, mode = 'api' } = submission;
  const owner = cleanText(submission.owner);
  if (owner === null || owner.length > 128)
    throw submissionInvalid('The owner is missing or longer than 128 characters.');
  if (!isIdempotencyKey(key)) throw submissionInvalid(`The idempotency key is not ${idempotencyKeyForm}.`);
  const settings = { ...defaultSettings, ...submission.settings };
  if (!CHANNEL_MODES.includes(settings.channels))
    throw submissionInvalid(`The channels are one of ${CHANNEL_MODES.join(', ')}.`);
  return {
    owner,
    key,
    name: (cleanText(submission.name) ?? 'batch').slice(0, batchNameCharactersMax),
    mode,
    model: canonicalName(submission.model),
    settings,
    requestedBy: cleanText(submission.requestedBy) ?? 'unknown',
  };
}

async function* groupsOf(items: BatchSubmission['items']): AsyncGenerator<SubmittedItem[], void> {
  let group: SubmittedItem[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < groupItems) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** Finds the batch of the key before its model is resolved: the first submission has decided what the model means. */
async function findOrMakeBatch({ db, config }: BatchIntake, request: CheckedSubmission): Promise<{ id: string }> {
  const sha256 = digestOfRequest(request);
  const found = await findBatch(db, request, sha256);
  if (found !== undefined) return found;
  const registry = await loadRegistry(db, config);
  requireResolution(registry, request.model);
  const { owner, key, name, mode, model, settings, requestedBy } = request;
  const pins = [registry.defaultOf('phone')?.model ?? null, registry.defaultOf('digital')?.model ?? null];
  const values = [
    owner,
    key,
    sha256,
    name,
    mode,
    model,
    registry.newestRelease,
    ...pins,
    JSON.stringify(settings),
    digestOfSettings(settings),
    requestedBy,
  ];
  const made = await queryRow<{ publicId: string }>(db, sql('audio/insert_batch'), values);
  return made === undefined ? (await findBatch(db, request, sha256))! : { id: made.publicId }; // another process was faster
}

async function findBatch(
  db: Queryable,
  { owner, key }: CheckedSubmission,
  sha256: string,
): Promise<{ id: string } | undefined> {
  const row = await queryRow<{ publicId: string; requestSha256: string; state: BatchState }>(
    db,
    sql('audio/find_batch'),
    [owner, key],
  );
  if (row === undefined) return undefined;
  if (row.requestSha256 !== sha256) throw conflict(row.publicId, 'It asks for another model or other settings.');
  if (row.state !== 'cancelled') return { id: row.publicId };
  throw new ServiceError('batch_ended', {
    operation: 'submit batch',
    object: row.publicId,
    problem: 'The batch of this key was cancelled.',
    hint: `Use another key, or \`caller-trust batch retry ${row.publicId}\`.`,
  });
}

/** Digest of the request; the items are compared one by one. */
function digestOfRequest({ model, mode, settings }: CheckedSubmission): string {
  return sha256Of(JSON.stringify({ model, mode, settings: digestOfSettings(settings) }));
}

/** A batch that is too large is cancelled with its stored items, since it can never be complete. */
async function requireBatchRoom({ db, config }: BatchIntake, { id }: Batch, items: number): Promise<void> {
  if (items <= config.batchItemsMax) return;
  if ((await readBatch(db, id)).state !== 'open') throw conflict(id, `It has fewer than ${items} items.`);
  await cancelBatch(db, id).catch((error: unknown) => {
    if (!isServiceError(error, 'batch_ended')) throw error;
  });
  throw new ServiceError('batch_too_large', {
    operation: 'submit batch',
    object: id,
    problem: `It has more than ${config.batchItemsMax} recordings.`,
    hint: 'Split it, or raise BATCH_ITEMS_MAX. The batch is cancelled.',
  });
}

/** Closes the batch; if every item was refused, it is done. True if this call has closed it. */
async function closeBatch(db: Pool, { batchId, id }: Batch, items: number): Promise<boolean> {
  return inTransaction(db, async (client) => {
    const now = await queryRow<{ state: BatchState; items: number }>(client, sql('audio/lock_batch'), [batchId]);
    if (now!.items > items) throw conflict(id, `It has ${now!.items} items, and this submission ${items}.`);
    const closed = await queryRow<{ generation: number }>(client, sql('audio/close_batch'), [batchId]);
    if (closed !== undefined) await finishBatch(client, { batchId, generation: closed.generation });
    return closed !== undefined;
  });
}

function submissionInvalid(problem: string): ServiceError {
  return new ServiceError('audio_request_invalid', {
    operation: 'submit batch',
    problem,
    hint: 'docs/audio.md shows how batches are submitted.',
  });
}

/** Digest of settings, part of what makes two results the same. */
function digestOfSettings({ channels }: ScoringSettings): string {
  return sha256Of(JSON.stringify({ channels }));
}
