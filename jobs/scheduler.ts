import { createTask, parse, validate } from 'node-cron';
import { openVault } from '../runtime/secrets/vault.ts';
import { readPresentSet, refreshSignatures } from '../pipelines/caches/signing/sign-publications.ts';
import { everything, requestNight } from '../pipelines/caches/night/night-request.ts';
import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { unmeasured, type Metrics } from '../runtime/metrics/metrics.ts';
import { inTransaction, queryRow, type Pool } from '../runtime/postgres.ts';
import { repeat } from '../runtime/processes/repeat.ts';
import { inSpan } from '../runtime/tracing/tracing.ts';
import { sql } from '../sql/sql.ts';
import type { Queues } from './queues/backend.ts';
import { brandingInbox } from './drop-folder/branding-drop.ts';
import { watchDropFolder } from './drop-folder/drop-folder.ts';
import { enqueueJob } from './queues/enqueue.ts';
import { feedInboxes, type SubmitDropped } from './drop-folder/feed-drop.ts';
import { queueDueDeliveries, reconcile } from './reconcile.ts';
import { recordingsInbox } from './drop-folder/recordings-drop.ts';
import { AudioStore } from '../pipelines/audio/store/audio-store.ts';
import { runRetention } from '../pipelines/audio/batches/retention.ts';
import { pruneRequests } from '../pipelines/submissions/request-ledger.ts';
import { runUploadRetention } from '../pipelines/submissions/upload-retention.ts';
import { pruneWebhookEvents } from '../pipelines/webhooks/delivery.ts';

/** Limits of the scheduler that no installation has needed to change. Tests use others. */
const schedulerLimits = {
  /** A night that was missed is run if it is at most this old: the next one makes up for those before. */
  nightCatchUpHours: 24,
};

interface SchedulerOptions {
  readonly config: Config & Partial<typeof schedulerLimits>;
  readonly db: Pool;
  readonly queues: Queues;
  readonly log: Log;
  /** Default: nothing is counted. */
  readonly metrics?: Metrics;
  /** Submits a file of the drop folder as a feed. */
  readonly submit: SubmitDropped;
  /** Default: the system's. */
  readonly clock?: () => Date;
}

/** A running scheduler. */
export interface Scheduler {
  stop(): Promise<void>;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Starts the clock of the nights, the reconciler, the queueing of due webhooks, the watcher of the drop folder, the retention of
 * audio, of uploads and requests to the intake, and of webhooks, and the renewal of signatures. Any number of schedulers may run:
 * the database makes sure that each night, load and dropped file happens once.
 * @throws ServiceError `setting_invalid` if the schedule is not a cron expression, or has several times of a day
 */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { config, db, queues, log, metrics = unmeasured, submit, clock = () => new Date() } = options;
  requireSchedule(config.nightSchedule);
  const onError = (error: unknown): void => log.error({ err: error }, 'an error of the scheduler; it continues');
  const catchUp = () => catchUpNight({ config, db, queues, log, clock });
  const task = createTask(config.nightSchedule, () => catchUp().catch(onError), {
    timezone: 'UTC',
    suppressMissedWarning: true,
  });
  await task.start();
  const done = (work: string) =>
    metrics.set('caller_trust_scheduler_work_timestamp_seconds', { work }, clock().getTime() / 1000);
  const stopping = new AbortController();
  const inboxes = [
    ...feedInboxes({ config, queues, log, submit }),
    brandingInbox({ config, db, queues, log, openVault: () => openVault(config) }),
    recordingsInbox({ config, db, queues, log, signal: stopping.signal }),
  ];
  const store = new AudioStore(config.audioDir);
  const uploads = { db, directory: config.intakeDir };
  const loops = [
    // Catches up on a tick that was missed because the machine slept or the database was unavailable.
    repeat({
      seconds: config.reconcileSeconds,
      work: async () => {
        await catchUp();
        const { enqueued, lost } = await reconcile({ db, queues, log });
        metrics.count('caller_trust_scheduler_corrections_total', { kind: 'enqueued' }, enqueued);
        metrics.count('caller_trust_scheduler_corrections_total', { kind: 'lost' }, lost);
        done('reconcile');
      },
      onError,
    }),
    repeat({
      seconds: 1, // a delivery waits no longer than that for its first attempt
      work: async () => {
        await queueDueDeliveries({ db, queues, log });
        done('webhooks');
      },
      onError,
    }),
    watchDropFolder({ config, db, log, inboxes, clock, onDone: () => done('drop_folder') }),
    keepSignaturesFresh({ config, db, log, clock, onDone: () => done('signatures') }),
    keepRetention({
      subject: 'stored recordings',
      remove: () => runRetention({ db, store }, { retentionDays: config.audioRetentionDays, at: clock() }),
      log,
      onDone: () => done('retention'),
    }),
    keepRetention({
      subject: 'unused uploads to the intake',
      remove: () => runUploadRetention(uploads, clock()),
      log,
      onDone: () => done('uploads'),
    }),
    keepRetention({
      subject: 'requests to the intake',
      remove: async () => ({
        requests: await pruneRequests(db, { retentionDays: config.intakeRequestRetentionDays, at: clock() }),
      }),
      log,
      onDone: () => done('intake_requests'),
    }),
    keepRetention({
      subject: 'events of webhooks',
      remove: async () => ({
        events: await pruneWebhookEvents(db, { retentionDays: config.webhookRetentionDays, at: clock() }),
      }),
      log,
      onDone: () => done('webhook_retention'),
    }),
  ];
  return {
    async stop() {
      stopping.abort(new ServiceError('interrupted', { operation: 'submit recordings' }));
      await task.destroy();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

type CatchUpOptions = Pick<SchedulerOptions, 'db' | 'queues' | 'log'> & {
  readonly config: Pick<Config, 'nightSchedule'> & Partial<typeof schedulerLimits>;
  readonly clock: () => Date;
};

/**
 * Requests the night of the last tick, if that lies within the catch-up hours and the night is not requested yet: at the
 * tick itself, or later if the tick was missed. Returns the id of the new run.
 */
export async function catchUpNight({ config, db, queues, log, clock }: CatchUpOptions): Promise<number | undefined> {
  const now = clock();
  const { nightCatchUpHours } = { ...schedulerLimits, ...config };
  // The timer may fire some milliseconds late, so the search goes back at least one minute.
  const since = new Date(now.getTime() - Math.max(nightCatchUpHours * hourMs, minuteMs));
  const tick = lastTick(config.nightSchedule, { now, since });
  if (tick === undefined) return undefined;
  const nightDate = tick.toISOString().slice(0, 10);
  if ((await queryRow(db, sql('jobs/find_scheduled_night'), [nightDate])) !== undefined) return undefined;
  return inSpan('request night', { 'night.date': nightDate }, async () => {
    const runId = await requestNight(db, {
      nightDate,
      trigger: 'schedule',
      scope: everything,
      acceptShrink: false,
      evaluatedAt: null,
      requestedBy: 'scheduler',
    });
    if (runId === undefined) return undefined; // another scheduler has requested it
    const lateSeconds = Math.round((now.getTime() - tick.getTime()) / 1000);
    log.info({ runId, nightDate, lateSeconds }, 'the night is due');
    await enqueueJob(queues, 'open-night', { runId });
    return runId;
  });
}

/**
 * The last tick of a schedule from `since` to `now`, or undefined. node-cron gives future ticks only; its own matcher, asked
 * minute by minute, always agrees with the timer (7 days took 70 ms).
 */
export function lastTick(schedule: string, { now, since }: { now: Date; since: Date }): Date | undefined {
  const task = createTask(schedule, () => {}, { timezone: 'UTC' });
  const seconds = parse(schedule).second.toSorted((a, b) => b - a);
  try {
    for (
      let minute = Math.floor(now.getTime() / minuteMs) * minuteMs;
      minute > since.getTime() - minuteMs;
      minute -= minuteMs
    ) {
      const tick = seconds
        .map((second) => new Date(minute + second * 1000))
        .find((at) => at <= now && at >= since && task.match(at));
      if (tick !== undefined) return tick;
    }
    return undefined;
  } finally {
    void task.destroy();
  }
}

/** A scheduled night is identified by its date, so a second tick of a day would be lost. */
function requireSchedule(schedule: string): void {
  const invalid = (problem: string, hint: string) =>
    new ServiceError('setting_invalid', { operation: 'start scheduler', object: schedule, problem, hint });
  if (!validate(schedule))
    throw invalid(
      'NIGHT_SCHEDULE is not a cron expression.',
      'Five fields: minute, hour, day, month, weekday; for example `0 1 * * *`.',
    );
  const { second, minute, hour } = parse(schedule);
  if (second.length * minute.length * hour.length > 1)
    throw invalid(
      'NIGHT_SCHEDULE has more than one time of a day.',
      'Give one minute and one hour; `caller-trust night run` builds the caches at any other time.',
    );
}

/** Seconds between two runs; the retention is in days. */
const retentionEverySeconds = 3600;

/** Data that is deleted when its time is over. */
interface Retention {
  readonly subject: string;
  /** Deletes what is due; returns counts of what is gone. */
  readonly remove: () => Promise<object>;
  readonly log: Log;
  readonly onDone: () => void;
}

/** Deletes what is past its retention time, every hour. Not part of a night, which a failure here would stop. */
function keepRetention({ subject, remove, log, onDone }: Retention): { stop(): Promise<void> } {
  return repeat({
    seconds: retentionEverySeconds,
    work: async () => {
      const removed = await remove();
      if (Object.values(removed).some((count) => count > 0))
        log.info(removed, `${subject} past their retention time are deleted`);
      onDone();
    },
    onError: (error) => log.error({ err: error }, `${subject} could not be deleted; the next run tries again`),
  });
}

/** Seconds between two looks at the signatures; the timestamp holds for 48 hours. */
const signaturesEverySeconds = 600;

/**
 * Renews the signatures of what is published before they expire, also while no night is published: a client takes an expired
 * timestamp for a mirror that hides newer publications.
 */
export function keepSignaturesFresh({
  config,
  db,
  log,
  clock,
  onDone,
}: Pick<SchedulerOptions, 'config' | 'db' | 'log'> & { readonly clock: () => Date; readonly onDone?: () => void }): {
  stop(): Promise<void>;
} {
  return repeat({
    seconds: signaturesEverySeconds,
    work: async () => {
      if ((await readPresentSet(db)).root === undefined) return onDone?.();
      const vault = await openVault(config);
      const signed = await inTransaction(db, (client) => refreshSignatures(client, { vault, now: clock() }));
      if (signed === true) log.info('the signatures of what is published are renewed');
      onDone?.();
    },
    onError: (error) =>
      log.error(
        { err: error },
        'what is published could not be signed; clients refuse it from the end of the timestamp on',
      ),
  });
}
