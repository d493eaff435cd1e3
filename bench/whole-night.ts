import { runNightBuild } from '../pipelines/caches/build/night-build.ts';
import { SegmentIndexes } from '../pipelines/caches/build/plan/basis.ts';
import {
  beginPreparation,
  planNight,
  recordBuilds,
  takeNight,
  takeSnapshot,
} from '../pipelines/caches/night/night-opening.ts';
import { publishNight } from '../pipelines/caches/night/night-publishing.ts';
import type { ReportedArtefact } from '../pipelines/caches/night/night-report.ts';
import { requestNight, type NightScope } from '../pipelines/caches/night/night-request.ts';
import type { ArtefactStore } from '../pipelines/caches/store/artefact-store.ts';
import { loadConfig, type Config } from '../runtime/config.ts';
import { createLog } from '../runtime/log.ts';
import type { Pool } from '../runtime/postgres.ts';

/** A night of a bench. */
interface WholeNight {
  readonly db: Pool;
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  readonly settings: Config;
  readonly scope: NightScope;
  readonly fullBuild: boolean;
  /** Is called when a step has ended. */
  readonly onStep?: (step: 'marks and snapshot' | 'counts' | 'build') => void;
}

/** Runs a night, all of it but the queue and the scoring, one build after another, and returns the outcome of each artefact. */
export async function runWholeNight({
  db,
  databaseUrl,
  store,
  settings,
  scope,
  fullBuild,
  onStep = () => {},
}: WholeNight): Promise<readonly ReportedArtefact[]> {
  const log = createLog({ level: 'warn', process: 'bench' });
  const runId = await requestNight(db, {
    nightDate: '2026-01-02',
    trigger: 'operator',
    scope,
    acceptShrink: false,
    fullBuild,
    evaluatedAt: new Date('2026-01-01T01:00:00Z'),
    requestedBy: 'bench',
  });
  const signal = new AbortController().signal;
  const open = (await takeNight({ db, databaseUrl, runId: runId! }))!;
  await beginPreparation(open);
  const planning = { indexes: new SegmentIndexes(store), settings, log };
  const snapshot = await takeSnapshot(open, planning);
  onStep('marks and snapshot');
  const builds = await planNight(open, snapshot, planning);
  onStep('counts');
  for (const buildId of await recordBuilds(db, { night: open, snapshot, builds }))
    await runNightBuild({ db, databaseUrl, store, settings, buildId, onFailure: () => {}, signal, log });
  onStep('build');
  await open.close();
  const published = await publishNight({ db, runId: runId!, generation: open.generation, limits: loadConfig({}) });
  if (published.kind !== 'published' || published.report.outcome !== 'ok')
    throw new Error(`the night ended as ${JSON.stringify(published)}`);
  return published.report.artefacts;
}
