/**
 * Compares sets of indexes of the table of numbers over a week: seven feeds that change 0.5 % of the rows, spread, and the night
 * after each, the last one full.
 *
 *   npm run build && node dist/bench/indexes.js [rows=1000000] [rounds=3] ['set;set...']
 *
 * Each set begins with a copy of one database, whose rows lie as feeds leave them: of eight feeds, each in the order of its numbers,
 * and a seventh of them moved since by daily changes. A feed of the week has 5 % of the numbers in random order: a tenth of
 * them with another level, and 0.1 % that are new. Sets are run in turn, round by round. Processor time is that of this process
 * and the server. Needs Linux.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { everything } from '../pipelines/caches/night/night-request.ts';
import { ArtefactDirectory } from '../pipelines/caches/store/artefact-directory.ts';
import { runFeedLoad, submitFeed } from '../pipelines/feeds/feed-load.ts';
import { loadConfig } from '../runtime/config.ts';
import { connect, createPool } from '../runtime/postgres.ts';
import { acquireEmbeddedDatabase, removeStateDirectory } from '../runtime/services/embedded-postgres.ts';
import { migrate } from '../sql/migrate.ts';
import { fillValidNumbers } from './night-data.ts';
import { usedSoFar } from './server-figures.ts';
import { runWholeNight } from './whole-night.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 3);
const days = 7;

const columns = 'reputation_level, reputation_category';
const display = 'display_name, display_description, display_detail, display_image';
const covering = `CREATE INDEX phone_number_profile ON phone_number (country, phone) INCLUDE (${columns}, ${display})`;
const narrow = 'CREATE INDEX phone_number_country ON phone_number (country, phone)';
const byCountry = 'CREATE INDEX phone_number_country ON phone_number (country)';
const coveringSpammers = `CREATE INDEX phone_number_spammer ON phone_number (phone) INCLUDE (${columns}) WHERE reputation_level <> 'NEUTRAL'`;
const narrowSpammers = "CREATE INDEX phone_number_spammer ON phone_number (phone) WHERE reputation_level <> 'NEUTRAL'";

/** Besides the primary key (phone): indexes, and what is done before the full night. */
const sets: Readonly<Record<string, { readonly indexes: readonly string[]; readonly beforeFullNight?: string }>> = {
  'covering, covering spammers': { indexes: [covering, coveringSpammers] },
  covering: { indexes: [covering] },
  'covering spammers, (country, phone)': { indexes: [narrow, coveringSpammers] },
  '(country, phone), spammers': { indexes: [narrow, narrowSpammers] },
  '(country, phone)': { indexes: [narrow] },
  '(country)': { indexes: [byCountry] },
  none: { indexes: [] },
  '(country), CLUSTER': { indexes: [byCountry], beforeFullNight: 'CLUSTER phone_number USING phone_number_pkey' },
  '(country), fillfactor 90': {
    indexes: ['ALTER TABLE phone_number SET (fillfactor = 90)', 'VACUUM FULL phone_number', byCountry],
  },
};
const chosen = process.argv[4]?.split(';') ?? Object.keys(sets);

const steps = ['feeds', 'six nights', 'full night'] as const;
type Step = (typeof steps)[number];

interface Figures {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly walBytes: number;
}
const figures = new Map(chosen.map((set) => [set, new Map<Step, Figures[]>(steps.map((step) => [step, []]))]));
const room = new Map<string, string>();

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-indexes-'));
const embedded = await acquireEmbeddedDatabase(join(directory, 'state'));
try {
  await withDatabase('template0', 'filled', fill);
  for (let round = 0; round < rounds; round++)
    for (const set of chosen) await withDatabase('filled', 'week', (client, url) => runWeek(set, client, url));
} finally {
  await embedded.release();
  await removeStateDirectory(join(directory, 'state'));
  await rm(directory, { recursive: true, force: true });
}
printTable();

/** Creates a database from another, and gives its client to some work. The one that is a template for others is kept. */
async function withDatabase(
  template: string,
  name: string,
  work: (client: Client, url: string) => Promise<void>,
): Promise<void> {
  const admin = await connect({ url: embedded.url, applicationName: 'bench' });
  await admin.query(`DROP DATABASE IF EXISTS ${name}`);
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  await admin.end();
  const url = new URL(embedded.url);
  url.pathname = `/${name}`;
  const client = await connect({ url: url.href, applicationName: 'bench' });
  await work(client, url.href).finally(() => client.end());
}

async function fill(client: Client): Promise<void> {
  await migrate(client);
  await fillValidNumbers(client, rows);
  await client.query('ALTER TABLE phone_number DISABLE TRIGGER USER');
  await client.query('CREATE TABLE filled AS SELECT * FROM phone_number ORDER BY hashtext(phone) & 7, phone');
  await client.query('TRUNCATE phone_number');
  await client.query('INSERT INTO phone_number SELECT * FROM filled');
  await client.query('DROP TABLE filled');
  for (let day = 0; day < 5; day++) {
    await client.query('UPDATE phone_number SET feed_load_id = NULL WHERE (hashtextextended(phone, $1) & 1023) < 30', [
      day,
    ]);
    await client.query('VACUUM phone_number');
  }
  await client.query('ALTER TABLE phone_number ENABLE TRIGGER USER');
  await client.query('VACUUM (ANALYZE) phone_number');
}

async function runWeek(set: string, client: Client, url: string): Promise<void> {
  await client.query('DROP INDEX phone_number_country');
  const { indexes, beforeFullNight } = sets[set]!;
  for (const statement of indexes) await client.query(statement);
  await client.query('VACUUM (ANALYZE) phone_number');
  const work = join(directory, 'week');
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const db = createPool({ url, applicationName: 'bench', connectionsMax: 5, onIdleError: () => {} });
  const store = new ArtefactDirectory(join(work, 'artefacts'));
  const night = (fullBuild: boolean) =>
    runWholeNight({ db, databaseUrl: url, store, settings: loadConfig({}), scope: everything, fullBuild });
  const sums = new Map<Step, Figures>(steps.map((step) => [step, { wallMs: 0, cpuMs: 0, walBytes: 0 }]));
  const measure = async (step: Step, run: () => Promise<unknown>) => {
    const before = await usedSoFar(client, embedded.home);
    await run();
    const after = await usedSoFar(client, embedded.home);
    const sum = sums.get(step)!;
    sums.set(step, {
      wallMs: sum.wallMs + after.atMs - before.atMs,
      cpuMs: sum.cpuMs + after.cpuMs - before.cpuMs + after.serverCpuMs - before.serverCpuMs,
      walBytes: sum.walBytes + after.walBytes - before.walBytes,
    });
  };
  try {
    await night(false);
    await client.query('CHECKPOINT'); // So that each set writes as many whole pages to the log.
    for (let day = 1; day <= days; day++) {
      const path = join(work, `feed-${day}.csv`);
      await writeFeed(client, day, path);
      const feedDir = join(work, 'feeds');
      const { loadId } = await submitFeed({ db, feedDir, feed: 'reputation', path, submittedBy: 'bench' });
      await measure('feeds', async () => {
        const { state, rowsChanged } = await runFeedLoad({ db, feedDir, loadId, limits: loadConfig({}) });
        if (state !== 'done' || rowsChanged! < rows * 0.005) throw new Error(`${state}: ${rowsChanged} rows changed`);
      });
      if (day < days) await measure('six nights', () => night(false));
      else
        await measure('full night', async () => {
          if (beforeFullNight !== undefined) await client.query(beforeFullNight);
          await night(true);
        });
    }
    const { rows: sizes } = await client.query<{ table: string; indexes: string }>(
      "SELECT pg_table_size('phone_number') AS table, pg_indexes_size('phone_number') AS indexes",
    );
    room.set(set, `${mib(sizes[0]!.table)} + ${mib(sizes[0]!.indexes)} MiB`);
  } finally {
    await db.end();
  }
  for (const [step, sum] of sums) figures.get(set)!.get(step)!.push(sum);
  console.log(`${set}: ${[...sums].map(([step, sum]) => `${step} ${format(sum)}`).join('; ')}; ${room.get(set)}`);
}

/** Writes 5 % of the numbers in random order, each tenth with another level, and new ones. */
async function writeFeed(client: Client, day: number, path: string): Promise<void> {
  await pipeline(
    client.query(
      copyTo(
        `COPY (
           SELECT phone, level, category FROM (
             SELECT phone,
               CASE WHEN hash % 10 > 0 THEN feed_level WHEN feed_level = 'SPAM' THEN 'NEUTRAL' ELSE 'SPAM' END AS level,
               CASE WHEN hash % 10 > 0 THEN feed_category WHEN feed_level = 'SPAM' THEN NULL ELSE 6 END AS category,
               hash
             FROM (SELECT *, hashtextextended(phone, ${day}) & 2147483647 AS hash FROM phone_number) AS hashed
             WHERE hash < 0.0505 * 2147483648
             UNION ALL
             (SELECT left(phone, 5) || 2000000 + hash % 8000000, 'SPAM', 6, hash
             FROM (SELECT phone, hashtextextended(phone, ${-day}) & 9223372036854775807 AS hash FROM phone_number) AS hashed
             ORDER BY hash LIMIT ${rows / 1000})
           ) AS lines
           ORDER BY hash % 65521
         ) TO STDOUT (FORMAT csv, HEADER)`,
      ),
    ),
    createWriteStream(path),
  );
}

function printTable(): void {
  console.log(`\n${rows.toLocaleString('en-US')} rows, medians of ${rounds}: wall time, processor time, log`);
  console.log(`| besides the primary key | ${steps.join(' | ')} | week | table + indexes |`);
  console.log(`|---|${'---|'.repeat(steps.length + 2)}`);
  for (const [set, runs] of figures) {
    const medians = steps.map((step) => medianOf(runs.get(step)!));
    console.log(`| ${[set, ...medians.map(format), format(medians.reduce(add)), room.get(set)].join(' | ')} |`);
  }
}

function add(a: Figures, b: Figures): Figures {
  return { wallMs: a.wallMs + b.wallMs, cpuMs: a.cpuMs + b.cpuMs, walBytes: a.walBytes + b.walBytes };
}

function medianOf(runs: readonly Figures[]): Figures {
  const middle = (of: (run: Figures) => number) => runs.map(of).sort((a, b) => a - b)[runs.length >> 1]!;
  return {
    wallMs: middle((run) => run.wallMs),
    cpuMs: middle((run) => run.cpuMs),
    walBytes: middle((run) => run.walBytes),
  };
}

function format({ wallMs, cpuMs, walBytes }: Figures): string {
  return `${(wallMs / 1000).toFixed(1)} s, ${(cpuMs / 1000).toFixed(1)} s, ${(walBytes / 1e6).toFixed(0)} MB`;
}

function mib(bytes: string): string {
  return (Number(bytes) / 2 ** 20).toFixed(0);
}
