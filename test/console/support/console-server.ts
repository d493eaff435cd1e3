import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterAll } from 'vitest';
import { cookieName } from '../../../console/access/guard.ts';
import { addressOf } from '../../../console/access/address.ts';
import type { ConsoleWork } from '../../../console/http/console-work.ts';
import { createConsoleServer } from '../../../console/server.ts';
import { csrfTokenOf, openSession } from '../../../console/access/sessions.ts';
import { ROLES, type Role } from '../../../console/access/roles.ts';
import { openQueues, type Queues } from '../../../jobs/queues/backend.ts';
import { openScoringPool } from '../../../pipelines/audio/scorers/scoring-pool.ts';
import { openArtefactStore } from '../../../pipelines/caches/store/open-artefact-store.ts';
import { openVault } from '../../../runtime/secrets/vault.ts';
import { loadConfig } from '../../../runtime/config.ts';
import type { Metrics } from '../../../runtime/metrics/metrics.ts';
import { createLog } from '../../../runtime/log.ts';
import { queryRow, type Pool } from '../../../runtime/postgres.ts';
import { owner } from '../../support/branding.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

/** A console in the test's own process, for tests that look at every route, or at what a browser cannot send. */
export interface TestConsoleServer {
  readonly app: FastifyInstance;
  readonly db: Pool;
  readonly database: TestDatabase;
  readonly queues: Queues;
  readonly stateDir: string;
  readonly url: string;
  /** Name and port, as browsers send them. */
  readonly host: string;
  /**
   * Headers of a session of the role (that of the agency acts for the owner of the tests' brands): the cookie, and what changes
   * need beside.
   */
  session(role: Role): Promise<{ readonly Cookie: string; readonly 'X-CSRF-Token': string }>;
  /** A request as a page of the console sends it; headers that are undefined are left out. */
  send(
    options: InjectOptions & { readonly headers?: Record<string, string | undefined> },
  ): Promise<LightMyRequestResponse>;
}

/** A hash of no password. */
const noPassword = 'scrypt$2$8$1$$';

/** Starts one for the tests of a file, with a user of each role who has no password. */
export async function useConsoleServer(
  settings: Record<string, string> = {},
  metrics?: Metrics,
): Promise<TestConsoleServer> {
  const database = await createTestDatabase();
  const { db } = database;
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-console-'));
  const config = loadConfig({ DATABASE_URL: database.url, STATE_DIR: stateDir, ...settings });
  const log = createLog({ level: 'silent', process: 'test' });
  const stopping = new AbortController();
  const queues = await openQueues(config, database.url, log);
  const work: ConsoleWork = {
    config,
    db,
    queues,
    log,
    vault: await openVault(config),
    store: openArtefactStore(config),
    scoring: openScoringPool({ config, log }),
    signal: stopping.signal,
  };
  let port = 0;
  const app = await createConsoleServer({ work, metrics, address: () => addressOf(config, port) });
  await app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = app.server.address() as AddressInfo);
  const userIds = new Map<Role, number>();
  for (const role of ROLES)
    userIds.set(
      role,
      (await queryRow<{ userId: number }>(
        db,
        'INSERT INTO console_user (name, role, password_hash) VALUES ($1, $1, $2) RETURNING user_id',
        [role, noPassword],
      ))!.userId,
    );
  await db.query('INSERT INTO console_user_owner (user_id, owner) VALUES ($1, $2)', [userIds.get('agency'), owner]);
  afterAll(async () => {
    stopping.abort();
    await app.close();
    await work.scoring.close();
    await queues.close();
    await database.drop();
    await rm(stateDir, { recursive: true, force: true });
  });
  const host = `127.0.0.1:${port}`;
  return {
    app,
    db,
    database,
    queues,
    stateDir,
    url: `http://${host}`,
    host,
    async session(role) {
      const { token } = (await openSession(db, { userId: userIds.get(role)!, passwordHash: noPassword }))!;
      return { Cookie: `${cookieName(addressOf(config, port))}=${token}`, 'X-CSRF-Token': csrfTokenOf(token) };
    },
    send({ headers = {}, ...options }) {
      const all = { Host: host, Origin: `http://${host}`, ...headers };
      return app.inject({
        ...options,
        headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
          string,
          string
        >,
      });
    },
  };
}
