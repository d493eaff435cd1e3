import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../../runtime/config.ts';
import { runProcfile } from '../../runtime/services/procfile.ts';
import { acquireEmbeddedDatabase } from '../../runtime/services/embedded-postgres.ts';
import { createLog } from '../../runtime/log.ts';
import { openServices, type Services } from '../../runtime/services/services.ts';
import { repeat } from '../../runtime/processes/repeat.ts';
import { stopSignal } from '../../runtime/processes/shutdown.ts';
import { migrateDatabase, run } from '../command.ts';
import { packageRoot } from '../../runtime/package-root.ts';

/** `start`: runs every process of the Procfile until SIGTERM or Ctrl-C. */
export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('run every process of the Procfile; without DATABASE_URL on the embedded database')
    .action(
      run(async () => {
        await start();
        return { json: { state: 'stopped' }, text: '' };
      }),
    );
}

/** Seconds between checks that the embedded database is running. */
const databaseWatchSeconds = 5;

async function start(): Promise<void> {
  const config = loadConfig();
  // First, so that a signal during the start of the database is handled too.
  const signal = stopSignal(createLog({ level: config.logLevel, process: 'start' }));
  const services = await openServices(config, 'start');
  const watch = services.database.kind === 'embedded' ? watchDatabase(services) : undefined;
  try {
    if (signal.aborted) return;
    await migrateDatabase(services);
    const procfile = await readFile(join(packageRoot, 'Procfile'), 'utf8');
    await runProcfile({ procfile, cwd: packageRoot, config, database: services.database, log: services.log, signal });
  } finally {
    await watch?.stop();
    await services.close();
  }
}

/** Restarts the embedded database, on the same port, if its server has died. */
function watchDatabase({ config, log }: Services): { stop(): Promise<void> } {
  return repeat({
    seconds: databaseWatchSeconds,
    work: async () => (await acquireEmbeddedDatabase(config.stateDir)).release(),
    onError: (error) => log.error({ err: error }, 'the embedded database does not run'),
  });
}
