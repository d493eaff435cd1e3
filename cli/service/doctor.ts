import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { openIntakeDatabase } from '../../intake/database.ts';
import { openQueues, queueLibraryVersion } from '../../jobs/queues/backend.ts';
import { queueNames } from '../../jobs/queues/queues.ts';
import { readLetterTrust } from '../../pipelines/branding/letter-trust.ts';
import {
  databaseProblem,
  openReaderDatabase,
  readerAddress,
  type DatabaseProblem,
} from '../../api/http/reader-database.ts';
import { describeEyes } from '../../pipelines/access/two-pairs-of-eyes.ts';
import { requireKeySecret, findKeySecret } from '../../pipelines/access/key-secret.ts';
import { listPublications } from '../../pipelines/caches/publications.ts';
import {
  describeEndingSignature,
  findEndingSignatures,
  listSignatureExpiries,
} from '../../pipelines/caches/signing/signature-expiry.ts';
import { keptVersions, listVersions, namesOf } from '../../pipelines/caches/store/artefact-check.ts';
import { measureUploads } from '../../pipelines/submissions/upload.ts';
import { countDeliveries } from '../../pipelines/webhooks/delivery.ts';
import { openArtefactStore, storeLimitsOfWaiting } from '../../pipelines/caches/store/open-artefact-store.ts';
import { ERRORS, errorCodeOf, errorMessageOf, ServiceError } from '../../runtime/errors.ts';
import { queryRow } from '../../runtime/postgres.ts';
import { openServices, type Services } from '../../runtime/services/services.ts';
import { dumpSchema } from '../../sql/dump-schema.ts';
import { listMigrations, requireMigrated } from '../../sql/migrate.ts';
import { commandConfig, migrateDatabase, run, type Outcome } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { packageVersion } from '../../runtime/package-root.ts';
import { formatCount, formatFacts } from '../table.ts';

/** `migrate`. */
export function defineMigrate(command: Command): void {
  command
    .option('--dump', 'print the schema that results')
    .action(run((options: { dump?: boolean }) => migrateCommand(options.dump === true)));
}

/** `doctor`. */
export function defineDoctor(command: Command): void {
  command.action(run(doctor));
}

async function migrateCommand(dump: boolean): Promise<Outcome> {
  const services = await openServices(commandConfig(), 'cli');
  try {
    const applied = await migrateDatabase(services);
    if (dump) return await dumpCommand(services);
    return {
      json: { applied },
      text: applied.length === 0 ? 'The database has every migration.' : `Applied ${applied.join(', ')}.`,
    };
  } finally {
    await services.close();
  }
}

async function dumpCommand({ db }: Services): Promise<Outcome> {
  const client = await db.connect();
  try {
    const schema = await dumpSchema(client);
    return { json: { schema }, text: schema.trimEnd() };
  } finally {
    client.release();
  }
}

/** One check of the doctor. */
interface Finding {
  readonly thing: string;
  readonly good: boolean;
  /** True: it works, and a person should look. Fails no command: a probe must not end what could repair it. */
  readonly warns: boolean;
  readonly detail: string;
  /** Exit code of a failed check. */
  readonly exit: number;
}

async function doctor(): Promise<Outcome> {
  const services = await openServices(commandConfig(), 'cli');
  try {
    if (services.database.kind === 'embedded') await migrateDatabase(services);
    const findings = [
      await look('service', async () => `caller-trust ${await packageVersion()} on Node ${process.version}`),
      await look('database', () => describeDatabase(services)),
      await look('schema', () => describeSchema(services)),
      await look('queues', () => describeQueues(services)),
      await look('reader', () => describeReader(services)),
      await look('intake', () => describeIntake(services)),
      await look('keys', () => describeKeys(services)),
      await look('artefacts', () => describeStore(services)),
      await look('decisions', () => describeEyes(services.db, services.config)),
      await look('letters', () => describeLetters(services)),
      await look('signatures', () => describeSignatures(services)),
      await look('webhooks', () => describeWebhooks(services)),
      await look('state', async () => services.config.stateDir),
    ];
    const bad = findings.filter(({ good }) => !good);
    const text = formatFacts(
      findings.map(
        ({ thing, good, warns, detail }) => [thing, `${!good ? 'BAD' : warns ? '?? ' : 'ok '} ${detail}`] as const,
      ),
    );
    const exit = Math.max(...findings.map((finding) => finding.exit)); // 69, a service is missing, before 1 and 2
    return {
      json: { findings: findings.map(({ thing, good, warns, detail }) => ({ thing, good, warns, detail })) },
      text,
      failed: bad.length > 0,
      exit,
    };
  } finally {
    await services.close();
  }
}

async function look(thing: string, describe: () => Promise<string | { warning: string }>): Promise<Finding> {
  try {
    const found = await describe();
    const warns = typeof found !== 'string';
    return { thing, good: true, warns, detail: warns ? found.warning : found, exit: exitCodes.done };
  } catch (error) {
    return { thing, good: false, warns: false, detail: errorMessageOf(error), exit: ERRORS[errorCodeOf(error)].exit };
  }
}

async function describeDatabase({ db, database }: Services): Promise<string> {
  const row = await queryRow<{ version: string; encoding: string; collation: string }>(
    db,
    "SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding, datcollate AS collation FROM pg_database WHERE datname = current_database()",
  );
  const { hostname, port, pathname } = new URL(database.url);
  const where = `${hostname}:${port || 5432}${pathname}`;
  return `${database.kind} PostgreSQL ${row!.version} at ${where}, ${row!.encoding}${database.home === undefined ? '' : `, in ${database.home}`}`;
}

async function describeSchema({ db }: Services): Promise<string> {
  await requireMigrated(db);
  return `as of ${listMigrations().at(-1)!.name}`;
}

async function describeQueues({ config, database, log }: Services): Promise<string> {
  const queues = await openQueues(config, database.url, log);
  try {
    const [workers, counts] = [await queues.workers(), await queues.counts()];
    const each = queueNames.map(
      (name) => `${name} ${counts[name].waiting + counts[name].active} (${workers[name]} workers)`,
    );
    return `BullMQ ${queueLibraryVersion()} on ${queues.kind === 'redis' ? 'Redis' : 'PostgreSQL'}: ${each.join(', ')}`;
  } finally {
    await queues.close();
  }
}

/** Which letters the rules approve; without trusted roots and proofs, none. */
async function describeLetters({ config }: Services): Promise<string> {
  const { trustRootsPem, revocationData: { crls, ocsps } = { crls: [], ocsps: [] } } = await readLetterTrust(config);
  const roots = trustRootsPem?.match(/-----BEGIN CERTIFICATE-----/g)?.length ?? 0;
  if (roots === 0)
    return `no trusted roots (LETTER_TRUST_ROOTS): rules approve no ${config.letterApproval === 'form+numbers' ? 'brand' : 'letter'}, a person decides each (LETTER_APPROVAL ${config.letterApproval})`;
  return `rules approve issued forms by ${config.letterApproval}, with ${roots} trusted roots; revocation: ${config.letterRevocation}, with ${crls.length} lists and ${ocsps.length} answers`;
}

async function describeSignatures({ db }: Services): Promise<string | { warning: string }> {
  const expiries = await listSignatureExpiries(db);
  if (expiries.length === 0) return 'the service does not sign what it publishes';
  const ending = findEndingSignatures(expiries, Date.now());
  if (ending.length > 0) return { warning: ending.map(describeEndingSignature).join(' ') };
  const [next] = expiries.toSorted((a, b) => a.expires.localeCompare(b.expires));
  return `valid; the next to expire is the ${next!.role}, at ${next!.expires}`;
}

/** Whether endpoints take what is sent to them. */
async function describeWebhooks({ db }: Services): Promise<string | { warning: string }> {
  const { enabled, pending, failing, givenUp } = await countDeliveries(db);
  const problems = [
    ...failing.map((name) => `every attempt at ${name} has failed for an hour or more`),
    ...givenUp.map((name) => `${name} was disabled because it failed`),
  ];
  if (problems.length === 0) return `${enabled} endpoints, ${pending} deliveries pending`;
  return {
    warning: `${problems.join('; ')}. \`caller-trust webhooks deliveries\` says why; once it answers again: \`webhooks enable\`, and \`webhooks replay --since\` for what it missed.`,
  };
}

async function describeStore({ config, db }: Services): Promise<string> {
  const store = openArtefactStore(config, storeLimitsOfWaiting);
  const place = config.artefactStoreUrl ?? config.artefactDir;
  const files = await store.list();
  const stored = new Set(files.map((name) => store.path(name)));
  const published = keptVersions(await listVersions(db), 1).flatMap(namesOf);
  const missing = published.filter((name) => !stored.has(store.path(name)));
  if (missing.length === 0) return `${files.length} files in ${place}`;
  throw new ServiceError('artefact_damaged', {
    operation: 'look for the published files',
    problem: `${missing.length} of ${published.length} are not in ${place}.`,
    hint: 'If STATE_DIR, ARTEFACT_DIR or ARTEFACT_STORE_URL is not what it was, correct it; if not, restore the files from the backup, or run a night, which makes them again.',
  });
}

const readerHints: Readonly<Record<DatabaseProblem, string>> = {
  unreachable: 'Look whether API_DATABASE_URL is right and its server runs.',
  login_refused:
    'Make the login of API_DATABASE_URL again, which a backup of a database does not have: `CREATE ROLE ... LOGIN PASSWORD ...; GRANT caller_trust_reader TO ...`.',
  role_missing: 'Run `caller-trust migrate`, which makes the role that a backup of a database does not have.',
  privilege_missing: 'Run `caller-trust migrate`, which gives the role what it reads.',
  schema_missing: 'Run `caller-trust migrate`.',
};

/** Reads as the API does. */
async function describeReader({ database }: Services): Promise<string> {
  try {
    const reader = await openReaderDatabase(readerAddress(database));
    try {
      const publications = await listPublications(reader.db);
      const row = await queryRow<{ login: string; role: string }>(
        reader.db,
        'SELECT session_user AS login, current_user AS role',
      );
      return `${row!.login} reads ${publications.length} publications${row!.role === row!.login ? '' : ` as ${row!.role}`}`;
    } finally {
      await reader.close();
    }
  } catch (error) {
    const problem = databaseProblem(error);
    throw new ServiceError(problem === 'unreachable' ? 'database_unavailable' : 'database_unsuitable', {
      operation: 'read as the API',
      problem: errorMessageOf(error),
      hint: readerHints[problem],
      cause: error,
    });
  }
}

const MiB = 1024 * 1024;

/** Opens the database as the intake does, and compares the room of its directory with what uploads may take. */
async function describeIntake({ config, log }: Services): Promise<string | { warning: string }> {
  if (config.intake === 'off') return 'off (INTAKE)';
  const database = await openIntakeDatabase(config, log);
  try {
    const role = await queryRow<{ login: string }>(database.db, 'SELECT session_user AS login');
    const uploads = await measureUploads(database.db);
    const { directory, bytesFree } = await findRoom(config.intakeDir);
    const held = `${role!.login} submits; ${uploads.uploads} uploads in ${config.intakeDir}`;
    const room = `${formatCount(Math.floor(bytesFree / MiB))} MiB free`;
    const bytesLeft = config.intakeDiskBytesMax - uploads.bytes;
    if (bytesFree >= bytesLeft) return `${held}, ${room}`;
    return {
      warning: `${held}: ${room} in ${directory}, and uploads may take ${formatCount(Math.ceil(bytesLeft / MiB))} MiB more. Make room, or lower INTAKE_DISK_BYTES_MAX.`,
    };
  } finally {
    await database.close();
  }
}

/** The room of the file system in which a directory is, or will be when it is made. */
async function findRoom(directory: string): Promise<{ directory: string; bytesFree: number }> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return { directory, bytesFree: bavail * bsize };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(directory) === directory) throw error;
    return findRoom(dirname(directory));
  }
}

/** Whether keys are made and checked with the secret of the keys that are there. */
async function describeKeys({ db, config }: Services): Promise<string> {
  const secret = await findKeySecret(config);
  await requireKeySecret(db, secret);
  return secret === undefined ? 'no key secret yet' : 'the key secret is that of the keys';
}
