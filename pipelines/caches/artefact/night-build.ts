import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage, type Failure } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import { queryRow, queryRows, recognizeDatabaseError, type Pool } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { versionFacts } from '../artefact-facts.ts';
import type { CacheName } from '../definition.ts';
import type { ArtefactStore } from '../store/artefact-store.ts';
import { buildArtefact, type BuildSettings } from './build-artefact.ts';

interface NightBuildOptions {
  readonly db: Pool;
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  readonly settings: BuildSettings;
  readonly buildId: number;
  /** Sets the function that records the final failure of this attempt. */
  readonly onFailure: (record: (failure: Failure) => Promise<unknown>) => void;
  readonly signal: AbortSignal;
  readonly log: Log;
}

interface StartedBuildRow {
  buildId: number;
  attempts: number;
  cache: CacheName;
  country: string;
  snapshot: string;
  evaluatedAt: Date;
  published: { version: number; facts: unknown } | null;
}

const progressMs = 1000;

/**
 * Runs a build of a night and records its outcome. Does nothing if the build has an outcome, or a later attempt at the night
 * took over.
 * @throws what {@link buildArtefact} throws
 */
export async function runNightBuild(options: NightBuildOptions): Promise<void> {
  const { db, buildId } = options;
  const build = await queryRow<StartedBuildRow>(db, sql('nights/start_build'), [buildId]);
  if (build === undefined) return;
  options.onFailure(({ code, reason }) =>
    db.query(sql('nights/record_attempt_failure'), [buildId, build.attempts, code, reason]),
  );
  try {
    await buildAndRecord(options, build);
  } catch (error) {
    await endAttempt(options, build).catch((lost: unknown) =>
      options.log.warn({ err: lost, buildId }, 'the end of an attempt was not recorded; it will count as a crash'),
    );
    throw error;
  }
}

/** Seconds for which the end of an attempt waits for a database that is unavailable: without it the attempt would count as a crash. */
const endSecondsMax = 60;

async function endAttempt({ db, buildId, signal }: NightBuildOptions, { attempts }: StartedBuildRow): Promise<void> {
  const until = Date.now() + endSecondsMax * 1000;
  for (;;) {
    try {
      await db.query(sql('nights/end_attempt'), [buildId, attempts]);
      return;
    } catch (error) {
      if (!isOutage(recognizeDatabaseError(error)) || signal.aborted || Date.now() > until) throw error;
      await sleep(endPauseMs);
    }
  }
}

const endPauseMs = 250;

async function buildAndRecord(options: NightBuildOptions, build: StartedBuildRow): Promise<void> {
  const { cache, country, published, snapshot: snapshotId, evaluatedAt } = build;
  const { facts, moves } = await buildArtefact({
    ...options,
    artefact: { cache, country },
    published: published && { version: published.version, ...versionFacts.parse(published.facts) },
    snapshotId,
    evaluatedAt,
    owner: unfinishedName(build),
    onProgress: progressRecorder(options, build),
  });
  await options.db.query(sql('nights/record_build'), [
    build.buildId,
    build.attempts,
    JSON.stringify(facts),
    moves && JSON.stringify(moves),
  ]);
}

/** The file of an attempt: `build-12-3`. So an attempt that was presumed dead and continues writes to another file. */
function unfinishedName({ buildId, attempts }: StartedBuildRow): string {
  return `build-${buildId}-${attempts}`;
}

/** The build of an unfinished file; undefined for another file. */
function buildOfUnfinishedName(name: string): number | undefined {
  const match = /^build-(\d+)-\d+(?:\.[a-z0-9.-]+)?$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** Records the written rows in the database about once a second. */
function progressRecorder(
  { db, buildId, log }: NightBuildOptions,
  { attempts }: StartedBuildRow,
): (rows: number, rowsExpected: number) => void {
  let lastRecorded = 0;
  return (rows, rowsExpected) => {
    if (Date.now() - lastRecorded < progressMs) return;
    lastRecorded = Date.now();
    db.query(sql('nights/record_build_progress'), [buildId, rows, rowsExpected, attempts]).catch((error: unknown) =>
      log.debug({ err: error, buildId }, 'progress was not recorded'),
    );
  };
}

/** Removes the unfinished files of builds that are not live. */
export async function sweepUnfinishedFiles(db: Pool, store: ArtefactStore): Promise<string[]> {
  const names = await store.listUnfinished(); // before the live builds, so that the file of a new build is not listed
  const rows = await queryRows<{ buildId: number }>(db, sql('nights/list_live_builds'));
  const live = new Set(rows.map(({ buildId }) => buildId));
  const dead = names.filter((name) => {
    const buildId = buildOfUnfinishedName(name);
    return buildId === undefined || !live.has(buildId);
  });
  await Promise.all(dead.map((name) => store.removeUnfinished(name)));
  return dead;
}
