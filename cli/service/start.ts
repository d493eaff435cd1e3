import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { loadConfig } from '../../runtime/config.ts';
import { runProcfile } from '../../runtime/services/procfile.ts';
import { acquireEmbeddedDatabase } from '../../runtime/services/embedded-postgres.ts';
import { createLog } from '../../runtime/log.ts';
import { openServices, type Services } from '../../runtime/services/services.ts';
import { repeat } from '../../runtime/processes/repeat.ts';
import { stopSignal } from '../../runtime/processes/shutdown.ts';
import { hasUsers } from '../../console/access/users.ts';
import { describeEyes } from '../../pipelines/access/two-pairs-of-eyes.ts';
import { migrateDatabase, runCommand } from '../command.ts';
import { formatLogLine, readableLog } from '../readable-log.ts';
import { packageRoot } from '../../runtime/package-root.ts';

/** `start`: runs every process of the Procfile until SIGTERM or Ctrl-C. */
export function defineStart(command: Command): void {
  command.action((options: { readonly json?: boolean }) =>
    runCommand(command, async () => {
      await start(process.stderr.isTTY && options.json !== true);
      return { json: { state: 'stopped' }, text: '' };
    }),
  );
}

/** Seconds between checks that the embedded database is running. */
const databaseWatchSeconds = 5;

/** Runs the service. On a terminal its log is text, and a notice says where the service is. */
async function start(isForPerson: boolean): Promise<void> {
  const config = loadConfig();
  // First, so that a signal during the start of the database is handled too.
  const log = createLog({ level: config.logLevel, process: 'start' });
  const signal = stopSignal(isForPerson ? readableLog(log) : log);
  const services = await openServices(config, 'start');
  const watch = services.database.kind === 'embedded' ? watchDatabase(services) : undefined;
  try {
    if (signal.aborted) return;
    await migrateDatabase(services);
    await sayWhoDecides(services, isForPerson);
    const procfile = await readFile(join(packageRoot, 'Procfile'), 'utf8');
    const { database } = services;
    if (!isForPerson)
      return await runProcfile({ procfile, cwd: packageRoot, config, database, log: services.log, signal });
    void tellWhere(services, signal);
    await runProcfile({
      procfile,
      cwd: packageRoot,
      config,
      database,
      log: readableLog(services.log),
      onLogLine: (line) => process.stderr.write(`${formatLogLine(line)}\n`),
      signal,
    });
  } finally {
    await watch?.stop();
    await services.close();
  }
}

/** Logs whether a second person must decide, as a warning where none is known. */
async function sayWhoDecides({ config, db, log }: Services, isForPerson: boolean): Promise<void> {
  const found = await describeEyes(db, config);
  const shown = isForPerson ? readableLog(log) : log;
  if (typeof found === 'string') shown.info(`decisions: ${found}`);
  else shown.warn(`decisions: ${found.warning}`);
}

/** Milliseconds between two checks whether console and API listen. */
const lookMs = 250;

/** Writes the notice when console and API listen, and the intake if it is on. */
async function tellWhere({ config, db }: Services, signal: AbortSignal): Promise<void> {
  const begun = Date.now();
  while (!signal.aborted) {
    const [consoleUrl, apiUrl, intakeUrl] = [
      await findUrl(join(config.stateDir, 'console.json'), begun),
      await findUrl(join(config.stateDir, 'api.json'), begun),
      config.intake === 'off' ? null : await findUrl(join(config.stateDir, 'intake.json'), begun),
    ];
    if (consoleUrl !== undefined && apiUrl !== undefined && intakeUrl !== undefined) {
      const isOpen = await hasUsers(db).catch(() => true);
      process.stderr.write(describeService({ consoleUrl, apiUrl, intakeUrl, hasUsers: isOpen }));
      return;
    }
    await sleep(lookMs, undefined, { signal }).catch(() => {});
  }
}

/** The address that a process has written since the start; a killed one leaves an older file. */
async function findUrl(path: string, since: number): Promise<string | undefined> {
  try {
    if ((await stat(path)).mtimeMs < since) return undefined;
    return (JSON.parse(await readFile(path, 'utf8')) as { url: string }).url;
  } catch {
    return undefined;
  }
}

/** Where the service is, and what to do first, for a person at a terminal. */
export function describeService({
  consoleUrl,
  apiUrl,
  intakeUrl,
  hasUsers: isOpen,
}: {
  consoleUrl: string;
  apiUrl: string;
  /** Null if the intake is off. */
  intakeUrl: string | null;
  hasUsers: boolean;
}): string {
  const first = isOpen
    ? []
    : [
        '',
        '  Nobody can log in to the console yet. In another terminal, with the same settings:',
        '    node dist/cli.js console users add NAME --role operator --generate',
      ];
  return [
    '',
    `  Console  ${consoleUrl}`,
    `  API      ${apiUrl}   (its documentation: ${apiUrl}/docs)`,
    `  Intake   ${intakeUrl ?? 'off (INTAKE=on lets remote clients send work)'}`,
    ...first,
    '',
    '  Ctrl-C stops the service.',
    '',
    '',
  ].join('\n');
}

/** Restarts the embedded database, on the same port, if its server has died. */
function watchDatabase({ config, log }: Services): { stop(): Promise<void> } {
  return repeat({
    seconds: databaseWatchSeconds,
    work: async () => (await acquireEmbeddedDatabase(config.stateDir)).release(),
    onError: (error) => log.error({ err: error }, 'the embedded database does not run'),
  });
}
