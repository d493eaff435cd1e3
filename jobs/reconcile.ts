import { failNight } from '../pipelines/caches/night/night-opening.ts';
import { failProof } from '../pipelines/branding/proof/number-proof.ts';
import { failOperation, readOperation } from '../pipelines/branding/operation.ts';
import { failFeedLoad } from '../pipelines/intake/feed-load.ts';
import { ERRORS, type ErrorCode } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { queryRow, queryRows, type Pool } from '../runtime/postgres.ts';
import { sql } from '../sql/sql.ts';
import type { JobState, Queues } from './queues/backend.ts';
import {
  enqueueBranding,
  enqueueFeedLoad,
  enqueueNight,
  enqueueNightFlow,
  enqueueProof,
  jobIds,
  lives,
  restoreBatch,
} from './queues/enqueue.ts';

export interface ReconcileOptions {
  readonly db: Pool;
  readonly queues: Queues;
  readonly log: Log;
}

/** What a comparison has put right. */
export interface Reconciled {
  /** Loads, branding operations, proofs of numbers, nights, publications and batches of recordings that were queued again. */
  enqueued: number;
  /** Loads, branding operations, proofs of numbers, nights and builds whose job was given up after crashes, and that have failed now. */
  lost: number;
}

interface OpenNight {
  runId: number;
  generation: number;
  buildIds: number[];
  openBuildIds: number[];
}

/**
 * Compares the work that is due in PostgreSQL with the queues, which may have been emptied, and puts the queues right:
 * what has no living job is queued again; what has used up its crashes, so that no handler could record the end, fails.
 */
export async function reconcile(options: ReconcileOptions): Promise<Reconciled> {
  const done: Reconciled = { enqueued: 0, lost: 0 };
  for (const { loadId } of await queryRows<{ loadId: number }>(options.db, sql('jobs/list_due_feed_loads'))) {
    await reconcileFeedLoad(options, loadId, done);
  }
  for (const { operationId } of await queryRows<{ operationId: number }>(options.db, sql('jobs/list_due_branding'))) {
    await reconcileBranding(options, operationId, done);
  }
  for (const { proofId } of await queryRows<{ proofId: number }>(options.db, sql('jobs/list_due_proofs'), [null])) {
    await reconcileProof(options, proofId, done);
  }
  for (const night of await queryRows<OpenNight>(options.db, sql('jobs/list_open_nights'), [null])) {
    await reconcileNight(options, night, done);
  }
  for (const { batchId, generation } of await queryRows<{ batchId: number; generation: number }>(
    options.db,
    sql('jobs/list_due_batches'),
  )) {
    if (await restoreBatch(options.queues, options.db, { batchId, generation })) done.enqueued += 1;
  }
  if (done.enqueued + done.lost > 0) options.log.info(done, 'the queues were behind the database and are put right');
  return done;
}

async function reconcileFeedLoad({ db, queues }: ReconcileOptions, loadId: number, done: Reconciled): Promise<void> {
  const jobId = jobIds.feedLoad(loadId);
  if (lives(await queues.state('feeds', jobId))) return;
  // The load may have ended between the two reads: the row is written before the job ends.
  if ((await queryRow(db, sql('jobs/is_feed_load_due'), [loadId])) === undefined) return;
  if ((await queues.failure('feeds', jobId))?.byCrashes) {
    await failFeedLoad(db, loadId, failureOf('job_lost'));
    done.lost += 1;
  } else if (await enqueueFeedLoad(queues, { loadId })) done.enqueued += 1;
}

async function reconcileBranding(
  { db, queues }: ReconcileOptions,
  operationId: number,
  done: Reconciled,
): Promise<void> {
  const jobId = jobIds.branding(operationId);
  if (lives(await queues.state('branding', jobId))) return;
  // The operation may have ended between the two reads: its result is written before the job ends.
  if ((await readOperation(db, operationId)).state !== 'queued') return;
  if ((await queues.failure('branding', jobId))?.byCrashes) {
    await failOperation(db, operationId, failureOf('job_lost'));
    done.lost += 1;
  } else if (await enqueueBranding(queues, { operationId })) done.enqueued += 1;
}

async function reconcileProof({ db, queues }: ReconcileOptions, proofId: number, done: Reconciled): Promise<void> {
  const jobId = jobIds.proof(proofId);
  if (lives(await queues.state('branding', jobId))) return;
  // Its calls may have been placed between the two reads.
  if ((await queryRow(db, sql('jobs/list_due_proofs'), [proofId])) === undefined) return;
  if ((await queues.failure('branding', jobId))?.byCrashes) {
    await failProof(db, proofId, { ...failureOf('job_lost'), actor: 'reconciler' });
    done.lost += 1;
  } else if (await enqueueProof(queues, { proofId })) done.enqueued += 1;
}

/** A night lives while it is opened and held, or while its publication waits for the builds. */
async function reconcileNight(options: ReconcileOptions, night: OpenNight, done: Reconciled): Promise<void> {
  const { db, queues } = options;
  const nightJob = jobIds.night(night.runId);
  const publicationJob = publicationOf(night);
  const opening = lives(await queues.state('nights', nightJob));
  const publication = await queues.state('publications', publicationJob);
  await failLostBuilds(options, night, done);
  if (lives(publication)) return;
  const now = await queryRow<OpenNight>(db, sql('jobs/list_open_nights'), [night.runId]);
  if (now === undefined || now.generation !== night.generation) return;
  if (opening) return restoreFlow(options, { night, now, publication }, done);
  const failures = [await queues.failure('nights', nightJob), await queues.failure('publications', publicationJob)];
  if (failures.some((failure) => failure?.byCrashes)) {
    await failNight(db, { runId: night.runId, ...failureOf('job_lost') });
    done.lost += 1;
  } else if (await enqueueNight(queues, { runId: night.runId })) done.enqueued += 1;
}

/** The opener records the builds before it queues them. If they were recorded before the last look, their jobs are gone. */
async function restoreFlow(
  { queues }: ReconcileOptions,
  { night, now, publication }: { night: OpenNight; now: OpenNight; publication: JobState },
  done: Reconciled,
): Promise<void> {
  if (publication !== 'missing' || night.buildIds.length === 0 || now.buildIds.length === 0) return;
  if (await enqueueNightFlow(queues, { runId: night.runId, generation: night.generation, buildIds: night.buildIds }))
    done.enqueued += 1;
}

/** The opener waits for an outcome of every build, which a build that was given up after crashes cannot record itself. */
async function failLostBuilds({ db, queues }: ReconcileOptions, night: OpenNight, done: Reconciled): Promise<void> {
  for (const buildId of night.openBuildIds) {
    if (!(await queues.failure('builds', jobIds.build(buildId)))?.byCrashes) continue;
    const { code, reason } = failureOf('build_lost');
    await db.query(sql('nights/record_build_failure'), [buildId, code, reason]);
    done.lost += 1;
  }
}

function failureOf(code: ErrorCode): { code: ErrorCode; reason: string } {
  return { code, reason: ERRORS[code].meaning };
}

function publicationOf({ runId, generation }: OpenNight): string {
  return jobIds.publication({ runId, generation });
}
