import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { checkVersion, listVersions } from '../../pipelines/caches/store/artefact-check.ts';
import { readNight, type NightReport } from '../../pipelines/caches/night/night-report.ts';
import { everything, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { openArtefactStore } from '../../pipelines/caches/store/open-artefact-store.ts';
import { loadConfig } from '../../runtime/config.ts';
import { queryRows } from '../../runtime/postgres.ts';
import { putNumbers, type TestNumber } from '../support/numbers.ts';
import { useObjectStore } from '../support/object-store.ts';
import { killProcessesAfterEach, startProcess, until, type ServiceProcess } from '../support/service-process.ts';
import { backends, openBackend, type TestBackend } from './backends.ts';

const objects = await useObjectStore();
const countries = ['US', 'CA', 'GB', 'DE', 'FR', 'ES', 'IT', 'BR', 'IN', 'JP', 'AU', 'MX'];
const artefacts = countries.length + 3;
killProcessesAfterEach();

function numbersOf(name: string): TestNumber[] {
  return countries.flatMap((country, at) =>
    Array.from({ length: 300 }, (_, nth) => ({
      phone: `+1202555${String(at * 300 + nth).padStart(4, '0')}`,
      country,
      name: `${name} ${nth}`,
    })),
  );
}

/** Settings of one machine: nothing is shared with the others but database, queues and object store. */
async function makeMachine(backend: TestBackend, homes: string[]): Promise<Record<string, string>> {
  const home = await mkdtemp(join(tmpdir(), 'caller-trust-machine-'));
  homes.push(home);
  return {
    ...backend.env,
    ...objects.settings,
    STATE_DIR: home,
    LETTER_MASTER_KEY: 'ab'.repeat(32),
    RECONCILE_SECONDS: '1',
    BUILD_CONCURRENCY: '1',
    LOG_LEVEL: 'debug',
  };
}

/**
 * Starts a worker and a scheduler on each machine. The schedulers come last: they ask for a night at once, which both workers are
 * to build.
 */
async function startMachines(machines: readonly Record<string, string>[]): Promise<ServiceProcess[]> {
  const workers = machines.map((env) => startProcess('jobs/worker-main.js', env));
  for (const worker of workers) await until(async () => worker.log().includes('"the worker runs"'), 'a worker runs');
  return [...workers, ...machines.map((env) => startProcess('jobs/scheduler-main.js', env))];
}

async function finishedReport({ database: { db } }: TestBackend, runId: number): Promise<NightReport> {
  return until(async () => {
    const night = await readNight(db, { runId });
    return night?.state === 'finished' ? night.report : undefined;
  }, 'the night is finished');
}

/** Nights, builds by attempts, and versions of each artefact, as the database has them. */
async function facts({
  database: { db },
}: TestBackend): Promise<{ nights: number; attempts: number[]; versions: number[] }> {
  const nights = await queryRows<{ runId: number }>(db, 'SELECT run_id FROM night_run');
  const builds = await queryRows<{ attempts: number }>(db, 'SELECT DISTINCT attempts FROM build');
  const versions = await queryRows<{ count: number }>(
    db,
    "SELECT DISTINCT count(*)::integer AS count FROM artefact_version WHERE cache = 'phones' GROUP BY cache, country",
  );
  return {
    nights: nights.length,
    attempts: builds.map(({ attempts }) => attempts),
    versions: versions.map(({ count }) => count),
  };
}

describe.each(backends)('two machines with queues in $kind', ({ kind, skipped }) => {
  it.skipIf(skipped !== undefined)(
    `${skipped === undefined ? '' : `(${skipped}) `}make one night together, build each file once, and publish it once`,
    async () => {
      const backend = await openBackend(kind, { JOB_LOCK_SECONDS: '15' });
      const homes: string[] = [];
      try {
        await putNumbers(backend.database.db, numbersOf('Shop'));
        const processes = await startMachines([await makeMachine(backend, homes), await makeMachine(backend, homes)]);

        // The schedulers find that last night was missed; only one of them may make it up.
        const [missed] = await until(async () => {
          const rows = await queryRows<{ runId: number }>(backend.database.db, 'SELECT run_id FROM night_run');
          return rows.length > 0 && rows;
        }, 'a scheduler asks for the missed night');
        const first = await finishedReport(backend, missed!.runId);
        expect(first.counts).toMatchObject({ published: artefacts, failed: 0 });
        expect(await facts(backend)).toEqual({ nights: 1, attempts: [1], versions: [1] });

        // Both machines built: each has the copies of its own builds.
        const copies = await Promise.all(
          homes.map((home) => readdir(join(home, 'artefacts', 'phones')).catch(() => [])),
        );
        expect(copies.every((built) => built.length > 0)).toBe(true);
        expect(new Set(copies.flat())).toEqual(new Set(countries));

        // A second night, asked for twice, finds the version before on whichever machine builds it.
        await putNumbers(
          backend.database.db,
          numbersOf('Store').filter((_number, at) => at % 300 === 7),
        );
        const runId = (await requestNight(backend.database.db, {
          nightDate: '2026-01-02',
          trigger: 'operator',
          scope: everything,
          acceptShrink: false,
          evaluatedAt: null,
          requestedBy: 'test',
        }))!;
        const queues = await backend.openQueues();
        await Promise.all([enqueueJob(queues, 'open-night', { runId }), enqueueJob(queues, 'open-night', { runId })]);
        const second = await finishedReport(backend, runId);
        await queues.close();
        expect(second.counts).toMatchObject({ published: countries.length, failed: 0 });
        expect(await facts(backend)).toEqual({ nights: 2, attempts: [1], versions: [2] });

        const store = openArtefactStore(
          loadConfig({ ...objects.settings, ARTEFACT_DIR: join(homes[0]!, 'elsewhere') }),
        );
        for (const version of await listVersions(backend.database.db))
          expect(await checkVersion(store, version)).toMatchObject({ verdict: 'ok' });
        const log = processes.map((each) => each.log()).join('');
        expect(log).not.toContain('S3RVER');
        expect(await Promise.all(processes.map((each) => each.end('SIGTERM')))).toEqual([0, 0, 0, 0]);
      } finally {
        await backend.close();
        for (const home of homes) await rm(home, { recursive: true, force: true });
      }
    },
  );
});
