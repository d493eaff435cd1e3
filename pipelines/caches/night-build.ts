import type { Log } from '../../runtime/log.ts';
import { errorCodeOf, isFinalFailure, publicReason } from '../../runtime/errors.ts';
import { queryRow, type Pool } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { ArtefactStore } from './artefact-store.ts';
import { buildArtefact, type BuildSettings } from './build.ts';
import type { CacheName } from './definition.ts';

export interface NightBuildOptions {
  readonly db: Pool;
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  readonly settings: BuildSettings;
  readonly buildId: number;
  /** No further try follows: a failure is the outcome. */
  readonly lastAttempt: boolean;
  readonly signal: AbortSignal;
  readonly log: Log;
}

interface BuildRow {
  build_id: number;
  run_id: number;
  generation: number;
  attempts: number;
  cache: CacheName;
  country: string;
  rows_expected: number;
  snapshot: string;
  evaluated_at: Date;
}

const progressMs = 1000;

/**
 * Runs one build of a night and records its outcome. Does nothing if the build has its outcome, or a later attempt at the
 * night took over.
 * @throws what {@link buildArtefact} throws, after recording it where it is final.
 */
export async function runNightBuild(options: NightBuildOptions): Promise<void> {
  const { db, buildId } = options;
  const build = await queryRow<BuildRow>(db, sql('nights/start_build'), [buildId]);
  if (build === undefined) return;
  try {
    const { rows, file } = await buildArtefact({
      ...options,
      artefact: build,
      snapshotId: build.snapshot,
      evaluatedAt: build.evaluated_at,
      rowsExpected: build.rows_expected,
      owner: unfinishedName(build),
      onProgress: progressRecorder(options, build),
    });
    await db.query(sql('nights/record_build'), [buildId, rows, file.sha256, file.bytes, file.plainSha256, file.plainBytes, build.attempts]);
  } catch (error) {
    if (isFinalFailure(error, options.lastAttempt)) await db.query(sql('nights/record_try_failure'), [buildId, build.attempts, errorCodeOf(error), publicReason(error)]);
    throw error;
  }
}

/** The file that a try writes to: `build-12-3`. A try that was presumed dead and goes on writes to another. */
function unfinishedName({ build_id, attempts }: BuildRow): string {
  return `build-${build_id}-${attempts}`;
}

/** The build that an unfinished file belongs to, or undefined for a file that is not a build's. */
export function buildOfUnfinishedName(name: string): number | undefined {
  const match = /^build-(\d+)-\d+$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** Writes the rows done so far to the database about once a second. */
function progressRecorder({ db, buildId, log }: NightBuildOptions, { attempts }: BuildRow): (rows: number) => void {
  let told = Date.now();
  return (rows) => {
    if (Date.now() - told < progressMs) return;
    told = Date.now();
    db.query(sql('nights/record_build_progress'), [buildId, rows, attempts]).catch((error: unknown) => log.debug({ err: error, buildId }, 'progress was not recorded'));
  };
}

/** Removes the unfinished files of builds that no attempt at a night goes on with. */
export async function sweepUnfinishedFiles(db: Pool, store: ArtefactStore): Promise<string[]> {
  const names = await store.listUnfinished(); // first: a build that begins after this is not on the list
  const { rows } = await db.query<{ build_id: number }>(sql('nights/list_live_builds'));
  const live = new Set(rows.map(({ build_id }) => build_id));
  const dead = names.filter((name) => {
    const buildId = buildOfUnfinishedName(name);
    return buildId === undefined || !live.has(buildId);
  });
  await Promise.all(dead.map((name) => store.removeUnfinished(name)));
  return dead;
}
