import { inTransaction, queryRow, queryRows, type Pool, type PoolClient } from '../../../runtime/postgres.ts';
import type { Vault } from '../../../runtime/secrets/vault.ts';
import { sql } from '../../../sql/sql.ts';
import type { BuildPlan } from '../build/plan/build-plan.ts';
import { findCache, type CacheName } from '../definition.ts';
import { categoriesVersion } from '../artefact-facts.ts';
import type { LevelCounts } from '../../../format/artefact/levels.ts';
import { signPublications } from '../signing/sign-publications.ts';
import type { Attempt } from './night-opening.ts';
import {
  makeNightReport,
  type LapsedBrand,
  type LateFeed,
  type NightReport,
  type ReportedArtefact,
} from './night-report.ts';
import type { LabelMoves, NightBreach, NightGateLimits } from './night-gates.ts';
import {
  decidePublication,
  holdTogether,
  type BuildOutcome,
  type CurrentVersion,
  type PublishDecision,
  type PublishRules,
} from './publish-decision.ts';

interface PublishNightOptions extends Attempt {
  readonly db: Pool;
  readonly limits: NightGateLimits;
  /** Opens the keys that sign what is published; not needed while the service does not sign. */
  readonly vault?: Vault;
  /** The trace of the night, for the report. */
  readonly traceId?: string | undefined;
  /** Feeds that are late, for the report. */
  readonly lateFeeds?: readonly LateFeed[];
}

interface EndingRunRow {
  runId: number;
  nightDate: string;
  trigger: 'schedule' | 'operator';
  generation: number;
  acceptShrink: boolean;
  asOf: Date;
  evaluatedAt: Date;
  requestedAt: Date;
  openedAt: Date;
}

interface EndedBuildRow {
  buildId: number;
  cache: CacheName;
  country: string;
  state: 'pending' | 'running' | 'built' | 'failed';
  rowsExpected: number;
  levelsExpected: LevelCounts;
  plan: BuildPlan & { readonly basisLost?: boolean };
  rowsRead: number | null;
  segmentsDiffering: number | null;
  attempts: number;
  startedAt: Date | null;
  builtAt: Date | null;
  rows: number;
  fileSha256: string;
  fileBytes: number;
  plainSha256: string | null;
  contentSha256: string | null;
  plainBytes: number;
  failureCode: string;
  failureReason: string;
  publishedVersion: number | null;
  publishedRows: number;
  publishedPlainSha256: string | null;
  publishedContentSha256: string | null;
  publishedAsOf: Date;
  publishedLevels: LevelCounts;
  basisTransactions: string | null;
  transactions: string;
  releasedGates: NightBreach[] | null;
}

/**
 * The result of publishing: the report; `void` if a later attempt took over or the night is finished; `reopen` if the snapshot
 * was lost before every file was built.
 */
type PublishResult =
  | { readonly kind: 'published'; readonly report: NightReport }
  | { readonly kind: 'void' }
  | { readonly kind: 'reopen' };

/** Attempts after which a night is published with failures if its snapshot is lost each time. */
const nightAttemptsMax = 5;

/**
 * Ends a night: decides on every build, moves the pointers, signs them and writes the report in one transaction, so that readers
 * see all files of the night or none, and never a set that is signed in part.
 * @throws ServiceError `trust_key_missing` if the service signs and cannot: then nothing is published
 */
export async function publishNight({
  db,
  runId,
  generation,
  limits,
  vault,
  traceId,
  lateFeeds = [],
}: PublishNightOptions): Promise<PublishResult> {
  return inTransaction(db, async (client) => {
    const run = await queryRow<EndingRunRow>(client, sql('nights/lock_night_run'), [runId, generation]);
    if (run === undefined) return { kind: 'void' };
    await client.query(sql('nights/ensure_publications'), [runId, generation]);
    await client.query(sql('nights/lock_publications'), [runId, generation]);
    const builds = await queryRows<EndedBuildRow>(client, sql('nights/list_builds_to_publish'), [runId, generation]);
    if (lostSnapshot(builds) && generation < nightAttemptsMax) return { kind: 'reopen' };
    const artefacts = await publishBuilds(client, builds, { asOf: run.asOf, acceptShrink: run.acceptShrink, limits });
    await signPublications(client, { vault, now: new Date() });
    const report = makeNightReport({
      run: describeRun(run),
      artefacts,
      lapsed: await listLapsed(client, runId),
      lateFeeds,
      traceId,
      finishedAt: new Date(),
    });
    await client.query(sql('nights/finish_night_run'), [runId, report.outcome, JSON.stringify(report)]);
    await client.query(sql('nights/sweep_marks'));
    return { kind: 'published', report };
  });
}

async function listLapsed(client: PoolClient, runId: number): Promise<LapsedBrand[]> {
  const rows = await queryRows<{ brandHandle: string; liveUntil: Date; numbers: number }>(
    client,
    sql('nights/list_lapsed_brands'),
    [runId],
  );
  return rows.map(({ brandHandle, liveUntil, numbers }) => ({
    brand: brandHandle,
    validUntil: liveUntil.toISOString(),
    numbers,
  }));
}

/** True if the night must be opened again: all its files must come from one snapshot. */
function lostSnapshot(builds: EndedBuildRow[]): boolean {
  return builds.some(({ state, failureCode }) => state === 'failed' && failureCode === 'snapshot_gone');
}

async function publishBuilds(
  client: PoolClient,
  builds: EndedBuildRow[],
  rules: Omit<PublishRules, 'rowsLeft' | 'released'>,
): Promise<ReportedArtefact[]> {
  const moves = await countLabelMoves(client, builds);
  const decided = [];
  for (const build of builds) {
    const rowsLeft = await countRowsLeft(client, build);
    const decision = decidePublication(buildOutcome(build, moves), currentOf(build), {
      ...rules,
      rowsLeft,
      released: build.releasedGates,
    });
    decided.push({ build, cache: build.cache, country: build.country, decision });
  }
  const together = holdTogether(decided);
  for (const { build, decision } of together) await applyDecision(client, build, decision, rules.asOf);
  return together.map(({ build, decision }) => reportArtefact(build, decision));
}

/** Label moves by basis and country; '' means all countries. */
type MovesByBasis = ReadonlyMap<string, ReadonlyMap<string, LabelMoves>>;

async function countLabelMoves(client: PoolClient, builds: readonly EndedBuildRow[]): Promise<MovesByBasis> {
  const moves = new Map<string, Map<string, LabelMoves>>();
  for (const { basisTransactions: basis, transactions } of builds) {
    if (basis === null || moves.has(basis)) continue;
    const rows = await queryRows<LabelMoves & { country: string }>(client, sql('nights/count_label_moves'), [
      basis,
      transactions,
    ]);
    const sum = (key: keyof LabelMoves) => rows.reduce((total, row) => total + row[key], 0);
    const countries = rows.map(({ country, rises, falls, flips }): [string, LabelMoves] => [
      country,
      { rises, falls, flips },
    ]);
    moves.set(
      basis,
      new Map([
        ...countries.filter(([country]) => country !== ''),
        ['', { rises: sum('rises'), falls: sum('falls'), flips: sum('flips') }],
      ]),
    );
  }
  return moves;
}

function movesOf({ cache, country, basisTransactions }: EndedBuildRow, moves: MovesByBasis): LabelMoves | null {
  const hasLabels = findCache(cache).columns.some(({ type }) => type === 'level');
  const counted = basisTransactions === null || !hasLabels ? undefined : moves.get(basisTransactions);
  return counted === undefined ? null : (counted.get(country) ?? { rises: 0, falls: 0, flips: 0 });
}

/** 0 for other caches than the branded one: no other loses rows by decisions. */
async function countRowsLeft(client: PoolClient, { cache, publishedAsOf }: EndedBuildRow): Promise<number> {
  if (cache !== 'branded_phones' || publishedAsOf === null) return 0;
  const row = await queryRow<{ numbers: number }>(client, sql('nights/count_numbers_left'), [publishedAsOf]);
  return row!.numbers;
}

function buildOutcome(build: EndedBuildRow, moves: MovesByBasis): BuildOutcome {
  switch (build.state) {
    case 'built':
      return {
        state: 'built',
        rows: build.rows,
        text: build,
        levels: build.levelsExpected,
        moves: movesOf(build, moves),
        basisLost: build.plan.basisLost === true,
      };
    case 'failed':
      return { state: 'failed', code: build.failureCode, reason: build.failureReason };
    default:
      return { state: 'lost' };
  }
}

function currentOf(build: EndedBuildRow): CurrentVersion | null {
  if (build.publishedVersion === null) return null;
  return {
    version: build.publishedVersion,
    rows: build.publishedRows,
    levels: build.publishedLevels,
    text: { contentSha256: build.publishedContentSha256, plainSha256: build.publishedPlainSha256 },
    asOf: build.publishedAsOf,
  };
}

async function applyDecision(
  client: PoolClient,
  { buildId }: EndedBuildRow,
  decision: PublishDecision,
  asOf: Date,
): Promise<void> {
  switch (decision.action) {
    case 'publish':
      await client.query(sql('nights/publish_version'), [buildId, decision.version, asOf, categoriesVersion]);
      await client.query(sql('nights/use_release'), [buildId]);
      break;
    case 'confirm':
      await client.query(sql('nights/confirm_version'), [buildId, asOf]);
      break;
    case 'keep':
      if (decision.gates !== undefined)
        await client.query(sql('nights/record_gates'), [buildId, JSON.stringify(decision.gates)]);
      await client.query(sql('nights/keep_stale_version'), [buildId, decision.code, decision.reason, asOf]);
      break;
  }
}

function reportArtefact(build: EndedBuildRow, decision: PublishDecision): ReportedArtefact {
  const kept = decision.action === 'keep';
  return {
    cache: build.cache,
    country: build.country,
    outcome: kept ? 'failed' : decision.action === 'publish' ? 'published' : 'unchanged',
    version: decision.action === 'publish' ? decision.version : build.publishedVersion,
    rowsExpected: build.rowsExpected,
    rows: build.builtAt === null ? null : build.rows,
    rowsBefore: build.publishedVersion === null ? null : build.publishedRows,
    build: build.plan.kind,
    rowsRead: build.builtAt === null ? null : build.rowsRead,
    segmentsDiffering: build.segmentsDiffering,
    levels: build.levelsExpected,
    bytes: build.builtAt === null ? null : build.fileBytes,
    plainBytes: build.builtAt === null ? null : build.plainBytes,
    seconds:
      build.builtAt === null || build.startedAt === null
        ? null
        : (build.builtAt.getTime() - build.startedAt.getTime()) / 1000,
    attempts: build.attempts,
    failure: kept ? { code: decision.code, reason: decision.reason } : null,
    gates: kept ? (decision.gates ?? []) : [],
  };
}

function describeRun(run: EndingRunRow): NightReport['night'] {
  return {
    runId: run.runId,
    date: run.nightDate,
    trigger: run.trigger,
    generation: run.generation,
    requestedAt: run.requestedAt.toISOString(),
    openedAt: run.openedAt.toISOString(),
    evaluatedAt: run.evaluatedAt.toISOString(),
    asOf: run.asOf.toISOString(),
  };
}
