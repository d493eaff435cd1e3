import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openQueues } from '../../jobs/queues/backend.ts';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import {
  decideHeldLoad,
  readFeedLoad,
  runFeedLoad,
  submitFeed,
  type FeedLoad,
} from '../../pipelines/feeds/feed-load.ts';
import { loadGateLimits } from '../../pipelines/feeds/load-gates.ts';
import { loadConfig } from '../../runtime/config.ts';
import { useTestDatabase } from '../support/database.ts';
import { silentLog } from '../support/night.ts';
import { killProcessesAfterEach, startProcess, until, type ServiceProcess } from '../support/service-process.ts';

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-kill-held-'));
const feedDir = join(stateDir, 'feeds');
const queues = await openQueues(loadConfig({}), url, silentLog);
killProcessesAfterEach();
afterAll(async () => {
  await queues.close();
  await rm(stateDir, { recursive: true, force: true });
});

const env = { DATABASE_URL: url, STATE_DIR: stateDir, JOB_LOCK_SECONDS: '2', RECONCILE_SECONDS: '1' };
const startWorker = () => startProcess('jobs/worker-main.js', env);

const numbers = 120;
/** Of each test its own. */
let phones: readonly string[] = [];
let tests = 0;
const rows = (level: string) => phones.map((phone) => `${phone},${level},\n`).join('');

/**
 * Places at which a transaction waits for a lock of the test: at the first refused row, before the load is marked, at the COMMIT of
 * that, and at the COMMIT of a decision.
 */
const places = { copy: 1, mark: 2, commit: 3, decision: 4 } as const;
type Place = keyof typeof places;

beforeAll(async () => {
  await db.query(`
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(5150, TG_ARGV[0]::integer); RETURN NEW; END $$;
    CREATE TRIGGER copy_waits BEFORE INSERT ON feed_reject FOR EACH ROW EXECUTE FUNCTION wait_for_test(${places.copy});
    CREATE TRIGGER mark_waits BEFORE UPDATE ON feed_load FOR EACH ROW WHEN (NEW.state IN ('held', 'done')) EXECUTE FUNCTION wait_for_test(${places.mark});
    CREATE CONSTRAINT TRIGGER commit_waits AFTER UPDATE ON feed_load DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state IN ('held', 'done')) EXECUTE FUNCTION wait_for_test(${places.commit});
    CREATE CONSTRAINT TRIGGER decision_waits AFTER UPDATE ON feed_load DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.state = 'held') EXECUTE FUNCTION wait_for_test(${places.decision});
  `);
});

let held: number;

/** Numbers that usual loads label SPAM, and a load that says FRAUD of all of them and has one row that is refused. */
beforeEach(async () => {
  tests++;
  phones = Array.from({ length: numbers }, (_, at) => `+1202${555 + tests}${2000 + at}`);
  const usual = await submit(`phone,level,category\n${rows('SPAM')}`);
  expect(await runFeedLoad({ db, feedDir, loadId: usual, limits: loadConfig({}) })).toMatchObject({
    state: 'done',
    rowsChanged: numbers,
  });
  await db.query(
    `INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, state, finished_at, source, measures)
     SELECT feed, file_name, file_sha256, file_bytes, submitted_by, state, finished_at, source, measures
     FROM feed_load, generate_series(2, $2) WHERE load_id = $1`,
    [usual, loadGateLimits.loadsMin],
  );
  held = await submit(`phone,level,category\n${rows('FRAUD')}none,FRAUD,\n`);
});

async function submit(content: string): Promise<number> {
  const path = join(stateDir, 'feed.csv');
  await writeFile(path, content);
  return (
    await submitFeed({
      db,
      feedDir,
      feed: 'reputation',
      path,
      submittedBy: 'test',
      options: { source: `test-${tests}` },
    })
  ).loadId;
}

const untilState = (state: FeedLoad['state']) =>
  until(async () => {
    const load = await readFeedLoad(db, held);
    return load.state === state && load;
  }, `the load is ${state}`);

/** Starts a process, and kills it where it waits for the lock. */
async function killAt(place: Place, start: () => ServiceProcess): Promise<void> {
  const client = await db.connect();
  try {
    await client.query('SELECT pg_advisory_lock(5150, $1)', [places[place]]);
    const process = start();
    await until(
      async () =>
        (
          await db.query(
            "SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 5150 AND objid = $1 AND NOT granted",
            [places[place]],
          )
        ).rowCount === 1,
      `the process waits (${place})`,
    );
    await process.end('SIGKILL');
  } finally {
    await client.query('SELECT pg_advisory_unlock_all()');
    client.release();
  }
}

async function enqueueAndKill(place: Place): Promise<void> {
  await enqueueJob(queues, 'load-feed', { loadId: held });
  await killAt(place, startWorker);
}

const release = () =>
  decideHeldLoad({
    db,
    eyes: loadConfig({}),
    loadId: held,
    decision: 'release',
    reason: 'Asked the provider',
    actor: 'ann',
  });

const stored = async () => {
  const { rows: labels } = await db.query<{ level: string; numbers: number }>(
    'SELECT reputation_level AS level, count(*) AS numbers FROM phone_number WHERE phone = ANY ($1) GROUP BY 1',
    [phones],
  );
  const { rows: events } = await db.query<{ events: number }>(
    'SELECT count(*) AS events FROM label_event WHERE load_id = $1',
    [held],
  );
  const { rows: rejects } = await db.query<{ rejects: number }>(
    'SELECT count(*) AS rejects FROM feed_reject WHERE load_id = $1',
    [held],
  );
  return { labels, events: events[0]!.events, rejects: rejects[0]!.rejects };
};
const counts = { rowsGiven: numbers + 1, rowsAccepted: numbers, rowsRejected: 1, gates: [{ gate: 'levels' }] };
const untouched = { labels: [{ level: 'SPAM', numbers }], events: 0, rejects: 1 };
const merged = { labels: [{ level: 'FRAUD', numbers }], events: numbers, rejects: 1 };

async function expectMergedOnce(): Promise<void> {
  expect(await untilState('done')).toMatchObject({ ...counts, rowsChanged: numbers, decision: { kind: 'release' } });
  expect(await stored()).toEqual(merged);
  const { sha256 } = await readFeedLoad(db, held);
  await until(async () => !existsSync(join(feedDir, sha256)), 'the file of the load is removed');
}

describe.each(['copy', 'mark', 'commit'] as const)('a load that gates hold, whose worker is killed (%s)', (place) => {
  it('while it is judged, is held by the next worker with its rows counted once, and changes no label', async () => {
    await enqueueAndKill(place);
    await untilState(place === 'commit' ? 'held' : 'running');
    startWorker();
    const load = await untilState('held');
    expect(load).toMatchObject({ ...counts, rowsChanged: null, decision: null });
    expect(await stored()).toEqual(untouched);
    expect(existsSync(join(feedDir, load.sha256))).toBe(true);
  });

  it('while it is merged after a release, is merged once by the next worker', async () => {
    const worker = startWorker();
    await enqueueJob(queues, 'load-feed', { loadId: held });
    await untilState('held');
    // Killed before its job has ended, it would leave a job that is taken up only when its lock has run out.
    await until(async () => (await queues.state('feeds', `feed-${held}`)) === 'completed', 'the job has ended');
    await worker.end('SIGKILL');
    await release();
    await enqueueAndKill(place);
    await untilState(place === 'commit' ? 'done' : 'running');
    startWorker();
    await expectMergedOnce();
  });
});

it('a load whose release is killed before it is queued is queued by the scheduler, and merged once', async () => {
  startWorker();
  await enqueueJob(queues, 'load-feed', { loadId: held });
  await untilState('held');
  await killAt('decision', () =>
    startProcess('cli.js', env, {
      args: ['feed', 'release', String(held), '--reason', 'Asked the provider', '--no-wait'],
    }),
  );
  await untilState('queued');
  startProcess('jobs/scheduler-main.js', env);
  await expectMergedOnce();
});
