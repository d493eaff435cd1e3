import { createTask, parse, validate } from 'node-cron';
import { openVault } from '../runtime/vault.ts';
import { everything, requestNight } from '../pipelines/caches/night/night-request.ts';
import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { queryRow, type Pool } from '../runtime/postgres.ts';
import { repeat } from '../runtime/repeat.ts';
import { sql } from '../sql/sql.ts';
import { keepAudioRetention } from './audio-retention.ts';
import type { Queues } from './queues/backend.ts';
import { brandingInbox } from './drop-folder/branding-drop.ts';
import { watchDropFolder } from './drop-folder/drop-folder.ts';
import { enqueueNight } from './queues/enqueue.ts';
import { feedInboxes, type SubmitDropped } from './drop-folder/feed-drop.ts';
import { reconcile } from './reconcile.ts';
import { recordingsInbox } from './drop-folder/recordings-drop.ts';

export interface SchedulerOptions {
  readonly config: Config;
  readonly db: Pool;
  readonly queues: Queues;
  readonly log: Log;
  /** Hands a file of the drop folder to the intake. */
  readonly submit: SubmitDropped;
  /** Default: the system's. */
  readonly clock?: () => Date;
}

/** A scheduler that runs. */
export interface Scheduler {
  stop(): Promise<void>;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Starts the clock of the nights, the reconciler, the watcher of the drop folder and the retention of audio. Any number of schedulers may run:
 * the database lets each night, load and dropped file happen once.
 * @throws ServiceError `setting_invalid` if the schedule is not a cron expression
 */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { config, db, queues, log, submit, clock = () => new Date() } = options;
  requireSchedule(config.nightSchedule);
  const onError = (error: unknown): void => log.error({ err: error }, 'the scheduler met an error and goes on');
  const catchUp = () => catchUpNight({ config, db, queues, log, clock });
  const task = createTask(config.nightSchedule, () => catchUp().catch(onError), {
    timezone: 'UTC',
    suppressMissedWarning: true,
  });
  await task.start();
  const stopping = new AbortController();
  const inboxes = [
    ...feedInboxes({ config, queues, log, submit }),
    brandingInbox({ config, db, queues, log, openVault: () => openVault(config) }),
    recordingsInbox({ config, db, queues, log, signal: stopping.signal }),
  ];
  const loops = [
    // A tick that the timer missed, for a sleeping machine or a database that was away, is made up for here.
    repeat({
      seconds: config.reconcileSeconds,
      work: () =>
        catchUp()
          .then(() => reconcile({ db, queues, log }))
          .then(() => {}),
      onError,
    }),
    watchDropFolder({ config, db, log, inboxes, clock }),
    keepAudioRetention({ config, db, log, clock }),
  ];
  return {
    async stop() {
      stopping.abort(new ServiceError('interrupted', { operation: 'hand recordings in' }));
      await task.destroy();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

export type CatchUpOptions = Pick<SchedulerOptions, 'db' | 'queues' | 'log'> & {
  readonly config: Pick<Config, 'nightSchedule' | 'nightCatchUpHours'>;
  readonly clock: () => Date;
};

/**
 * Asks for the night of the last tick, if that lies within the hours of catching up and nobody has asked for it: at the
 * tick itself, and later if the tick was missed. Returns the id of the run that it made.
 */
export async function catchUpNight({ config, db, queues, log, clock }: CatchUpOptions): Promise<number | undefined> {
  const now = clock();
  // At the tick the timer may fire some milliseconds late, so that one minute is always looked back.
  const since = new Date(now.getTime() - Math.max(config.nightCatchUpHours * hourMs, minuteMs));
  const tick = lastTick(config.nightSchedule, { now, since });
  if (tick === undefined) return undefined;
  const nightDate = tick.toISOString().slice(0, 10);
  if ((await queryRow(db, sql('jobs/find_scheduled_night'), [nightDate])) !== undefined) return undefined;
  const runId = await requestNight(db, {
    nightDate,
    trigger: 'schedule',
    scope: everything,
    acceptShrink: false,
    fullBuild: false,
    evaluatedAt: null,
    requestedBy: 'scheduler',
  });
  if (runId === undefined) return undefined; // another scheduler was faster
  log.info({ runId, nightDate, lateSeconds: Math.round((now.getTime() - tick.getTime()) / 1000) }, 'the night is due');
  await enqueueNight(queues, { runId });
  return runId;
}

/**
 * The last tick of a schedule that is not after `now` and not before `since`, or undefined. node-cron gives future ticks
 * only; asking its own parser minute by minute keeps the two from ever disagreeing (7 days took 70 ms).
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

function requireSchedule(schedule: string): void {
  if (validate(schedule)) return;
  throw new ServiceError('setting_invalid', {
    operation: 'start scheduler',
    object: schedule,
    problem: 'NIGHT_SCHEDULE is not a cron expression.',
    hint: 'Five fields: minute, hour, day, month, weekday; for example `0 1 * * *`.',
  });
}
