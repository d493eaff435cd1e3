import type { Queues } from '../../jobs/queues/backend.ts';
import type { KeyTable } from '../../pipelines/access/key-table.ts';
import type { Config } from '../../runtime/config.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics/metrics.ts';
import type { Pool } from '../../runtime/postgres.ts';
import type { Vault } from '../../runtime/secrets/vault.ts';
import type { intakeLimits } from './intake-limits.ts';
import type { UploadWriters } from './upload-writers.ts';
import type { WorkRoom } from './work-room.ts';

/** Dependencies of the routes, which use the same producers as the CLI. */
export interface IntakeWork {
  readonly config: Config;
  readonly limits: typeof intakeLimits;
  readonly db: Pool;
  readonly queues: Queues;
  readonly vault: Vault;
  readonly keys: KeyTable;
  readonly writers: UploadWriters;
  readonly room: WorkRoom;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Fires when the process stops. */
  readonly signal: AbortSignal;
}
