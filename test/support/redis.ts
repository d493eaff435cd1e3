import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A private redis-server with a directory of its own. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** SIGKILL, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

const safeSettings = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };

/** Why the tests with Redis cannot run here, or undefined. With CI_REQUIRE_REDIS they run, and fail without a server. */
export function whyNoRedis(): string | undefined {
  if (spawnSync('redis-server', ['--version']).status === 0 || process.env.CI_REQUIRE_REDIS) return undefined;
  return 'redis-server is not on the PATH';
}

/** Starts a redis-server on a free loopback port; by default one that the service accepts. */
export async function startRedis(settings: Record<string, string> = {}): Promise<TestRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'caller-trust-redis-'));
  const port = await freePort();
  const options = Object.entries({
    bind: '127.0.0.1',
    port: String(port),
    dir: directory,
    save: '',
    daemonize: 'no',
    ...safeSettings,
    ...settings,
  });
  let server: ChildProcess | undefined;
  const redis: TestRedis = {
    url: `redis://127.0.0.1:${port}/0`,
    port,
    async start() {
      server = spawn(
        'redis-server',
        options.flatMap(([name, value]) => [`--${name}`, value]),
        { stdio: 'ignore' },
      );
      const failed = once(server, 'error').then(([error]) => Promise.reject(error as Error));
      await Promise.race([untilListening(port), failed]);
      failed.catch(() => {});
    },
    async kill() {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    },
    async stop() {
      await redis.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
  process.once('exit', () => server?.kill('SIGKILL'));
  await redis.start();
  return redis;
}

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (open) return;
    await sleep(20);
  }
  throw new Error('redis-server does not listen');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
