import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { openQueues, type Queues } from '../../jobs/queues/backend.ts';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { readNight } from '../../pipelines/caches/night/night-report.ts';
import { everything, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { loadConfig } from '../../runtime/config.ts';
import { queryRows } from '../../runtime/postgres.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { useTestDatabase } from '../support/database.ts';
import { silentLog } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { type Figures, inPortions, sizes } from '../support/run-size.ts';
import { killProcessesAfterEach, startProcess, until } from '../support/service-process.ts';

const { serviceNights } = sizes;
/** What is compared with the end is measured after this night, when the service has reached its usual size. */
const firstMeasured = 10;
vi.setConfig({ testTimeout: 60_000 + serviceNights * 10_000 });

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-many-nights-'));
afterAll(() => rm(stateDir, { recursive: true, force: true }));
killProcessesAfterEach();

/** What grows if something is not given back. */
interface Measured {
  readonly memoryBytes: number;
  readonly descriptors: number;
  readonly sessions: number;
  readonly artefactFiles: number;
  /** Of the tables whose rows come and go, with their indexes. */
  readonly tableBytes: Readonly<Record<string, number>>;
}

async function measure(pid: number): Promise<Measured> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const tables = await queryRows<{ name: string; bytes: number }>(
    db,
    `SELECT relnamespace::regnamespace || '.' || relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
     WHERE relkind IN ('r', 'p') AND (relnamespace::regnamespace::text LIKE 'caller_trust_queue%' OR relname = 'phone_number')`,
  );
  const sessions = await queryRows(db, 'SELECT FROM pg_stat_activity WHERE datname = current_database()');
  return {
    memoryBytes: Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024,
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
    sessions: sessions.length,
    artefactFiles: (await readdir(join(stateDir, 'artefacts'), { recursive: true })).length,
    tableBytes: Object.fromEntries(tables.map(({ name, bytes }) => [name, bytes])),
  };
}

async function runNight(queues: Queues): Promise<void> {
  const runId = await requestNight(db, {
    nightDate: '2026-01-02',
    trigger: 'operator',
    scope: everything,
    acceptShrink: false,
    evaluatedAt: null,
    requestedBy: 'test',
  });
  await enqueueJob(queues, 'open-night', { runId: runId! });
  const report = await until(async () => {
    const night = await readNight(db, { runId: runId! });
    return night.state === 'finished' && night.report;
  }, `night ${runId} is finished`);
  expect(report!.outcome).toBe('ok');
}

async function runNights({ size, seed }: { size: number; seed: number }): Promise<Figures> {
  const choose = new Seeded(seed);
  const queues = await openQueues(loadConfig({}), url, silentLog);
  const worker = startProcess('jobs/worker-main.js', { DATABASE_URL: url, STATE_DIR: stateDir });
  await putNumbers(db, manyNumbers(5000));
  let [writes, ended] = [0, false];
  const writer = (async () => {
    while (!ended) {
      const names = manyNumbers(20, 12_025_550_000 + choose.below(4980)).map((row) => ({ ...row, name: `v${writes}` }));
      await putNumbers(db, names);
      writes++;
      await sleep(10);
    }
  })();
  let early: Measured | undefined;
  try {
    for (let night = 1; night <= size; night++) {
      await runNight(queues);
      if (night === firstMeasured) early = await measure(worker.pid);
    }
  } finally {
    ended = true;
    await writer;
    await queues.close();
  }
  const late = await measure(worker.pid);
  expect(await worker.end('SIGTERM')).toBe(0);
  console.log(JSON.stringify({ early, late, writes }));
  expect(late.memoryBytes).toBeLessThan(early!.memoryBytes * 1.5);
  expect(late.descriptors).toBeLessThan(early!.descriptors + 8);
  expect(late.sessions).toBeLessThan(early!.sessions + 4);
  expect(late.artefactFiles).toBeLessThan(early!.artefactFiles * 2);
  const grown = Object.entries(late.tableBytes).filter(
    ([name, bytes]) => bytes > 4 * (early!.tableBytes[name] ?? 0) + 2 ** 20,
  );
  expect(grown).toEqual([]);
  return {
    nights: size,
    'mebibytes at first': [early!.memoryBytes / 2 ** 20],
    'mebibytes in the end': [late.memoryBytes / 2 ** 20],
    'descriptors at first': [early!.descriptors],
    'descriptors in the end': [late.descriptors],
  };
}

it(`${serviceNights} nights with a writer leave memory, descriptors and the tables of queues as they were`, () =>
  inPortions('nights of a service', { size: serviceNights, portion: serviceNights }, runNights));
