import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to } from 'pg-copy-streams';
import { loadConfig } from '../runtime/config.ts';
import { connect } from '../runtime/postgres.ts';
import { ArtefactDirectory } from '../pipelines/caches/store/artefact-directory.ts';
import { buildArtefact } from '../pipelines/caches/build/build.ts';
import { exportSnapshot } from '../pipelines/caches/build/reading/snapshot.ts';

/**
 * One contender of bench/night.ts in a process of its own, so that its CPU and peak memory are its own:
 * `night-contender.js compact|fast|pg-copy-streams URL DIRECTORY ROWS STATEMENT STREAMS`. Prints one JSON line.
 */
const [contender, url, directory, rows, statement, streams] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string,
];

const build = async (): Promise<number> => {
  const holder = await connect({ url, applicationName: 'bench' });
  const snapshot = await exportSnapshot(holder);
  const store = new ArtefactDirectory(directory);
  const { file } = await buildArtefact({
    databaseUrl: url,
    store,
    artefact: { cache: 'phones', country: 'US' },
    snapshotId: snapshot.id,
    evaluatedAt: new Date('2026-01-01T01:00:00Z'),
    rowsExpected: Number(rows),
    owner: 'bench',
    settings: loadConfig({ BUILD_PROFILE: contender, BUILD_STREAMS: streams }),
  });
  await holder.end();
  return file.bytes;
};

const stream = async (): Promise<number> => {
  const client = await connect({ url, applicationName: 'bench' });
  const gzip = createGzip({ level: 6 });
  await mkdir(directory, { recursive: true });
  await client.query('SET enable_indexscan = off'); // as the build reads
  await pipeline(client.query(to(statement)), gzip, createWriteStream(`${directory}/streamed.gz`));
  await client.end();
  return 0;
};

const startedAt = performance.now();
const bytes = await (contender === 'pg-copy-streams' ? stream() : build());
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
console.log(
  JSON.stringify({
    seconds: (performance.now() - startedAt) / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakMiB: maxRSS / 1024,
    bytes,
  }),
);
