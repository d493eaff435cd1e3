import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, statfs, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it, vi } from 'vitest';
import { openQueues } from '../../jobs/queues/backend.ts';
import { createKey } from '../../pipelines/access/keys.ts';
import { loadKeySecret } from '../../pipelines/access/key-secret.ts';
import type { NightReport } from '../../pipelines/caches/night/night-report.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';
import { loadConfig } from '../../runtime/config.ts';
import { errorCodeOf } from '../../runtime/errors.ts';
import { createPool, type Pool } from '../../runtime/postgres.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { silentLog } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { type Figures, inPortions, isLongRun, sizes } from '../support/run-size.ts';
import { killProcessesAfterEach, startProcess, until, type ServiceProcess } from '../support/service-process.ts';
import { CacheReader, checkPublished, finish, persistent, type Work, WorkMaker } from '../support/service-work.ts';

const { fullDisks } = sizes;
vi.setConfig({ testTimeout: 300_000 + fullDisks * 60_000 });

/** Work that was taken is done this many seconds after the disk has space again. */
const secondsMax = 60;
/** What a command says that finds the disk or the database's disk full. */
const refusals = ['storage_unavailable', 'database_unavailable', 'queue_unavailable'];

const scratch = await mkdtemp(join(tmpdir(), 'caller-trust-full-disk-'));
await chmod(scratch, 0o755); // PostgreSQL runs as another user
const mounted = join(scratch, 'state');
afterAll(() => rm(scratch, { recursive: true, force: true }));
killProcessesAfterEach();

const whyNoDisk =
  process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0
    ? undefined
    : 'only root can give a service and its PostgreSQL a disk of their own here';

/** A file system of its own that holds everything of a service, seen by the processes of one mount namespace. */
class SmallDisk {
  readonly #holder: ChildProcess;
  readonly #filler: string;
  /** Where this process sees the directory that the service sees as `mounted`. */
  readonly seenFromHere: string;
  /** Starts a program where the disk is mounted. */
  readonly by: readonly string[];

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
    this.seenFromHere = `/proc/${holder.pid}/root${mounted}`;
    this.#filler = join(this.seenFromHere, 'filler');
    this.by = ['nsenter', '-t', String(holder.pid), '-m', `--wd=${process.cwd()}`];
  }

  static async mount(): Promise<SmallDisk> {
    await mkdir(mounted, { mode: 0o755 });
    const script = 'mount -t tmpfs -o size=400m,mode=755 tmpfs "$0" && echo mounted && exec sleep infinity';
    const holder = spawn('unshare', ['-m', 'sh', '-c', script, mounted], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(holder.stdout!, 'data');
    return new SmallDisk(holder);
  }

  /** Takes all space but this many bytes. */
  async fill(bytesLeft: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.seenFromHere);
    await writeFile(this.#filler, Buffer.alloc(Math.max(0, bavail * bsize - bytesLeft))).catch(() => {});
  }

  async free(): Promise<void> {
    await unlink(this.#filler).catch(() => {});
  }

  async end(): Promise<void> {
    this.#holder.kill('SIGKILL');
    await once(this.#holder, 'exit');
  }
}

/** Starts the processes of a service whose database is on the disk too. */
async function startService(disk: SmallDisk): Promise<ServiceProcess[]> {
  const env = {
    STATE_DIR: mounted,
    NIGHT_SCHEDULE: '0 0 29 2 *', // no night but those that are asked for
    API_PORT: '0',
    METRICS_PORT: '0',
    JOB_LOCK_SECONDS: '2',
    RECONCILE_SECONDS: '2',
  };
  expect(await startProcess('cli.js', env, { args: ['migrate'], by: disk.by }).ended).toBe(0);
  return ['jobs/scheduler-main.js', 'api/main.js', 'jobs/worker-main.js'].map((path) =>
    startProcess(path, env, { by: disk.by }),
  );
}

async function runMoments(disk: SmallDisk, { size, seed }: { size: number; seed: number }): Promise<Figures> {
  const stateDir = disk.seenFromHere;
  const url = await until(async () => {
    const cluster = await readFile(join(stateDir, 'postgres/cluster.json'), 'utf8').catch(() => undefined);
    if (cluster === undefined) return undefined;
    const { port, ownerPassword } = JSON.parse(cluster) as { port: number; ownerPassword: string };
    return `postgres://caller_trust:${ownerPassword}@127.0.0.1:${port}/caller_trust`;
  }, 'the embedded database runs');
  const db: Pool = createPool({ url, applicationName: 'test', connectionsMax: 5, onIdleError: () => {} });
  await until(
    () =>
      putNumbers(db, manyNumbers(5_000)).then(
        () => true,
        () => false,
      ),
    'the schema is made',
  );
  const store = new ArtefactDirectory(join(stateDir, 'artefacts'));
  const { key } = await createKey(db, {
    client: 'reader',
    scopes: ['caches:read'],
    secret: await loadKeySecret({ stateDir }),
  });
  const queues = await openQueues(loadConfig({}), url, silentLog);
  const choose = new Seeded(seed);
  let failedBuilds = 0;
  const checkNight = async (report: NightReport) => {
    for (const { failure } of report.artefacts) {
      if (failure !== null && !refusals.includes(failure.code))
        return [`failed with ${failure.code}: ${failure.reason}`];
      if (failure !== null) failedBuilds++;
    }
    return checkPublished({ db, store, versionsKept: 0 }, { ...report, artefacts: [] });
  };
  const maker = new WorkMaker({ db, stateDir, scratch, queues, choose, checkNight });
  const reader = new CacheReader(stateDir, key);
  const wrong = await finish(await maker.make());
  const refused: Record<string, number> = {};
  const onRefusal = (error: unknown) => {
    const code = errorCodeOf(error);
    refused[code] = (refused[code] ?? 0) + 1;
    if (!refusals.includes(code)) wrong.push(`refused with ${code}: ${String(error)}`);
  };
  const seconds: number[] = [];
  for (let moment = 1; moment <= size; moment++) {
    const works: Work[] = [];
    if (choose.chance(0.5)) {
      works.push(...(await maker.make()));
      await sleep(choose.between(0, 1500));
    }
    await disk.fill(choose.pick([0, 8192, 65_536, 1_048_576]));
    works.push(...(await maker.make(onRefusal)));
    await sleep(isLongRun && choose.chance(0.3) ? choose.between(10_000, 40_000) : choose.between(0, 4000)); // beyond the attempts of a job
    await disk.free();
    const freedAt = performance.now();
    const found = await finish(works);
    found.push(...(await finish(await persistent(() => maker.make()))));
    const took = (performance.now() - freedAt) / 1000;
    seconds.push(took);
    if (took > secondsMax) found.push(`done after ${took.toFixed(0)} s`);
    wrong.push(...found.map((text) => `moment ${moment}: ${text}`));
  }
  await reader.end();
  await queues.close();
  await db.end();
  expect(wrong).toEqual([]);
  expect(reader.mismatched).toBe(0);
  expect(reader.reads).toBeGreaterThan(0);
  return {
    moments: size,
    reads: reader.reads,
    refused: Object.values(refused).reduce((sum, count) => sum + count, 0),
    seconds,
  };
}

it.skipIf(whyNoDisk !== undefined)(
  `${fullDisks} times a full disk under the service and its PostgreSQL loses nothing that was taken (skipped where ${whyNoDisk ?? 'no disk can be mounted'})`,
  async () => {
    const disk = await SmallDisk.mount();
    let service: ServiceProcess[] = [];
    let codes: (number | null)[];
    try {
      service = await startService(disk);
      await inPortions('full disks', { size: fullDisks, portion: fullDisks }, (part) => runMoments(disk, part));
    } finally {
      codes = await Promise.all(service.map((each) => each.end('SIGTERM'))); // the last one stops the server
      await disk.end();
    }
    expect(codes).toEqual([0, 0, 0]);
  },
);
