import type { Command } from 'commander';
import { loadConfig, type Config } from '../runtime/config.ts';
import { ERRORS, errorCodeOf, errorMessageOf, ServiceError, isServiceError } from '../runtime/errors.ts';
import { ownAccountName } from '../runtime/processes/account.ts';
import { openServices, type Services } from '../runtime/services/services.ts';
import { connect, recognizeDatabaseError } from '../runtime/postgres.ts';
import { migrate, requireMigrated } from '../sql/migrate.ts';
import { exitCodes } from './exit-codes.ts';

/** The outcome of a command: the result for `--json`, its text form, and whether it is a failure. */
export interface Outcome {
  readonly json: unknown;
  readonly text: string;
  readonly failed?: boolean;
  /** The exit code of a failure; default 1. */
  readonly exit?: number;
  /** True if the command has already streamed its result to standard output. */
  readonly written?: boolean;
}

/** Fires at Ctrl-C or SIGTERM: a waiting command stops waiting, but the work that it requested continues. */
export const interruption = new AbortController();

/**
 * Runs the body of a command and prints its outcome: JSON with `--json`, else text, on standard output.
 * An error is printed once, on standard error, and decides the exit code.
 */
export async function runCommand(command: Command, body: () => Promise<Outcome>): Promise<void> {
  const asJson = command.optsWithGlobals<{ json?: boolean }>().json === true;
  const interrupt = () => interruption.abort(new ServiceError('interrupted', { operation: command.name() }));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const { json, text, failed, exit = exitCodes.failed, written } = await body();
    if (written !== true)
      process.stdout.write(asJson ? `${JSON.stringify(json, null, 2)}\n` : text === '' ? '' : `${text}\n`);
    process.exitCode = failed === true ? exit : exitCodes.done;
  } catch (cause) {
    const error = recognizeDatabaseError(cause) ?? cause;
    printError(error, asJson);
    process.exitCode = ERRORS[errorCodeOf(error)].exit;
  }
}

/** The action of a command: commander gives the arguments, the options and the command, and `body` takes the first two. */
export function run<Given extends unknown[]>(
  body: (...given: Given) => Promise<Outcome>,
): (...given: unknown[]) => Promise<void> {
  return (...given) => runCommand(given.at(-1) as Command, () => body(...(given.slice(0, -1) as Given)));
}

/** The settings of commands: without LOG_LEVEL only warnings are logged. */
export function commandConfig(): Config {
  return loadConfig(undefined, { LOG_LEVEL: 'warn' });
}

/**
 * Opens the services of a command. The embedded database is migrated automatically; another one must have been migrated
 * with `caller-trust migrate`.
 */
export async function withServices<Result>(work: (services: Services) => Promise<Result>): Promise<Result> {
  const services = await openServices(commandConfig(), 'cli');
  try {
    if (services.database.kind === 'embedded') await migrateDatabase(services);
    else await requireMigrated(services.db);
    return await work(services);
  } finally {
    await services.close();
  }
}

/** The action of a command that needs the services of {@link withServices}, which `body` takes first. */
export function runWith<Given extends unknown[]>(
  body: (services: Services, ...given: Given) => Promise<Outcome>,
): (...given: unknown[]) => Promise<void> {
  return run((...given: Given) => withServices((services) => body(services, ...given)));
}

/** Migrates the database of the service and of its queues; returns the applied migrations. */
export async function migrateDatabase({ database, config }: Pick<Services, 'database' | 'config'>): Promise<string[]> {
  const client = await connect({ url: database.url, applicationName: 'caller-trust migrate' });
  try {
    const applied = await migrate(client);
    const { migrateQueues } = await import('../jobs/queues/queue-schema.ts'); // commands of API clients never need the queues
    await migrateQueues(database.url, config);
    return applied;
  } finally {
    await client.end();
  }
}

function printError(error: unknown, asJson: boolean): void {
  const code = errorCodeOf(error);
  if (asJson) {
    const known = isServiceError(error)
      ? { operation: error.operation, object: error.object, problem: error.problem, hint: error.hint }
      : { problem: errorMessageOf(error) };
    process.stderr.write(`${JSON.stringify({ error: { code, ...known } }, null, 2)}\n`);
  } else {
    process.stderr.write(`caller-trust: ${errorMessageOf(error)} [${code}]\n`);
    if (error instanceof Error && error.cause instanceof Error)
      process.stderr.write(`  cause: ${errorMessageOf(error.cause)}\n`);
  }
}

/** The current actor, for the audit trail. */
export function currentActor(): string {
  return `cli ${ownAccountName()}`;
}
