import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { loadConfig } from '../../runtime/config.ts';
import { createLog } from '../../runtime/log.ts';
import type { Pool } from '../../runtime/postgres.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';
import type { ArtefactStore } from '../../pipelines/caches/store/artefact-store.ts';
import { runNightBuild } from '../../pipelines/caches/artefact/night-build.ts';
import {
  type Attempt,
  takeNight,
  beginPreparation,
  takeSnapshot,
  recordBuilds,
  untilBuilt,
} from '../../pipelines/caches/night/night-opening.ts';
import { publishNight } from '../../pipelines/caches/night/night-publishing.ts';
import type { NightReport } from '../../pipelines/caches/night/night-report.ts';
import { parseScope, everything, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { type Failure, failureOf } from '../../runtime/errors.ts';

export const silentLog = createLog({ level: 'silent', process: 'test' });

/** A store in a directory of the test file's own, removed after its last test. */
export async function useStore(): Promise<ArtefactStore> {
  const directory = await mkdtemp(join(tmpdir(), 'caller-trust-store-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return new ArtefactDirectory(directory);
}

/** Limits that are no settings. */
interface NightLimits {
  readonly gateRowsMin?: number;
  readonly copyIdleSecondsMax?: number;
  readonly segmentRowsMax?: number;
}

interface WholeNightOptions {
  readonly db: Pool;
  readonly url: string;
  readonly store: ArtefactStore;
  readonly only?: string;
  readonly acceptShrink?: boolean;
  readonly evaluatedAt?: Date;
  /** URL that the builds connect to, for example of a proxy. */
  readonly buildUrl?: string;
  readonly settings?: Record<string, string>;
  readonly limits?: NightLimits;
  /** What the night does before its snapshot; default: nothing. */
  readonly prepare?: (evaluatedAt: Date) => Promise<void>;
}

/** Asks for a night and builds its files, without a queue; nothing is published yet. */
export async function buildNight(options: WholeNightOptions): Promise<Attempt> {
  const { db, url, store } = options;
  const runId = await requestNight(db, {
    nightDate: '2026-01-02',
    trigger: 'operator',
    scope: options.only === undefined ? everything : parseScope(options.only),
    acceptShrink: options.acceptShrink ?? false,
    evaluatedAt: options.evaluatedAt ?? null,
    requestedBy: 'test',
  });
  const signal = new AbortController().signal;
  const settings = { ...loadConfig(options.settings ?? {}), ...options.limits };
  const night = await takeNight({ db, databaseUrl: url, runId: runId! });
  if (night === undefined) throw new Error('the night is finished');
  try {
    await beginPreparation(night);
    await options.prepare?.(night.evaluatedAt);
    for (const buildId of await recordBuilds(db, night, await takeSnapshot(night))) {
      let record: (failure: Failure) => Promise<unknown> = async () => undefined;
      await runNightBuild({
        db,
        databaseUrl: options.buildUrl ?? url,
        store,
        settings,
        buildId,
        onFailure: (given) => (record = given),
        signal,
        log: silentLog,
      }).catch((error: unknown) => record(failureOf(error))); // the outcome is in the report
    }
    await untilBuilt(db, night, signal);
  } finally {
    await night.close();
  }
  return { runId: runId!, generation: night.generation };
}

/** Publishes what {@link buildNight} built. */
export async function publishBuilt(
  db: Pool,
  attempt: Attempt,
  settings: Record<string, string> = {},
  limits: NightLimits = {},
): Promise<NightReport> {
  const result = await publishNight({ db, ...attempt, limits: { ...loadConfig(settings), ...limits } });
  if (result.kind !== 'published') throw new Error(`the night ended as ${result.kind}`);
  return result.report;
}

/** Runs a night's steps one after the other in this process, without a queue. */
export async function runWholeNight(options: WholeNightOptions): Promise<NightReport> {
  return publishBuilt(options.db, await buildNight(options), options.settings, options.limits);
}

/** The outcome of each artefact of a report: `{ 'phones/US': 'published', ... }`. */
export function outcomes(report: NightReport): Record<string, string> {
  return Object.fromEntries(
    report.artefacts.map(({ cache, country, outcome }) => [country === '' ? cache : `${cache}/${country}`, outcome]),
  );
}
