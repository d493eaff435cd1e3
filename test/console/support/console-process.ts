import { randomBytes, scryptSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { ROLES, type Role } from '../../../console/access/roles.ts';
import { queryRow, type Pool } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { owner } from '../../support/branding.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startProcess, untilServing, type ServiceProcess } from '../../support/service-process.ts';

/** A console as the Procfile starts it, with a database of its own and a user of each role. */
export interface TestConsole {
  readonly url: string;
  readonly database: TestDatabase;
  readonly stateDir: string;
  /** Settings of the console, for other processes that work with it. */
  readonly env: Record<string, string>;
  readonly process: ServiceProcess;
  /** Starts another process of the service, such as `jobs/worker-main.js`. */
  start(path: string): ServiceProcess;
}

/** Passwords of the users `viewer`, `reviewer` and `operator`. */
export const passwordOf = (role: Role): string => `a pass phrase for one ${role.slice(0, 3)}`;

/** Starts a console for the tests of a file, and gives everything back after them. Call it at the top level. */
export async function useConsole(settings: Record<string, string> = {}): Promise<TestConsole> {
  const database = await createTestDatabase();
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-console-'));
  const env = {
    DATABASE_URL: database.url,
    STATE_DIR: stateDir,
    CONSOLE_PORT: '0',
    API_PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
    CONSOLE_LOG_INS_PER_MINUTE_MAX: '1000',
    ...settings,
  };
  for (const role of ROLES) await insertUser(database.db, role);
  const processes: ServiceProcess[] = [];
  const start = (path: string) => {
    const started = startProcess(path, env);
    processes.push(started);
    return started;
  };
  const process = start('console/main.js');
  afterAll(async () => {
    for (const each of processes) await each.end('SIGTERM');
    await rm(stateDir, { recursive: true, force: true });
    await database.drop();
  });
  const { url } = await untilServing(stateDir, 'console').catch((error: Error) => {
    throw new Error(`${error.message}: ${process.log()}`);
  });
  return { url, database, stateDir, env, process, start };
}

/** Inserts the user of a role with a hash of little cost (N = 2^10): one of the usual cost takes 0.3 s to make and to compare. */
async function insertUser(db: Pool, role: Role): Promise<void> {
  const salt = randomBytes(16);
  const hash = scryptSync(passwordOf(role), salt, 32, { N: 1024, r: 8, p: 1 });
  const stored = `scrypt$1024$8$1$${salt.toString('base64')}$${hash.toString('base64')}`;
  const { userId } = (await queryRow<{ userId: number }>(db, sql('console/insert_user'), [role, role, stored]))!;
  await db.query(sql('console/set_owners'), [userId, role === 'agency' ? [owner] : []]);
}

/** A logged-in client of the console without a browser. */
export interface ConsoleClient {
  /** A request with the cookie, and with origin and token where it changes something. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The JSON of an answer, whatever its status. */
  json<Value = Record<string, unknown>>(path: string, init?: RequestInit): Promise<Value>;
  readonly cookie: string;
  readonly csrfToken: string;
}

/** Logs in as the user of a role. */
export async function logIn({ url }: Pick<TestConsole, 'url'>, role: Role): Promise<ConsoleClient> {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: url },
    body: JSON.stringify({ name: role, password: passwordOf(role) }),
  });
  if (!response.ok) throw new Error(`logging in was answered ${response.status}: ${await response.text()}`);
  const cookie = response.headers.getSetCookie()[0]!.split(';')[0]!;
  const { csrfToken } = (await response.json()) as { csrfToken: string };
  const send: ConsoleClient['fetch'] = (path, init = {}) => {
    const changing =
      init.method === undefined || init.method === 'GET'
        ? {}
        : {
            Origin: url,
            'X-CSRF-Token': csrfToken,
            ...(typeof init.body === 'string' ? { 'Content-Type': 'application/json' } : {}),
          };
    return fetch(`${url}${path}`, {
      ...init,
      headers: { Cookie: cookie, ...changing, ...(init.headers as Record<string, string> | undefined) },
    });
  };
  return {
    fetch: send,
    json: async (path, init) => (await (await send(path, init)).json()) as never,
    cookie,
    csrfToken,
  };
}
