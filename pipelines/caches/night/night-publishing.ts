import { inTransaction, queryRow, queryRows, type Pool, type PoolClient } from '../../../runtime/postgres.ts';
import type { Vault } from '../../../runtime/secrets/vault.ts';
import { sql } from '../../../sql/sql.ts';
import { formatArtefact, type ArtefactName, type CacheName } from '../definition.ts';
import { listPublications } from '../publications.ts';
import { versionFacts, type VersionFacts } from '../artefact-facts.ts';
import type { LabelMoves } from '../artefact/row-difference.ts';
import { signPublications } from '../signing/sign-publications.ts';
import type { Attempt } from './night-opening.ts';
import {
  makeNightReport,
  type LapsedBrand,
  type LateFeed,
  type NightReport,
  type ReportedArtefact,
} from './night-report.ts';
import type { NightBreach, NightGateLimits } from './night-gates.ts';
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
  attempts: number;
  startedAt: Date | null;
  builtAt: Date | null;
  /** Of a build that stored its files. */
  facts: VersionFacts | null;
  moves: LabelMoves | null;
  failureCode: string;
  failureReason: string;
  published: { version: number; facts: VersionFacts; asOf: Date } | null;
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
    const builds = await listEndedBuilds(client, { runId, generation });
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
    return { kind: 'published', report };
  });
}

async function listEndedBuilds(client: PoolClient, { runId, generation }: Attempt): Promise<EndedBuildRow[]> {
  const rows = await queryRows<EndedBuildRow>(client, sql('nights/list_builds_to_publish'), [runId, generation]);
  return rows.map(({ facts, published, ...build }) => ({
    ...build,
    facts: facts && versionFacts.parse(facts),
    published: published && { ...published, facts: versionFacts.parse(published.facts) },
  }));
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
  const decided = [];
  for (const build of builds) {
    const rowsLeft = await countRowsLeft(client, build);
    const decision = decidePublication(buildOutcome(build), currentOf(build), {
      ...rules,
      rowsLeft,
      released: build.releasedGates,
    });
    decided.push({ build, cache: build.cache, country: build.country, decision, moves: build.moves });
  }
  const together = holdTogether(decided, await listFilesNotBuilt(client, builds));
  for (const { build, decision } of together) await applyDecision(client, build, decision, rules.asOf);
  return together.map(({ build, decision }) => reportArtefact(build, decision));
}

/** The published files that have rows and no build in this night: those outside of its scope. */
async function listFilesNotBuilt(client: PoolClient, builds: readonly EndedBuildRow[]): Promise<ArtefactName[]> {
  const built = new Set(builds.map(formatArtefact));
  return (await listPublications(client)).filter(
    (publication) => (publication.published?.rows ?? 0) > 0 && !built.has(formatArtefact(publication)),
  );
}

/** 0 for other caches than the branded one: no other loses rows by decisions. */
async function countRowsLeft(client: PoolClient, { cache, published }: EndedBuildRow): Promise<number> {
  if (cache !== 'branded_phones' || published === null) return 0;
  const row = await queryRow<{ numbers: number }>(client, sql('nights/count_numbers_left'), [published.asOf]);
  return row!.numbers;
}

function buildOutcome({ state, facts, moves, failureCode, failureReason }: EndedBuildRow): BuildOutcome {
  switch (state) {
    case 'built':
      return { state: 'built', rows: facts!.rows, plainSha256: facts!.file.plainSha256, levels: facts!.levels, moves };
    case 'failed':
      return { state: 'failed', code: failureCode, reason: failureReason };
    default:
      return { state: 'lost' };
  }
}

function currentOf({ published }: EndedBuildRow): CurrentVersion | null {
  if (published === null) return null;
  const { version, asOf, facts } = published;
  return { version, asOf, rows: facts.rows, levels: facts.levels, plainSha256: facts.file.plainSha256 };
}

async function applyDecision(
  client: PoolClient,
  { buildId }: EndedBuildRow,
  decision: PublishDecision,
  asOf: Date,
): Promise<void> {
  switch (decision.action) {
    case 'publish':
      await client.query(sql('nights/publish_version'), [buildId, decision.version, asOf]);
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
  const { cache, country, facts, published, startedAt, builtAt, attempts } = build;
  const kept = decision.action === 'keep';
  return {
    cache,
    country,
    outcome: kept ? 'failed' : decision.action === 'publish' ? 'published' : 'unchanged',
    version: decision.action === 'publish' ? decision.version : (published?.version ?? null),
    rows: facts?.rows ?? null,
    rowsBefore: published?.facts.rows ?? null,
    levels: facts?.levels ?? {},
    bytes: facts?.file.bytes ?? null,
    plainBytes: facts?.file.plainBytes ?? null,
    seconds: builtAt === null || startedAt === null ? null : (builtAt.getTime() - startedAt.getTime()) / 1000,
    attempts,
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
