import { failNight } from '../pipelines/caches/night/night-opening.ts';
import { failProof } from '../pipelines/branding/proof/number-proof.ts';
import { failOperation, readOperation } from '../pipelines/branding/operation.ts';
import { failAttempt, listDueDeliveries } from '../pipelines/webhooks/delivery.ts';
import { failFeedLoad } from '../pipelines/feeds/feed-load.ts';
import { ERRORS, type ErrorCode, type Failure } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { queryRow, queryRows, type Pool } from '../runtime/postgres.ts';
import { sql } from '../sql/sql.ts';
import type { NewJob, Queues } from './queues/backend.ts';
import { enqueue, enqueueJob, isLive, jobIds, singleJob, restoreBatch } from './queues/enqueue.ts';

interface ReconcileOptions {
  readonly db: Pool;
  readonly queues: Queues;
  readonly log: Log;
}

/** The corrections of a comparison. */
interface Reconciled {
  /** Loads, branding operations, proofs of numbers, nights, publications and batches of recordings that were queued again. */
  enqueued: number;
  /**
   * Loads, branding operations, proofs of numbers, nights and builds that are recorded as failed because their worker crashed too
   * often.
   */
  lost: number;
}

interface OpenNight {
  runId: number;
  generation: number;
  buildIds: number[];
  openBuildIds: number[];
}

/**
 * Compares the work that is due in PostgreSQL with the queues, which may have been emptied, and corrects the difference:
 * work without a live job is queued again; work whose job exceeded its crash budget, so that no handler recorded the end, fails.
 */
export async function reconcile(options: ReconcileOptions): Promise<Reconciled> {
  const done: Reconciled = { enqueued: 0, lost: 0 };
  for (const { loadId } of await queryRows<{ loadId: number }>(options.db, sql('jobs/list_due_feed_loads'))) {
    await reconcileJob(options, feedLoadJob(options, loadId), done);
  }
  for (const { operationId } of await queryRows<{ operationId: number }>(options.db, sql('jobs/list_due_branding'))) {
    await reconcileJob(options, brandingJob(options, operationId), done);
  }
  for (const { proofId } of await queryRows<{ proofId: number }>(options.db, sql('jobs/list_due_proofs'), [null])) {
    await reconcileJob(options, proofJob(options, proofId), done);
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
  if (done.enqueued + done.lost > 0) options.log.info(done, 'the queues were behind the database and are corrected');
  return done;
}

/**
 * Queues the deliveries of webhooks that are due and have no live job: those of changes that were committed since, those whose next
 * attempt is due, and those whose jobs are lost. Runs often, since nothing else queues them.
 */
export async function queueDueDeliveries(options: ReconcileOptions): Promise<Reconciled> {
  const { db } = options;
  const done: Reconciled = { enqueued: 0, lost: 0 };
  for (const deliveryId of await listDueDeliveries(db)) {
    const job: ReconciledJob = {
      job: singleJob('deliver-webhook', { deliveryId }),
      isDue: async () => (await listDueDeliveries(db, deliveryId)).length > 0,
      fail: () => failAttempt(db, deliveryId),
    };
    await reconcileJob(options, job, done);
  }
  return done;
}

/** A job of a kind that is reconciled alone. */
interface ReconciledJob {
  readonly job: NewJob;
  /** Read again after the state of the job: the row is written before the job ends. */
  isDue(): Promise<boolean>;
  fail(failure: Failure): Promise<unknown>;
}

async function reconcileJob(
  { queues }: ReconcileOptions,
  { job, isDue, fail }: ReconciledJob,
  done: Reconciled,
): Promise<void> {
  const { queue, id } = job;
  if (isLive(await queues.state(queue, id)) || !(await isDue())) return;
  if ((await queues.failure(queue, id))?.byCrashes) {
    await fail(failureWithCode('job_lost'));
    done.lost += 1;
  } else if (await enqueue(queues, job)) done.enqueued += 1;
}

function feedLoadJob({ db }: ReconcileOptions, loadId: number): ReconciledJob {
  return {
    job: singleJob('load-feed', { loadId }),
    isDue: async () => (await queryRow(db, sql('jobs/is_feed_load_due'), [loadId])) !== undefined,
    fail: (failure) => failFeedLoad(db, loadId, failure),
  };
}

function brandingJob({ db }: ReconcileOptions, operationId: number): ReconciledJob {
  return {
    job: singleJob('run-branding', { operationId }),
    isDue: async () => (await readOperation(db, operationId)).state === 'queued',
    fail: (failure) => failOperation(db, operationId, failure),
  };
}

function proofJob({ db }: ReconcileOptions, proofId: number): ReconciledJob {
  return {
    job: singleJob('place-proof-calls', { proofId }),
    isDue: async () => (await queryRow(db, sql('jobs/list_due_proofs'), [proofId])) !== undefined,
    fail: (failure) => failProof(db, proofId, { ...failure, actor: 'reconciler' }),
  };
}

/** A night is live while its opener runs, which keeps the builds queued, or while its publication waits for them. */
async function reconcileNight(options: ReconcileOptions, night: OpenNight, done: Reconciled): Promise<void> {
  const { db, queues } = options;
  const nightJob = jobIds.night(night.runId);
  const publicationJob = jobIds.publication(night);
  const isOpening = isLive(await queues.state('nights', nightJob));
  const isPublishing = isLive(await queues.state('publications', publicationJob));
  await failLostBuilds(options, night, done);
  if (isOpening || isPublishing) return;
  const now = await queryRow<OpenNight>(db, sql('jobs/list_open_nights'), [night.runId]);
  if (now === undefined || now.generation !== night.generation) return;
  const failures = [await queues.failure('nights', nightJob), await queues.failure('publications', publicationJob)];
  if (failures.some((failure) => failure?.byCrashes)) {
    await failNight(db, { runId: night.runId, ...failureWithCode('job_lost') });
    done.lost += 1;
  } else if (await enqueueJob(queues, 'open-night', { runId: night.runId })) done.enqueued += 1;
}

/** Records the failure of builds whose worker crashed too often, since the opener waits for an outcome of every build. */
async function failLostBuilds({ db, queues }: ReconcileOptions, night: OpenNight, done: Reconciled): Promise<void> {
  for (const buildId of night.openBuildIds) {
    if (!(await queues.failure('builds', jobIds.build(buildId)))?.byCrashes) continue;
    const { code, reason } = failureWithCode('build_lost');
    await db.query(sql('nights/record_build_failure'), [buildId, code, reason]);
    done.lost += 1;
  }
}

function failureWithCode(code: ErrorCode): { code: ErrorCode; reason: string } {
  return { code, reason: ERRORS[code].meaning };
}
