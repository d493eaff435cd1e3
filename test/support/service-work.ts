import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Queues } from '../../jobs/queues/backend.ts';
import { requestBranding } from '../../jobs/queues/branding-producer.ts';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { requestVerification } from '../../jobs/queues/verification-producer.ts';
import { hasEnded, readBatch } from '../../pipelines/audio/batches/batch.ts';
import { readOperation } from '../../pipelines/branding/operation.ts';
import { readNight, type NightReport } from '../../pipelines/caches/night/night-report.ts';
import { everything, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { findCache } from '../../pipelines/caches/definition.ts';
import { checkVersion, listVersions } from '../../pipelines/caches/store/artefact-check.ts';
import type { ArtefactStore } from '../../pipelines/caches/store/artefact-store.ts';
import { readFeedLoad, submitFeed } from '../../pipelines/feeds/feed-load.ts';
import { loadConfig } from '../../runtime/config.ts';
import type { Pool } from '../../runtime/postgres.ts';
import type { Seeded } from '../../runtime/seeded.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { makeSampleLetters } from '../../samples/letters/sample-letters.ts';
import { silentLog } from './night.ts';
import { manyNumbers, putNumbers } from './numbers.ts';
import { submissionOf, writeVoice } from './recording-batch.ts';
import { until } from './service-process.ts';

/** Repeats work that the restart of the database cuts off. */
export async function persistent<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 300) throw error;
      await sleep(100);
    }
  }
}

/** Reads a cache through the API all the time, and compares the bytes with the ETag. */
export class CacheReader {
  reads = 0;
  mismatched = 0;
  #ended = false;
  readonly #stateDir: string;
  readonly #done: Promise<void>;

  /** `stateDir` is where the API says its address. */
  constructor(stateDir: string, key: string) {
    this.#stateDir = stateDir;
    this.#done = this.#read({ authorization: `Bearer ${key}` });
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#done;
  }

  async #read(headers: Record<string, string>): Promise<void> {
    while (!this.#ended) {
      await sleep(100);
      try {
        const { url: api } = JSON.parse(await readFile(join(this.#stateDir, 'api.json'), 'utf8')) as { url: string };
        const answer = await fetch(`${api}/v1/caches/phones?country=US`, { headers });
        if (answer.status !== 200) continue;
        const digest = createHash('sha256')
          .update(Buffer.from(await answer.arrayBuffer()))
          .digest('hex');
        this.reads++;
        if (answer.headers.get('etag') !== `"${digest}"`) this.mismatched++;
      } catch {
        // the API was killed
      }
    }
  }
}

/** The letters of the requests; each request takes one in turn. */
const letters = (await makeSampleLetters({ seed: 20260101, count: 12, asOf: new Date(), scans: false })).filter(
  ({ forgery, request }) => forgery === null && request.csv === null,
);

/** Work that a turn submits. */
export interface Work {
  readonly name: string;
  /** What is wrong with it once it is done; undefined before. */
  find(): Promise<string[] | undefined>;
}

interface WorkMakerOptions {
  readonly db: Pool;
  readonly stateDir: string;
  /** A directory for the files that are submitted. */
  readonly scratch: string;
  readonly queues: Queues;
  readonly choose: Seeded;
  /** What is wrong after a night. */
  readonly checkNight: (report: NightReport) => Promise<string[]>;
}

/** Hands in a night, a feed, a batch of recordings and a branding request, each like no other. */
export class WorkMaker {
  readonly #options: WorkMakerOptions;
  /** Of all turns of this database. */
  static #made = 0;

  constructor(options: WorkMakerOptions) {
    this.#options = options;
  }

  /** Submits one of each, and returns those that were taken. `onRefusal` gets the others; without it they are tried again. */
  async make(onRefusal?: (error: unknown) => void): Promise<Work[]> {
    const number = ++WorkMaker.#made;
    const works: Work[] = [];
    for (const handIn of [this.loadFeed, this.verify, this.addBrand, this.night]) {
      const handedIn = () => handIn.call(this, number);
      if (onRefusal === undefined) works.push(await persistent(handedIn));
      else await handedIn().then((work) => works.push(work), onRefusal);
    }
    return works;
  }

  async night(number: number): Promise<Work> {
    const { db, queues, choose, checkNight } = this.#options;
    const changed = manyNumbers(200, 12_025_550_000 + choose.below(20_000));
    await putNumbers(
      db,
      changed.map((row) => ({ ...row, name: `Name ${number}` })),
    );
    const runId = await requestNight(db, {
      nightDate: '2026-01-02',
      trigger: 'operator',
      scope: everything,
      acceptShrink: false,
      evaluatedAt: null,
      requestedBy: 'test',
    });
    await enqueueJob(queues, 'open-night', { runId: runId! }).catch(() => {}); // the scheduler adds it
    return {
      name: `night ${runId}`,
      find: async () => {
        const night = await readNight(db, { runId: runId! });
        return night.state === 'finished' ? checkNight(night.report!) : undefined;
      },
    };
  }

  async loadFeed(number: number): Promise<Work> {
    const { db, stateDir, scratch, queues } = this.#options;
    const path = join(scratch, `feed-${number}.csv`);
    const phones = Array.from({ length: 50 }, (_none, at) => `+1303${2_000_000 + number * 50 + at}`);
    await writeFile(path, `phone,display_name\n${phones.map((phone) => `${phone},Feed ${number}\n`).join('')}`);
    const feedDir = join(stateDir, 'feeds');
    const { loadId } = await submitFeed({ db, feedDir, feed: 'directory', path, submittedBy: 'test' });
    await enqueueJob(queues, 'load-feed', { loadId }).catch(() => {});
    return {
      name: `feed ${loadId}`,
      find: async () => {
        const { state, rowsAccepted, rowsChanged } = await readFeedLoad(db, loadId);
        if (state !== 'done' && state !== 'failed') return undefined;
        const { rowCount } = await db.query('SELECT FROM phone_number WHERE phone = ANY ($1) AND display_name = $2', [
          phones,
          `Feed ${number}`,
        ]);
        const found = { state, rowsAccepted, rowsChanged, rowCount };
        return difference(found, { state: 'done', rowsAccepted: 50, rowsChanged: 50, rowCount: 50 });
      },
    };
  }

  async verify(number: number): Promise<Work> {
    const { db, stateDir, scratch, queues } = this.#options;
    const voices = await Promise.all(
      Array.from({ length: 4 }, async (_none, at) => {
        const path = join(scratch, `voice-${number}-${at}.wav`);
        await writeVoice(path, { seconds: 3, pitch: 90 + at * 40 + (number % 4000) / 100 });
        return { path, source: String(at) };
      }),
    );
    const producer = { db, config: loadConfig({ STATE_DIR: stateDir }), queues, log: silentLog };
    const submission = submissionOf(voices, { key: `batch-${number}` });
    const { batch } = await requestVerification(producer, submission);
    return {
      name: `batch ${batch.id}`,
      find: async () => {
        if (!hasEnded(await readBatch(db, batch.id))) return undefined;
        const { rows } = await db.query<{ outcomes: number; results: number }>(
          `SELECT count(*) AS outcomes, count(DISTINCT result_id) AS results FROM verification
           WHERE batch_id = $1 AND state = 'performed'`,
          [batch.batchId],
        );
        return difference(rows[0]!, { outcomes: voices.length, results: voices.length });
      },
    };
  }

  async addBrand(number: number): Promise<Work> {
    const { db, stateDir, queues } = this.#options;
    const letter = letters[number % letters.length]!;
    const { legalName, dba, displayName, country, address } = letter.request;
    const handle = `brand-${number}`;
    const vault = await openVault({ stateDir });
    const { operationId } = await requestBranding(
      { db, vault, queues, log: silentLog },
      {
        kind: 'add_managed_brand',
        owner: 'Test',
        key: handle,
        requestedBy: 'test',
        letter: letter.bytes,
        request: { handle, brand: { legalName, dba, displayName, country, address }, numbers: [] },
      },
    );
    return {
      name: `request ${operationId}`,
      find: async () => {
        const { state } = await readOperation(db, operationId);
        if (state === 'queued') return undefined;
        const { rows } = await db.query<{ brands: number; letters: number }>(
          `SELECT (SELECT count(*) FROM brand WHERE handle = $1) AS brands,
             (SELECT count(*) FROM letter WHERE operation_id = $2) AS letters`,
          [handle, operationId],
        );
        return difference({ state, ...rows[0]! }, { state: 'done', brands: 1, letters: 1 });
      },
    };
  }
}

function difference(found: object, expected: object): string[] {
  return isDeepStrictEqual(found, expected) ? [] : [`${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`];
}

/** Waits until the work is done; returns what is wrong with it. */
export async function finish(work: readonly Work[]): Promise<string[]> {
  const wrong = await Promise.all(
    work.map(async ({ name, find }) => {
      const found = await until(() => find().catch(() => undefined), `${name} is done`, 240);
      return found.map((text) => `${name}: ${text}`);
    }),
  );
  return wrong.flat();
}

/** What is wrong with the published files after a night: each whole, and those of the night with all their deltas. */
export async function checkPublished(
  { db, store, versionsKept }: { db: Pool; store: ArtefactStore; versionsKept: number },
  report: NightReport,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const version of (await persistent(() => listVersions(db))).filter(({ current }) => current)) {
    const { verdict, detail } = await checkVersion(store, version);
    const name = `${version.cache}/${version.country} v${version.version}`;
    if (verdict !== 'ok') wrong.push(`${name} ${verdict} ${detail}`);
    const published = report.artefacts.some(
      ({ cache, country, outcome }) =>
        cache === version.cache && country === version.country && outcome === 'published',
    );
    const expected = Array.from(
      { length: Math.min(version.version - 1, versionsKept) },
      (_none, at) => version.version - 1 - at,
    );
    const hasFilter = findCache(version.cache).filterKeys !== null;
    if (published && hasFilter !== (version.filter !== null))
      wrong.push(`${name} has ${hasFilter ? 'no' : 'a'} filter`);
    const from = version.deltas.map((delta) => delta.from);
    if (published && from.join() !== expected.join())
      wrong.push(`${name} has deltas from ${from.join()}, not ${expected.join()}`);
  }
  return wrong;
}
