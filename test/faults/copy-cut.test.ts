import { beforeEach, describe, expect, it } from 'vitest';
import { listPublications } from '../../pipelines/caches/publications.ts';
import { requireSameCounts } from '../../pipelines/caches/artefact/build-artefact.ts';
import { useTestDatabase } from '../support/database.ts';
import { startFreezingProxy } from '../support/freezing-proxy.ts';
import { outcomes, runWholeNight, useStore } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { startPostgresProxy, type Interference } from '../support/postgres-proxy.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();

beforeEach(async () => {
  await db.query('TRUNCATE phone_number, branded_number, publication, artefact_version, build, night_run CASCADE');
  await putNumbers(db, manyNumbers(20_000));
});

async function publishedVersion(): Promise<number | undefined> {
  return (await listPublications(db)).find(({ cache }) => cache === 'phones')?.published?.version;
}

/** Runs a night of phones/US whose build reaches the database through a proxy that interferes. */
async function nightThrough(interference: Interference) {
  const proxy = await startPostgresProxy(url, interference);
  try {
    const report = await runWholeNight({
      db,
      url,
      store,
      only: 'phones/US',
      buildUrl: proxy.url,
      limits: { copyIdleSecondsMax: interference.then === 'stall' ? 3 : 30 },
    });
    return { report, interferences: proxy.interferences() };
  } finally {
    await proxy.close();
  }
}

describe('a build whose connection breaks', () => {
  const cases: [string, Interference, string][] = [
    ['in the middle of the rows', { at: 'copyData', after: 10_000, then: 'cut' }, 'copy_cut'],
    ['between CopyDone and CommandComplete, when every row has arrived', { at: 'copyDone', then: 'cut' }, 'copy_cut'],
    ['after CommandComplete', { at: 'copyCommandComplete', then: 'cut' }, 'copy_cut'],
    ['before COMMIT is confirmed', { at: 'readyForCommit', then: 'cut' }, 'copy_cut'],
    ['by falling silent in the middle of the rows', { at: 'copyData', after: 10_000, then: 'stall' }, 'copy_stalled'],
    ['by falling silent before CommandComplete', { at: 'copyDone', then: 'stall' }, 'copy_stalled'],
    ['by falling silent before COMMIT is confirmed', { at: 'readyForCommit', then: 'stall' }, 'copy_stalled'],
  ];

  it.each(cases)('%s publishes nothing and stores no file', async (_name, interference, code) => {
    const { report, interferences } = await nightThrough(interference);
    expect(interferences).toBe(1);
    expect(report.artefacts[0]).toMatchObject({ outcome: 'failed', failure: { code } });
    expect(await publishedVersion()).toBeUndefined();
    expect(await store.list()).toEqual([]);
    expect(await store.listUnfinished()).toEqual([]);
  });

  it('keeps the file of the night before, stale with the reason, and the next night is good again', async () => {
    await runWholeNight({ db, url, store, only: 'phones/US' });
    await putNumbers(db, [{ phone: '+12025550003', name: 'Changed' }]);
    await nightThrough({ at: 'copyDone', then: 'cut' });
    const [stale] = await listPublications(db);
    expect(stale).toMatchObject({ status: 'stale', stale: { code: 'copy_cut' }, published: { version: 1 } });
    expect(outcomes(await runWholeNight({ db, url, store, only: 'phones/US' }))).toEqual({ 'phones/US': 'published' });
    expect((await listPublications(db))[0]).toMatchObject({ status: 'fresh', stale: null, published: { version: 2 } });
  });
});

describe('the count beside the rows', () => {
  it('that alone falls silent fails the build within its limit, and the file of the night before stays', async () => {
    await runWholeNight({ db, url, store, only: 'phones/US' });
    await putNumbers(db, [{ phone: '+12025550003', name: 'Changed' }]);
    const proxy = await startFreezingProxy(url);
    try {
      proxy.freezeConnectionAt('reputation_level AS level, count(*)');
      const limits = { copyIdleSecondsMax: 2 };
      const report = await runWholeNight({ db, url, store, only: 'phones/US', buildUrl: proxy.url, limits });
      expect(proxy.isFrozen()).toBe(true);
      expect(report.artefacts[0]).toMatchObject({
        outcome: 'failed',
        failure: { code: 'copy_stalled', reason: expect.stringContaining('did not answer within 2 s') as string },
      });
    } finally {
      await proxy.close();
    }
    expect(await publishedVersion()).toBe(1);
    expect(await store.listUnfinished()).toEqual([]);
    expect(outcomes(await runWholeNight({ db, url, store, only: 'phones/US' }))).toEqual({ 'phones/US': 'published' });
  });
});

describe('requireSameCounts', () => {
  const artefact = { cache: 'phones', country: 'US' } as const;

  it.each([
    { counted: 5, written: 4, copied: 4 },
    { counted: 4, written: 5, copied: 4 },
    { counted: 4, written: 4, copied: 5 },
    { counted: 4, written: 4, copied: undefined },
  ])('refuses %o', (counts) => {
    expect(() => requireSameCounts(artefact, counts)).toThrow(expect.objectContaining({ code: 'rows_differ' }));
  });

  it('accepts equal counts, also of nothing', () => {
    for (const rows of [0, 3])
      expect(() => requireSameCounts(artefact, { counted: rows, written: rows, copied: rows })).not.toThrow();
  });
});
