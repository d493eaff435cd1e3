import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeStateDirectory } from '../../runtime/services/embedded-postgres.ts';
import { runCli, runCliJson } from '../support/cli.ts';
import { startRedis, whyNoRedis, type TestRedis } from '../support/redis.ts';
import { type ServiceProcess, startWholeService, until, type WholeService } from '../support/service-process.ts';

const phone = '+12024561111';
const header =
  'Company_Phone_Number,Created_Date,Violation_Date,Consumer_City,Consumer_State,Consumer_Area_Code,Subject,Recorded_Message_Or_Robocall';

/** FTC rows about the phone from this many states, reported this many minutes ago. */
function complaints(states: string[], minutesAgo: number): string {
  const time = new Date(Date.now() - minutesAgo * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  return [
    header,
    ...states.map(
      (state) =>
        `2024561111,${time},${time},Springfield,${state},217,"Calls pretending to be government, businesses, or family and friends",Y`,
    ),
    '',
  ].join('\n');
}

/** One phone row through every process of the Procfile, from a dropped feed to a downloaded file, on an embedded database. */
describe.each([
  { queue: 'PostgreSQL', redis: false },
  { queue: 'Redis', redis: true },
])('a phone row, with the queues in $queue', ({ redis }) => {
  const skipped = redis ? whyNoRedis() : undefined;
  let redisServer: TestRedis | undefined;
  let service: ServiceProcess;
  let env: Record<string, string>;
  let stateDir: string;
  let api: WholeService['api'];
  let key: string;

  beforeAll(async () => {
    if (skipped !== undefined) return;
    stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-walk-'));
    if (redis) redisServer = await startRedis();
    ({ service, env, api } = await startWholeService(
      stateDir,
      redisServer === undefined ? {} : { REDIS_URL: redisServer.url },
    ));
    ({ key } = await runCliJson<{ key: string }>(env, 'keys', 'create', 'walker'));
  });

  afterAll(async () => {
    if (skipped !== undefined) return;
    await service.end('SIGKILL').catch(() => {});
    await redisServer?.stop();
    await removeStateDirectory(stateDir);
  });

  let firstNight: number;

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${api.url}${path}`, { headers: { Authorization: `Bearer ${key}`, ...headers } });

  /** The row of the phone in the served file of its country, when the served version is the one that the last night made. */
  async function servedRow(): Promise<string | undefined> {
    const { artefacts } = await runCliJson<{ artefacts: { cache: string; country: string; version: number }[] }>(
      env,
      'night',
      'report',
    );
    const { version } = artefacts.find(({ cache, country }) => cache === 'phones' && country === 'US')!;
    const response = await until(async () => {
      const answer = await get('/v1/caches/phones?country=US');
      return answer.headers.get('x-cache-version') === String(version) && answer;
    }, `the API serves version ${version}`);
    const text = gunzipSync(Buffer.from(await response.arrayBuffer())).toString();
    return text.split('\n').find((line) => line.startsWith(`${phone}\t`));
  }

  async function drop(name: string, text: string): Promise<Record<string, unknown>> {
    const folder = join(stateDir, 'drop', 'complaints');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${name}.part`), text);
    await rename(join(folder, `${name}.part`), join(folder, name));
    const done = join(stateDir, 'drop', 'done');
    const result = await until(
      async () =>
        (await readdir(done, { recursive: true }).catch(() => [])).find((path) => path.endsWith(`${name}.result.json`)),
      `${name} is loaded`,
    );
    return JSON.parse(await readFile(join(done, result), 'utf8')) as Record<string, unknown>;
  }

  it.skipIf(skipped !== undefined)(
    'goes from a dropped feed through a night to a download that the digests vouch for',
    async () => {
      await drop('first.csv', complaints(['Ohio', 'Texas', 'Maine'], 60));
      const report = await runCliJson<{ night: { runId: number } }>(env, 'night', 'run');
      expect(report).toMatchObject({ outcome: 'ok' });
      firstNight = report.night.runId;
      expect(await servedRow()).toBe(`${phone}\tFRAUD\t15\t\t\t\t`);
      const manifest = (await (await get('/v1/caches/phones/manifest?country=US')).json()) as {
        file: { sha256: string };
        rows: number;
      };
      const download = await get('/v1/caches/phones?country=US');
      expect(download.headers.get('etag')).toBe(`"${manifest.file.sha256}"`);
      const digest = execFileSync('sha256sum', { input: Buffer.from(await download.arrayBuffer()) })
        .toString()
        .split(' ')[0];
      expect(digest).toBe(manifest.file.sha256);
      expect((await get('/v1/caches/phones?country=US', { 'If-None-Match': `"${manifest.file.sha256}"` })).status).toBe(
        304,
      );
    },
  );

  it.skipIf(skipped !== undefined)('says why it is what it is', async () => {
    expect(await runCliJson(env, 'number', 'show', phone)).toMatchObject({
      phone,
      country: 'US',
      reputation: { level: 'FRAUD', category: { id: 15 }, source: 'complaints' },
      complaints: 3,
      score: { level: 'FRAUD', reports: 3, independentReports: 3, ruleVersion: expect.any(String) as string },
    });
  });

  it.skipIf(skipped !== undefined)(
    'is cleared by an operator, stays clear when the same file comes again, and until new reports come',
    async () => {
      expect((await runCli(env, 'number', 'clear', phone, '--reason', 'recycled')).code).toBe(0);
      await drop('again.csv', complaints(['Ohio'], 60 * 24 * 400)); // an old report that arrives now is too old to count
      await runCliJson(env, 'night', 'run', '--accept-shrink');
      expect(await servedRow()).toBe(`${phone}\tNEUTRAL\t\t\t\t\t`);
      await drop('new.csv', complaints(['Iowa', 'Utah', 'Idaho'], 1));
      await runCliJson(env, 'night', 'run');
      expect(await servedRow()).toBe(`${phone}\tFRAUD\t15\t\t\t\t`);
    },
  );

  it.skipIf(skipped !== undefined)(
    'has the label that an earlier night saw, also when that is computed again',
    async () => {
      const saved = join(stateDir, 'labels.tsv');
      const words = ['night', 'labels', '--run', String(firstNight), '--recompute', '--save', saved];
      expect(await runCliJson(env, ...words)).toEqual({
        runId: firstNight,
        labels: 1,
        counts: [{ key: 'FRAUD from complaints', count: 1 }],
        again: { same: 1, different: [] },
        file: saved,
      });
      expect(await readFile(saved, 'utf8')).toBe(`${phone}\tFRAUD\t15\tcomplaints\n`);
    },
  );

  it.skipIf(skipped !== undefined)('is ready and measured meanwhile', async () => {
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${api.metricsUrl}/metrics`)).text()).toMatch(/cache="phones".*country="US"/);
  });

  it.skipIf(skipped !== undefined)('outlives kill -9 of the worker, which is started again', async () => {
    const workers = () =>
      execFileSync('ps', ['-eo', 'pid,ppid,args'])
        .toString()
        .split('\n')
        .filter(
          (line) => line.includes('dist/jobs/worker-main.js') && line.trim().split(/\s+/)[1] === String(service.pid),
        );
    const pid = Number(workers()[0]!.trim().split(/\s+/)[0]);
    process.kill(pid, 'SIGKILL');
    await until(async () => workers().some((line) => Number(line.trim().split(/\s+/)[0]) !== pid), 'a new worker runs');
    expect(await runCliJson(env, 'night', 'run')).toMatchObject({ outcome: 'ok' });
  });

  it.skipIf(skipped !== undefined)(
    'ends with one SIGTERM to the starting process, exit code 0, and nothing left running',
    async () => {
      expect(await service.end('SIGTERM')).toBe(0);
      expect(execFileSync('ps', ['-eo', 'args']).toString()).not.toContain(stateDir);
    },
  );
});
