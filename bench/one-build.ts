import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { z } from 'zod';
import { parseDirectory } from '../format/artefact/segment-index.ts';
import { buildArtefact } from '../pipelines/caches/artefact/build-artefact.ts';
import { exportSnapshot } from '../pipelines/caches/artefact/snapshot.ts';
import { versionFacts } from '../pipelines/caches/artefact-facts.ts';
import { ArtefactDirectory } from '../pipelines/caches/store/artefact-directory.ts';
import { loadConfig } from '../runtime/config.ts';
import { ifExists } from '../runtime/files/if-exists.ts';
import { connect } from '../runtime/postgres.ts';

/** What a build took. */
export interface OneBuild {
  readonly seconds: number;
  readonly cpuMs: number;
  readonly peakRssBytes: number;
  readonly bytes: number;
  /** Null where there is no version before. */
  readonly deltaBytes: number | null;
  /** The most that a look-up in the published file reads besides the manifest: directory, page and segment. */
  readonly lookUpBytes: number;
}

/**
 * One build of phones/US in a process of its own, so that its CPU and peak memory are its own: `one-build.js URL DIRECTORY`. What an
 * earlier run left in the directory is the published version; a new one takes its place. Prints {@link OneBuild} as JSON.
 */
const [url, directory] = process.argv.slice(2) as [string, string];
const artefact = { cache: 'phones', country: 'US' } as const;

const published = join(directory, 'published.json');
const text = await ifExists(readFile(published, 'utf8'));
const before = text === undefined ? null : versionFacts.extend({ version: z.int() }).parse(JSON.parse(text));
const store = new ArtefactDirectory(directory);
const startedAt = performance.now();
const holder = await connect({ url, applicationName: 'bench' });
const snapshot = await exportSnapshot(holder);
const { facts } = await buildArtefact({
  databaseUrl: url,
  store,
  artefact,
  published: before,
  snapshotId: snapshot.id,
  evaluatedAt: new Date(),
  owner: 'bench',
  settings: loadConfig({}),
  log: pino(process.stderr),
});
await holder.end();
const seconds = (performance.now() - startedAt) / 1000;
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
await mkdir(directory, { recursive: true });
await writeFile(published, JSON.stringify({ version: (before?.version ?? 0) + 1, ...facts }));
const index = await store.open({ ...artefact, sha256: facts.index.sha256, kind: 'index' });
const pages = parseDirectory((await index.readFile()).subarray(facts.index.directory.offset), facts.index);
await index.close();
const answer: OneBuild = {
  seconds,
  cpuMs: (userCPUTime + systemCPUTime) / 1000,
  peakRssBytes: maxRSS * 1024,
  bytes: facts.file.bytes,
  deltaBytes: facts.deltas[0]?.bytes ?? null,
  lookUpBytes: facts.index.directory.bytes + Math.max(...pages.map(({ bytes }) => bytes)) + facts.index.blockBytesMax,
};
console.log(JSON.stringify(answer));
