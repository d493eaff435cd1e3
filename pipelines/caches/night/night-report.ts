import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { CacheName } from '../definition.ts';
import type { LevelCounts } from '../../phone/reputation-level.ts';
import type { NightBreach } from './night-gates.ts';

/** The outcome of an expected artefact. */
export interface ReportedArtefact {
  readonly cache: CacheName;
  readonly country: string;
  readonly outcome: 'published' | 'unchanged' | 'failed';
  /** The published version after the night; null if there is none. */
  readonly version: number | null;
  readonly rows: number | null;
  readonly rowsBefore: number | null;
  readonly levels: LevelCounts;
  readonly bytes: number | null;
  readonly plainBytes: number | null;
  readonly seconds: number | null;
  readonly attempts: number;
  readonly failure: { readonly code: string; readonly reason: string } | null;
  /** The gates that hold it, with figures. */
  readonly gates: readonly NightBreach[];
}

/** Numbers of a brand that are no longer published because their letters have ended since the previous night. */
export interface LapsedBrand {
  readonly brand: string;
  readonly validUntil: string;
  readonly numbers: number;
}

/** A feed that has not arrived for longer than its usual interval allows. */
export interface LateFeed {
  readonly feed: string;
  readonly source: string;
  readonly lastAt: string | null;
  readonly ageHours: number | null;
  readonly expectedHours: number | null;
}

/** The report of a finished night, as stored and as `night report --json` prints it. Times are ISO 8601 in UTC. */
export interface NightReport {
  readonly schema: 'caller-trust/night-report/1';
  readonly outcome: 'ok' | 'partial' | 'failed';
  readonly night: {
    readonly runId: number;
    readonly date: string;
    readonly trigger: 'schedule' | 'operator';
    readonly generation: number;
    readonly requestedAt: string;
    readonly openedAt: string;
    readonly evaluatedAt: string;
    readonly asOf: string;
  };
  readonly finishedAt: string;
  readonly counts: { readonly published: number; readonly unchanged: number; readonly failed: number };
  readonly artefacts: readonly ReportedArtefact[];
  readonly lapsed: readonly LapsedBrand[];
  readonly lateFeeds: readonly LateFeed[];
  /** The OpenTelemetry trace id of the night; absent without tracing. */
  readonly traceId?: string | undefined;
}

/** Makes the report of a night: ok if no artefact failed, failed if none succeeded, else partial. */
export function makeNightReport({
  run,
  artefacts,
  lapsed,
  lateFeeds,
  traceId,
  finishedAt,
}: {
  run: NightReport['night'];
  artefacts: ReportedArtefact[];
  lapsed: LapsedBrand[];
  lateFeeds: readonly LateFeed[];
  traceId?: string | undefined;
  finishedAt: Date;
}): NightReport {
  const count = (outcome: ReportedArtefact['outcome']) =>
    artefacts.filter((artefact) => artefact.outcome === outcome).length;
  const counts = { published: count('published'), unchanged: count('unchanged'), failed: count('failed') };
  return {
    schema: 'caller-trust/night-report/1',
    outcome: counts.failed === 0 ? 'ok' : counts.published + counts.unchanged === 0 ? 'failed' : 'partial',
    night: run,
    finishedAt: finishedAt.toISOString(),
    counts,
    artefacts,
    lapsed,
    lateFeeds,
    ...(traceId === undefined ? {} : { traceId }),
  };
}

/** A night, finished or not. */
export interface NightState {
  readonly runId: number;
  readonly date: string;
  readonly trigger: 'schedule' | 'operator';
  readonly state: 'due' | 'running' | 'finished';
  readonly outcome: NightReport['outcome'] | null;
  readonly generation: number;
  readonly requestedAt: Date;
  readonly requestedBy: string;
  readonly openedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly failure: { readonly code: string; readonly reason: string } | null;
  readonly builds: readonly BuildState[];
  readonly report: NightReport | null;
}

export interface BuildState {
  readonly cache: CacheName;
  readonly country: string;
  readonly state: 'pending' | 'running' | 'built' | 'published' | 'unchanged' | 'failed';
  /** Null before the build has begun. */
  readonly rowsExpected: number | null;
  readonly rows: number | null;
  readonly attempts: number;
  readonly failureCode: string | null;
}

type StoredNight = Omit<NightState, 'builds'>;

/**
 * The night of an id, the latest of a date, or the latest of all.
 * @throws ServiceError `night_unknown`
 */
export async function readNight(
  db: Queryable,
  which: { runId?: number | undefined; date?: string | undefined },
): Promise<NightState> {
  const run = await queryRow<StoredNight>(db, sql('nights/find_night_run'), [which.runId ?? null, which.date ?? null]);
  if (run === undefined) {
    throw new ServiceError('night_unknown', {
      operation: 'read night',
      object: String(which.runId ?? which.date ?? ''),
      hint: '`caller-trust night run` makes one.',
    });
  }
  const { report, ...night } = run;
  return { ...night, builds: await queryRows<BuildState>(db, sql('nights/list_builds'), [run.runId]), report };
}
