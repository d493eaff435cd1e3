import type { ArtefactStore } from '../pipelines/caches/store/artefact-store.ts';
import type { Log } from '../runtime/log.ts';
import { repeat } from '../runtime/processes/repeat.ts';
import { tracePlace } from '../runtime/trace-place.ts';
import { inSpan } from '../runtime/tracing/tracing.ts';
import type { Services } from '../runtime/services/services.ts';
import { openVault } from '../runtime/secrets/vault.ts';
import type { Queues } from './queues/backend.ts';
import type { Handlers, Handler } from './worker.ts';
import {
  failNight,
  takeNight,
  beginPreparation,
  takeSnapshot,
  recordBuilds,
  untilBuilt,
  type TakenNight,
} from '../pipelines/caches/night/night-opening.ts';
import { enqueueJob, enqueueNightFlow, restoreNightFlow } from './queues/enqueue.ts';
import { scoreComplaints, scoringDefaults } from '../pipelines/labels/scoring.ts';
import { scoreRanges } from '../pipelines/labels/range-scoring.ts';
import { expireLetters, destroyOldDocuments } from '../pipelines/branding/brand/expiry.ts';
import { pruneComplaints } from '../pipelines/labels/complaint-retention.ts';
import { pruneLabelHistory } from '../pipelines/labels/label-history.ts';
import { destroyOldContacts } from '../pipelines/labels/number-dispute.ts';
import { runNightBuild, sweepUnfinishedFiles } from '../pipelines/caches/artefact/night-build.ts';
import { sweepFeedFiles } from '../pipelines/feeds/feed-load.ts';
import { listFeedArrivals, nameOfFeed } from '../pipelines/feeds/feed-arrivals.ts';
import { publishNight } from '../pipelines/caches/night/night-publishing.ts';
import { collectGarbage } from '../pipelines/caches/store/artefact-check.ts';

/** Settings and services of the jobs of a night. */
type NightServices = Pick<Services, 'config' | 'db'> & {
  readonly database: { readonly url: string };
  readonly queues: Queues;
  readonly store: ArtefactStore;
};

/** Pause between two checks that the queue still has the builds of a night. */
const restoreSeconds = 2;

/** The jobs of a night. */
export function nightHandlers(
  services: NightServices,
): Pick<Handlers, 'open-night' | 'build-artefact' | 'publish-night'> {
  return {
    'open-night': nightOpener(services),
    'build-artefact': artefactBuilder(services),
    'publish-night': nightPublisher(services),
  };
}

/**
 * The steps of a night. Its builds are jobs of their own, which any worker runs while this job holds the snapshot; the job
 * after the last of them publishes them with the report.
 */
function nightOpener(services: NightServices): Handler<'open-night'> {
  const { db, database, queues } = services;
  return async ({ runId }, { log, signal, onFailure }) => {
    onFailure((failure) => failNight(db, { runId, ...failure }));
    const night = await takeNight({ db, databaseUrl: database.url, runId });
    if (night === undefined) return; // it is finished
    try {
      await beginPreparation(night);
      await inSpan('prepare night', { 'night.run': runId }, () => prepareNight(services, night, { log, signal }));
      const buildIds = await recordBuilds(db, night, await takeSnapshot(night));
      // This process alone queues the builds, again if the queue has lost them: a second one could repeat those that have ended.
      const flow = { runId, generation: night.generation, buildIds };
      await enqueueNightFlow(queues, flow);
      const restoring = repeat({
        seconds: restoreSeconds,
        work: () => restoreNightFlow(queues, flow),
        onError: (error) => log.warn({ err: error }, 'the queue of the builds cannot be checked'),
      });
      try {
        await inSpan('hold snapshot', { 'night.run': runId }, () => untilBuilt(db, night, signal));
      } finally {
        await restoring.stop();
      }
    } finally {
      await night.close();
    }
  };
}

async function prepareNight(
  { config, db }: NightServices,
  { evaluatedAt }: TakenNight,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<void> {
  const scoring = await scoreComplaints(db, evaluatedAt, { ...scoringDefaults, signal });
  if (scoring.ruleWaiting === undefined) log.info({ evaluatedAt, ...scoring }, 'complaints are scored');
  else log.warn({ ruleWaiting: scoring.ruleWaiting }, 'complaints are not scored');
  if (scoring.silentDays !== undefined)
    log.warn(
      { silentDays: scoring.silentDays, ...scoringDefaults },
      'labels age, although the complaint feed is absent',
    );
  log.info({ evaluatedAt, ...(await scoreRanges(db, evaluatedAt, signal)) }, 'ranges at risk are found');
  // Published rows carry their own end, so a failure of the housekeeping does not stop the night.
  const housekeep = async () => {
    log.info({ evaluatedAt, ...(await expireLetters(db, evaluatedAt)) }, 'letters are expired');
    const destroyed = await destroyOldDocuments(db, { retentionDays: config.letterRetentionDays, at: new Date() });
    if (destroyed > 0) log.info({ destroyed }, 'documents whose time of retention is over are destroyed');
    const pruned = await pruneComplaints(db, { retentionDays: config.complaintRetentionDays, at: new Date() });
    if (pruned > 0) log.info({ pruned }, 'complaints whose time of retention is over are deleted');
  };
  await housekeep().catch((error: unknown) =>
    log.error({ err: error }, 'housekeeping failed; the next night tries again'),
  );
  const forget = async () => {
    const pruned = await pruneLabelHistory(db, { retentionDays: config.labelHistoryDays, at: new Date() });
    const contacts = await destroyOldContacts(db, { retentionDays: config.disputeContactDays, at: new Date() });
    if (pruned + contacts > 0)
      log.info({ pruned, contacts }, 'old changes of labels and contacts of disputes are removed');
  };
  await forget().catch((error: unknown) =>
    log.error({ err: error }, 'the history of labels could not be pruned; the next night tries again'),
  );
}

function artefactBuilder({ config, db, database, store }: NightServices): Handler<'build-artefact'> {
  return ({ buildId }, { signal, log, onFailure }) =>
    runNightBuild({ db, databaseUrl: database.url, store, settings: config, buildId, onFailure, signal, log });
}

/** Publishes the builds with their report, or queues the night again if its snapshot was lost; then removes unneeded files. */
function nightPublisher({ config, db, queues, store }: NightServices): Handler<'publish-night'> {
  return async ({ runId, generation }, { log, onFailure }) => {
    onFailure((failure) => failNight(db, { runId, ...failure }));
    const lateFeeds = (await listFeedArrivals(db, config, new Date())).filter(({ late }) => late);
    if (lateFeeds.length > 0) log.warn({ runId, lateFeeds: lateFeeds.map(nameOfFeed) }, 'feeds have stopped coming');
    const result = await publishNight({
      db,
      runId,
      generation,
      traceId: tracePlace()?.traceId,
      limits: config,
      vault: await openVault(config),
      lateFeeds: lateFeeds.map(({ feed, source, lastAt, ageHours, expectedHours }) => ({
        feed,
        source,
        lastAt: lastAt?.toISOString() ?? null,
        ageHours,
        expectedHours,
      })),
    });
    if (result.kind === 'reopen') await enqueueJob(queues, 'open-night', { runId });
    if (result.kind === 'published')
      log.info({ runId, outcome: result.report.outcome, ...result.report.counts }, 'the night is published');
    await sweepUnfinishedFiles(db, store); // of killed workers
    await sweepFeedFiles(db, config.feedDir);
    if (result.kind === 'published')
      await collectGarbage({ db, store, versionsKept: config.versionsKept, dryRun: false });
    return { kind: result.kind };
  };
}
