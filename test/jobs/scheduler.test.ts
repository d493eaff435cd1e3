import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Queues } from '../../jobs/queues/backend.ts';
import { queueSchema } from '../../jobs/queues/queue-schema.ts';
import { catchUpNight, keepSignaturesFresh, lastTick, startScheduler, type Scheduler } from '../../jobs/scheduler.ts';
import { initTrust, makeRootKeys } from '../../pipelines/caches/signing/ceremony.ts';
import { readPresentSet } from '../../pipelines/caches/signing/sign-publications.ts';
import { parseMetadata } from '../../format/trust/metadata.ts';
import { queryRows } from '../../runtime/postgres.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { openBackend, silent, until } from './backends.ts';

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-scheduler-'));
const backend = await openBackend('postgres', { RECONCILE_SECONDS: '1', DROP_DIR: directory });
const { db } = backend.database;
await (await backend.openQueues()).close(); // makes the schema

afterAll(async () => {
  await backend.close();
  await rm(directory, { recursive: true });
});

const at = (instant: string) => () => new Date(instant);
const nights = () =>
  queryRows<{ nightDate: string }>(db, 'SELECT night_date, trigger, state FROM night_run ORDER BY run_id');

async function withQueues<Result>(work: (queues: Queues) => Promise<Result>): Promise<Result> {
  const queues = await backend.openQueues();
  try {
    return await work(queues);
  } finally {
    await queues.close();
  }
}

describe('the last tick of a schedule', () => {
  const now = new Date('2026-03-29T01:30:00Z');
  it.each([
    ['0 1 * * *', 24, '2026-03-29T01:00:00.000Z'],
    ['0 2 * * *', 24, '2026-03-28T02:00:00.000Z'], // no hour is skipped in UTC
    ['30 1 * * *', 24, '2026-03-29T01:30:00.000Z'],
    ['31 1 * * *', 1, undefined],
    ['*/20 30 1 * * *', 1, '2026-03-29T01:30:00.000Z'],
    ['15,45 * * * * *', 1, '2026-03-29T01:29:45.000Z'],
    ['0 1 * * 1', 168, '2026-03-23T01:00:00.000Z'],
  ])('%s, within %d hours', (schedule, hours, expected) => {
    const since = new Date(now.getTime() - hours * 3_600_000);
    expect(lastTick(schedule, { now, since })?.toISOString()).toBe(expected);
  });
});

describe('the night', () => {
  afterEach(async () => {
    await db.query('TRUNCATE night_run RESTART IDENTITY CASCADE');
    await db.query(`DELETE FROM ${queueSchema}.job`);
  });

  it('that was missed is made up for once, and queued', async () => {
    await withQueues(async (queues) => {
      const options = { config: backend.config, db, queues, log: silent, clock: at('2026-03-29T14:00:00Z') };
      const runId = await catchUpNight(options);
      expect(runId).toBeTypeOf('number');
      expect(await catchUpNight(options)).toBeUndefined();
      expect(await nights()).toEqual([{ nightDate: '2026-03-29', trigger: 'schedule', state: 'due' }]);
      expect(await queues.state('nights', `night-${runId}`)).toBe('waiting');
    });
  });

  it('that was missed longer ago than the hours of catching up is left out', async () => {
    await withQueues(async (queues) => {
      const config = { ...backend.config, nightCatchUpHours: 2 };
      expect(
        await catchUpNight({ config, db, queues, log: silent, clock: at('2026-03-29T03:00:01Z') }),
      ).toBeUndefined();
      expect(await catchUpNight({ config, db, queues, log: silent, clock: at('2026-03-29T02:59:59Z') })).toBeTypeOf(
        'number',
      );
    });
  });

  it('is made at its tick also where nothing is caught up', async () => {
    await withQueues(async (queues) => {
      const config = { ...backend.config, nightCatchUpHours: 0 };
      expect(await catchUpNight({ config, db, queues, log: silent, clock: at('2026-03-29T01:00:00.020Z') })).toBeTypeOf(
        'number',
      );
    });
  });

  it('is asked for by the date of its tick, on the evening before midnight too', async () => {
    await withQueues(async (queues) => {
      const config = { ...backend.config, nightSchedule: '30 23 * * *' };
      await catchUpNight({ config, db, queues, log: silent, clock: at('2026-03-29T00:10:00Z') });
      expect(await nights()).toMatchObject([{ nightDate: '2026-03-28' }]);
    });
  });

  it('happens once with two schedulers whose clocks tick at the same second', async () => {
    const soon = new Date(Date.now() + 2000);
    const nightSchedule = `${soon.getUTCSeconds()} ${soon.getUTCMinutes()} ${soon.getUTCHours()} * * *`;
    const config = { ...backend.config, nightSchedule, nightCatchUpHours: 0 };
    const submit = () => Promise.reject(new Error('nothing was dropped'));
    const queues = [await backend.openQueues(), await backend.openQueues()];
    const schedulers: Scheduler[] = await Promise.all(
      queues.map((each) => startScheduler({ config, db, queues: each, log: silent, submit })),
    );
    await until(nights, (rows) => rows.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await nights()).toMatchObject([{ nightDate: soon.toISOString().slice(0, 10) }]);
    await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
    expect((await queues[0]!.counts()).nights.waiting).toBe(1);
    await Promise.all(queues.map((each) => each.close()));
  });

  it.each(['at one', '0 */12 * * *', '0,30 1 * * *', '*/30 0 1 * * *'])(
    'is refused with the schedule %s',
    async (nightSchedule) => {
      const config = { ...backend.config, nightSchedule };
      await expect(
        startScheduler({ config, db, queues: {} as Queues, log: silent, submit: () => Promise.reject(new Error()) }),
      ).rejects.toMatchObject({ code: 'setting_invalid' });
    },
  );
});

describe('the signatures of what is published', () => {
  const stateDir = join(directory, 'state');
  const timestampVersion = async () => parseMetadata('timestamp', (await readPresentSet(db)).timestamp!).signed.version;
  const keep = (clock: () => Date) =>
    keepSignaturesFresh({ config: { ...backend.config, stateDir }, db, log: silent, clock });

  it('are left alone where nothing is signed, and no key is made for them', async () => {
    await keep(() => new Date()).stop();
    expect(await readPresentSet(db)).toEqual({});
    expect(existsSync(stateDir)).toBe(false);
  });

  it('are renewed also while no night is published', async () => {
    const vault = await openVault({ stateDir });
    await initTrust({ db, vault, now: new Date() }, { rootKeys: makeRootKeys(1), threshold: 1 });
    const before = await timestampVersion();
    await keep(() => new Date()).stop();
    expect(await timestampVersion()).toBe(before);
    await keep(() => new Date(Date.now() + 13 * 3_600_000)).stop();
    expect(await timestampVersion()).toBeGreaterThan(before);
  });
});
