import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findEmbeddedHome, removeStateDirectory } from '../../runtime/services/embedded-postgres.ts';
import { isProcessAlive } from '../../runtime/files/file-lock.mjs';
import {
  killProcessesAfterEach,
  startProcess,
  until,
  untilServing,
  type ServiceProcess,
} from '../support/service-process.ts';

const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-killed-service-'));
const env = {
  STATE_DIR: stateDir,
  API_PORT: '0',
  METRICS_PORT: '0',
  CONSOLE_PORT: '0',
  NIGHT_SCHEDULE: '0 0 29 2 *', // no night but those that are asked for
  SHUTDOWN_GRACE_SECONDS: '1',
  POLL_MS: '100',
};
killProcessesAfterEach();
afterAll(() => removeStateDirectory(stateDir));

/** The postmaster of the embedded cluster; undefined if none runs. */
async function postmaster(): Promise<number | undefined> {
  const home = await findEmbeddedHome(stateDir);
  const path = join(home ?? '', 'data', 'postmaster.pid');
  const pid = existsSync(path) ? Number(readFileSync(path, 'utf8').split('\n')[0]) : undefined;
  return pid !== undefined && isProcessAlive(pid) ? pid : undefined;
}

/** The processes of the service below a pid, itself included, and those of its database. */
function family(pids: readonly number[]): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid,ppid'])
    .toString()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found = new Set(pids);
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const [pid, parent] of rows) if (found.has(parent!)) found.add(pid!);
  }
  return [...found];
}

async function startService(): Promise<ServiceProcess> {
  const service = startProcess('cli.js', env, { args: ['start'] });
  await untilServing(stateDir, 'api').catch((error: Error) => {
    throw new Error(`${error.message}: ${service.log()}`);
  });
  return service;
}

describe('the API alone', () => {
  it('holds the embedded database once, however often it connects again, and stops it at its end', async () => {
    const api = startProcess('api/main.js', env);
    // Without a schema each poll fails, and the next one connects again.
    await until(async () => (api.log().match(/cannot be read/g)?.length ?? 0) > 0, 'the API polls');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const holders = await readdir(join((await findEmbeddedHome(stateDir))!, 'holders'));
    expect(holders.length).toBeLessThanOrEqual(2); // a new one is taken before the old one is released
    expect(await api.end('SIGTERM')).toBe(0);
    expect(await postmaster()).toBeUndefined();
  });
});

describe('the service', () => {
  it('comes up at once after SIGKILL of every process, the database included', async () => {
    const service = await startService();
    for (const pid of family([service.pid, (await postmaster())!])) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it has ended with its parent
      }
    }
    const next = await startService();
    expect(await next.end('SIGTERM')).toBe(0);
    expect(await postmaster()).toBeUndefined();
  });

  it('ends with its database after SIGKILL of the starting process alone', async () => {
    const service = await startService();
    const { pid } = JSON.parse(readFileSync(join(stateDir, 'api.json'), 'utf8')) as { pid: number };
    const given = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    expect(given.filter((variable) => variable.includes('postgres://'))).toEqual([
      expect.stringMatching(/^API_DATABASE_URL=postgres:\/\/caller_trust_api:/),
    ]);
    const pids = family([service.pid]);
    await service.end('SIGKILL');
    await until(async () => (await postmaster()) === undefined, 'the database has stopped');
    await until(async () => !pids.some(isProcessAlive), 'every process has ended');
  });
});
