import type { TestProject } from 'vitest/node';
import { acquireEmbeddedDatabase } from '../../runtime/services/embedded-postgres.ts';
import { connect } from '../../runtime/postgres.ts';
import { migrate } from '../../sql/migrate.ts';
import { makeRunDirectory } from './run-directory.ts';
import { listTemporaryFiles, RunWatch } from './run-watch.ts';

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

/** Starts one PostgreSQL for the whole run, with a migrated template database; at its end, the run fails by what it has left. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const watch = new RunWatch();
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
  project.provide('intakeDatabaseUrl', embedded.intakeUrl);
  return async () => {
    await embedded.release();
    const left = [...(await watch.end()), ...(await listTemporaryFiles(directory.temporary))];
    await directory.remove();
    left.push(...watch.listDataDirectories().map((path) => `folder ${path}`));
    if (left.length === 0) return;
    process.exitCode = 1; // vitest prints what is thrown here, and does not fail by it
    throw new Error(`the tests have left behind:\n${left.join('\n')}`);
  };
}
