import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { WebSocket } from 'ws';
import { startConsole } from '../../../console/start.ts';
import { createKey, type Scope } from '../../../pipelines/access/keys.ts';
import { loadKeySecret } from '../../../pipelines/access/key-secret.ts';
import {
  serverMessageForm,
  streamPath,
  type ServerMessage,
} from '../../../pipelines/audio/streaming/stream-protocol.ts';
import { loadConfig, type Config } from '../../../runtime/config.ts';
import { unmeasured } from '../../../runtime/metrics/metrics.ts';
import { createLog } from '../../../runtime/log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { streamLimits } from '../../../pipelines/audio/streaming/stream-limits.ts';

/** A console in this process, with a database of its own. */
export interface StreamingConsole {
  readonly url: string;
  readonly config: Config;
  readonly database: TestDatabase;
  /** A key of a new client. */
  makeKey(scopes?: Scope[]): Promise<{ key: string; client: string }>;
  /** A connection with a new client's key, or with the headers given. */
  connect(headers?: Record<string, string>): Promise<StreamSocket>;
  close(): Promise<void>;
}

/** Starts a console with some settings. Call it at the top level of a test file, or close it. */
export async function openStreamingConsole(
  settings: Record<string, string> = {},
  limits: Partial<typeof streamLimits> = {},
): Promise<StreamingConsole> {
  const database = await createTestDatabase();
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-streaming-'));
  const config = loadConfig({
    DATABASE_URL: database.url,
    STATE_DIR: stateDir,
    CONSOLE_PORT: '0',
    SHUTDOWN_GRACE_SECONDS: '20',
    AUDIO_SCORERS: '1',
    POLL_MS: '50',
    ...settings,
  });
  const log = createLog({ level: process.env.TEST_LOG_LEVEL ?? 'silent', process: 'test' });
  const running = await startConsole({
    config: { ...config, ...limits },
    log,
    db: database.db,
    metrics: unmeasured,
    database: { url: database.url, apiUrl: undefined, kind: 'given', home: undefined, release: async () => {} },
    close: async () => {},
  });
  let clients = 0;
  const makeKey = async (scopes: Scope[] = ['verifications:stream']) => {
    const client = `client ${++clients}`;
    const { key } = await createKey(database.db, { client, scopes, secret: await loadKeySecret(config) });
    await sleep(60); // a new key is known within POLL_MS
    return { key, client };
  };
  return {
    url: running.url,
    config,
    database,
    makeKey,
    connect: async (headers) =>
      StreamSocket.open(running.url, headers ?? { Authorization: `Bearer ${(await makeKey()).key}` }),
    async close() {
      await running.close();
      await rm(stateDir, { recursive: true, force: true });
      await database.drop();
    },
  };
}

/** The same, closed after the last test of the file. */
export async function useStreamingConsole(
  ...given: Parameters<typeof openStreamingConsole>
): Promise<StreamingConsole> {
  const running = await openStreamingConsole(...given);
  afterAll(() => running.close());
  return running;
}

/** A WebSocket that keeps what it receives, for tests of the protocol itself. */
export class StreamSocket {
  readonly socket: WebSocket;
  readonly messages: ServerMessage[] = [];
  /** Status with which the connection was closed. */
  readonly closed: Promise<number>;
  private heard: (() => void)[] = [];

  /** Opens a connection. @throws Error with the status of the answer if it is refused */
  static async open(url: string, headers: Record<string, string>): Promise<StreamSocket> {
    const opened = new StreamSocket(new WebSocket(new URL(streamPath, url.replace(/^http/, 'ws')), { headers }));
    await once(opened.socket, 'open');
    return opened;
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.on('close', (status) => resolve(status)));
    socket.on('message', (data) => this.hear(serverMessageForm.parse(JSON.parse((data as Buffer).toString()))));
    socket.on('close', () => this.wake());
  }

  say(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  send(bytes: Uint8Array): void {
    this.socket.send(bytes);
  }

  /** The first message of a kind, when it is there. @throws Error if the connection ends without */
  async until<Type extends ServerMessage['type']>(type: Type): Promise<Extract<ServerMessage, { type: Type }>> {
    for (;;) {
      const found = this.messages.find(
        (message): message is Extract<ServerMessage, { type: Type }> => message.type === type,
      );
      if (found !== undefined) return found;
      if (this.socket.readyState === WebSocket.CLOSED)
        throw new Error(`the connection ended without ${type}: ${JSON.stringify(this.messages)}`);
      await new Promise<void>((resolve) => this.heard.push(resolve));
    }
  }

  private hear(message: ServerMessage): void {
    this.messages.push(message);
    this.wake();
  }

  private wake(): void {
    for (const resolve of this.heard.splice(0)) resolve();
  }
}
