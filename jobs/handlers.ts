import { AudioStore } from '../pipelines/audio/store/audio-store.ts';
import { finishBatch, renewDueBatch } from '../pipelines/audio/batches/batch.ts';
import { loadRegistry } from '../pipelines/audio/models/registry.ts';
import { failChunk, performChunk } from '../pipelines/audio/batches/perform-chunk.ts';
import { openArtefactStore } from '../pipelines/caches/store/open-artefact-store.ts';
import { failFeedLoad, removeFileOfLoad, runFeedLoad } from '../pipelines/feeds/feed-load.ts';
import { readLetterTrust } from '../pipelines/branding/letter-trust.ts';
import { openVault } from '../runtime/secrets/vault.ts';
import { openCodeCaller } from '../pipelines/branding/proof/code-caller.ts';
import { failProof, placeProofCalls } from '../pipelines/branding/proof/number-proof.ts';
import { decideLetterText } from '../pipelines/branding/decision/letter-text-decision.ts';
import { failOperation } from '../pipelines/branding/operation.ts';
import { loadCodeSecret } from '../pipelines/branding/proof/proof-code.ts';
import { readLetterFile } from '../pipelines/branding/reading/letter-reader.ts';
import { attemptDelivery, failAttempt } from '../pipelines/webhooks/delivery.ts';
import { runOperation } from '../pipelines/branding/requests/run-operation.ts';
import { ServiceError, type ErrorCode } from '../runtime/errors.ts';
import { unmeasured, type Metrics } from '../runtime/metrics/metrics.ts';
import type { Services } from '../runtime/services/services.ts';
import type { Queues } from './queues/backend.ts';
import { enqueueBatch } from './queues/enqueue.ts';
import type { LazyScoring } from './lazy-scoring.ts';
import type { Handler, Handlers } from './worker.ts';
import { nightHandlers } from './night.ts';

type HandlerServices = Pick<Services, 'config' | 'db' | 'database' | 'log'> & {
  readonly metrics?: Metrics;
  readonly queues: Queues;
  readonly scoring: LazyScoring;
};

/** The handlers of all jobs: each connects a queue to a pipeline and does no work of its own. */
export function createHandlers(services: HandlerServices): Handlers {
  return {
    'load-feed': feedLoadHandler(services),
    'run-branding': brandingHandler(services),
    'place-proof-calls': proofCallsHandler(services),
    ...nightHandlers({ ...services, store: openArtefactStore(services.config) }),
    'verify-items': verificationHandler(services),
    'finish-batch': batchEndHandler(services),
    'deliver-webhook': webhookHandler(services),
  };
}

function feedLoadHandler({ config, db }: HandlerServices): Handler<'load-feed'> {
  return async ({ loadId }, { log, signal, onFailure, updateProgress }) => {
    const { feedDir } = config;
    onFailure(async (failure) => {
      await failFeedLoad(db, loadId, failure);
      await removeFileOfLoad(db, feedDir, loadId);
    });
    const load = await runFeedLoad({
      db,
      feedDir,
      loadId,
      limits: config,
      signal,
      onProgress: (progress) => void updateProgress({ ...progress }),
    });
    if (load.state === 'held')
      log.warn({ loadId, feed: load.feed, gates: load.gates.map(({ gate }) => gate) }, 'the load is held by its gates');
    const { state, rowsGiven, rowsAccepted, rowsRejected } = load;
    return { state, rowsGiven, rowsAccepted, rowsRejected };
  };
}

const workerFaults: ReadonlySet<ErrorCode> = new Set(['setting_invalid', 'document_sealed']);

function brandingHandler({ config, db }: HandlerServices): Handler<'run-branding'> {
  return async ({ operationId }, { signal, onFailure }) => {
    // A wrongly configured worker has decided nothing: the operation stays queued for another one.
    onFailure(async (failure) => {
      if (!workerFaults.has(failure.code)) await failOperation(db, operationId, failure);
    });
    const { outcome } = await runOperation({
      db,
      vault: await openVault(config),
      operationId,
      now: () => new Date(),
      policy: config.letterApproval,
      numbersWaitingMax: config.numbersWaitingMax,
      signal,
      revocation: config.letterRevocation,
      decideText: async (facts) => decideLetterText(facts),
      readLetter: async (bytes) => readLetterFile({ bytes, ...(await readLetterTrust(config)), signal }),
    });
    return { outcome };
  };
}

/** Places the calls of a proof, which fails if one of them cannot be placed. */
function proofCallsHandler({ config, db }: HandlerServices): Handler<'place-proof-calls'> {
  return async ({ proofId }, { onFailure }) => {
    onFailure((failure) => failProof(db, proofId, { ...failure, actor: 'worker' }));
    const caller = openCodeCaller(config);
    if (caller === null)
      throw new ServiceError('number_calls_off', { operation: 'place verification calls', object: `proof ${proofId}` });
    const secret = await loadCodeSecret(config);
    return { placed: await placeProofCalls({ db, caller, secret, proofId }) };
  };
}

function verificationHandler({ config, db, scoring, metrics = unmeasured }: HandlerServices): Handler<'verify-items'> {
  const store = new AudioStore(config.audioDir);
  const score: LazyScoring['score'] = async (request, signal) => {
    const startedAt = performance.now();
    const scored = await scoring.score(request, signal);
    metrics.observe('caller_trust_recording_scoring_seconds', {}, (performance.now() - startedAt) / 1000);
    metrics.count('caller_trust_recording_audio_seconds_total', {}, scored.audio.durationSeconds);
    return scored;
  };
  return async (job, { log, signal, onFailure }) => {
    onFailure(async ({ reason }) => {
      await failChunk(db, job, reason);
      await finishBatch(db, job);
    });
    const registry = await loadRegistry(db, config);
    const end = await performChunk({ db, store, registry, score, limits: config, log, signal }, job);
    for (const outcome of ['scored', 'reused', 'refused'] as const)
      metrics.count('caller_trust_recordings_total', { outcome }, end[outcome]);
    // Not only in the job that ends the batch, which may wait behind others.
    if ((await finishBatch(db, job)) === 'done') log.info({ batchId: job.batchId }, 'the batch is done');
    return { ...end };
  };
}

/** Ends a batch, or queues the items of crashed jobs again. */
function batchEndHandler({ db, queues }: HandlerServices): Handler<'finish-batch'> {
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

/** Makes one attempt at a delivery. A failed one is an outcome, and the database has the instant of the next. */
function webhookHandler({ config, db }: HandlerServices): Handler<'deliver-webhook'> {
  return async ({ deliveryId }, { signal, onFailure }) => {
    onFailure(() => failAttempt(db, deliveryId));
    return attemptDelivery({ db, vault: await openVault(config), limits: config, signal }, deliveryId);
  };
}
