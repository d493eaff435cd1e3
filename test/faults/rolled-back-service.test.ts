import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCliProcess } from '../support/cli.ts';
import { useTestDatabase } from '../support/database.ts';
import { killProcessesAfterEach, startProcess, until } from '../support/service-process.ts';

const { db, url, apiUrl } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-rolled-back-'));
afterAll(() => rm(stateDir, { recursive: true }));
killProcessesAfterEach();

const env = { DATABASE_URL: url, STATE_DIR: stateDir, LOG_LEVEL: 'info', JOB_LOCK_SECONDS: '1', CONSOLE_PORT: '0' };
const apiEnv = { API_DATABASE_URL: apiUrl, STATE_DIR: stateDir, LOG_LEVEL: 'info', API_PORT: '0', METRICS_PORT: '0' };
const processes: [string, Record<string, string>, string][] = [
  ['jobs/worker-main.js', env, 'the worker runs'],
  ['jobs/scheduler-main.js', env, 'the scheduler runs'],
  ['console/main.js', env, 'listening'],
  ['api/main.js', apiEnv, 'listening'],
];
const addMigration = (number: number, compatible: boolean) =>
  db.query("INSERT INTO schema_migration (number, name, sha256, compatible) VALUES ($1, $2, 'x', $3)", [
    number,
    `${number}_of_a_later_version`,
    compatible,
  ]);

describe('a service that is older than its database', () => {
  it('runs during migrations that are compatible, and ends within seconds of one that is not', async () => {
    await addMigration(9998, true);
    const running = processes.map(([path, settings]) => startProcess(path, settings));
    await Promise.all(
      running.map((each, at) => until(async () => each.log().includes(processes[at]![2]), processes[at]![0])),
    );
    const ended = Promise.all(running.map((each) => each.ended));
    expect(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 1500, 'still there'))])).toBe(
      'still there', // after a beat of each
    );
    await addMigration(9999, false);
    expect(await ended).toEqual([69, 69, 69, 69]);
    for (const each of running) {
      expect(each.log()).toContain('"code":"database_too_new"');
      expect(each.log()).toContain('9999_of_a_later_version');
    }
  });

  it.each(processes.slice(0, 3))('does not start %s', async (path, settings) => {
    const process = startProcess(path, settings);
    expect(await process.ended).toBe(69);
    expect(process.log()).toContain('Run the later version');
  });

  it.each([['migrate'], ['doctor'], ['night', 'status']])('does not run %s', async (...words) => {
    const { code, stderr, stdout } = await runCliProcess(env, ...words);
    expect([code, `${stdout}${stderr}`]).toEqual([69, expect.stringContaining('9999_of_a_later_version') as string]);
  });
});
