import type { TestProject } from 'vitest/node';
import { acquireEmbeddedDatabase } from '../../runtime/services/embedded-postgres.ts';
import { connect } from '../../runtime/postgres.ts';
import { migrate } from '../../sql/migrate.ts';
import { makeRunDirectory } from './run-directory.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Cluster of this test run; its database `caller_trust` is migrated and is the template of each test file's own. */
    databaseUrl: string;
    /** The same for the login that can only read. */
    apiDatabaseUrl: string;
    /** The same for the login that can only submit work. */
    intakeDatabaseUrl: string;
  }
}

/** The cluster of a run is never started again after a crash. Tests that kill a server start one of their own. */
const unneededDurability = ['fsync', 'full_page_writes'];

/** Starts one PostgreSQL for the whole run, with a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await makeRunDirectory({ isLarge: process.env['TEST_SET'] === 'long' });
  process.env['TMPDIR'] = directory.temporary; // for the workers, and the programs that they start
  const embedded = await acquireEmbeddedDatabase(directory.stateDir);
  const client = await connect({ url: embedded.url, applicationName: 'test template' });
  for (const setting of unneededDurability) await client.query(`ALTER SYSTEM SET ${setting} = off`);
  await client.query('SELECT pg_reload_conf()');
  await migrate(client);
  await client.end();
  project.provide('databaseUrl', embedded.url);
  project.provide('apiDatabaseUrl', embedded.apiUrl);
  project.provide('intakeDatabaseUrl', embedded.intakeUrl!); // this version has started the server
  return async () => {
    await embedded.release();
    await directory.remove();
  };
}
