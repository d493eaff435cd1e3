import { describe, expect, it } from 'vitest';
import {
  everything,
  parseScope,
  requestNight,
  requestNightOnce,
} from '../../../../pipelines/caches/night/night-request.ts';
import { inTransaction, queryRow } from '../../../../runtime/postgres.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { until } from '../../../support/service-process.ts';

const { db } = await useTestDatabase();
const request = {
  nightDate: '2026-01-02',
  scope: everything,
  acceptShrink: false,
  evaluatedAt: null,
  requestedBy: 'console ada',
};

const countNights = async () => (await queryRow<{ count: number }>(db, 'SELECT count(*) FROM night_run'))!.count;

/** Resolves once a request waits for another transaction that uses its key. */
const untilOneWaits = () =>
  until(
    async () =>
      (
        await db.query(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO night_run%'",
        )
      ).rows.length > 0,
    'a request waits for the other',
  );

describe('a night under an idempotency key', () => {
  it('is one night, however often and at how many places it is asked for, also after midnight and when it is finished', async () => {
    const before = await countNights();
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => requestNightOnce(db, { ...request, key: 'often' })),
    );
    expect(new Set(asked.map(({ runId }) => runId)).size).toBe(1);
    expect(asked.filter(({ repeated }) => !repeated)).toHaveLength(1);
    const { runId } = asked[0]!;
    await db.query(
      "UPDATE night_run SET state = 'finished', outcome = 'ok', evaluated_at = now(), finished_at = now() WHERE run_id = $1",
      [runId],
    ); // as opening and publishing do
    expect(await requestNightOnce(db, { ...request, nightDate: '2026-01-03', key: 'often' })).toEqual({
      runId,
      repeated: true,
      state: 'finished',
    });
    expect(await countNights()).toBe(before + 1);
  });

  it('waits for a request under the same key that is not decided yet: it is that one, or comes in its place', async () => {
    for (const [key, kept] of [
      ['kept', true],
      ['undone', false],
    ] as const) {
      let second: Promise<{ runId: number; repeated: boolean }> | undefined;
      const first = await inTransaction(db, async (client) => {
        const { runId } = await requestNightOnce(client, { ...request, key });
        second = requestNightOnce(db, { ...request, key });
        await untilOneWaits();
        if (!kept) throw new Error(String(runId));
        return runId;
      }).catch((error: Error) => Number(error.message));
      expect(await second).toMatchObject({ repeated: kept });
      expect((await second)!.runId === first).toBe(kept);
    }
  });

  it('is another night of another user, of another key, and of no key', async () => {
    const { runId } = await requestNightOnce(db, { ...request, key: 'mine' });
    const others = [
      await requestNightOnce(db, { ...request, requestedBy: 'console ben', key: 'mine' }),
      await requestNightOnce(db, { ...request, key: 'mine-2' }),
    ];
    expect(others.map(({ repeated }) => repeated)).toEqual([false, false]);
    const withoutKey = [
      await requestNight(db, { ...request, trigger: 'operator' }),
      await requestNight(db, { ...request, trigger: 'operator' }),
    ];
    expect(new Set([runId, ...others.map((other) => other.runId), ...withoutKey]).size).toBe(5);
  });

  it.each([
    ['an artefact', { scope: parseScope('phones/US') }],
    ['files that shrink', { acceptShrink: true }],
    ['another instant', { evaluatedAt: new Date('2026-01-01T01:00:00Z') }],
  ])('is refused if it asks for %s and did not before', async (what, change) => {
    const key = what.replaceAll(' ', '-');
    const { runId } = await requestNightOnce(db, { ...request, key });
    await expect(requestNightOnce(db, { ...request, ...change, key })).rejects.toMatchObject({
      code: 'idempotency_conflict',
      object: key,
      hint: expect.stringContaining(`Its night is ${runId}.`) as string,
    });
  });

  it('has a key of 1 to 128 printable ASCII characters without spaces', async () => {
    expect(await requestNightOnce(db, { ...request, key: '~'.repeat(128) })).toMatchObject({ repeated: false });
    for (const key of ['', '~'.repeat(129), 'a b', 'é', 'a\n'])
      await expect(requestNightOnce(db, { ...request, key }), JSON.stringify(key)).rejects.toMatchObject({
        code: 'parameter_invalid',
      });
  });
});

describe('a scheduled night', () => {
  it('is asked for once for its date, besides those under keys', async () => {
    const scheduled = { ...request, trigger: 'schedule', nightDate: '2026-01-05' } as const;
    expect(await requestNight(db, scheduled)).toBeGreaterThan(0);
    expect(await requestNight(db, scheduled)).toBeUndefined();
    expect(await requestNightOnce(db, { ...request, nightDate: '2026-01-05', key: 'beside' })).toMatchObject({
      repeated: false,
    });
  });
});
