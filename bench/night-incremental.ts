/**
 * Claims: a night after 1 % of the rows changed in one range of numbers takes at most a tenth of a full night, after 0.1 % at most
 * a twentieth, and hardly more as the table grows.
 *
 *   npm run build && node dist/bench/night-incremental.js [rows=5000000] [rounds=3] [changed rows, instead of shares]
 *
 * A night is all of it but the queue: planning, counting by SQL, COPY, compression, the delta, publishing. One country, one new
 * cluster of PostgreSQL. Before each night some rows get another name, which is not timed: "clustered" are numbers that follow one
 * another, "spread" are picked by a hash, so that they lie in as many segments as they can. Every night is followed by the
 * others in turn, round by round. A line a night says what its steps took; the last line says whether a full build gives the bytes
 * that the last incremental one published.
 */
import { join } from 'node:path';
import { ArtefactDirectory } from '../pipelines/caches/store/artefact-directory.ts';
import type { ReportedArtefact } from '../pipelines/caches/night/night-report.ts';
import { loadConfig } from '../runtime/config.ts';
import { fillNumbers } from './night-data.ts';
import { printSideBySide, runSideBySide, type Contender } from './side-by-side.ts';
import { openOwnDatabase } from './own-database.ts';
import { runWholeNight } from './whole-night.ts';

const rows = Number(process.argv[2] ?? 5_000_000);
const rounds = Number(process.argv[3] ?? 3);
const fixed = process.argv[4] === undefined ? undefined : Number(process.argv[4]);

const { directory, url: databaseUrl, db, client, close } = await openOwnDatabase();
const store = new ArtefactDirectory(join(directory, 'artefacts'));
const settings = loadConfig({ VERSIONS_KEPT: process.argv[5] ?? '14' });
let changes = 0;

try {
  await fillNumbers(client, rows);
  const first = await night(false);
  console.log(`${rows.toLocaleString('en-US')} rows, ${first.bytes?.toLocaleString('en-US')} bytes`);
  const shares = fixed === undefined ? [0.001, 0.01, 0.1] : [fixed / rows];
  const contenders: Contender[] = [
    { name: 'full night', prepare: () => changeClustered(shares[0]!), run: async () => void (await night(true)) },
    ...shares.flatMap((share) => [
      {
        name: `${label(share)} changed, clustered`,
        prepare: () => changeClustered(share),
        run: async () => void (await night(false)),
      },
      {
        name: `${label(share)} changed, spread`,
        prepare: () => changeSpread(share),
        run: async () => void (await night(false)),
      },
    ]),
    { name: 'nothing changed', run: async () => void (await night(false)) },
  ];
  printSideBySide(await runSideBySide(contenders, rounds), 'full night');
  await changeClustered(shares[0]!);
  const last = await night(false);
  const { outcome, segmentsDiffering } = await night(true);
  console.log(`after ${last.build}: a full build is ${outcome}, ${segmentsDiffering} segments differ`);
} finally {
  await close();
}

function label(share: number): string {
  return fixed === undefined ? `${share * 100} %` : `${fixed.toLocaleString('en-US')} rows`;
}

async function night(fullBuild: boolean): Promise<ReportedArtefact> {
  const onStep = stopwatch();
  const scope = { cache: 'phones', country: 'US' } as const;
  const [artefact] = await runWholeNight({ db, databaseUrl, store, settings, scope, fullBuild, onStep });
  console.log(`${artefact!.build}, ${artefact!.rowsRead?.toLocaleString('en-US')} rows read: ${onStep('publication')}`);
  return artefact!;
}

/** A clock that is given the name of each ended step; returns all steps so far. */
function stopwatch(): (ended: string) => string {
  const steps: string[] = [];
  let since = performance.now();
  return (ended) => {
    steps.push(`${ended} ${((performance.now() - since) / 1000).toFixed(2)} s`);
    since = performance.now();
    return steps.join(', ');
  };
}

/**
 * Numbers of {@link fillNumbers} lie at equal distances from +12010000000 on; the range begins at 40 % of them, and further up each
 * time.
 */
async function changeClustered(share: number): Promise<void> {
  const step = Math.floor(7_900_000_000 / rows);
  const from = Math.floor(rows * (0.4 + 0.05 * (changes++ % 8)));
  await client.query('UPDATE phone_number SET display_name = $1 WHERE phone >= $2 AND phone < $3', [
    `Name ${changes}`,
    ...[from, from + Math.ceil(rows * share)].map((at) => `+1${2_010_000_000 + at * step}`),
  ]);
}

async function changeSpread(share: number): Promise<void> {
  await client.query('UPDATE phone_number SET display_name = $1 WHERE (hashtextextended(phone, $2) & 1048575) < $3', [
    `Name ${changes++}`,
    changes,
    Math.round(share * 1_048_576),
  ]);
}
