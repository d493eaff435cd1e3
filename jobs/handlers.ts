import { AudioStore } from '../pipelines/audio/store/audio-store.ts';
import { finishBatch, renewDueBatch } from '../pipelines/audio/batches/batch.ts';
import { loadRegistry } from '../pipelines/audio/models/registry.ts';
import { failChunk, performChunk } from '../pipelines/audio/batches/perform-chunk.ts';
import { collectGarbage } from '../pipelines/caches/store/artefact-check.ts';
import type { ArtefactStore } from '../pipelines/caches/store/artefact-store.ts';
import { openArtefactStore } from '../pipelines/caches/store/open-artefact-store.ts';
import { runNightBuild, sweepUnfinishedFiles } from '../pipelines/caches/night/night-build.ts';
import { failNight, withOpenNight } from '../pipelines/caches/night/night-opening.ts';
import { publishNight } from '../pipelines/caches/night/night-publishing.ts';
import { failFeedLoad, runFeedLoad } from '../pipelines/intake/feed-load.ts';
import { readTrustRoots } from '../pipelines/branding/trust-roots.ts';
import { openVault } from '../runtime/vault.ts';
import { expireLetters, destroyOldDocuments } from '../pipelines/branding/brand/expiry.ts';
import { openCodeCaller } from '../pipelines/branding/proof/code-caller.ts';
import { failProof, placeProofCalls } from '../pipelines/branding/proof/number-proof.ts';
import { decideLetterTextAside } from '../pipelines/branding/decision/letter-text-aside.ts';
import { failOperation } from '../pipelines/branding/operation.ts';
import { loadCodeSecret } from '../pipelines/branding/proof/proof-code.ts';
import { readLetter } from '../pipelines/branding/reading/letter-reader.ts';
import { runOperation } from '../pipelines/branding/requests/run-operation.ts';
import { destroyOldContacts } from '../pipelines/labels/number-dispute.ts';
import { pruneComplaints } from '../pipelines/labels/complaint-retention.ts';
import { listFeedArrivals, nameOfFeed } from '../pipelines/intake/feed-arrivals.ts';
import { pruneLabelHistory } from '../pipelines/labels/label-history.ts';
import { scoreRanges } from '../pipelines/labels/range-scoring.ts';
import { scoreComplaints } from '../pipelines/labels/scoring.ts';
import { errorCodeOf, isFinalFailure, publicReason, ServiceError, type ErrorCode } from '../runtime/errors.ts';
import type { Services } from '../runtime/services.ts';
import type { Queues } from './queues/backend.ts';
import { enqueueBatch, enqueueNight, enqueueNightFlow } from './queues/enqueue.ts';
import type { LazyScoring } from './lazy-scoring.ts';
import type { Handler, Handlers, JobContext } from './worker.ts';

export type HandlerServices = Pick<Services, 'config' | 'db' | 'database' | 'log'> & {
  readonly queues: Queues;
  readonly scoring: LazyScoring;
};

/** The handlers of every job: each joins the queue to a pipeline and does no work of its own. */
export function createHandlers(services: HandlerServices): Handlers {
  const store = openArtefactStore(services.config);
  return {
    'load-feed': loadFeed(services),
    'run-branding': runBranding(services),
    'place-proof-calls': placeCalls(services),
    'open-night': openNight(services, store),
    'build-artefact': buildNightArtefact(services, store),
    'publish-night': publish(services, store),
    'verify-items': verifyItems(services),
    'finish-batch': finish(services),
  };
}

function loadFeed({ config, db }: HandlerServices): Handler<'load-feed'> {
  return ({ loadId }, context) =>
    recordingTheEnd(
      context,
      async () => {
        const load = await runFeedLoad({
          db,
          feedDir: config.feedDir,
          loadId,
          limits: config,
          signal: context.signal,
          onProgress: (progress) => void context.updateProgress({ ...progress }),
        });
        if (load.state === 'held')
          context.log.warn(
            { loadId, feed: load.feed, gates: load.gates.map(({ gate }) => gate) },
            'the load is held by its gates',
          );
        return {
          state: load.state,
          rowsGiven: load.rowsGiven,
          rowsAccepted: load.rowsAccepted,
          rowsRejected: load.rowsRejected,
        };
      },
      (code, reason) => failFeedLoad(db, loadId, { code, reason }),
    );
}

const faultsOfTheWorker: ReadonlySet<ErrorCode> = new Set(['setting_invalid', 'document_sealed']);

function runBranding({ config, db }: HandlerServices): Handler<'run-branding'> {
  return ({ operationId }, context) =>
    recordingTheEnd(
      context,
      async () => {
        const vault = await openVault(config);
        const { outcome } = await runOperation({
          db,
          vault,
          operationId,
          limits: config,
          now: () => new Date(),
          policy: config.letterApproval,
          decideText: (facts) => decideLetterTextAside(facts, context.signal),
          readLetter: async (bytes) =>
            readLetter({ bytes, limits: config, trustRootsPem: await readTrustRoots(config), signal: context.signal }),
        });
        return { outcome };
      },
      // A worker that is set up wrongly has not decided anything: the operation waits for one that is not.
      async (code, reason) =>
        faultsOfTheWorker.has(code) ? undefined : failOperation(db, operationId, { code, reason }),
    );
}

/** Places the calls of a proof; one that cannot be placed ends it. */
function placeCalls({ config, db }: HandlerServices): Handler<'place-proof-calls'> {
  return ({ proofId }, context) =>
    recordingTheEnd(
      context,
      async () => {
        const caller = openCodeCaller(config);
        if (caller === null)
          throw new ServiceError('number_calls_off', {
            operation: 'place verification calls',
            object: `proof ${proofId}`,
          });
        return {
          placed: await placeProofCalls({ db, caller, secret: await loadCodeSecret(config), proofId, limits: config }),
        };
      },
      (code, reason) => failProof(db, proofId, { code, reason, actor: 'worker' }),
    );
}

/** Opens the night, queues its builds with the publication that follows them, and holds the snapshot until they are done. */
function openNight({ config, db, database, queues }: HandlerServices, store: ArtefactStore): Handler<'open-night'> {
  return ({ runId }, context) =>
    recordingTheEnd(
      context,
      () =>
        withOpenNight(
          {
            db,
            databaseUrl: database.url,
            store,
            settings: config,
            runId,
            prepare: (evaluatedAt) => prepareNight({ config, db }, evaluatedAt, context),
          },
          async (night) => {
            await enqueueNightFlow(queues, night);
            await night.untilBuilt(context.signal);
          },
        ),
      (code, reason) => failNight(db, { runId, code, reason }),
    );
}

async function prepareNight(
  { config, db }: Pick<HandlerServices, 'config' | 'db'>,
  evaluatedAt: Date,
  { log }: JobContext,
): Promise<void> {
  const scoring = await scoreComplaints(db, evaluatedAt, config);
  if (scoring.ruleWaiting === undefined) log.info({ evaluatedAt, ...scoring }, 'complaints are scored');
  else log.warn({ ruleWaiting: scoring.ruleWaiting }, 'complaints are not scored');
  if (scoring.silentDays !== undefined)
    log.warn(
      { silentDays: scoring.silentDays, labelHoldDaysMax: config.labelHoldDaysMax },
      'labels age, though the complaint feed is away',
    );
  log.info({ evaluatedAt, ...(await scoreRanges(db, evaluatedAt)) }, 'ranges at risk are found');
  // Housekeeping: what the night publishes carries its own end, so no failure here may cost it.
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

function buildNightArtefact(
  { config, db, database }: HandlerServices,
  store: ArtefactStore,
): Handler<'build-artefact'> {
  return ({ buildId }, { signal, log, lastAttempt }) =>
    runNightBuild({ db, databaseUrl: database.url, store, settings: config, buildId, lastAttempt, signal, log });
}

function publish({ config, db, queues }: HandlerServices, store: ArtefactStore): Handler<'publish-night'> {
  return async ({ runId, generation }, { log }) => {
    const lateFeeds = (await listFeedArrivals(db, config, new Date())).filter(({ late }) => late);
    if (lateFeeds.length > 0) log.warn({ runId, lateFeeds: lateFeeds.map(nameOfFeed) }, 'feeds have stopped coming');
    const result = await publishNight({
      db,
      runId,
      generation,
      limits: config,
      lateFeeds: lateFeeds.map(({ feed, source, lastAt, ageHours, expectedHours }) => ({
        feed,
        source,
        lastAt: lastAt?.toISOString() ?? null,
        ageHours,
        expectedHours,
      })),
    });
    if (result.kind === 'reopen') await enqueueNight(queues, { runId });
    if (result.kind === 'published')
      log.info({ runId, outcome: result.report.outcome, ...result.report.counts }, 'the night is published');
    await sweepUnfinishedFiles(db, store); // what killed workers left
    if (result.kind === 'published')
      await collectGarbage({ db, store, versionsKept: config.versionsKept, dryRun: false });
    return { kind: result.kind };
  };
}

function verifyItems({ config, db, scoring }: HandlerServices): Handler<'verify-items'> {
  const store = new AudioStore(config.audioDir);
  return (job, context) =>
    recordingTheEnd(
      context,
      async () => {
        const { log, signal } = context;
        const end = await performChunk(
          { db, store, registry: await loadRegistry(db, config), score: scoring.score, limits: config, log, signal },
          job,
        );
        // At once: the job that ends the batch may wait behind others.
        if ((await finishBatch(db, job)) === 'done') log.info({ batchId: job.batchId }, 'the batch is done');
        return { ...end };
      },
      async (_code, reason) => {
        await failChunk(db, job, reason);
        await finishBatch(db, job);
      },
    );
}

/** Ends a batch, or queues again what crashed jobs have left. */
function finish({ db, queues }: HandlerServices): Handler<'finish-batch'> {
  return async (job, { log }) => {
    const kind = await finishBatch(db, job);
    const due = kind === 'missing' ? await renewDueBatch(db, job) : undefined;
    if (due !== undefined) {
      log.warn(
        { batchId: job.batchId, chunks: due.chunks.length },
        'items of the batch have no outcome and are queued again',
      );
      await enqueueBatch(queues, due);
    }
    return { kind };
  };
}

/** Runs `work`; where it fails for good, records so in the database before the queue is told. */
async function recordingTheEnd<Result>(
  { lastAttempt }: JobContext,
  work: () => Promise<Result>,
  record: (code: ReturnType<typeof errorCodeOf>, reason: string) => Promise<void>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isFinalFailure(error, lastAttempt)) await record(errorCodeOf(error), publicReason(error));
    throw error;
  }
}
