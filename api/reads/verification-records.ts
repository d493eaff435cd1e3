import type { FastifyRequest } from 'fastify';
import { listBatches, type Batch } from '../../pipelines/audio/batches/batch.ts';
import { findVerification, type VerificationDetailAnswer } from '../../pipelines/audio/batches/client-verification.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import type { BatchAnswer } from './verification-schemas.ts';

/** A batch or a verification by its id, which belongs to one client. */
interface OwnedId {
  readonly client: string;
  readonly id: string;
}

/** What the routes of verifications and batches share. */
export const verificationReads = { scope: 'verifications:read', tag: 'Verifications' } as const;

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id in the path, with the client of the key; undefined if the text cannot be an id. */
export function ownedIdOf(request: FastifyRequest, { client }: { client: string }): OwnedId | undefined {
  const { id } = request.params as { id: string };
  return idForm.test(id) ? { client, id } : undefined;
}

/**
 * A verification with its windows. @throws ServiceError `verification_unknown` if the client has none of this id, even if another
 * client has.
 */
export async function readVerification(db: Queryable, { client, id }: OwnedId): Promise<VerificationDetailAnswer> {
  const verification = await findVerification(db, { client, id });
  if (verification === undefined) throw unknownVerification();
  return verification;
}

/** Finds a batch. @throws ServiceError `batch_unknown` if the client has none of this id, even if another client has. */
export async function findBatch(db: Queryable, { client, id }: OwnedId): Promise<Batch> {
  const [batch] = await listBatches(db, { id, owner: client, limit: 1 });
  if (batch === undefined) throw unknownBatch();
  return batch;
}

export function unknownVerification(): ServiceError {
  return new ServiceError('verification_unknown', { operation: 'find verification' });
}

export function unknownBatch(): ServiceError {
  return new ServiceError('batch_unknown', { operation: 'find batch' });
}

/** The public form of a batch. */
export function batchAnswer(batch: Batch): BatchAnswer {
  const { id, name, state, mode, requestedModel, release, pinned, settings, items, requestedAt, endedAt } = batch;
  return {
    id,
    name,
    state,
    mode,
    requestedModel,
    release,
    models: pinned,
    channels: settings.channels,
    items,
    times: { requested: requestedAt.toISOString(), ended: endedAt === null ? null : endedAt.toISOString() },
    links: { self: `/v1/batches/${id}`, verifications: `/v1/verifications?batch=${id}` },
  };
}
