import { execFile } from 'node:child_process';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { changeNumbers, fillNumbers } from './night-data.ts';
import type { OneBuild } from './one-build.ts';
import { openOwnDatabase } from './own-database.ts';
import { isMain, runBench } from './program.ts';
import { median, requirePrograms } from './side-by-side.ts';

/**
 * Claims: a night costs little more than the COPY of its rows alone, however many have changed; a first file costs no more than COPY
 * through a common compressor, and is not larger; memory does not grow with the rows; a delta is as small as what changed, and a
 * look-up in the published file reads a few kilobytes.
 *
 *   npm run build && node dist/bench/night.js [rows=5000000] [rounds=3]
 *
 * One country, loaded in random order as feeds leave it. Each round compares with a COPY of the same statement right before:
 * each change is one more version after the last.
 */
const run = promisify(execFile);

/** The share of rows that changes before a build; undefined: there is no earlier version. */
const cases = [
  { name: 'first', share: undefined },
  { name: 'nothing', share: 0 },
  { name: '0.1 % spread', share: 0.001 },
  { name: '1 % spread', share: 0.01 },
  { name: '10 % spread', share: 0.1 },
] as const;

type CaseName = (typeof cases)[number]['name'];

/** What a case took: medians over the rounds, and the largest memory. */
interface NightFigures {
  readonly seconds: number;
  /** Of `psql COPY > /dev/null` right before it. */
  readonly ofCopy: number;
  readonly cpuSeconds: number;
  readonly peakMiB: number;
  readonly lookUpKiB: number;
  /** Bytes of the delta, of the file's. */
  readonly deltaOfFile: number;
}

/** The figures of nights, and of the compressors beside a first build. */
interface NightComparison {
  readonly nights: Readonly<Record<CaseName, NightFigures>>;
  /** Time of a first build, as a multiple. */
  readonly firstOfPigz: number;
  readonly firstOfGzip: number;
  /** Bytes of a first build, as a multiple. */
  readonly sizeOfGzip: number;
}

const statement =
  "COPY (SELECT phone, reputation_level, reputation_category, display_name, display_description, display_detail, display_image FROM cache_profile_phones WHERE country = 'US' ORDER BY phone) TO STDOUT WITH (FORMAT text, NULL '', ENCODING 'UTF8')";

/** Measures builds of a table of so many rows side by side with COPY. */
export async function compareNights(rows: number, rounds: number): Promise<NightComparison> {
  requirePrograms('psql', 'gzip', 'pigz');
  const { directory, url, client, close } = await openOwnDatabase();
  const copy = `psql -q '${url}' -c 'SET enable_indexscan = off; SET enable_indexonlyscan = off' -c "${statement}"`;
  const [store, gzipFile] = [join(directory, 'artefacts'), join(directory, 'gzip.gz')];
  const measured = new Map(cases.map(({ name }) => [name, [] as MeasuredBuild[]]));
  const compressed = { pigz: [] as number[], gzip: [] as number[] };
  try {
    await fillNumbers(client, rows);
    for (let round = 0; round < rounds; round++) {
      await rm(store, { recursive: true, force: true });
      for (const { name, share } of cases) {
        if (share !== undefined && share > 0) await changeNumbers(client, share, round);
        const copySeconds = await timed(`${copy} > /dev/null`);
        if (share === undefined) {
          compressed.pigz.push(await timed(`${copy} | pigz -p2 -6 > ${join(directory, 'pigz.gz')}`));
          compressed.gzip.push(await timed(`${copy} | gzip -6 > ${gzipFile}`));
        }
        measured.get(name)!.push({ ...(await runBench<OneBuild>('one-build', [url, store])), copySeconds });
      }
    }
    const first = measured.get('first')!;
    const firstSeconds = median(first.map(({ seconds }) => seconds));
    return {
      nights: Object.fromEntries(
        [...measured].map(([name, each]) => [name, summarise(each)]),
      ) as NightComparison['nights'],
      firstOfPigz: firstSeconds / median(compressed.pigz),
      firstOfGzip: firstSeconds / median(compressed.gzip),
      sizeOfGzip: first.at(-1)!.bytes / (await stat(gzipFile)).size,
    };
  } finally {
    await close();
  }
}

interface MeasuredBuild extends OneBuild {
  readonly copySeconds: number;
}

function summarise(each: readonly MeasuredBuild[]): NightFigures {
  const medianOf = (figure: (build: MeasuredBuild) => number) => median(each.map(figure));
  return {
    seconds: medianOf(({ seconds }) => seconds),
    ofCopy: medianOf(({ seconds, copySeconds }) => seconds / copySeconds),
    cpuSeconds: medianOf(({ cpuMs }) => cpuMs / 1000),
    peakMiB: Math.max(...each.map(({ peakRssBytes }) => peakRssBytes)) / 2 ** 20,
    lookUpKiB: medianOf(({ lookUpBytes }) => lookUpBytes / 1024),
    deltaOfFile: medianOf(({ deltaBytes, bytes }) => (deltaBytes ?? 0) / bytes),
  };
}

async function timed(command: string): Promise<number> {
  const startedAt = performance.now();
  await run('bash', ['-c', `set -o pipefail; ${command}`]);
  return (performance.now() - startedAt) / 1000;
}

if (isMain(import.meta.url)) {
  const { nights, ...first } = await compareNights(Number(process.argv[2] ?? 5_000_000), Number(process.argv[3] ?? 3));
  for (const [name, night] of Object.entries(nights))
    console.log(
      `${name.padEnd(14)} ${night.seconds.toFixed(2)} s, x${night.ofCopy.toFixed(2)} of psql COPY > /dev/null, own CPU ${night.cpuSeconds.toFixed(2)} s, ${Math.round(night.peakMiB)} MiB; a look-up reads ${night.lookUpKiB.toFixed(1)} KiB; the delta has x${night.deltaOfFile.toFixed(4)} of the file`,
    );
  console.log(
    `first build: x${first.firstOfPigz.toFixed(2)} of psql | pigz -p2 -6, x${first.firstOfGzip.toFixed(2)} of psql | gzip -6, x${first.sizeOfGzip.toFixed(3)} of its size`,
  );
}
