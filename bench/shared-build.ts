/**
 * Claims: a helper takes processor time off the process that builds a file, and the file has the same bytes.
 * On one machine the wall time shows only what sharing costs: both processes and the server have the same cores.
 *
 *   npm run build && node dist/bench/shared-build.js [rows=3000000] [rounds=3]
 *
 * One country, as in night.ts. Workers are processes with one place for builds and one stream each, and a directory as the store.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openQueues } from '../jobs/queues/backend.ts';
import { enqueueJob } from '../jobs/queues/enqueue.ts';
import { readNight, type ReportedArtefact } from '../pipelines/caches/night/night-report.ts';
import { parseScope, requestNight } from '../pipelines/caches/night/night-request.ts';
import { listVersions } from '../pipelines/caches/store/artefact-check.ts';
import { childEnvironment, loadConfig } from '../runtime/config.ts';
import { createLog } from '../runtime/log.ts';
import { compiledPath } from '../runtime/package-root.ts';
import { fillNumbers } from './night-data.ts';
import { tickMs } from './side-by-side.ts';
import { openOwnDatabase } from './own-database.ts';

const rows = Number(process.argv[2] ?? 3_000_000);
const rounds = Number(process.argv[3] ?? 3);
const pollMs = 20;

const { stateDir, url, db, client, close } = await openOwnDatabase();
const log = createLog({ level: 'warn', process: 'bench' });
const contenders: readonly { readonly name: string; readonly settings: Record<string, string> }[] = [
  { name: 'one worker, one stream', settings: { BUILD_STREAMS: '1' } },
  { name: 'one worker, two streams', settings: { BUILD_STREAMS: '2' } },
  { name: 'one worker and a helper, one stream each', settings: { BUILD_STREAMS: '1', BUILD_HELPERS: '1' } },
];
const queues = await openQueues(loadConfig({}), url, log);
try {
  await fillNumbers(client, rows);
  await client.query('VACUUM (ANALYZE) phone_number');
  const digests = new Set<string>();
  for (let round = 0; round < rounds; round++)
    for (const { name, settings } of contenders) {
      await client.query('TRUNCATE publication, artefact_version, build, night_run CASCADE');
      const workers = [await startWorker(settings), await startWorker(settings)];
      const before = workers.map(({ child }) => cpuSeconds(child));
      const { seconds } = await runNight();
      const cpu = workers.map(({ child }, at) => cpuSeconds(child) - before[at]!).sort((one, other) => other - one);
      for (const { child } of workers) await end(child);
      const version = (await listVersions(db))[0]!;
      digests.add(version.file.sha256);
      const each = cpu.map((each) => each.toFixed(2)).join(' and ');
      const made = workers.reduce(
        (sum, { log: text }) => sum + text().split('a share of a build is made').length - 1,
        0,
      );
      console.log(
        `${name}: build ${seconds!.toFixed(2)} s, CPU of the two processes ${each} s, ${made} shares made by the helper`,
      );
    }
  console.log(
    `${rows.toLocaleString('en-US')} rows, ${digests.size === 1 ? 'the same bytes each time' : 'OTHER BYTES'}`,
  );
} finally {
  await queues.close();
  await close();
}

/** Starts a worker with one place for builds, and waits until it runs. */
async function startWorker(
  settings: Record<string, string>,
): Promise<{ readonly child: ChildProcess; readonly log: () => string }> {
  const child = spawn(process.execPath, [compiledPath('jobs/worker-main')], {
    env: childEnvironment({
      DATABASE_URL: url,
      REDIS_URL: undefined,
      STATE_DIR: stateDir,
      BUILD_CONCURRENCY: '1',
      LOG_LEVEL: 'debug',
      ...settings,
    }) as NodeJS.ProcessEnv,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  const running = new Promise<void>((resolve) =>
    createInterface({ input: child.stderr! }).on('line', (line) => {
      lines.push(line);
      if (line.includes('"the worker runs"')) resolve();
    }),
  );
  await running;
  return { child, log: () => lines.join('\n') };
}

async function end(worker: ChildProcess): Promise<void> {
  const ended = once(worker, 'exit');
  worker.kill('SIGTERM');
  await ended;
}

/** Processor time of a process so far, user and system. */
function cpuSeconds({ pid }: ChildProcess): number {
  const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .split(') ')[1]!
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return ((user + system) * tickMs) / 1000;
}

async function runNight(): Promise<ReportedArtefact> {
  const runId = (await requestNight(db, {
    nightDate: '2026-01-02',
    trigger: 'operator',
    scope: parseScope('phones/US'),
    acceptShrink: false,
    fullBuild: true,
    evaluatedAt: null,
    requestedBy: 'bench',
  }))!;
  await enqueueJob(queues, 'open-night', { runId });
  for (;;) {
    const night = await readNight(db, { runId });
    if (night.state === 'finished') return night.report!.artefacts[0]!;
    await sleep(pollMs);
  }
}
