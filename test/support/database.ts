import { randomBytes } from 'node:crypto';
import { afterAll, inject } from 'vitest';
import { connect, createPool, type Pool } from '../../runtime/postgres.ts';

/** A migrated database of a test file's own. */
export interface TestDatabase {
  readonly url: string;
  /** URL of the login that can only read. */
  readonly apiUrl: string;
  /** URL of the login that can only submit work. */
  readonly intakeUrl: string;
  readonly db: Pool;
  drop(): Promise<void>;
}

const template = 'caller_trust';

/**
 * A database cloned from the migrated template. Dropping it fails while a connection other than the pool's
 * is open, so a leaked client fails the test.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`); // a third of the processor time of WAL_LOG
  const url = withDatabase(inject('databaseUrl'), name);
  const db = createPool({ url, applicationName: 'test', connectionsMax: 10, onIdleError: () => {} });
  return {
    url,
    apiUrl: withDatabase(inject('apiDatabaseUrl'), name),
    intakeUrl: withDatabase(inject('intakeDatabaseUrl'), name),
    db,
    async drop() {
      await db.end();
      await dropWhenFree(name);
    },
  };
}

/** The same, dropped after the last test of the file. Call it at the top level of a test file. */
export async function useTestDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  afterAll(() => database.drop());
  return database;
}

/** Closing connections take a moment to end on the server; what is open after that is a leak. */
async function dropWhenFree(name: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await onServer(`DROP DATABASE ${name}`);
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function onServer(statement: string): Promise<void> {
  const client = await connect({ url: withDatabase(inject('databaseUrl'), 'postgres'), applicationName: 'test' });
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string): string {
  return url.replace(/[^/]+$/, name);
}
