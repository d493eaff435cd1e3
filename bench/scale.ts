/**
 * Makes the figures of docs/scale.md: what a full night, a night after 15,000 spread changes and a feed of 1 million rows
 * cost at a number of rows, and the room that these take.
 *
 *   npm run build && node dist/bench/scale.js [rows=1000000] [directory [step,step...]]
 *
 * Steps, in this order: fill, first (a night of all caches, from nothing), full (all rows again), spread, feed, fed (the
 * night after the feed). All by default, in a new directory that is removed at the end; with a directory each command does the
 * steps it is given and leaves the state to the next one. All numbers are of one country, so that one file has them all, in
 * random order over the heap; 60 % have a name, 40 % a level. They are loaded before the indexes are made, with the triggers
 * off. Needs Linux: the processor time and memory of the server are read from /proc.
 */
import { createWriteStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { to as copyTo } from 'pg-copy-streams';
import { ArtefactDirectory } from '../pipelines/caches/store/artefact-directory.ts';
import { everything } from '../pipelines/caches/night/night-request.ts';
import { runFeedLoad, submitFeed } from '../pipelines/feeds/feed-load.ts';
import { loadConfig } from '../runtime/config.ts';
import { fillValidNumbers } from './night-data.ts';
import { serverProcesses, usedSoFar } from './server-figures.ts';
import { runWholeNight } from './whole-night.ts';
import { openOwnDatabase } from './own-database.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const feedRows = 1_000_000;
const changedRows = 15_000;

const { directory, url: databaseUrl, home, db, client, close } = await openOwnDatabase(process.argv[3]);
const store = new ArtefactDirectory(join(directory, 'artefacts'));

const night = (fullBuild: boolean) =>
  runWholeNight({ db, databaseUrl, store, settings: loadConfig({}), scope: everything, fullBuild });

const steps: Readonly<Record<string, () => Promise<void>>> = {
  fill: async () => {
    await measure('load by SQL, with the indexes', () => fillValidNumbers(client, rows));
    await reportRoom();
  },
  first: () => measure('first night', () => night(false)),
  full: () => measure('full night', () => night(true)),
  spread: async () => {
    await changeSpread();
    await measure(`night after ${changedRows.toLocaleString('en-US')} spread changes`, () => night(false));
  },
  feed: async () => {
    const path = await writeFeed();
    await measure(`feed of ${feedRows.toLocaleString('en-US')} rows, 1 % changed`, () => load(path));
  },
  fed: async () => {
    await measure('night after that feed', () => night(false));
    await reportRoom();
  },
};

try {
  for (const step of process.argv[4]?.split(',') ?? Object.keys(steps)) await steps[step]!();
} finally {
  await close();
}

async function changeSpread(): Promise<void> {
  const { rowCount } = await client.query(
    'UPDATE phone_number SET display_name = $1 WHERE hashtextextended(phone, $2) & 2147483647 < $3',
    ['Another name', Date.now(), Math.round((changedRows / rows) * 2 ** 31)],
  );
  console.log(`${rowCount?.toLocaleString('en-US')} rows changed`);
}

/** Writes a feed of known numbers in random order, each hundredth with another level. */
async function writeFeed(): Promise<string> {
  const path = join(directory, 'feed.csv');
  const picked = Math.round(Math.min(1, feedRows / rows) * 2 ** 31);
  await pipeline(
    client.query(
      copyTo(
        `COPY (SELECT phone, CASE WHEN hash % 100 = 7 THEN 'SPAM' ELSE feed_level END AS level, CASE WHEN hash % 100 = 7 THEN 6 ELSE feed_category END AS category
         FROM (SELECT *, hashtextextended(phone, ${Date.now()}) & 2147483647 AS hash FROM phone_number) AS hashed
         WHERE hash < ${picked} ORDER BY hash % 65536, phone) TO STDOUT (FORMAT csv, HEADER)`,
      ),
    ),
    createWriteStream(path),
  );
  return path;
}

async function load(path: string): Promise<void> {
  const feedDir = join(directory, 'feeds');
  const { loadId } = await submitFeed({ db, feedDir, feed: 'reputation', path, submittedBy: 'bench' });
  const report = await runFeedLoad({ db, feedDir, loadId, limits: loadConfig({}) });
  console.log(`${report.state}: ${report.rowsAccepted} rows accepted, ${report.rowsChanged} changed`);
}

/** Prints the time, the processor time of this process and of the server, their highest memory and the bytes of the write-ahead log. */
async function measure(name: string, work: () => Promise<unknown>): Promise<void> {
  const before = await usedSoFar(client, home);
  let [own, server] = [0, 0];
  const sampler = setInterval(async () => {
    own = Math.max(own, process.memoryUsage.rss());
    server = Math.max(server, (await serverProcesses(home)).memoryBytes);
  }, 250);
  try {
    await work();
  } finally {
    clearInterval(sampler);
  }
  const after = await usedSoFar(client, home);
  const text = [
    `${((after.atMs - before.atMs) / 1000).toFixed(1)} s`,
    `own CPU ${((after.cpuMs - before.cpuMs) / 1000).toFixed(1)} s`,
    `server's CPU ${((after.serverCpuMs - before.serverCpuMs) / 1000).toFixed(1)} s`,
    `peak RSS ${mib(own)} MiB`,
    `server's private memory ${mib(server)} MiB`,
    `log ${((after.walBytes - before.walBytes) / 1e6).toFixed(0)} MB`,
  ];
  console.log(`${rows.toLocaleString('en-US')} rows, ${name}: ${text.join(', ')}`);
}

/** Prints the sizes of the table, of its indexes and of the files. */
async function reportRoom(): Promise<void> {
  const { rows: relations } = await client.query<{ name: string; bytes: string }>(
    `SELECT relname AS name, pg_table_size(oid) AS bytes FROM pg_class
     WHERE relname = 'phone_number' OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'phone_number'::regclass) ORDER BY 1`,
  );
  const files = await readdir(join(directory, 'artefacts'), { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async ({ parentPath, name }) => ({ name, ...(await stat(join(parentPath, name))) })),
  );
  const room = relations.map(({ name, bytes }) => `${name} ${mib(Number(bytes))} MiB`);
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  console.log(
    `${rows.toLocaleString('en-US')} rows: ${room.join(', ')}; ${sizes.length} files of caches ${mib(total)} MiB`,
  );
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
