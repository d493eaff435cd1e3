/**
 * Claims: a full build takes little longer than `psql COPY > /dev/null`, the COPY alone; its file is not larger than that of
 * gzip -6; in 128 MiB a stream, whatever the rows. And what the planner's own choice and the join with brands cost.
 *
 *   npm run build && node dist/bench/night.js [rows=5000000] [rounds=5] [all|builds]
 *
 * One country, loaded in random order as feeds leave it; then 2 % of the rows are updated. 1 % have a brand that has ended: none
 * is live, so builds read without the join, and so does every contender but one. All read the table in its own order and sort, as
 * the build with one stream does, but the one that is left to the planner, which takes the index. `builds` leaves out the other
 * compressors.
 */
import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { allPhones, endOfPrefix } from '../format/artefact/key-range.ts';
import { buildProfiles } from '../pipelines/caches/format/row-deflate.ts';
import { sqlWithLiterals } from '../sql/sql.ts';
import { addEndedBrands, changeSomeNumbers, fillNumbers } from './night-data.ts';
import { printSideBySide, requirePrograms, runSideBySide, type ChildFigures, type Contender } from './side-by-side.ts';
import { openOwnDatabase } from './own-database.ts';

const run = promisify(execFile);
const rows = Number(process.argv[2] ?? 5_000_000);
const rounds = Number(process.argv[3] ?? 5);
const isBrief = process.argv[4] === 'builds';
const profiles = isBrief ? (['compact'] as const) : buildProfiles;
requirePrograms('psql', ...(isBrief ? [] : (['gzip', 'pigz', 'igzip'] as const)));
const contenderProgram = fileURLToPath(new URL('./night-contender.js', import.meta.url));
const statementOf = (name: string) =>
  sqlWithLiterals(name, {
    country: 'US',
    evaluatedAt: '2026-01-01T01:00:00Z',
    from: allPhones,
    to: endOfPrefix(allPhones),
    keys: null,
  })
    .replaceAll(/^--.*\n/gm, '')
    .replaceAll(/\s+/g, ' ');
const statement = statementOf('caches/copy_unbranded_profile_phones');

const { directory, url, client, close } = await openOwnDatabase();
const psql = (...commands: string[]) =>
  `psql -q ${quoted(url)} ${commands.map((command) => `-c ${quoted(command)}`).join(' ')}`;
const sorted = 'SET enable_indexscan = off';
const copyCommand = psql(sorted, statement);
const byIndexCommand = psql(statement);
const brandedCommand = psql(sorted, statementOf('caches/copy_profile_phones'));
const compressors = [
  { name: 'gzip -6', command: 'gzip -6', file: 'gzip.gz' },
  { name: 'pigz -p2 -6', command: 'pigz -p2 -6', file: 'pigz.gz' },
  { name: 'igzip -1', command: 'igzip -1', file: 'igzip.gz' },
] as const;
try {
  await fillNumbers(client, rows);
  await addEndedBrands(client);
  await changeSomeNumbers(client);
  await client.query('VACUUM (ANALYZE) phone_number, branded_number');
  printSideBySide(await runSideBySide(contenders(), rounds), 'psql > /dev/null');
  await reportSizes();
} finally {
  await close();
}

function contenders(): Contender[] {
  return [
    ...profiles.flatMap((profile) =>
      [2, 1].map((streams) => ({
        name: `full build, ${profile}, ${streams} streams`,
        run: () => ownProcess(profile, streams),
      })),
    ),
    ...(isBrief ? [] : compressors).map(({ name, command, file }) => ({
      name: `psql | ${name}`,
      run: () => timed(`${copyCommand} | ${command} > ${join(directory, file)}`),
    })),
    ...(isBrief ? [] : [{ name: 'pg-copy-streams + createGzip(6)', run: () => ownProcess('pg-copy-streams', 1) }]),
    { name: 'psql > /dev/null', run: () => timed(`${copyCommand} > /dev/null`) },
    { name: 'psql > /dev/null, as the planner chooses', run: () => timed(`${byIndexCommand} > /dev/null`) },
    { name: 'psql > /dev/null, with the join', run: () => timed(`${brandedCommand} > /dev/null`) },
  ];
}

async function ownProcess(contender: string, streams: number): Promise<ChildFigures> {
  const { stdout } = await run(process.execPath, [
    contenderProgram,
    contender,
    url,
    join(directory, contender),
    String(rows),
    statement,
    String(streams),
  ]);
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
  const files = [
    ...(await Promise.all(
      profiles.map(async (profile) => [`full build, ${profile}`, await builtFile(profile)] as const),
    )),
    ...compressors.map(({ name, file }) => [name, file] as const),
    ['createGzip(6)', 'pg-copy-streams/streamed.gz'] as const,
  ];
  const bytes = async (file: string) => (await stat(join(directory, file)).catch(() => undefined))?.size;
  const gzip = await bytes(compressors[0].file);
  for (const [name, file] of files) {
    const size = await bytes(file);
    if (size !== undefined)
      console.log(
        `${name}: ${size.toLocaleString('en-US')} bytes${gzip === undefined ? '' : `, x${(size / gzip).toFixed(4)}`}`,
      );
  }
}

/** The artefact of a profile; every round makes the same. */
async function builtFile(profile: string): Promise<string> {
  const folder = join(profile, 'phones', 'US');
  return join(
    folder,
    (await readdir(join(directory, folder))).find((name) => name.endsWith('.tsv.gz'))!,
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
