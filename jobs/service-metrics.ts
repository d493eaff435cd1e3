import { listSignatureExpiries } from '../pipelines/caches/signing/signature-expiry.ts';
import { listFeedArrivals, type ArrivalLimits } from '../pipelines/feeds/feed-arrivals.ts';
import { countDeliveries } from '../pipelines/webhooks/delivery.ts';
import { errorCodeOf, ServiceError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics, SetGauge } from '../runtime/metrics/metrics.ts';
import type { NameOf } from '../runtime/metrics/metric-table.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../runtime/postgres.ts';
import { within } from '../runtime/processes/repeat.ts';
import { sql } from '../sql/sql.ts';
import type { Queues } from './queues/backend.ts';
import { queueNames } from './queues/queues.ts';

interface ServiceMetricsOptions {
  readonly metrics: Metrics;
  readonly config: ArrivalLimits;
  readonly db: Pool;
  readonly queues: Queues;
  readonly log: Log;
  /** Default: the system's. */
  readonly clock?: () => Date;
}

/** Milliseconds of one statement, and of all parts together: Prometheus gives a scrape ten seconds. */
const statementMsMax = 2000;
const scrapeMsMax = 8000;

/** The metrics that this module sets at each scrape. */
const names = [
  'caller_trust_night_outcome',
  'caller_trust_night_finished_timestamp_seconds',
  'caller_trust_night_stage_seconds',
  'caller_trust_night_files',
  'caller_trust_nights_open',
  'caller_trust_night_open_age_seconds',
  'caller_trust_cache_age_seconds',
  'caller_trust_cache_files',
  'caller_trust_cache_rows',
  'caller_trust_cache_bytes',
  'caller_trust_labels',
  'caller_trust_label_changes',
  'caller_trust_feed_age_seconds',
  'caller_trust_feed_rows',
  'caller_trust_feed_late',
  'caller_trust_feed_loads',
  'caller_trust_decisions_waiting',
  'caller_trust_decision_waiting_age_seconds',
  'caller_trust_batches_open',
  'caller_trust_batch_open_age_seconds',
  'caller_trust_signature_expiry_timestamp_seconds',
  'caller_trust_webhook_deliveries',
  'caller_trust_webhook_pending_age_seconds',
  'caller_trust_webhook_endpoints',
  'caller_trust_queue_jobs',
  'caller_trust_queue_waiting_age_seconds',
  'caller_trust_queue_workers',
  'caller_trust_queue_paused',
  'caller_trust_service_reads',
  'caller_trust_service_read_seconds',
] as const satisfies readonly NameOf<'gauge'>[];

type SetSample = SetGauge<(typeof names)[number]>;

/** Reads one part of the service and sets its gauges. */
type Part = (set: SetSample) => Promise<void>;

/**
 * Reads at each scrape the state in PostgreSQL and in the queues: by the scheduler alone, so that it is not exported by each
 * process. A part that cannot be read in time has no samples, and says so in `caller_trust_service_reads`.
 */
export function measureService({
  metrics,
  config,
  db,
  queues,
  log,
  clock = () => new Date(),
}: ServiceMetricsOptions): void {
  const inDatabase =
    (read: (db: Queryable, set: SetSample) => Promise<void>): Part =>
    (set) =>
      inTransaction(db, async (client) => {
        await client.query(`SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = ${statementMsMax}`);
        await read(client, set);
      });
  const parts: Record<string, Part> = {
    nights: inDatabase(readNights),
    caches: inDatabase(readCaches),
    label_changes: inDatabase(readLabelChanges),
    work: inDatabase(readOpenWork),
    feeds: inDatabase((client, set) => readFeeds(client, { set, config, now: clock() })),
    signatures: inDatabase(readSignatures),
    webhooks: inDatabase(readWebhooks),
    queues: (set) => readQueues(queues, set, clock()),
  };
  const unread = new Set<string>();
  metrics.atScrape(names, async (set) => {
    const endMs = performance.now() + scrapeMsMax;
    for (const [part, read] of Object.entries(parts)) await readPart({ part, read, set, endMs, unread, log });
  });
}

async function readPart({
  part,
  read,
  set,
  endMs,
  unread,
  log,
}: {
  readonly part: string;
  readonly read: Part;
  readonly set: SetSample;
  readonly endMs: number;
  /** Parts that could not be read at the scrape before: a failure is logged once, and its end. */
  readonly unread: Set<string>;
  readonly log: Log;
}): Promise<void> {
  const startedAt = performance.now();
  let isRead = true;
  try {
    const leftMs = Math.max(0, Math.min(2 * statementMsMax, endMs - startedAt));
    const reading = read(set).then(() => true);
    if ((await within(leftMs, reading)) === undefined)
      throw new ServiceError('database_unavailable', {
        operation: 'read metrics',
        object: part,
        problem: 'It took too long.',
      });
  } catch (error) {
    isRead = false;
    if (!unread.has(part))
      log.warn({ err: error, code: errorCodeOf(error), part }, 'a part of the metrics cannot be read');
    unread.add(part);
  }
  if (isRead && unread.delete(part)) log.info({ part }, 'a part of the metrics can be read again');
  set('caller_trust_service_reads', { part }, isRead ? 1 : 0);
  set('caller_trust_service_read_seconds', { part }, (performance.now() - startedAt) / 1000);
}

type Stage = 'wait' | 'prepare' | 'build' | 'publish';
type FileOutcome = 'published' | 'unchanged' | 'failed';

type NightsRow = Readonly<Record<Stage | FileOutcome | 'openSeconds', number | null>> & {
  readonly outcome: string | null;
  readonly finished: Readonly<Record<string, number>>;
  readonly open: number;
};

async function readNights(db: Queryable, set: SetSample): Promise<void> {
  const row = (await queryRow<NightsRow>(db, sql('metrics/read_nights')))!;
  for (const outcome of ['ok', 'partial', 'failed']) {
    if (row.outcome !== null) set('caller_trust_night_outcome', { outcome }, row.outcome === outcome ? 1 : 0);
    const finished = row.finished[outcome];
    if (finished !== undefined) set('caller_trust_night_finished_timestamp_seconds', { outcome }, finished);
  }
  for (const stage of ['wait', 'prepare', 'build', 'publish'] as const)
    if (row[stage] !== null) set('caller_trust_night_stage_seconds', { stage }, row[stage]);
  for (const outcome of ['published', 'unchanged', 'failed'] as const)
    if (row[outcome] !== null) set('caller_trust_night_files', { outcome }, row[outcome]);
  set('caller_trust_nights_open', {}, row.open);
  set('caller_trust_night_open_age_seconds', {}, row.openSeconds ?? 0);
}

interface CacheRow {
  readonly cache: string;
  readonly ageSeconds: number | null;
  readonly fresh: number;
  readonly stale: number;
  readonly rows: number;
  readonly bytes: number;
  readonly spam: number | null;
  readonly fraud: number | null;
}

async function readCaches(db: Queryable, set: SetSample): Promise<void> {
  for (const { cache, ageSeconds, fresh, stale, rows, bytes, spam, fraud } of await queryRows<CacheRow>(
    db,
    sql('metrics/read_caches'),
  )) {
    if (ageSeconds !== null) set('caller_trust_cache_age_seconds', { cache }, ageSeconds);
    set('caller_trust_cache_files', { cache, status: 'fresh' }, fresh);
    set('caller_trust_cache_files', { cache, status: 'stale' }, stale);
    set('caller_trust_cache_rows', { cache }, rows);
    set('caller_trust_cache_bytes', { cache }, bytes);
    if (cache !== 'spammer_phones') continue;
    set('caller_trust_labels', { level: 'SPAM' }, spam ?? 0);
    set('caller_trust_labels', { level: 'FRAUD' }, fraud ?? 0);
  }
}

async function readLabelChanges(db: Queryable, set: SetSample): Promise<void> {
  const row = await queryRow<{ rises: number; falls: number; flips: number }>(db, sql('metrics/count_label_changes'));
  set('caller_trust_label_changes', { kind: 'rise' }, row!.rises);
  set('caller_trust_label_changes', { kind: 'fall' }, row!.falls);
  set('caller_trust_label_changes', { kind: 'flip' }, row!.flips);
}

async function readOpenWork(db: Queryable, set: SetSample): Promise<void> {
  const rows = await queryRows<{ kind: string; count: number; seconds: number | null }>(
    db,
    sql('metrics/count_open_work'),
  );
  for (const { kind, count, seconds } of rows) {
    const state = /^(\w+)_load$/.exec(kind)?.[1];
    if (state !== undefined) set('caller_trust_feed_loads', { state }, count);
    if (kind === 'batch') {
      set('caller_trust_batches_open', {}, count);
      set('caller_trust_batch_open_age_seconds', {}, seconds ?? 0);
    } else if (state === undefined || state === 'held') {
      set('caller_trust_decisions_waiting', { kind }, count);
      set('caller_trust_decision_waiting_age_seconds', { kind }, seconds ?? 0);
    }
  }
}

async function readFeeds(
  db: Queryable,
  { set, config, now }: { readonly set: SetSample; readonly config: ArrivalLimits; readonly now: Date },
): Promise<void> {
  for (const { feed, source, lastAt, rows, late } of await listFeedArrivals(db, config, now)) {
    const labels = { feed, source };
    if (lastAt !== null) set('caller_trust_feed_age_seconds', labels, (now.getTime() - lastAt.getTime()) / 1000);
    if (rows !== null) set('caller_trust_feed_rows', labels, rows);
    set('caller_trust_feed_late', labels, late ? 1 : 0);
  }
}

async function readSignatures(db: Queryable, set: SetSample): Promise<void> {
  for (const { role, expires } of await listSignatureExpiries(db))
    set('caller_trust_signature_expiry_timestamp_seconds', { role }, Date.parse(expires) / 1000);
}

async function readWebhooks(db: Queryable, set: SetSample): Promise<void> {
  const { pending, failed, oldestPendingSeconds, enabled, failing, givenUp } = await countDeliveries(db);
  set('caller_trust_webhook_deliveries', { state: 'pending' }, pending);
  set('caller_trust_webhook_deliveries', { state: 'failed' }, failed);
  set('caller_trust_webhook_pending_age_seconds', {}, oldestPendingSeconds);
  set('caller_trust_webhook_endpoints', { state: 'enabled' }, enabled);
  set('caller_trust_webhook_endpoints', { state: 'failing' }, failing.length);
  set('caller_trust_webhook_endpoints', { state: 'given_up' }, givenUp.length);
}

async function readQueues(queues: Queues, set: SetSample, now: Date): Promise<void> {
  const [counts, next, workers, paused] = await Promise.all([
    queues.counts(),
    queues.nextQueuedAt(),
    queues.workers(),
    queues.paused(),
  ]);
  for (const queue of queueNames) {
    for (const [state, count] of Object.entries(counts[queue])) set('caller_trust_queue_jobs', { queue, state }, count);
    const since = next[queue];
    set('caller_trust_queue_waiting_age_seconds', { queue }, since === null ? 0 : (now.getTime() - since) / 1000);
    set('caller_trust_queue_workers', { queue }, workers[queue]);
    set('caller_trust_queue_paused', { queue }, paused[queue] ? 1 : 0);
  }
}
