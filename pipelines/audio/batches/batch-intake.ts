import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import {
  inTransaction,
  queryRow,
  queryRows,
  type Pool,
  type PoolClient,
  type Queryable,
} from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { cleanText } from '../../phone/text-cleaning.ts';
import {
  AudioStore,
  readAudioContent,
  type AudioContent,
  type FilePath,
  type IncomingAudio,
} from '../store/audio-store.ts';
import { cancelBatch, finishBatch, readBatch, type Batch, type BatchMode, type BatchState } from './batch.ts';
import { loadRegistry, type ModelRegistry } from '../models/registry.ts';
import { performSeveral } from './perform-several.ts';
import type { RawAudio } from '../decode/raw-audio.ts';
import { AudioRefusal, refusalOrThrow, type AudioReason } from '../reasons.ts';
import { CHANNEL_MODES, defaultSettings, type ScoringSettings } from '../verification.ts';
import { requireResolution, modelOrRefusal } from '../models/named-model.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { isIdempotencyKey, idempotencyKeyForm } from '../../../runtime/idempotency-key.ts';

/** One recording of a submission. */
export interface SubmittedItem {
  readonly path: FilePath;
  /** The path or name that results show. */
  readonly source: string;
  /** Default: the model of the submission. */
  readonly model?: string | undefined;
  /** The form of audio without a header, which cannot be found in the audio. */
  readonly raw?: RawAudio | undefined;
}

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

export interface BatchIntake {
  readonly db: Pool;
  readonly config: {
    readonly audioDir: string;
    readonly modelDir: string;
    readonly audioBytesMax: number;
    readonly batchItemsMax: number;
  };
  /** Called after each transaction with the number of items so far. */
  readonly onProgress?: ((items: number) => void) | undefined;
  /** Fires when the sender aborts; the batch stays open. */
  readonly signal?: AbortSignal | undefined;
  /** Writes the caller's record in the transaction that stores the first items of a batch; if it fails, they are not stored. */
  readonly record?: ((client: Queryable, batch: Batch) => Promise<void>) | undefined;
}

/** Characters that are kept of the name of a batch; one that comes from a path is cut. */
export const batchNameCharactersMax = 200;

/** Items of one transaction: many enough that it costs little, few enough that a cancel does not wait for it. */
const groupItems = 500;

/** Files that are read at the same time. */
const readersAtOnce = 8;

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

/** The form of a requested model that is compared and kept: case does not matter, nothing means `auto`. */
function canonicalName(requested: string | undefined): string {
  return requested?.trim().toLowerCase() || 'auto';
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

/** What a requested name means for an item: a model, null where the sample rate decides, or a refusal. */
type JudgedModel = { readonly model: string | null } | AudioRefusal;

type ModelJudge = (requested: string) => Promise<JudgedModel>;

/** The families mean the models of when the batch was made, also for items that are submitted later. */
function modelJudge({ db, config }: BatchIntake, { pinned }: Batch): ModelJudge {
  const known = new Map<string, JudgedModel>();
  let registry: Promise<ModelRegistry> | undefined;
  return async (requested) => {
    const judged = known.get(requested) ?? judgeModel(requested, pinned, await (registry ??= loadRegistry(db, config)));
    if (known.size < 1000) known.set(requested, judged);
    return judged;
  };
}

function judgeModel(requested: string, pinned: Batch['pinned'], registry: ModelRegistry): JudgedModel {
  if (requested === 'auto') return { model: null };
  if (requested === 'phone' || requested === 'digital') {
    const model = pinned[requested];
    return model === null ? new AudioRefusal('model_unknown', `No model is the default of ${requested}.`) : { model };
  }
  const found = modelOrRefusal(registry, requested);
  return found instanceof AudioRefusal ? found : { model: found.name };
}

/** An item with its place, ready to be read. */
interface PlacedItem extends SubmittedItem {
  readonly line: number;
  readonly requestedModel: string;
  readonly judge: ModelJudge;
}

function prepareItems(
  items: readonly SubmittedItem[],
  before: number,
  { requestedModel }: Batch,
  judge: ModelJudge,
): PlacedItem[] {
  return items.map((item, at) => ({
    ...item,
    line: before + at + 1,
    requestedModel: item.model === undefined || item.model.trim() === '' ? requestedModel : canonicalName(item.model),
    judge,
  }));
}

/** An item as it goes into the database. */
interface TakenItem {
  readonly line: number;
  readonly source: string;
  readonly requestedModel: string;
  readonly model: string | null;
  readonly audio: AudioContent | null;
  readonly refusal: { readonly reason: AudioReason; readonly detail: string } | null;
}

/** Stores the items that are new, and compares the others with those that were stored before. */
async function storeGroup(intake: BatchIntake, batch: Batch, items: readonly PlacedItem[]): Promise<void> {
  const before = await readBatch(intake.db, batch.id);
  if (before.state === 'cancelled') throw ended(before);
  const fresh = before.state === 'open' ? items.filter(({ line }) => line > before.items) : [];
  await compareItems(intake, batch, items.slice(0, items.length - fresh.length));
  if (fresh.length === 0) return;
  const store = new AudioStore(intake.config.audioDir);
  await store.open();
  const incoming = new Map<string, IncomingAudio>();
  try {
    const taken = await receiveItems(intake, store, fresh, incoming);
    const isTaken = await inTransaction(intake.db, (client) =>
      recordItems(client, store, { batch, taken, incoming, record: intake.record }),
    );
    if (!isTaken) await compareItems(intake, batch, items);
  } finally {
    await performSeveral(incoming.values(), readersAtOnce, (audio) => store.discard(audio));
  }
}

/** Copies the audio of items into the store, one copy of each content. */
async function receiveItems(
  { config }: BatchIntake,
  store: AudioStore,
  items: readonly PlacedItem[],
  incoming: Map<string, IncomingAudio>,
): Promise<TakenItem[]> {
  const taken: TakenItem[] = [];
  await performSeveral(items, readersAtOnce, async ({ line, source, requestedModel, path, raw, judge }) => {
    const item = { line, source, requestedModel, model: null, audio: null };
    const judged = await judge(requestedModel);
    const received =
      judged instanceof AudioRefusal ? judged : await store.receive(path, config, raw).catch(refusalOrThrow);
    if (judged instanceof AudioRefusal || received instanceof AudioRefusal) {
      taken.push({ ...item, refusal: received as AudioRefusal });
      return;
    }
    if (incoming.has(received.sha256)) await store.discard(received);
    else incoming.set(received.sha256, received);
    taken.push({ ...item, model: judged.model, audio: received, refusal: null });
  });
  return taken;
}

interface PieceRecord {
  readonly batch: Batch;
  readonly taken: readonly TakenItem[];
  readonly incoming: ReadonlyMap<string, IncomingAudio>;
  readonly record: BatchIntake['record'];
}

/**
 * The rows of the recordings are locked while their files get their names, so that none is deleted in between. False if another
 * process has completed the same submission meanwhile.
 */
async function recordItems(
  client: PoolClient,
  store: AudioStore,
  { batch, taken, incoming, record }: PieceRecord,
): Promise<boolean> {
  const now = await queryRow<{ state: BatchState; items: number }>(client, sql('audio/lock_batch'), [batch.batchId]);
  if (now!.state === 'cancelled') throw ended({ ...batch, state: now!.state });
  if (now!.state !== 'open') return false;
  const fresh = taken.filter(({ line }) => line > now!.items).sort((a, b) => a.line - b.line); // another process may do the same
  if (fresh.length === 0) return true;
  const audio = [...incoming.values()];
  await client.query(sql('audio/upsert_recordings'), [
    audio.map(({ sha256 }) => sha256),
    audio.map(({ bytes }) => bytes),
  ]);
  await performSeveral(audio, readersAtOnce, (each) => store.keep(each));
  const column = <Value>(value: (item: TakenItem) => Value): Value[] => fresh.map(value);
  await client.query(sql('audio/insert_verifications'), [
    batch.batchId,
    column(({ line }) => line),
    column(({ line }) => chunkOf(line)),
    column(({ source }) => source),
    column((item) => item.audio?.sha256 ?? null),
    column((item) => item.requestedModel),
    column(({ model }) => model),
    column(({ refusal }) => refusal?.reason ?? null),
    column(({ refusal }) => refusal?.detail ?? null),
  ]);
  await client.query(sql('audio/set_batch_items'), [batch.batchId, fresh.at(-1)!.line]);
  if (now!.items === 0) await record?.(client, batch);
  return true;
}

interface SourceRow {
  line: number;
  source: string;
  requestedModel: string;
  audioSha256: string | null;
  /** Why it was refused at submission. */
  refusal: AudioReason | null;
}

/** @throws ServiceError `idempotency_conflict` */
async function compareItems({ db, config }: BatchIntake, batch: Batch, items: readonly PlacedItem[]): Promise<void> {
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) return;
  const rows = new Map(
    (await queryRows<SourceRow>(db, sql('audio/list_batch_sources'), [batch.batchId, first.line, last.line])).map(
      (row) => [row.line, row],
    ),
  );
  await performSeveral(items, readersAtOnce, async (item) => {
    const { line, source, requestedModel } = item;
    const row = rows.get(line);
    const same =
      row !== undefined &&
      row.source === source &&
      row.requestedModel === requestedModel &&
      (await holdsSame(row, item, config));
    if (!same) throw conflict(batch.id, `Its item ${line} is another one.`);
  });
}

/** An item whose model was refused was never read; a file that no longer exists counts as it was stored. */
async function holdsSame(
  { audioSha256, refusal }: SourceRow,
  { path, raw }: SubmittedItem,
  config: BatchIntake['config'],
): Promise<boolean> {
  if (refusal === 'model_unknown' || refusal === 'model_removed') return true;
  const content = await readAudioContent(path, config, raw).catch(refusalOrThrow);
  if (content instanceof AudioRefusal) return content.reason === (refusal ?? 'file_missing');
  return content.sha256 === audioSha256;
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

function ended({ id, state }: Batch): ServiceError {
  return new ServiceError('batch_ended', {
    operation: 'submit batch',
    object: id,
    problem: `The batch is ${state} already.`,
    hint: 'Use another key.',
  });
}

function conflict(id: string, problem: string): ServiceError {
  return new ServiceError('idempotency_conflict', {
    operation: 'submit batch',
    object: id,
    problem,
    hint: 'Use another key for another request.',
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

/** Items in each of the first chunks of a batch: about a second of work at 60 files of 8 s a second. */
const chunkItemsMin = 50;

/** Chunks after which the next ones are twice as large: 100,000 items make 675 chunks, 10 million less than 2,000. */
const chunksOfOneSize = 200;

/**
 * The chunk of an item, by its line from 1, and with it the job that performs it. Independent of the size of the batch, which is
 * unknown while items arrive; a chunk is larger the later it comes, so that no batch has more jobs than one flow of the queue
 * should hold.
 */
export function chunkOf(line: number): number {
  let [size, first, chunk] = [chunkItemsMin, 1, 0];
  while (line >= first + size * chunksOfOneSize) {
    first += size * chunksOfOneSize;
    chunk += chunksOfOneSize;
    size *= 2;
  }
  return chunk + Math.floor((line - first) / size);
}
