import {
  readOperation,
  submitOperation,
  type OperationKind,
  type Submission,
} from '../../pipelines/branding/operation.ts';
import type { Vault } from '../../runtime/secrets/vault.ts';
import type { Log } from '../../runtime/log.ts';
import type { Pool } from '../../runtime/postgres.ts';
import type { Queues } from './backend.ts';
import { enqueueJob } from './enqueue.ts';

/** Services of the producer. */
interface BrandingProducer {
  readonly db: Pool;
  readonly vault: Vault;
  readonly queues: Queues;
  readonly log: Log;
}

/**
 * Submits a branding request: stores it, then queues it. Used by the CLI, the console, the drop folder, and services that
 * use this package. Wait for the answer with `readOperation`.
 * @throws ServiceError `brand_request_invalid`, `idempotency_conflict`, `database_unavailable`
 */
export async function requestBranding<Kind extends OperationKind>(
  { db, vault, queues, log }: BrandingProducer,
  submission: Submission<Kind>,
): Promise<{ operationId: number; repeated: boolean }> {
  const submitted = await submitOperation({ db, vault }, submission);
  // If this fails the reconciler queues the operation.
  if (submitted.repeated && (await readOperation(db, submitted.operationId)).state !== 'queued') return submitted;
  await enqueueJob(queues, 'run-branding', { operationId: submitted.operationId }).catch((error: unknown) =>
    log.warn({ err: error, operationId: submitted.operationId }, 'the operation could not be queued yet'),
  );
  return submitted;
}
