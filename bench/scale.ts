import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { runFeedLoad, submitFeed } from '../pipelines/feeds/feed-load.ts';
import { loadConfig } from '../runtime/config.ts';
import { queryRow } from '../runtime/postgres.ts';
import { changeNumbers, fillNumbers } from './night-data.ts';
import type { OneBuild } from './one-build.ts';
import { openOwnDatabase } from './own-database.ts';
import { isMain, runBench } from './program.ts';
import { usedSoFar } from './server-figures.ts';

/**
 * Claim: what a night costs grows with the rows and no faster, and its memory does not grow. Beside it the figures of docs/scale.md:
 * the processor time of nights and of a feed, and the room that rows and files take.
 *
 *   npm run build && node dist/bench/scale.js [rows=1000000,20000000]
 *
 * All numbers are of one country, so that one file has them all, in random order over the heap. Needs Linux: the processor time of
 * the server is read from /proc.
 */
const feedRowsMax = 1_000_000;

/** Rows that change before the second night: as many at any size. */
const changedRows = 15_000;

/** Seconds of the clock, of the processor here and in the server, and megabytes of the write-ahead log. */
interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly serverCpuSeconds: number;
  readonly logMegabytes: number;
}

interface ScaleFigures {
  readonly rows: number;
  readonly firstNight: Cost;
  readonly changedNight: Cost;
  readonly feedRows: number;
  /** A feed of known numbers in random order, each hundredth with another level. */
  readonly feed: Cost;
  readonly nightPeakMiB: number;
  readonly fileBytes: number;
  readonly lookUpKiB: number;
  readonly tableBytes: number;
  readonly indexBytes: number;
}

/** Measures nights, a feed and their room with so many rows. */
export async function measureScale(rows: number): Promise<ScaleFigures> {
  const { directory, url, home, db, client, close } = await openOwnDatabase();
  const measure = async <Result>(work: () => Promise<Result>): Promise<Cost & { readonly result: Result }> => {
    const before = await usedSoFar(client, home);
    const result = await work();
    const after = await usedSoFar(client, home);
    return {
      result,
      seconds: (after.atMs - before.atMs) / 1000,
      cpuSeconds: (after.cpuMs - before.cpuMs) / 1000,
      serverCpuSeconds: (after.serverCpuMs - before.serverCpuMs) / 1000,
      logMegabytes: (after.walBytes - before.walBytes) / 1e6,
    };
  };
  const night = () => measure(() => runBench<OneBuild>('one-build', [url, join(directory, 'artefacts')]));
  try {
    await fillNumbers(client, rows);
    const firstNight = await night();
    await changeNumbers(client, changedRows / rows, 0);
    const changedNight = await night();
    const feed = join(directory, 'feed.csv');
    const feedRows = await writeFeed(client, feed, feedRowsMax / rows);
    const room = await queryRow<{ table: number; indexes: number }>(
      client,
      "SELECT pg_table_size('phone_number')::float8 AS table, pg_indexes_size('phone_number')::float8 AS indexes",
    );
    return {
      rows,
      firstNight,
      changedNight,
      feedRows,
      feed: await measure(async () => {
        const feedDir = join(directory, 'feeds');
        const { loadId } = await submitFeed({ db, feedDir, feed: 'reputation', path: feed, submittedBy: 'bench' });
        const report = await runFeedLoad({ db, feedDir, loadId, limits: loadConfig({}) });
        if (report.state !== 'done') throw new Error(`the load is ${report.state}`);
      }),
      nightPeakMiB: Math.max(firstNight.result.peakRssBytes, changedNight.result.peakRssBytes) / 2 ** 20,
      fileBytes: firstNight.result.bytes,
      lookUpKiB: firstNight.result.lookUpBytes / 1024,
      tableBytes: room!.table,
      indexBytes: room!.indexes,
    };
  } finally {
    await close();
  }
}

/** Writes a feed with a share of the numbers; gives its rows. */
async function writeFeed(client: Client, path: string, share: number): Promise<number> {
  const stream = client.query(
    copyTo(
      `COPY (SELECT phone, CASE WHEN hash % 100 = 7 THEN 'SPAM' ELSE feed_level END AS level, CASE WHEN hash % 100 = 7 THEN 6 ELSE feed_category END AS category
       FROM (SELECT *, hashtextextended(phone, 3) & 2147483647 AS hash FROM phone_number) AS hashed
       WHERE hash < ${Math.min(1, share)} * 2147483648 ORDER BY hash % 65536, phone) TO STDOUT (FORMAT csv, HEADER)`,
    ),
  );
  await pipeline(stream, createWriteStream(path));
  return stream.rowCount;
}

function print({ rows, feedRows, ...figures }: ScaleFigures): void {
  const { firstNight, changedNight, feed, nightPeakMiB, fileBytes, lookUpKiB, tableBytes, indexBytes } = figures;
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  console.log(`${rows.toLocaleString('en-US')} rows`);
  for (const [name, cost] of [
    ['first night', firstNight],
    [`night after ${changedRows.toLocaleString('en-US')} spread changes`, changedNight],
    [`feed of ${feedRows.toLocaleString('en-US')} rows, 1 % changed`, feed],
  ] as const)
    console.log(
      `  ${name}: ${cost.seconds.toFixed(1)} s, CPU ${cost.cpuSeconds.toFixed(1)} s, server's ${cost.serverCpuSeconds.toFixed(1)} s, log ${cost.logMegabytes.toFixed(0)} MB`,
    );
  console.log(
    `  table ${mib(tableBytes)}, indexes ${mib(indexBytes)}, file ${mib(fileBytes)}; a build takes ${nightPeakMiB.toFixed(0)} MiB, a look-up reads ${lookUpKiB.toFixed(1)} KiB`,
  );
}

if (isMain(import.meta.url))
  for (const rows of (process.argv[2] ?? '1000000,20000000').split(',')) print(await measureScale(Number(rows)));
