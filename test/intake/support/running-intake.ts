import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { afterAll } from 'vitest';
import { startIntake } from '../../../intake/start.ts';
import type { intakeLimits } from '../../../intake/work/intake-limits.ts';
import { migrateQueues } from '../../../jobs/queues/queue-schema.ts';
import { createKey, type Scope } from '../../../pipelines/access/keys.ts';
import { isUploadId } from '../../../pipelines/submissions/upload.ts';
import { loadConfig, type Config } from '../../../runtime/config.ts';
import { createLog } from '../../../runtime/log.ts';
import type { TestDatabase } from '../../support/database.ts';
import { useFolder } from '../../support/recording-batch.ts';
import { until, untilServing } from '../../support/service-process.ts';

/** Settings of an intake of a test file's own, without its database. */
export const intakeSettings = {
  INTAKE: 'on',
  API_KEY_SECRET: 'a secret of the tests, long enough to be one',
  LETTER_MASTER_KEY: 'ab'.repeat(32),
  INTAKE_PORT: '0',
  METRICS_PORT: '0',
  POLL_MS: '50',
  SHUTDOWN_GRACE_SECONDS: '1',
};

/** `Repr-Digest` of bytes. */
export function digestField(bytes: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
}

/** The uploads that have a file in a directory. */
export async function uploadsIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter(isUploadId);
}

/** A client of an intake. */
export class IntakeClient {
  readonly url: string;
  readonly key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.key = key;
  }

  fetch(
    path: string,
    { headers, ...init }: RequestInit & { headers?: Record<string, string> } = {},
  ): Promise<Response> {
    return fetch(`${this.url}${path}`, { ...init, headers: { authorization: `Bearer ${this.key}`, ...headers } });
  }

  /** Sends a whole file. */
  send(kind: string, bytes: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch(`/v1/uploads?for=${kind}`, {
      method: 'POST',
      body: bytes,
      headers: { 'repr-digest': digestField(bytes), ...headers },
    });
  }

  /** The id of a complete upload. */
  async upload(kind: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const answer = await this.send(kind, bytes);
    if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { upload: string }).upload;
  }

  /** Opens an upload without bytes; its path. */
  async open(kind: string, length: number, headers: Record<string, string> = {}): Promise<string> {
    const answer = await this.fetch(`/v1/uploads?for=${kind}`, {
      method: 'POST',
      headers: { 'upload-complete': '?0', 'upload-length': String(length), ...headers },
    });
    if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    return answer.headers.get('location')!;
  }

  /** Continues an upload. */
  patch(
    path: string,
    bytes: Uint8Array<ArrayBuffer>,
    { offset, complete, headers = {} }: { offset: number; complete: boolean; headers?: Record<string, string> },
  ): Promise<Response> {
    return this.fetch(path, {
      method: 'PATCH',
      body: bytes,
      headers: {
        'content-type': 'application/partial-upload',
        'upload-offset': String(offset),
        'upload-complete': complete ? '?1' : '?0',
        ...headers,
      },
    });
  }

  async offset(path: string): Promise<number> {
    return Number((await this.fetch(path, { method: 'HEAD' })).headers.get('upload-offset'));
  }

  post(path: string, body: unknown, key = `key-${Math.random()}`): Promise<Response> {
    return this.fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
    });
  }
}

/** The status and the code of an answer. */
export async function outcomeOf(answering: Promise<Response>): Promise<[number, string | undefined]> {
  const answer = await answering;
  return [answer.status, ((await answer.json()) as { code?: string }).code];
}

/** An intake of a test file's own. */
interface TestIntake {
  readonly config: Config;
  readonly url: string;
  readonly metricsUrl: string;
  client(scopes: Scope[], options?: { client?: string; brand?: string }): Promise<IntakeClient>;
}

let clients = 0;

/** Makes a key, and waits until the intake knows it. */
export async function makeClient(
  { db }: Pick<TestDatabase, 'db'>,
  url: string,
  scopes: Scope[],
  { client = `client ${++clients}`, brand }: { client?: string; brand?: string } = {},
): Promise<IntakeClient> {
  const { key } = await createKey(db, { client, scopes, brand: brand ?? null, secret: intakeSettings.API_KEY_SECRET });
  const made = new IntakeClient(url, key);
  await until(async () => ![401, 503].includes((await made.fetch('/v1/loads/0')).status), 'the key is known');
  return made;
}

/** Starts an intake in this process; it is stopped after the last test of the file. Call it at the top level of a test file. */
export async function useTestIntake(
  database: TestDatabase,
  settings: Record<string, string> = {},
  limits: Partial<typeof intakeLimits> = {},
): Promise<TestIntake> {
  const config = loadConfig({
    ...intakeSettings,
    INTAKE_DATABASE_URL: database.intakeUrl,
    STATE_DIR: await useFolder('intake'),
    LOG_LEVEL: 'silent',
    ...settings,
  });
  await migrateQueues(database.url, config);
  const intake = await startIntake(config, { log: createLog({ level: config.logLevel, process: 'intake' }), limits });
  afterAll(() => intake.close());
  await untilServing(config.stateDir, 'intake');
  return {
    config,
    url: intake.url,
    metricsUrl: intake.metricsUrl,
    client: (scopes, options) => makeClient(database, intake.url, scopes, options),
  };
}
