/**
 * Claims: a reputation feed is loaded, judged row by row, in at most twice the time of `psql \copy` without any check
 * into a table of the same definition; and reading, judging and staging it takes at most 1.6 of the time of `psql \copy`
 * into a bare table, and 0.20 of that of fast-csv with COPY in batches.
 *
 *   npm run build && node dist/bench/feed.js [rows=1000000] [rounds=3]
 *
 * Numbers are valid ones of ten countries in random order. psql is given the same file; it finds no country.
 */
import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseStream } from 'fast-csv';
import { CopyIn } from '../pipelines/feeds/copy-in.ts';
import { readFeedBytes } from '../pipelines/feeds/feed-bytes.ts';
import { findFeed } from '../pipelines/feeds/feed.ts';
import type { Category } from '../pipelines/feeds/feed-definition.ts';
import { readFeedRows } from '../pipelines/rows/feed-rows.ts';
import { lookUpPlan } from '../pipelines/phone/numbering-plan.ts';
import { judgePhone } from '../pipelines/phone/phone-number.ts';
import { runFeedLoad, submitFeed } from '../pipelines/feeds/feed-load.ts';
import { loadConfig } from '../runtime/config.ts';
import { queryRows, withPoolClient, type Pool } from '../runtime/postgres.ts';
import { sql } from '../sql/sql.ts';
import { printSideBySide, requirePrograms, runSideBySide, usedCpuMs, type Contender } from './side-by-side.ts';
import { Seeded } from '../runtime/seeded.ts';
import { openOwnDatabase } from './own-database.ts';

requirePrograms('psql');
const run = promisify(execFile);
const rows = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 3);
const limits = { ...loadConfig({}), feedPlainBytesMax: 2 ** 35 };

/** Calling code, first digits and digits in all after the plus, of number ranges that are mostly assigned. */
const ranges = [
  ['1', 11],
  ['1', 11],
  ['1', 11],
  ['1', 11],
  ['447', 12],
  ['4915', 13],
  ['336', 11],
  ['346', 11],
  ['5511', 13],
  ['9198', 12],
  ['614', 11],
  ['8190', 12],
] as const;
const words = ['SPAM,6', 'SPAM,10', 'SPAM,1', 'SPAM,', 'FRAUD,7', 'FRAUD,15', 'NEUTRAL,', 'spam,telemarketer'];

const { directory, url, db, close } = await openOwnDatabase();
try {
  await compare();
} finally {
  await close();
}

async function compare(): Promise<void> {
  const file = join(directory, 'feed.csv');
  await writeFeed(file);
  await db.query('CREATE TABLE peer (LIKE phone_number INCLUDING ALL)');
  await db.query('CREATE UNLOGGED TABLE floor (phone text, level text, category text)');
  const measured = await runSideBySide(await contenders(db, file), rounds);
  console.log(`${rows} rows, medians of ${rounds}, in turn`);
  printSideBySide(measured.slice(0, 3), 'psql \\copy, same table');
  console.log('the same without indexes and without the merge');
  printSideBySide(measured.slice(3), 'psql \\copy, bare table');
  printPhoneCost();
}

async function contenders(db: Pool, file: string): Promise<Contender[]> {
  const prepare = () => empty(db);
  return [
    { name: 'load into an empty database', prepare, run: () => load(db, file) },
    { name: 'the same file again', prepare: () => settle(db), run: () => load(db, file) },
    {
      name: 'psql \\copy, same table',
      prepare,
      run: () => copyWithPsql(file, 'peer (phone, reputation_level, reputation_category)'),
    },
    { name: 'read, judge, stage', prepare, run: () => stage(db, file) },
    { name: 'psql \\copy, bare table', prepare, run: () => copyWithPsql(file, 'floor') },
    { name: 'fast-csv, COPY in batches', prepare, run: () => copyWithFastCsv(db, file) },
    { name: 'fast-csv alone', run: () => parseAlone(file) },
  ];
}

/** What a load does before its rows are merged: the same functions, and a staging table of the same definition. */
async function stage(db: Pool, file: string): Promise<void> {
  const feed = findFeed('reputation');
  await withPoolClient(db, async (client) => {
    await client.query('BEGIN');
    await client.query(sql(feed.createStaging));
    const judge = feed.makeJudge({
      categories: await queryRows<Category>(client, sql('labels/list_categories')),
      submittedAt: new Date(),
      options: {},
      dateForm: null,
    });
    const copy = new CopyIn(client);
    const staged = copy.into(`${feed.stagingTable} (${feed.stagingColumns.join(', ')}, line_number)`);
    for await (const batch of readFeedRows(
      readFeedBytes(file, { plainBytesMax: limits.feedPlainBytesMax }),
      feed.format,
    )) {
      let lines = '';
      for (const row of batch) {
        const judged = 'values' in row ? judge(row.values) : row.refusal;
        if (typeof judged !== 'string') throw new Error(`line ${row.line}: ${judged.reason}`);
        lines += `${judged}\t${row.line}\n`;
      }
      await staged.write(lines);
    }
    await staged.flush();
    await copy.end();
    await client.query('ROLLBACK');
  });
}

/** The obvious way with the library of most stars: its rows, nothing judged, to COPY in batches of 1,000 rows. */
async function copyWithFastCsv(db: Pool, file: string): Promise<void> {
  await withPoolClient(db, async (client) => {
    const copy = new CopyIn(client);
    const target = copy.into('floor');
    let lines = '';
    let count = 0;
    for await (const { phone, level, category } of parseStream(createReadStream(`${file}.psql`), {
      headers: true,
    }) as AsyncIterable<{ phone: string; level: string; category: string }>) {
      lines += `${phone}\t${level}\t${category === '' ? '\\N' : category}\n`;
      if (++count % 1000 !== 0) continue;
      await target.write(lines);
      lines = '';
    }
    await target.write(lines);
    await target.flush();
    await copy.end();
  });
}

async function load(db: Pool, file: string): Promise<void> {
  const feedDir = join(directory, 'feeds');
  const { loadId } = await submitFeed({ db, feedDir, feed: 'reputation', path: file, submittedBy: 'bench' });
  const report = await runFeedLoad({ db, feedDir, loadId, limits });
  if (report.rowsAccepted !== rows) throw new Error(`accepted ${report.rowsAccepted} of ${rows}`);
}

/** psql takes upper-case levels and category ids only, which is what the file given to it has. */
async function copyWithPsql(file: string, target: string): Promise<void> {
  await run('psql', ['-X', '-q', '-d', url, '-c', `\\copy ${target} FROM '${file}.psql' WITH (FORMAT csv, HEADER)`]);
}

async function parseAlone(file: string): Promise<void> {
  let parsed = 0;
  for await (const _row of parseStream(createReadStream(file), { headers: true })) parsed++;
  if (parsed !== rows) throw new Error(`fast-csv read ${parsed} rows`);
}

async function empty(db: Pool): Promise<void> {
  await db.query('TRUNCATE phone_number, peer, floor');
  await settle(db);
}

async function settle(db: Pool): Promise<void> {
  await db.query('CHECKPOINT');
}

/** Writes the feed, and the same rows for psql. */
async function writeFeed(file: string): Promise<void> {
  const random = new Seeded(1);
  const [ours, theirs] = [createWriteStream(file), createWriteStream(`${file}.psql`)];
  const known = new Set<string>();
  for (const out of [ours, theirs]) out.write('phone,level,category\n');
  while (known.size < rows) {
    const phone = randomPhone(random);
    if (known.has(phone) || lookUpPlan(phone).kind !== 'valid') continue;
    known.add(phone);
    const word = random.pick(words);
    theirs.write(`${phone},${word === 'spam,telemarketer' ? 'SPAM,6' : word}\n`);
    if (!ours.write(`${phone},${word}\n`)) await once(ours, 'drain');
  }
  await Promise.all([ours, theirs].map((out) => new Promise((resolve) => out.end(resolve))));
}

function randomPhone(random: Seeded): string {
  const [start, digits] = random.pick(ranges);
  let phone = `+${start}`;
  while (phone.length <= digits) phone += random.below(10);
  return phone;
}

/** Time for one number: by the compiled plans, and by the library, which is needed for Russian toll-free numbers. */
function printPhoneCost(): void {
  const random = new Seeded(2);
  const sample = Array.from({ length: 100_000 }, () => randomPhone(random));
  const tollFree = Array.from({ length: 20_000 }, () => `+7800${String(random.below(1e7)).padStart(7, '0')}`);
  for (const [name, phones] of [
    ['compiled plans', sample],
    ['libphonenumber', tollFree],
  ] as const) {
    phones.forEach((phone) => judgePhone(phone));
    const before = usedCpuMs();
    phones.forEach((phone) => judgePhone(phone));
    console.log(`${name}: ${(((usedCpuMs() - before) * 1000) / phones.length).toFixed(2)} us of CPU a number`);
  }
}
