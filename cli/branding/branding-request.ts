import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { requestBranding } from '../../jobs/queues/branding-producer.ts';
import { readBrand } from '../../pipelines/branding/brand/brand-record.ts';
import {
  listOperationRows,
  readOperation,
  type Operation,
  type OperationKind,
  type OperationRequest,
  type OperationRow,
} from '../../pipelines/branding/operation.ts';
import { readSubmittedFile } from '../../pipelines/branding/submitted-file.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Pool } from '../../runtime/postgres.ts';
import { currentActor, withServices, type Outcome } from '../command.ts';
import { formatOperation } from './brand-tables.ts';
import { readPages } from '../paging.ts';
import { withQueues, withWorker } from '../with-worker.ts';
import { untilEnded } from '../until-ended.ts';

const pollMs = 100;

/** Options of the commands that submit a request. */
export interface RequestOptions {
  readonly owner?: string;
  readonly letter?: string;
  readonly numbers?: string;
  readonly key?: string;
  readonly wait: boolean;
}

/** Adds the options of every request. */
export function addRequestOptions(command: Command): Command {
  return command
    .option('--letter <file>', 'letter of authorization, PDF or PNG; a scan needs 200 dots per inch, 150 at least')
    .option('--key <key>', 'idempotency key: the same request under the same key runs once; by default a new one')
    .option('--no-wait', 'return when the operation is queued');
}

/** An operation to submit; the submission validates the fields of the request. */
interface BrandingRequest {
  readonly kind: OperationKind;
  readonly fields: Record<string, unknown>;
  /** Handle of an existing brand: its owner is the default owner of the request. */
  readonly of: string | null;
}

/** Submits a request, and waits for its end unless `--no-wait` is given. */
export async function runRequest({ kind, fields, of }: BrandingRequest, options: RequestOptions): Promise<Outcome> {
  return withServices((services) =>
    withQueues(services, async (queues) => {
      const { db, config, log } = services;
      const owner = options.owner ?? (of === null ? '' : (await readBrand(db, of)).owner);
      const key = options.key ?? `cli-${randomUUID()}`;
      const files = await readFiles(options);
      const request = fields as OperationRequest; // validated by the submission
      const { operationId, repeated } = await requestBranding(
        { db, vault: await openVault(config), queues, log },
        { kind, request, owner, key, requestedBy: currentActor(), ...files },
      );
      const operation = await readOperation(db, operationId);
      if (operation.state !== 'queued') return operationOutcome(db, operation, { repeated });
      if (!options.wait)
        return {
          json: { operationId, key, owner, state: 'queued', repeated },
          text: `Operation ${operationId} is queued under the key ${key}.`,
        };
      return operationOutcome(db, await withWorker(services, queues, () => untilOperationEnded(db, operation)), {
        repeated,
      });
    }),
  );
}

async function readFiles({ letter, numbers }: RequestOptions) {
  return {
    letter: letter === undefined ? undefined : await readSubmittedFile(letter, 'letter'),
    numbersFile: numbers === undefined ? undefined : await readSubmittedFile(numbers, 'numbers'),
  };
}

function untilOperationEnded(db: Pool, { operationId, key }: Operation): Promise<Operation> {
  return untilEnded({
    read: () => readOperation(db, operationId),
    hasEnded: ({ state }) => state !== 'queued',
    describe: ({ state }) => `operation ${operationId}: ${state}`,
    pollMs,
    interrupted: () => {
      const hint = `It continues, under the key ${key}: \`caller-trust operation show ${operationId}\`.`;
      return new ServiceError('interrupted', { operation: 'wait for operation', object: String(operationId), hint });
    },
  });
}

/** The outcome of an operation with all refused rows; a failure if it failed or was rejected. */
export async function operationOutcome(
  db: Pool,
  operation: Operation,
  more: Record<string, unknown> = {},
): Promise<Outcome> {
  const refused = await listRows(db, operation.operationId, { refused: true, after: 0 });
  const failed = operation.state === 'failed' || operation.result?.outcome === 'rejected';
  return { json: { ...operation, ...more, refused }, text: formatOperation(operation, refused), failed };
}

/** The rows of an operation's numbers, up to the limit if there is one. */
export function listRows(
  db: Pool,
  operationId: number,
  { refused, after, limit }: { refused: boolean; after: number; limit?: number | undefined },
): Promise<OperationRow[]> {
  return readPages(
    (last, size) => listOperationRows(db, operationId, { refused, after: last?.line ?? after, limit: size }),
    limit,
  );
}
