/**
 * Claim: `GET /v1/numbers/{phone}` takes at most 0.6 of the processor time, PostgreSQL's included, of a bare `node:http` server that
 * runs the same statement and has it planned each time. That one checks no key, counts no request and describes no error.
 *
 *   npm run build && node dist/bench/number-reads.js [numbers=1000000] [requests=20000] [rounds=3]
 *
 * Ends with 1 where the claim does not hold. Servers and clients are processes of their own: connections that stay open, each with
 * one request at a time, for valid numbers at random. The CPU of the clients is not in the figures. Needs Linux.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../pipelines/access/keys.ts';
import { isPhoneRefusal, judgePhone } from '../pipelines/phone/phone-number.ts';
import { compiledPath } from '../runtime/package-root.ts';
import { fillNumbers } from './night-data.ts';
import type { NumberClients, NumberServer } from './number-reads-process.ts';
import { openOwnDatabase } from './own-database.ts';
import { serverProcesses, usedByProcess } from './server-figures.ts';
import { printSideBySide, runSideBySide, type Contender } from './side-by-side.ts';

const [numbers, requests, rounds] = [1_000_000, 20_000, 3].map((usual, at) => Number(process.argv[2 + at] ?? usual));
const ratioMax = 0.6;
const phonesAsked = 5000;
const secret = 'x'.repeat(32);

/** A process that answers at `url`. */
interface RunningServer {
  readonly child: ChildProcess;
  readonly url: string;
}

const { db, client, url, stateDir, home, close } = await openOwnDatabase();
const servers: RunningServer[] = [];
try {
  await fillNumbers(client, numbers!);
  await client.query('VACUUM (ANALYZE)');
  const phones = await listPhones();
  const { key } = await createKey(db, { client: 'bench', scopes: ['numbers:read'], secret });
  servers.push(
    await startApi(key),
    await startBare({ url, isPrepared: true }),
    await startBare({ url, isPrepared: false }),
  );
  const names = ['the API', 'bare, planned once', 'bare, planned each time'];
  const contenders = servers.map((server, at): Contender => ({
    name: names[at]!,
    run: () => measuring(server, () => ask({ url: server.url, key, phones, requests: requests! })),
  }));
  for (const { run } of contenders) await run(); // to fill the caches of the database
  const measured = await runSideBySide(contenders, rounds!);
  printSideBySide(measured, names[2]!);
  for (const { name, wallMs, cpuMs } of measured)
    console.log(
      `${name}: ${Math.round((requests! / wallMs) * 1000)} a second, ${(cpuMs / requests!).toFixed(2)} ms of CPU each`,
    );
  const ratio = measured[0]!.cpuMs / measured[2]!.cpuMs;
  console.log(`the API takes ${ratio.toFixed(2)} of bare, planned each time (at most ${ratioMax})`);
  if (ratio > ratioMax) process.exitCode = 1;
} finally {
  for (const { child } of servers) {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  }
  await close();
}

async function listPhones(): Promise<string[]> {
  const { rows } = await client.query<{ phone: string }>(
    'SELECT phone FROM phone_number ORDER BY hashtext(phone) LIMIT $1',
    [10 * phonesAsked],
  );
  return rows
    .map(({ phone }) => phone)
    .filter((phone) => !isPhoneRefusal(judgePhone(phone)))
    .slice(0, phonesAsked);
}

async function startApi(key: string): Promise<RunningServer> {
  const settings = {
    DATABASE_URL: url,
    STATE_DIR: stateDir,
    API_KEY_SECRET: secret,
    API_PORT: '0',
    METRICS_PORT: '0',
    API_REQUESTS_PER_MINUTE_MAX: '100000000',
    LOG_LEVEL: 'warn',
  };
  const child = fork(compiledPath('api/main'), { env: settings });
  const headers = { authorization: `Bearer ${key}` };
  for (let tries = 0; tries < 100; tries++) {
    await sleep(100);
    const found = await readFile(join(stateDir, 'api.json'), 'utf8').catch(() => undefined);
    if (found === undefined) continue;
    const server = (JSON.parse(found) as { url: string }).url;
    const answer = await fetch(`${server}/v1/numbers/+12025550123`, { headers }).catch(() => undefined);
    if (answer?.ok === true) return { child, url: server };
  }
  throw new Error('the API does not answer');
}

async function startBare(server: NumberServer['server']): Promise<RunningServer> {
  const child = fork(compiledPath('bench/number-reads-process'));
  child.send({ server } satisfies NumberServer);
  const [answer] = (await once(child, 'message')) as [{ url: string }];
  return { child, url: answer.url };
}

async function ask(clients: NumberClients['clients']): Promise<void> {
  const child = fork(compiledPath('bench/number-reads-process'));
  child.send({ clients } satisfies NumberClients);
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error('the clients failed');
}

/** Processor time of a server and of PostgreSQL during some work. */
async function measuring({ child }: RunningServer, work: () => Promise<void>): Promise<{ cpuMs: number }> {
  const used = async () => (await usedByProcess(child.pid!)).cpuMs + (await serverProcesses(home)).cpuMs;
  const before = await used();
  await work();
  return { cpuMs: (await used()) - before };
}
