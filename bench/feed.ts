/**
 * Claims: a reputation feed is loaded, judged row by row, in at most 1.5 of the time of `psql \copy` without any check into a table
 * with the same columns and indexes, and the same file again in at most 0.3.
 *
 *   npm run build && node dist/bench/feed.js [rows=1000000] [rounds=3]
 *
 * Numbers are valid ones of ten countries in random order; seven in eight rows are labels, which are also written to the history of
 * labels. psql is given the same file; it finds no country.
 */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runFeedLoad, submitFeed } from '../pipelines/feeds/feed-load.ts';
import { lookUpPlan } from '../pipelines/phone/numbering-plan.ts';
import { loadConfig } from '../runtime/config.ts';
import type { Pool } from '../runtime/postgres.ts';
import { Seeded } from '../runtime/seeded.ts';
import { openOwnDatabase } from './own-database.ts';
import { isMain } from './program.ts';
import { printSideBySide, requirePrograms, runSideBySide, type Measured } from './side-by-side.ts';

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

/** What the load took, the same file again, and `\copy`. */
export async function compareFeeds(rows: number, rounds: number): Promise<readonly [Measured, Measured, Measured]> {
  requirePrograms('psql');
  const { directory, url, db, close } = await openOwnDatabase();
  const file = join(directory, 'feed.csv');
  try {
    await writeFeed(file, rows);
    await db.query('CREATE TABLE peer (LIKE phone_number INCLUDING ALL)');
    const prepare = () => empty(db);
    const measured = await runSideBySide(
      [
        { name: 'load into an empty database', prepare, run: () => load(db, { directory, file, rows }) },
        { name: 'the same file again', prepare: () => settle(db), run: () => load(db, { directory, file, rows }) },
        { name: 'psql \\copy', prepare, run: () => copyWithPsql(url, file) },
      ],
      rounds,
    );
    return measured as [Measured, Measured, Measured];
  } finally {
    await close();
  }
}

async function load(
  db: Pool,
  { directory, file, rows }: { directory: string; file: string; rows: number },
): Promise<void> {
  const feedDir = join(directory, 'feeds');
  const { loadId } = await submitFeed({ db, feedDir, feed: 'reputation', path: file, submittedBy: 'bench' });
  const limits = { ...loadConfig({}), feedPlainBytesMax: 2 ** 35 };
  const report = await runFeedLoad({ db, feedDir, loadId, limits });
  if (report.rowsAccepted !== rows) throw new Error(`accepted ${report.rowsAccepted} of ${rows}`);
}

/** psql takes upper-case levels and category ids only, which is what the file given to it has. */
async function copyWithPsql(url: string, file: string): Promise<void> {
  const target = 'peer (phone, reputation_level, reputation_category)';
  const statement = `\\copy ${target} FROM '${file}.psql' WITH (FORMAT csv, HEADER)`;
  await promisify(execFile)('psql', ['-X', '-q', '-d', url, '-c', statement]);
}

/** Also the history of labels, which only the owner of its table can forget. */
async function empty(db: Pool): Promise<void> {
  await db.query(`
    ALTER TABLE phone_number DISABLE TRIGGER phone_number_label_truncate;
    ALTER TABLE label_event DISABLE TRIGGER label_event_append_only;
    TRUNCATE phone_number, label_event, peer;
    ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_label_truncate;
    ALTER TABLE label_event ENABLE ALWAYS TRIGGER label_event_append_only`);
  await settle(db);
}

async function settle(db: Pool): Promise<void> {
  await db.query('CHECKPOINT');
}

/** Writes the feed, and the same rows for psql. */
async function writeFeed(file: string, rows: number): Promise<void> {
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

if (isMain(import.meta.url)) {
  const [rows, rounds] = [Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 3)];
  const measured = await compareFeeds(rows, rounds);
  console.log(`${rows} rows, medians of ${rounds}, in turn`);
  printSideBySide(measured, measured[2].name);
}
