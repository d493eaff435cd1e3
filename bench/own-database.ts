import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { connect, createPool, type Pool } from '../runtime/postgres.ts';
import { acquireEmbeddedDatabase, removeStateDirectory } from '../runtime/services/embedded-postgres.ts';
import { migrate } from '../sql/migrate.ts';

/** An embedded database of a bench's own with the tables of the service, and a directory for its files. */
interface OwnDatabase {
  readonly directory: string;
  /** The state directory of the service, in `directory`. */
  readonly stateDir: string;
  readonly url: string;
  /** Directory of the cluster. */
  readonly home: string;
  readonly db: Pool;
  readonly client: Client;
  /** Ends it, and removes the directory. */
  close(): Promise<void>;
}

/** Opens one in a new directory, or in `given`, which `close` keeps. */
export async function openOwnDatabase(given?: string): Promise<OwnDatabase> {
  const directory = given ?? (await mkdtemp(join(tmpdir(), 'caller-trust-bench-')));
  const stateDir = join(directory, 'state');
  const { url, home, release } = await acquireEmbeddedDatabase(stateDir);
  const client = await connect({ url, applicationName: 'bench' });
  await migrate(client);
  const db = createPool({ url, applicationName: 'bench', connectionsMax: 5, onIdleError: () => {} });
  const close = async () => {
    await client.end();
    await db.end();
    await release();
    if (given !== undefined) return;
    await removeStateDirectory(stateDir);
    await rm(directory, { recursive: true, force: true });
  };
  return { directory, stateDir, url, home, db, client, close };
}
