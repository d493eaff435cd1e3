import { isServiceError } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import { queryRows, type Pool } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { AudioStore } from '../store/audio-store.ts';
import { findBatchOfJob, hasEnded, linesOfChunk, type Batch } from './batch.ts';
import type { ModelRegistry, ResolvedModel } from '../models/registry.ts';
import { isTemporary, OutcomePages } from './outcome-pages.ts';
import { performSeveral } from './perform-several.ts';
import { endByStoredResults, type Outcome, type OutcomeCounts } from './record-outcomes.ts';
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

interface Item {
  readonly publicId: string;
  readonly line: number;
  readonly audioSha256: string;
  readonly model: string | null;
  readonly deleted: boolean;
}

/** Crashes of its worker that an item survives: as many as the job that scores it. */
const itemCrashesMax = 5;

/** Items in memory at a time. All that was begun in a page is written at its end, so a crash lies in the first page that is left. */
const pageItems = 200;

/**
 * Gives each pending item of a chunk an outcome: a stored result of the same audio, model and settings, or a score, or a reason.
 * Outcomes are written by the page, at most a second late. Safe to run again at any point. Items that were begun and never ended show
 * that a worker has died: they come last, and they and the first page of the others are performed one at a time and counted before, so that
 * an item that crashes the process affects no other; after {@link itemCrashesMax} crashes it ends in error.
 */
export async function performChunk(work: ChunkWork, job: ChunkOfBatch): Promise<OutcomeCounts> {
  const { db, log } = work;
  const batch = await findBatchOfJob(db, job.batchId);
  if (batch === undefined || batch.generation !== job.generation || batch.state === 'open' || hasEnded(batch))
    return { scored: 0, reused: 0, refused: 0 };
  if (batch.state === 'queued') await db.query(sql('audio/start_batch'), [job.batchId, job.generation]);
  const pages = new OutcomePages({ db, batch, log });
  try {
    await performItems({ ...work, job, batch, models: new Map(), pages });
  } finally {
    await pages.write(); // what has ended before a failure is kept
  }
  return pages.counts;
}

/** A chunk that is being performed. */
interface ChunkRun extends ChunkWork {
  readonly job: ChunkOfBatch;
  readonly batch: Batch;
  /** Models by name, resolved once. */
  readonly models: Map<string, ResolvedModel | AudioRefusal>;
  readonly pages: OutcomePages;
}

async function performItems(run: ChunkRun): Promise<void> {
  const begunBefore = await listItems(run, 0, true);
  run.pages.isCareful = begunBefore.length > 0;
  for (let after = 0, isLast = false; !isLast;) {
    const page = await listItems(run, after, false);
    await performPage(run, page);
    isLast = page.length < pageItems;
    after = page.at(-1)?.line ?? after;
    run.pages.isCareful = false;
  }
  run.pages.isCareful = true;
  await performPage(run, begunBefore);
}

function listItems({ db, job }: ChunkRun, after: number, begunBefore: boolean): Promise<Item[]> {
  const { first, last } = linesOfChunk(job.chunk);
  const lines = [Math.max(first, after + 1), last];
  return queryRows<Item>(db, sql('audio/list_chunk_items'), [job.batchId, ...lines, begunBefore, pageItems]);
}

async function performPage(run: ChunkRun, page: readonly Item[]): Promise<void> {
  if (page.length === 0) return;
  run.signal.throwIfAborted();
  const reused = await endByStoredResults(run.db, run.batch, {
    items: page.map(({ line }) => ({ line })),
    models: usableModels(run, page),
  });
  run.pages.counts.reused += reused.size;
  const groups = groupByAudio(page.filter(({ line }) => !reused.has(line)));
  await performSeveral(groups, run.pages.isCareful ? 1 : run.limits.audioScorers, (group) => performGroup(run, group));
  await run.pages.write(); // the next page finds the results
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
    run.signal.throwIfAborted();
    left = left.slice(await performItem(run, left));
  }
}

/** Performs the first of items with the same audio. Returns how many have an outcome now, or were cancelled. */
async function performItem(run: ChunkRun, items: readonly Item[]): Promise<number> {
  const [item, ...others] = items as [Item, ...Item[]];
  const endAll = async (ended: Outcome['ended']): Promise<number> => {
    await run.pages.end({ first: item, others, ended });
    return items.length;
  };
  const known = refusalBeforeScoring(run, item);
  if (known !== null) return endAll(known);
  const attempts = await run.pages.begin(item);
  if (attempts === undefined) return items.length;
  if (attempts > (run.limits.itemCrashesMax ?? itemCrashesMax))
    return endAll(new AudioRefusal('scorer_crashed', `The worker that scored it has died ${attempts - 1} times.`));
  const ended = await scoreOrRefuse(run, item);
  if (!(ended instanceof AudioRefusal) || !AUDIO_REASONS[ended.reason].retry) return endAll(ended);
  await run.pages.end({ first: item, others: [], ended });
  return 1;
}

async function scoreOrRefuse(run: ChunkRun, item: Item): Promise<Outcome['ended']> {
  try {
    return await scoreItem(run, item);
  } catch (error) {
    if (error instanceof AudioRefusal) return error;
    if (run.signal.aborted || (await isTemporary(run.db, error))) {
      run.pages.release(item);
      throw error;
    }
    run.log.error({ err: error, verification: item.publicId }, 'a recording could not be scored');
    return new AudioRefusal('scoring_failed');
  }
}

async function scoreItem(run: ChunkRun, item: Item): Promise<Outcome['ended']> {
  const { batch, store } = run;
  const scored = await run
    .score({ file: store.pathOf(item.audioSha256), model: modelsOf(run, item), settings: batch.settings }, run.signal)
    .catch(async (error: unknown) => {
      throw error instanceof AudioRefusal && error.reason === 'file_missing'
        ? await missingAudioRefusal(run, item)
        : error;
    });
  const model = usableModel(run, scored.model);
  if (model === null) throw new Error(`the scoring process answered for ${scored.model}, which was not requested`);
  return { scored, model };
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
  const { first, last } = linesOfChunk(chunk);
  await db.query(sql('audio/fail_chunk'), [batchId, generation, first, last, reason, detail]);
}
