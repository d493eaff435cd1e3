import { inTransaction, queryRow, queryRows, type Pool, type PoolClient } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { BuildPlan } from './build-plan.ts';
import { findCache, type CacheName } from './definition.ts';
import { categoriesVersion, type LevelCounts } from './manifest.ts';
import type { Attempt } from './night-opening.ts';
import { makeReport, type LapsedBrand, type LateFeed, type NightReport, type ReportedArtefact } from './night-report.ts';
import type { LabelMoves, NightBreach, NightGateLimits } from './night-gates.ts';
import { decidePublication, holdTogether, type BuildOutcome, type CurrentVersion, type PublishDecision, type PublishRules } from './publish-decision.ts';

export interface PublishNightOptions extends Attempt {
  readonly db: Pool;
  readonly limits: NightGateLimits;
  /** Feeds that are late, for the report. */
  readonly lateFeeds?: readonly LateFeed[];
}

interface RunRow {
  run_id: number;
  night_date: string;
  trigger: 'schedule' | 'operator';
  generation: number;
  accept_shrink: boolean;
  as_of: Date;
  evaluated_at: Date;
  requested_at: Date;
  opened_at: Date;
}

interface BuildRow {
  build_id: number;
  cache: CacheName;
  country: string;
  state: 'pending' | 'running' | 'built' | 'failed';
  rows_expected: number;
  levels_expected: LevelCounts;
  plan: BuildPlan;
  rows_read: number | null;
  segments_differing: number | null;
  attempts: number;
  started_at: Date | null;
  built_at: Date | null;
  rows: number;
  file_sha256: string;
  file_bytes: number;
  plain_sha256: string;
  plain_bytes: number;
  failure_code: string;
  failure_reason: string;
  published_version: number | null;
  published_rows: number;
  published_plain_sha256: string;
  published_as_of: Date;
  published_levels: LevelCounts;
  basis_transactions: string | null;
  transactions: string;
  released_gates: NightBreach[] | null;
}

/**
 * What came of publishing: the report; nothing, because a later attempt took over or the night is finished; or the wish
 * for another attempt, because the snapshot was lost before every file was built from it.
 */
export type PublishResult = { readonly kind: 'published'; readonly report: NightReport } | { readonly kind: 'void' } | { readonly kind: 'reopen' };

/** Attempts after which a night whose snapshot is lost each time is given up. */
const attemptsMax = 5;

/**
 * Ends a night: decides on every build, moves the pointers, and writes the report, all in one transaction, so that readers
 * see all files of the night or none.
 */
export async function publishNight({ db, runId, generation, limits, lateFeeds = [] }: PublishNightOptions): Promise<PublishResult> {
  return inTransaction(db, async (client) => {
    const run = await queryRow<RunRow>(client, sql('nights/lock_night_run'), [runId, generation]);
    if (run === undefined) return { kind: 'void' };
    await client.query(sql('nights/ensure_publications'), [runId, generation]);
    await client.query(sql('nights/lock_publications'), [runId, generation]);
    const builds = await queryRows<BuildRow>(client, sql('nights/list_builds_to_publish'), [runId, generation]);
    if (lostSnapshot(builds) && generation < attemptsMax) return { kind: 'reopen' };
    const artefacts = await publishBuilds(client, builds, { asOf: run.as_of, acceptShrink: run.accept_shrink, limits });
    const report = makeReport({ run: describeRun(run), artefacts, lapsed: await listLapsed(client, runId), lateFeeds, finishedAt: new Date() });
    await client.query(sql('nights/finish_night_run'), [runId, report.outcome, JSON.stringify(report)]);
    await client.query(sql('nights/sweep_marks'));
    return { kind: 'published', report };
  });
}

async function listLapsed(client: PoolClient, runId: number): Promise<LapsedBrand[]> {
  const rows = await queryRows<{ brand_handle: string; live_until: Date; numbers: number }>(client, sql('nights/list_lapsed_brands'), [runId]);
  return rows.map(({ brand_handle, live_until, numbers }) => ({ brand: brand_handle, validUntil: live_until.toISOString(), numbers }));
}

/** All files of a night come from one snapshot: when it is lost, those that were built are of no use either. */
function lostSnapshot(builds: BuildRow[]): boolean {
  return builds.some(({ state, failure_code }) => state === 'failed' && failure_code === 'snapshot_gone');
}

async function publishBuilds(client: PoolClient, builds: BuildRow[], rules: Omit<PublishRules, 'rowsLeft' | 'released'>): Promise<ReportedArtefact[]> {
  const moves = await countLabelMoves(client, builds);
  const decided = [];
  for (const build of builds) {
    const rowsLeft = await countRowsLeft(client, build);
    const decision = decidePublication(outcomeOf(build, moves), currentOf(build), { ...rules, rowsLeft, released: build.released_gates });
    decided.push({ build, cache: build.cache, country: build.country, decision });
  }
  const together = holdTogether(decided);
  for (const { build, decision } of together) await carryOut(client, build, decision, rules.asOf);
  return together.map(({ build, decision }) => reportOf(build, decision));
}

/** Label moves by basis and country; '' stands for all countries. */
type MovesByBasis = ReadonlyMap<string, ReadonlyMap<string, LabelMoves>>;

/** A transaction may note a change this long before it commits. */
const eventMarginMs = 86_400_000;

async function countLabelMoves(client: PoolClient, builds: readonly BuildRow[]): Promise<MovesByBasis> {
  const moves = new Map<string, Map<string, LabelMoves>>();
  for (const { basis_transactions: basis, transactions, published_as_of } of builds) {
    if (basis === null || published_as_of === null || moves.has(basis)) continue;
    const since = new Date(published_as_of.getTime() - eventMarginMs);
    const rows = await queryRows<LabelMoves & { country: string; [column: string]: unknown }>(client, sql('nights/count_label_moves'), [basis, transactions, since]);
    const sum = (key: keyof LabelMoves) => rows.reduce((total, row) => total + row[key], 0);
    const countries = rows.map(({ country, rises, falls, flips }): [string, LabelMoves] => [country, { rises, falls, flips }]);
    moves.set(basis, new Map([...countries.filter(([country]) => country !== ''), ['', { rises: sum('rises'), falls: sum('falls'), flips: sum('flips') }]]));
  }
  return moves;
}

function movesOf({ cache, country, basis_transactions }: BuildRow, moves: MovesByBasis): LabelMoves | null {
  const hasLabels = findCache(cache).columns.some(({ type }) => type === 'level');
  const counted = basis_transactions === null || !hasLabels ? undefined : moves.get(basis_transactions);
  return counted === undefined ? null : (counted.get(country) ?? { rises: 0, falls: 0, flips: 0 });
}

/** Of the branded cache alone: no other loses rows by decisions. */
async function countRowsLeft(client: PoolClient, { cache, published_as_of }: BuildRow): Promise<number> {
  if (cache !== 'branded_phones' || published_as_of === null) return 0;
  const row = await queryRow<{ numbers: number }>(client, sql('nights/count_numbers_left'), [published_as_of]);
  return row!.numbers;
}

function outcomeOf(build: BuildRow, moves: MovesByBasis): BuildOutcome {
  switch (build.state) {
    case 'built':
      return { state: 'built', rows: build.rows, plainSha256: build.plain_sha256, levels: build.levels_expected, moves: movesOf(build, moves) };
    case 'failed':
      return { state: 'failed', code: build.failure_code, reason: build.failure_reason };
    default:
      return { state: 'lost' };
  }
}

function currentOf(build: BuildRow): CurrentVersion | null {
  if (build.published_version === null) return null;
  return { version: build.published_version, rows: build.published_rows, levels: build.published_levels, plainSha256: build.published_plain_sha256, asOf: build.published_as_of };
}

async function carryOut(client: PoolClient, { build_id }: BuildRow, decision: PublishDecision, asOf: Date): Promise<void> {
  switch (decision.action) {
    case 'publish':
      await client.query(sql('nights/publish_version'), [build_id, decision.version, asOf, categoriesVersion]);
      await client.query(sql('nights/use_release'), [build_id]);
      break;
    case 'confirm':
      await client.query(sql('nights/confirm_version'), [build_id, asOf]);
      break;
    case 'keep':
      if (decision.gates !== undefined) await client.query(sql('nights/record_gates'), [build_id, JSON.stringify(decision.gates)]);
      // What a newer night published is not stale because an older one ended later.
      await client.query(sql(decision.code === 'artefact_older' ? 'nights/record_build_failure' : 'nights/keep_stale_version'), [build_id, decision.code, decision.reason]);
      break;
  }
}

function reportOf(build: BuildRow, decision: PublishDecision): ReportedArtefact {
  const kept = decision.action === 'keep';
  return {
    cache: build.cache,
    country: build.country,
    outcome: kept ? 'failed' : decision.action === 'publish' ? 'published' : 'unchanged',
    version: decision.action === 'publish' ? decision.version : build.published_version,
    rowsExpected: build.rows_expected,
    rows: build.built_at === null ? null : build.rows,
    rowsBefore: build.published_version === null ? null : build.published_rows,
    build: build.plan.kind,
    rowsRead: build.built_at === null ? null : build.rows_read,
    segmentsDiffering: build.segments_differing,
    levels: build.levels_expected,
    bytes: build.built_at === null ? null : build.file_bytes,
    plainBytes: build.built_at === null ? null : build.plain_bytes,
    seconds: build.built_at === null || build.started_at === null ? null : (build.built_at.getTime() - build.started_at.getTime()) / 1000,
    attempts: build.attempts,
    failure: kept ? { code: decision.code, reason: decision.reason } : null,
    gates: kept ? (decision.gates ?? []) : [],
  };
}

function describeRun(run: RunRow): NightReport['night'] {
  return {
    runId: run.run_id,
    date: run.night_date,
    trigger: run.trigger,
    generation: run.generation,
    requestedAt: run.requested_at.toISOString(),
    openedAt: run.opened_at.toISOString(),
    evaluatedAt: run.evaluated_at.toISOString(),
    asOf: run.as_of.toISOString(),
  };
}
