import type { Queues } from '../../jobs/queues/backend.ts';
import type { ArtefactStore } from '../../pipelines/caches/store/artefact-store.ts';
import type { ScoringPool } from '../../pipelines/audio/scorers/scoring-pool.ts';
import type { Vault } from '../../runtime/secrets/vault.ts';
import type { Config } from '../../runtime/config.ts';
import type { Log } from '../../runtime/log.ts';
import type { Pool } from '../../runtime/postgres.ts';

/** Dependencies of the console's routes, which use the same producers and queries as the CLI. */
export interface ConsoleWork {
  readonly config: Config;
  readonly db: Pool;
  readonly queues: Queues;
  readonly vault: Vault;
  readonly store: ArtefactStore;
  /** Child processes that decode and score untrusted recordings, started on demand. */
  readonly scoring: ScoringPool;
  readonly log: Log;
  /** Fires when the process stops. */
  readonly signal: AbortSignal;
}
