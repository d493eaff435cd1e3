import { loadConfig } from '../../runtime/config.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { listPublications } from '../../pipelines/caches/publications.ts';
import { sweepUnfinishedFiles } from '../../pipelines/caches/artefact/night-build.ts';
import { failNight } from '../../pipelines/caches/night/night-opening.ts';
import { type NightRequest, parseScope, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { publishNight } from '../../pipelines/caches/night/night-publishing.ts';
import { clearNumber, readNumber } from '../../pipelines/labels/number-record.ts';
import { scoreComplaints } from '../../pipelines/labels/scoring.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { useTestDatabase } from '../support/database.ts';
import { buildNight, outcomes, publishBuilt, runWholeNight, useStore } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { until } from '../support/service-process.ts';
import { eyes } from '../support/branding.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();
const only = 'phones/US';
const nightRequest: NightRequest = {
  nightDate: '2026-01-02',
  trigger: 'operator',
  scope: parseScope(only),
  acceptShrink: false,
  evaluatedAt: null,
  requestedBy: 'test',
};

beforeEach(async () => {
  await db.query(
    'TRUNCATE phone_number, branded_number, publication, artefact_version, build, night_run, complaint, complaint_score, redress, feed_load CASCADE',
  );
});

async function phonesUs() {
  return (await listPublications(db)).find(({ cache }) => cache === 'phones');
}

describe('two nights at once', () => {
  it('are published one after the other: the second compares with what the first published, also when it waited for it', async () => {
    await putNumbers(db, manyNumbers(1000));
    await runWholeNight({ db, url, store, only });
    await putNumbers(db, [{ phone: '+12025550001', name: 'Another' }]);
    const first = await buildNight({ db, url, store, only });
    await db.query("DELETE FROM phone_number WHERE phone > '+12025550010'");
    const second = await buildNight({ db, url, store, only });
    // The first holds its locks; the second waits for them, and continues when the first has committed.
    const late = await inTransaction(db, async (client) => {
      await client.query(sql('nights/lock_publications'), [first.runId, first.generation]);
      const waiting = publishBuilt(db, second);
      await sleep(300);
      await client.query(
        `INSERT INTO artefact_version (cache, country, version, build_id, as_of, built_at, facts)
         SELECT b.cache, b.country, 2, b.build_id, r.as_of, b.built_at, b.facts
         FROM build AS b JOIN night_run AS r USING (run_id) WHERE r.run_id = $1`,
        [first.runId],
      );
      await client.query('UPDATE publication SET version = 2');
      return { waiting };
    });
    const report = await late.waiting;
    expect(report.artefacts[0]).toMatchObject({
      rowsBefore: 1000,
      outcome: 'failed',
      failure: { code: 'artefact_shrunk' },
    });
  });

  it('leave the newer file fresh when the older night ends later', async () => {
    await putNumbers(db, manyNumbers(20));
    const older = await buildNight({ db, url, store, only });
    await putNumbers(db, [{ phone: '+12025550001', name: 'Newer' }]);
    await runWholeNight({ db, url, store, only });
    const report = await publishBuilt(db, older);
    expect(report.artefacts[0]).toMatchObject({ outcome: 'failed', failure: { code: 'artefact_older' } });
    expect(await phonesUs()).toMatchObject({ status: 'fresh', published: { version: 1 } });
  });

  it.each([
    ['failed', "state = 'failed', failure_code = 'copy_cut', failure_reason = 'cut'", 'copy_cut'],
    ['was lost', "state = 'running'", 'build_lost'],
  ])('leave the newer file fresh when a build of the older night %s', async (_, state, code) => {
    await putNumbers(db, manyNumbers(20));
    const older = await buildNight({ db, url, store, only });
    await runWholeNight({ db, url, store, only });
    await db.query(`UPDATE build SET ${state} WHERE run_id = $1`, [older.runId]);
    const report = await publishBuilt(db, older);
    expect(report.artefacts[0]).toMatchObject({ outcome: 'failed', failure: { code } });
    expect(await phonesUs()).toMatchObject({ status: 'fresh', published: { version: 1 } });
  });

  it('leave the newer file fresh when the older night could not be opened, and mark it stale when the newer one could not', async () => {
    await putNumbers(db, manyNumbers(20));
    const olderRunId = (await requestNight(db, nightRequest))!;
    await runWholeNight({ db, url, store, only });
    const newerRunId = (await requestNight(db, nightRequest))!;
    await failNight(db, { runId: olderRunId, code: 'night_failed', reason: 'older' });
    expect(await phonesUs()).toMatchObject({ status: 'fresh' });
    await failNight(db, { runId: newerRunId, code: 'night_failed', reason: 'newer' });
    expect(await phonesUs()).toMatchObject({ status: 'stale', stale: { reason: 'newer' } });
  });

  it('do not write their scores between the scores and the snapshot of each other', async () => {
    await putNumbers(db, manyNumbers(10));
    const order: string[] = [];
    const night = (name: string) =>
      runWholeNight({
        db,
        url,
        store,
        only,
        acceptShrink: true,
        prepare: async () => {
          order.push(`${name} prepares`);
          await db.query('UPDATE phone_number SET display_name = $1', [name]);
          await sleep(300);
          const { rows } = await db.query<{ names: string }>('SELECT DISTINCT display_name AS names FROM phone_number');
          order.push(`${name} sees ${rows.map(({ names }) => names).join(' ')}`);
        },
      });
    await Promise.all([night('a'), until(async () => order.length > 0, 'the first prepares').then(() => night('b'))]);
    expect(order).toEqual(['a prepares', 'a sees a', 'b prepares', 'b sees b']);
  });

  it('refuse the generation that was taken over', async () => {
    await putNumbers(db, manyNumbers(10));
    const attempt = await buildNight({ db, url, store, only });
    await db.query('UPDATE night_run SET generation = generation + 1');
    expect(await publishNight({ db, ...attempt, limits: loadConfig({}) })).toEqual({ kind: 'void' });
    expect(await phonesUs()).toBeUndefined();
  });
});

describe('a lost connection inside a transaction', () => {
  it('is an error of the work, not the end of the process, and the pool continues', async () => {
    const lost = inTransaction(db, async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await db.query('SELECT pg_terminate_backend($1, 10000)', [rows[0]!.pid]); // returns when it has ended
      await client.query('SELECT 1');
    });
    await expect(lost).rejects.toThrow();
    expect((await db.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it('in a publishing night publishes nothing, and the next attempt does', async () => {
    await putNumbers(db, manyNumbers(10));
    const attempt = await buildNight({ db, url, store, only });
    await inTransaction(db, async (blocker) => {
      await blocker.query('LOCK TABLE publication');
      const publishing = publishBuilt(db, attempt);
      publishing.catch(() => {});
      const endWaiting =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      await until(async () => (await db.query(endWaiting)).rows.length > 0, 'the publication waits for the lock');
      await expect(publishing).rejects.toThrow();
    });
    expect(await phonesUs()).toBeUndefined();
    expect(outcomes(await publishBuilt(db, attempt))).toEqual({ 'phones/US': 'published' });
  });
});

describe('what comes late', () => {
  it('a clearing made while complaints are scored is not undone by the scores', async () => {
    const phone = '+12025550123';
    await db.query(
      "INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, state, merged_by) VALUES ('complaints', 'x', repeat('a', 64), 1, 'test', 'running', pg_current_xact_id())",
    );
    await db.query(
      `INSERT INTO complaint (phone, country, reported_at, violated_at, consumer_state, subject, occurrence, load_id)
       SELECT $1, 'US', '2026-01-01', '2026-01-01', state, 'Other', 1, (SELECT max(load_id) FROM feed_load) FROM unnest(ARRAY['Ohio', 'Utah', 'Iowa']) AS state`,
      [phone],
    );
    await scoreComplaints(db, new Date('2026-01-02T01:00:00Z'));
    expect((await readNumber(db, phone)).reputation).toMatchObject({ level: 'SPAM' });
    await inTransaction(db, async (client) => {
      await client.query('SELECT now()'); // the scoring transaction begins, then the operator clears
      await client.query(sql('labels/create_scored'));
      await client.query('INSERT INTO complaint_candidate VALUES ($1)', [phone]);
      await clearNumber({ db, eyes, phone, reason: 'recycled', actor: 'ada' });
      await client.query(sql('labels/apply_scores'));
    });
    expect((await readNumber(db, phone)).reputation).toMatchObject({ level: 'NEUTRAL', source: 'redress' });
  });

  it('an attempt at a build that fails after a later one has begun does not fail the build', async () => {
    await putNumbers(db, manyNumbers(10));
    const attempt = await buildNight({ db, url, store, only });
    await db.query("UPDATE build SET state = 'running', attempts = 2 WHERE run_id = $1", [attempt.runId]);
    const { rows } = await db.query<{ build_id: number }>('SELECT build_id FROM build WHERE run_id = $1', [
      attempt.runId,
    ]);
    await db.query(sql('nights/record_attempt_failure'), [rows[0]!.build_id, 1, 'copy_cut', 'late']);
    await db.query(sql('nights/record_build'), [rows[0]!.build_id, 1, '{"rows": 1}', null]);
    expect((await db.query('SELECT state FROM build WHERE build_id = $1', [rows[0]!.build_id])).rows).toEqual([
      { state: 'running' },
    ]);
    await db.query(sql('nights/record_attempt_failure'), [rows[0]!.build_id, 2, 'copy_cut', 'in time']);
    expect((await db.query('SELECT state FROM build WHERE build_id = $1', [rows[0]!.build_id])).rows).toEqual([
      { state: 'failed' },
    ]);
  });

  it('abandoned unfinished files of builds are swept, those of running ones are not', async () => {
    await putNumbers(db, manyNumbers(10));
    const attempt = await buildNight({ db, url, store, only });
    const { rows } = await db.query<{ build_id: number }>('SELECT build_id FROM build WHERE run_id = $1', [
      attempt.runId,
    ]);
    const names = [`build-${rows[0]!.build_id}-1`, 'build-999999999-1', 'something-else'];
    for (const name of names) await (await store.start(name)).handle.close();
    expect((await sweepUnfinishedFiles(db, store)).sort()).toEqual(['build-999999999-1', 'something-else']);
    await publishBuilt(db, attempt);
    expect(await sweepUnfinishedFiles(db, store)).toEqual([names[0]]);
  });
});
