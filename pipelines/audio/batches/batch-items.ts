import { ServiceError } from '../../../runtime/errors.ts';
import {
  inTransaction,
  queryRow,
  queryRows,
  type Pool,
  type PoolClient,
  type Queryable,
} from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import {
  AudioStore,
  readAudioContent,
  type AudioContent,
  type FilePath,
  type IncomingAudio,
} from '../store/audio-store.ts';
import { readBatch, type Batch, type BatchState } from './batch.ts';
import { loadRegistry, type ModelRegistry } from '../models/registry.ts';
import { performSeveral } from './perform-several.ts';
import type { RawAudio } from '../decode/raw-audio.ts';
import { AudioRefusal, refusalOrThrow, type AudioReason } from '../reasons.ts';
import { modelOrRefusal } from '../models/named-model.ts';

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

/** What submitting a batch works with. */
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

/** Files that are read at the same time. */
const readersAtOnce = 8;

/** The form of a requested model that is compared and kept: case does not matter, nothing means `auto`. */
export function canonicalName(requested: string | undefined): string {
  return requested?.trim().toLowerCase() || 'auto';
}

/** What a requested name means for an item: a model, null where the sample rate decides, or a refusal. */
type JudgedModel = { readonly model: string | null } | AudioRefusal;

type ModelJudge = (requested: string) => Promise<JudgedModel>;

/** The families mean the models of when the batch was made, also for items that are submitted later. */
export function modelJudge({ db, config }: BatchIntake, { pinned }: Batch): ModelJudge {
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

/** Gives items their lines, after `before` others, and the models that they ask for. */
export function prepareItems(
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
export async function storeGroup(intake: BatchIntake, batch: Batch, items: readonly PlacedItem[]): Promise<void> {
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

function ended({ id, state }: Batch): ServiceError {
  return new ServiceError('batch_ended', {
    operation: 'submit batch',
    object: id,
    problem: `The batch is ${state} already.`,
    hint: 'Use another key.',
  });
}

/** The error of a key that stands for another request. */
export function conflict(id: string, problem: string): ServiceError {
  return new ServiceError('idempotency_conflict', {
    operation: 'submit batch',
    object: id,
    problem,
    hint: 'Use another key for another request.',
  });
}
