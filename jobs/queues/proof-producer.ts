import { openCodeCaller } from '../../pipelines/branding/proof/code-caller.ts';
import {
  startProofs,
  type StartedProofs,
  type StartProofsOptions,
} from '../../pipelines/branding/proof/number-proof.ts';
import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import type { Pool } from '../../runtime/postgres.ts';
import type { Queues } from './backend.ts';
import { enqueueJob } from './enqueue.ts';

/** Settings and services of the producer. */
interface ProofProducer {
  readonly db: Pool;
  readonly config: Config;
  readonly queues: Queues;
  readonly log: Log;
}

/**
 * Starts proofs of numbers and queues their calls. Used by the CLI and the console.
 * @throws ServiceError `number_calls_off`, and as `startProofs` does
 */
export async function requestProofs(
  { db, config, queues, log }: ProofProducer,
  request: Omit<StartProofsOptions, 'db' | 'limits'>,
): Promise<StartedProofs> {
  if (openCodeCaller(config) === null)
    throw new ServiceError('number_calls_off', {
      operation: 'prove number',
      hint: 'Set NUMBER_CALLS_FILE; docs/branding.md says what a caller is.',
    });
  const result = await startProofs({ db, limits: config, ...request });
  // If this fails the reconciler queues the calls.
  for (const { proofId } of result.started)
    await enqueueJob(queues, 'place-proof-calls', { proofId }).catch((error: unknown) =>
      log.warn({ err: error, proofId }, 'the calls of a proof could not be queued yet'),
    );
  return result;
}
