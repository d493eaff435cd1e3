import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { createKey, type Scope } from '../../../pipelines/access/keys.ts';
import type { serverLimits } from '../../../api/server.ts';
import { startApi, type RunningApi } from '../../../api/start.ts';
import type { ArtefactStore } from '../../../pipelines/caches/store/artefact-store.ts';
import { openArtefactStore } from '../../../pipelines/caches/store/open-artefact-store.ts';
import { loadConfig, type Config } from '../../../runtime/config.ts';
import { createLog } from '../../../runtime/log.ts';
import type { TestDatabase } from '../../support/database.ts';
import { until as untilState } from '../../support/service-process.ts';
import { publish, type TestArtefact, type ToPublish } from './artefacts.ts';

export const secret = 'a secret of the tests, long enough to be one';

/** An API of a test file's own, with a state directory of its own. */
export interface TestApi {
  readonly api: RunningApi;
  readonly url: string;
  readonly config: Config;
  readonly store: ArtefactStore;
  /** A key with the scope caches:read. */
  readonly key: string;
  get(path: string, headers?: Record<string, string>, method?: string): Promise<Response>;
  /** Publishes, and waits until the API serves it. */
  publish(artefact: ToPublish): Promise<TestArtefact>;
  /** Waits until the API has compared every published file with its digest. */
  filesChecked(): Promise<void>;
  makeKey(
    scopes?: Scope[],
    expiresAt?: Date,
    client?: string,
    brand?: string,
  ): Promise<{ key: string; keyId: string; client: string }>;
}

let clients = 0;

/** Starts an API on free ports; it is stopped after the last test of the file. Call it at the top level of a test file. */
export async function useTestApi(
  database: TestDatabase,
  settings: Record<string, string> = {},
  limits: Partial<typeof serverLimits> = {},
): Promise<TestApi> {
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-api-'));
  const config = loadConfig({
    API_DATABASE_URL: database.apiUrl,
    STATE_DIR: stateDir,
    API_KEY_SECRET: secret,
    API_PORT: '0',
    METRICS_PORT: '0',
    POLL_MS: '50',
    SHUTDOWN_GRACE_SECONDS: '1',
    API_REQUESTS_PER_MINUTE_MAX: '1000000',
    LOG_LEVEL: 'silent',
    ...settings,
  });
  const api = await startApi({ ...config, ...limits }, { log: createLog({ level: config.logLevel, process: 'api' }) });
  afterAll(async () => {
    await api.close();
    await rm(stateDir, { recursive: true, force: true });
  });
  const store = openArtefactStore(config);
  const makeKey = async (
    scopes: Scope[] = ['caches:read'],
    expiresAt?: Date,
    client = `client ${++clients}`,
    brand?: string,
  ) => {
    const made = await createKey(database.db, {
      client,
      scopes,
      expiresAt: expiresAt ?? null,
      brand: brand ?? null,
      secret,
    });
    await until(async () =>
      [200, 403].includes(
        (await fetch(`${api.url}/v1/caches`, { headers: { authorization: `Bearer ${made.key}` } })).status,
      ),
    );
    return made;
  };
  const { key } = await makeKey();
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${api.url}${path}`, { method, headers: { authorization: `Bearer ${key}`, ...headers } });
  return {
    api,
    url: api.url,
    config,
    store,
    key,
    get,
    makeKey,
    filesChecked: () =>
      until(async () => {
        const metrics = await (await fetch(`${api.metricsUrl}/metrics`)).text();
        return metrics.includes('caller_trust_artefact_files_unchecked 0\n');
      }),
    async publish(artefact) {
      const published = await publish(database.db, store, artefact);
      const path = `/v1/caches/${published.cache}${published.country === '' ? '' : `?country=${published.country}`}`;
      await until(
        async () => (await get(path, {}, 'HEAD')).headers.get('x-cache-version') === String(published.version),
      );
      return published;
    },
  };
}

/** Waits for a condition. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  await untilState(async () => condition(), 'a condition is met');
}

/** A raw connection, for what no client library sends. */
export interface RawConnection {
  readonly socket: Socket;
  send(text: string): void;
  /** Everything that was received when the server has closed the connection. */
  closed(): Promise<Buffer>;
  /** What was received so far. */
  received(): Buffer;
}

export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connectSocket({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const end = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return {
    socket,
    send: (text) => void socket.write(text, 'latin1'),
    received: () => Buffer.concat(chunks),
    async closed() {
      await end;
      return Buffer.concat(chunks);
    },
  };
}
