/**
 * Claims: a full build takes at most 0.6 of the time of `psql COPY | gzip -6`, at no more than 1.02 of its size and in
 * 128 MiB; and what the covering index and the VACUUM before the snapshot cost.
 *
 *   npm run build && node dist/bench/night.js [rows=5000000] [rounds=5]
 *
 * One country, loaded in random order as feeds leave it; then 2 % of the rows are updated. psql and pigz are taken from
 * the PATH; a contender whose program is missing is left out. Every contender runs the same COPY on the same server.
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Client } from 'pg';
import { acquireEmbeddedDatabase, removeStateDirectory } from '../runtime/embedded-postgres.ts';
import { connect } from '../runtime/postgres.ts';
import { migrate } from '../sql/migrate.ts';
import { sqlWithLiterals } from '../sql/sql.ts';
import { changeSomeNumbers, fillNumbers } from './night-data.ts';
import { printSideBySide, runSideBySide, type ChildFigures, type Contender } from './side-by-side.ts';

const run = promisify(execFile);
const rows = Number(process.argv[2] ?? 5_000_000);
const rounds = Number(process.argv[3] ?? 5);
const contenderProgram = fileURLToPath(new URL('./night-contender.js', import.meta.url));
const statement = sqlWithLiterals('caches/copy_profile_phones', { country: 'US', evaluatedAt: '2026-01-01T01:00:00Z' })
  .replaceAll(/^--.*\n/gm, '')
  .replaceAll(/\s+/g, ' ');

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-bench-'));
const embedded = await acquireEmbeddedDatabase(join(directory, 'state'));
try {
  const client = await connect({ url: embedded.url, applicationName: 'bench' });
  await migrate(client);
  await reportLoading(client);
  await reportScans(client);
  printSideBySide(await runSideBySide(contenders(), rounds), 'psql | gzip -6');
  await reportSizes();
  await client.end();
} finally {
  await embedded.release();
  await removeStateDirectory(join(directory, 'state'));
}

/** Times the same load with and without the indexes that the caches read. */
async function reportLoading(client: Client): Promise<void> {
  const indexes = (await client.query<{ indexdef: string; indexname: string }>("SELECT indexname, indexdef FROM pg_indexes WHERE indexname IN ('phone_number_profile', 'phone_number_spammer')")).rows;
  for (const { indexname } of indexes) await client.query(`DROP INDEX ${indexname}`);
  const without = await seconds(() => fillNumbers(client, rows));
  for (const { indexdef } of indexes) await client.query(indexdef);
  const withIndexes = await seconds(() => fillNumbers(client, rows));
  console.log(`${rows.toLocaleString('en-US')} rows in random order: loaded in ${without} s without the caches' indexes, ${withIndexes} s with them`);
  const { rows: sizes } = await client.query<{ name: string; size: string }>(
    "SELECT relname AS name, pg_size_pretty(pg_relation_size(oid)) AS size FROM pg_class WHERE relname IN ('phone_number', 'phone_number_pkey', 'phone_number_profile', 'phone_number_spammer') ORDER BY 1",
  );
  console.log(sizes.map(({ name, size }) => `${name} ${size}`).join(', '));
}

/** Times the ordered COPY after the load and after an update, before and after a VACUUM. */
async function reportScans(client: Client): Promise<void> {
  const copy = () => seconds(() => timed(`psql ${quoted(embedded.url)} -c ${quoted(statement)} > /dev/null`));
  const vacuum = () => seconds(() => client.query('VACUUM (ANALYZE) phone_number, branded_number'));
  if (!has('psql')) return console.log('psql is not on the PATH: the COPY alone is not timed');
  console.log(`COPY to /dev/null: ${await copy()} s after the load, VACUUM ${await vacuum()} s, then ${await copy()} s`);
  await changeSomeNumbers(client);
  console.log(`after 2 % of the rows were updated: ${await copy()} s, VACUUM ${await vacuum()} s, then ${await copy()} s`);
}

function contenders(): Contender[] {
  const all: (Contender & { needs: string[] })[] = [
    { name: 'full build', needs: [], run: () => ownProcess('ours') },
    { name: 'psql | gzip -6', needs: ['psql', 'gzip'], run: () => timed(`psql ${quoted(embedded.url)} -c ${quoted(statement)} | gzip -6 > ${join(directory, 'gzip.gz')}`) },
    { name: 'psql | pigz -p2 -6', needs: ['psql', 'pigz'], run: () => timed(`psql ${quoted(embedded.url)} -c ${quoted(statement)} | pigz -p2 -6 > ${join(directory, 'pigz.gz')}`) },
    { name: 'pg-copy-streams + createGzip(6)', needs: [], run: () => ownProcess('pg-copy-streams') },
    { name: 'psql > /dev/null', needs: ['psql'], run: () => timed(`psql ${quoted(embedded.url)} -c ${quoted(statement)} > /dev/null`) },
  ];
  return all.filter(({ needs }) => needs.every(has));
}

async function ownProcess(contender: string): Promise<ChildFigures> {
  const { stdout } = await run(process.execPath, [contenderProgram, contender, embedded.url, directory, String(rows), statement]);
  const { cpuSeconds, peakMiB } = JSON.parse(stdout) as { cpuSeconds: number; peakMiB: number };
  return { cpuMs: cpuSeconds * 1000, peakRssBytes: peakMiB * 2 ** 20 };
}

/** Runs a pipeline of the shell and reads its CPU from the shell's own clock. */
async function timed(command: string): Promise<ChildFigures> {
  const { stderr } = await run('bash', ['-c', `TIMEFORMAT='%U %S'; time { set -o pipefail; ${command}; }`]);
  const [user = 0, system = 0] = stderr.trim().split('\n').at(-1)!.split(' ').map(Number);
  return { cpuMs: (user + system) * 1000 };
}

async function reportSizes(): Promise<void> {
  const ours = (await readdir(join(directory, 'phones', 'US')))[0]!;
  const bytes = async (file: string) => (await stat(join(directory, file)).catch(() => undefined))?.size;
  const gzip = await bytes('gzip.gz');
  for (const [name, file] of [['full build', `phones/US/${ours}`], ['gzip -6', 'gzip.gz'], ['pigz -6', 'pigz.gz'], ['createGzip(6)', 'streamed.gz']] as const) {
    const size = await bytes(file);
    if (size !== undefined) console.log(`${name}: ${size.toLocaleString('en-US')} bytes${gzip === undefined ? '' : `, x${(size / gzip).toFixed(4)}`}`);
  }
}

async function seconds(work: () => Promise<unknown>): Promise<string> {
  const start = performance.now();
  await work();
  return ((performance.now() - start) / 1000).toFixed(2);
}

function has(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
