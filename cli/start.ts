import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../runtime/config.ts';
import { runProcfile } from '../runtime/processes.ts';
import { openServices } from '../runtime/services.ts';
import { stopSignal } from '../runtime/shutdown.ts';
import { migrateDatabase, runCommand } from './command.ts';
import { packageRoot } from './operation.ts';

/** `start`: every process of the Procfile, with one signal path, until SIGTERM or Ctrl-C. */
export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('run every process of the Procfile; without DATABASE_URL on the embedded database')
    .action((_options: object, command: Command) =>
      runCommand(command, async () => {
        await start();
        return { json: { state: 'stopped' }, text: '' };
      }),
    );
}

async function start(): Promise<void> {
  const config = loadConfig();
  const services = await openServices(config, 'start');
  try {
    const signal = stopSignal(services.log);
    await migrateDatabase(services);
    const procfile = await readFile(join(packageRoot, 'Procfile'), 'utf8');
    await runProcfile({ procfile, cwd: packageRoot, config, database: services.database, log: services.log, signal });
  } finally {
    await services.close();
  }
}
