import { isServiceError, factsOf } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import { isConnectionLoss, queryRow, queryRows, sqlStateOf, type Pool } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { AudioStore } from '../store/audio-store.ts';
import { findBatchOfJob, hasEnded, type Batch } from './batch.ts';
import type { ModelRegistry, ResolvedModel } from '../models/registry.ts';
import { recordResult, endByStoredResults } from './perform-result.ts';
import { performSeveral } from './perform-several.ts';
import { AUDIO_REASONS, AudioRefusal } from '../reasons.ts';
import type { ScoredRecording } from '../verification.ts';
import { modelOrRefusal, type ModelChoice } from '../models/named-model.ts';
import type { PoolRequest } from '../scorers/scoring-pool.ts';

export interface ChunkWork {
  readonly db: Pool;
  readonly store: AudioStore;
  readonly registry: ModelRegistry;
  /** @throws AudioRefusal */
  readonly score: (request: PoolRequest, signal: AbortSignal) => Promise<ScoredRecording>;
  readonly limits: {
    readonly audioScorers: number;
    /** Default: {@link itemCrashesMax}. */
    readonly itemCrashesMax?: number;
  };
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A job of a batch. */
interface ChunkOfBatch {
  readonly batchId: number;
  readonly generation: number;
  readonly chunk: number;
}

/** How many items a run of a chunk has ended; the others had an outcome, or their batch was cancelled. */
interface ChunkEnd {
  readonly scored: number;
  readonly reused: number;
  readonly refused: number;
}

interface Item {
  readonly verificationId: number;
  readonly publicId: string;
  readonly line: number;
  readonly audioSha256: string;
  readonly model: string | null;
  readonly deleted: boolean;
}

/** Crashes of its worker that an item survives: as many as the job that scores it. */
const itemCrashesMax = 5;

/** Items in memory at a time. */
const pageItems = 200;

/**
 * Gives each pending item of a chunk an outcome: a stored result of the same audio, model and settings, or a score, or a reason.
 * Each outcome is written at once. Safe to run again at any point. Items whose scoring was begun and never ended come last
 * and one at a time, so that an item that crashes the process affects no other; after {@link itemCrashesMax} crashes it ends in error.
 */
export async function performChunk(work: ChunkWork, job: ChunkOfBatch): Promise<ChunkEnd> {
  const { db } = work;
  const end = { scored: 0, reused: 0, refused: 0 };
  const batch = await findBatchOfJob(db, job.batchId);
  if (batch === undefined || batch.generation !== job.generation || batch.state === 'open' || hasEnded(batch))
    return end;
  if (batch.state === 'queued') await db.query(sql('audio/start_batch'), [job.batchId, job.generation]);
  const run: ChunkRun = { ...work, job, batch, models: new Map(), end };
  for (
    let page = await listItems(run, 0, false);
    page.length > 0;
    page = await listItems(run, page.at(-1)!.line, false)
  ) {
    await performPage(run, page, work.limits.audioScorers);
  }
  await performPage(run, await listItems(run, 0, true), 1);
  return end;
}

/** A chunk that is being performed. */
interface ChunkRun extends ChunkWork {
  readonly job: ChunkOfBatch;
  readonly batch: Batch;
  /** Models by name, resolved once. */
  readonly models: Map<string, ResolvedModel | AudioRefusal>;
  readonly end: { scored: number; reused: number; refused: number };
}

function listItems({ db, job }: ChunkRun, after: number, begunBefore: boolean): Promise<Item[]> {
  return queryRows<Item>(db, sql('audio/list_chunk_items'), [job.batchId, job.chunk, after, pageItems, begunBefore]);
}

async function performPage(run: ChunkRun, page: readonly Item[], atOnce: number): Promise<void> {
  if (page.length === 0) return;
  run.signal.throwIfAborted();
  const reused = new Set(
    await endByStoredResults(run.db, {
      verificationIds: page.map(({ verificationId }) => verificationId),
      generation: run.job.generation,
      models: usableModels(run, page),
    }),
  );
  run.end.reused += reused.size;
  const groups = groupByAudio(page.filter(({ verificationId }) => !reused.has(verificationId)));
  await performSeveral(groups, atOnce, (group) => performGroup(run, group));
}

/** Groups items of the same audio and model, which share one result. */
function groupByAudio(items: readonly Item[]): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = `${item.audioSha256} ${item.model ?? ''}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/** Scores the first item, and the next one only if the first failed for a reason that may not apply to it. */
async function performGroup(run: ChunkRun, group: readonly Item[]): Promise<void> {
  for (let left = group; left.length > 0;) {
    const [first, ...others] = left;
    run.signal.throwIfAborted();
    const outcome = await performItem(run, first!, left);
    if (outcome === 'ended all') return;
    left = others;
  }
}

/** `ended all`: the item and its duplicates have an outcome, or their batch was cancelled. */
async function performItem(run: ChunkRun, item: Item, duplicates: readonly Item[]): Promise<'ended all' | 'ended one'> {
  const known = refusalBeforeScoring(run, item);
  if (known !== null) return refuse(run, duplicates, known);
  const attempts = await start(run, item);
  if (attempts === undefined) return 'ended all';
  if (attempts > (run.limits.itemCrashesMax ?? itemCrashesMax))
    return refuse(
      run,
      duplicates,
      new AudioRefusal('scorer_crashed', `The worker that scored it has died ${attempts - 1} times.`),
    );
  try {
    return await scoreItem(run, item, duplicates);
  } catch (error) {
    if (error instanceof AudioRefusal)
      return refuse(run, AUDIO_REASONS[error.reason].retry ? [item] : duplicates, error);
    if (run.signal.aborted || isPassing(error) || !(await isReachable(run))) {
      await run.db.query(sql('audio/release_verification'), [item.verificationId, run.job.generation]).catch(() => {}); // the attempt is counted then
      throw error;
    }
    run.log.error({ err: error, verification: item.publicId }, 'a recording could not be scored');
    return refuse(run, [item], new AudioRefusal('scoring_failed'));
  }
}

/**
 * Temporary faults: an unavailable service, a broken connection, a deadlock, a full disk, a database that shuts down (SQLSTATE
 * classes 40, 53, 55, 57).
 */
function isPassing(error: unknown): boolean {
  return (
    (isServiceError(error) && factsOf(error).retry) ||
    isConnectionLoss(error) ||
    /^(40|53|55|57)/.test(sqlStateOf(error) ?? '')
  );
}

/** An unreachable database is not the recording's fault: the job is retried. */
async function isReachable({ db }: ChunkRun): Promise<boolean> {
  return db.query('SELECT 1').then(
    () => true,
    () => false,
  );
}

async function start({ db, job }: ChunkRun, { verificationId }: Item): Promise<number | undefined> {
  return (await queryRow<{ attempts: number }>(db, sql('audio/start_verification'), [verificationId, job.generation]))
    ?.attempts;
}

async function scoreItem(run: ChunkRun, item: Item, duplicates: readonly Item[]): Promise<'ended all'> {
  const { db, job, batch, store } = run;
  const scored = await run
    .score({ file: store.pathOf(item.audioSha256), model: modelsOf(run, item), settings: batch.settings }, run.signal)
    .catch(async (error: unknown) => {
      throw error instanceof AudioRefusal && error.reason === 'file_missing'
        ? await missingAudioRefusal(run, item)
        : error;
    });
  const model = usableModel(run, scored.model);
  if (model === null) throw new Error(`the scoring process answered for ${scored.model}, which was not requested`);
  const endable = {
    verificationIds: duplicates.map(({ verificationId }) => verificationId),
    generation: job.generation,
    models: [model],
  };
  const ended = await recordResult(
    db,
    { audioSha256: item.audioSha256, model, settingsSha256: batch.settingsSha256 },
    { scored, endable, verificationId: item.verificationId },
  );
  run.end.scored += ended.includes(item.verificationId) ? 1 : 0;
  run.end.reused += ended.filter((id) => id !== item.verificationId).length;
  return 'ended all';
}

/** The audio may have been deleted since its page was read. */
async function missingAudioRefusal({ db }: ChunkRun, { audioSha256 }: Item): Promise<AudioRefusal> {
  const [kept] = await queryRows(db, sql('audio/find_stored_recordings'), [[audioSha256]]);
  return kept === undefined
    ? new AudioRefusal('recording_deleted')
    : new AudioRefusal('scoring_failed', 'The stored audio is not in the audio directory of the worker.');
}

/** The refusal that is known without opening the audio, or null. */
function refusalBeforeScoring(run: ChunkRun, item: Item): AudioRefusal | null {
  if (item.deleted) return new AudioRefusal('recording_deleted');
  const models = modelNames(run, item).map((name) => findModel(run, name));
  const refusals = models.filter((model) => model instanceof AudioRefusal);
  return refusals.length === models.length ? (refusals[0] ?? null) : null; // where the rate decides, the other model may be the one
}

async function refuse(
  { db, job, end }: ChunkRun,
  items: readonly Item[],
  { reason, detail }: AudioRefusal,
): Promise<'ended all' | 'ended one'> {
  const ids = items.map(({ verificationId }) => verificationId);
  const ended = await queryRows(db, sql('audio/fail_verifications'), [
    ids,
    job.generation,
    reason,
    detail === AUDIO_REASONS[reason].meaning ? null : detail,
  ]);
  end.refused += ended.length;
  return items.length > 1 ? 'ended all' : 'ended one';
}

/** The models that an item may need: its own, or those of the two families. */
function modelNames({ batch: { pinned } }: ChunkRun, { model }: Item): string[] {
  return (model === null ? [pinned.phone, pinned.digital] : [model]).filter((name) => name !== null);
}

function modelsOf(run: ChunkRun, item: Item): ModelChoice {
  const [phone = null, digital = null] = (['phone', 'digital'] as const).map((family) => {
    const name =
      item.model === null ? run.batch.pinned[family] : item.model.startsWith(`${family}/`) ? item.model : null;
    return name === null ? null : usableModel(run, name);
  });
  return { phone, digital, byRate: item.model === null };
}

function usableModels(run: ChunkRun, page: readonly Item[]): ResolvedModel[] {
  const names = new Set(page.flatMap((item) => modelNames(run, item)));
  return [...names].map((name) => usableModel(run, name)).filter((model) => model !== null);
}

function usableModel(run: ChunkRun, name: string): ResolvedModel | null {
  const found = findModel(run, name);
  return found instanceof AudioRefusal ? null : found;
}

/** A model that was removed after the batch was made is refused; missing weights are a fault of the service. */
function findModel({ models, registry, log }: ChunkRun, name: string): ResolvedModel | AudioRefusal {
  const known = models.get(name);
  if (known !== undefined) return known;
  const found = resolveModel(registry, name, log);
  models.set(name, found);
  return found;
}

function resolveModel(registry: ModelRegistry, name: string, log: Log): ResolvedModel | AudioRefusal {
  try {
    return modelOrRefusal(registry, name);
  } catch (error) {
    if (!isServiceError(error, 'model_invalid')) throw error;
    log.error({ err: error, model: name }, 'a model cannot be used');
    return new AudioRefusal('scoring_failed', `The model ${name} cannot be opened.`);
  }
}

/** Ends the pending items of a chunk whose job has failed permanently. */
export async function failChunk(db: Pool, { batchId, generation, chunk }: ChunkOfBatch, detail: string): Promise<void> {
  const reason = 'scoring_failed' satisfies AudioRefusal['reason'];
  await db.query(sql('audio/fail_chunk'), [batchId, generation, chunk, reason, detail]);
}
