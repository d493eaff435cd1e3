import { open, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { helpBuild, type HelpOptions, type SharedAttempt } from '../../../../pipelines/caches/build/shared-build.ts';
import { readMadeShare, type MadeShare } from '../../../../pipelines/caches/build/made-share.ts';
import type { KeyRange } from '../../../../pipelines/caches/build/plan/key-ranges.ts';
import { ArtefactDirectory } from '../../../../pipelines/caches/store/artefact-directory.ts';
import type { ArtefactStore } from '../../../../pipelines/caches/store/artefact-store.ts';
import { collectGarbage, listVersions, type ListedVersion } from '../../../../pipelines/caches/store/artefact-check.ts';
import { sweepUnfinishedFiles } from '../../../../pipelines/caches/build/night-build.ts';
import { loadConfig } from '../../../../runtime/config.ts';
import { queryRows } from '../../../../runtime/postgres.ts';
import { sql } from '../../../../sql/sql.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { outcomes, runWholeNight, silentLog, useStore } from '../../../support/night.ts';
import { manyNumbers, putNumbers } from '../../../support/numbers.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();
const settings = { SEGMENT_ROWS_MAX: '100', BUILD_STREAMS: '2' };
const rangeBytes = 2000;
const artefact = { cache: 'phones', country: 'US' } as const;

/** A night of one artefact whose build calls helpers. */
async function night(options: Partial<Parameters<typeof runWholeNight>[0]> = {}): Promise<ListedVersion> {
  const whole = { db, url, store, only: 'phones/US', settings, rangeBytes, ...options };
  expect(outcomes(await runWholeNight(whole))).toEqual({ 'phones/US': 'published' });
  return (await listVersions(db)).find(({ current }) => current)!;
}

function help(shared: SharedAttempt, changes: Partial<HelpOptions> = {}): Promise<number> {
  return helpBuild({
    ...shared,
    db,
    databaseUrl: url,
    store,
    settings: { ...loadConfig(settings), rangeBytes },
    signal: new AbortController().signal,
    log: silentLog,
    ...changes,
  });
}

/** The store, which does something before it starts a file. */
function startingAfter(work: () => Promise<unknown>): ArtefactStore {
  return Object.assign(Object.create(store) as ArtefactStore, {
    start: async (owner: string) => {
      await work();
      return store.start(owner);
    },
  });
}

interface ShareRow {
  share: number;
  state: string;
  ranges: KeyRange[];
  made: MadeShare | null;
}

const shares = () =>
  queryRows<ShareRow>(db, 'SELECT share, state, ranges, made FROM build_share ORDER BY build_id, attempt, share');

/** Numbers in a table whose sample divides a first build. */
async function fill(): Promise<void> {
  await db.query(
    'TRUNCATE phone_number, change_mark, artefact_delta, publication, artefact_version, build, night_run CASCADE',
  );
  await putNumbers(db, manyNumbers(4000).toReversed());
}

/** Bytes and deltas of what one process builds alone: of all numbers, then of all after a change. */
async function alone(): Promise<{ first: ListedVersion; second: ListedVersion }> {
  const first = await night();
  await change();
  const second = await night({ fullBuild: true });
  return { first, second };
}

const change = () =>
  db.query("UPDATE phone_number SET display_name = 'Changed' WHERE phone LIKE '%77' AND reputation_level = 'NEUTRAL'");

const bytesOf = ({ file, indexSha256, deltas }: ListedVersion) => ({ file, indexSha256, deltas });

beforeEach(fill);

describe('a full build that another worker makes shares of', () => {
  it('has the bytes and the deltas of a build that one worker makes', async () => {
    const expected = await alone();
    await fill();
    const made: number[] = [];
    const callHelpers = async (shared: SharedAttempt) => void made.push(await help(shared));
    expect(bytesOf(await night({ callHelpers }))).toEqual(bytesOf(expected.first));
    await change();
    expect(bytesOf(await night({ callHelpers, fullBuild: true }))).toEqual(bytesOf(expected.second));
    expect(made.every((count) => count > 3)).toBe(true);
    expect((await shares()).filter(({ made: of }) => of?.delta != null)).toHaveLength(made[1]!);
    expect((await shares()).map(({ state }) => state)).toEqual(new Array(made[0]! + made[1]!).fill('made'));
  });

  it('reads a share itself that another worker was lent and has not made, and waits for nobody', async () => {
    const expected = await night();
    await fill();
    const callHelpers = async ({ buildId, attempt }: SharedAttempt) => {
      for (let lent = 0; lent < 2; lent++) await db.query(sql('nights/lend_share'), [buildId, attempt]);
    };
    expect(bytesOf(await night({ callHelpers }))).toEqual(bytesOf(expected));
    expect(new Set((await shares()).map(({ state }) => state))).toEqual(new Set(['taken']));
  });

  it('continues alone when nobody can be called', async () => {
    const expected = await night();
    await fill();
    const callHelpers = () => Promise.reject(new Error('the queue is away'));
    expect(bytesOf(await night({ callHelpers }))).toEqual(bytesOf(expected));
  });

  it('is not shared by a worker whose settings give other bytes', async () => {
    const expected = await night();
    await fill();
    const made: number[] = [];
    const callHelpers = async (shared: SharedAttempt) =>
      void made.push(await help(shared, { settings: loadConfig({ SEGMENT_ROWS_MAX: '101' }) }));
    expect(bytesOf(await night({ callHelpers }))).toEqual(bytesOf(expected));
    expect(made).toEqual([0]);
  });

  it('lends no share to who helps with another attempt, or when it has ended', async () => {
    const made: number[] = [];
    const called: SharedAttempt[] = [];
    const callHelpers = async (shared: SharedAttempt) => {
      called.push(shared);
      for (const [change, back] of [
        ['UPDATE build SET attempts = attempts + 1', 'UPDATE build SET attempts = attempts - 1'],
        ['UPDATE night_run SET generation = generation + 1', 'UPDATE night_run SET generation = generation - 1'],
      ] as const) {
        await db.query(change);
        made.push(await help(shared));
        await db.query(back);
      }
    };
    await night({ callHelpers });
    await db.query("UPDATE build_share SET state = 'open'");
    made.push(await help(called[0]!));
    expect(made).toEqual([0, 0, 0]);
  });

  it('takes nothing of a helper that it has taken the share back from, which then gives up', async () => {
    const expected = await night();
    await fill();
    const clock = vi.spyOn(Date, 'now');
    const callHelpers = async (shared: SharedAttempt) => {
      const takeBack = () => db.query("UPDATE build_share SET state = 'taken' WHERE state = 'lent'");
      let now = Date.now();
      clock.mockImplementation(() => (now += 1000));
      expect(await help(shared, { store: startingAfter(takeBack) })).toBe(0);
      clock.mockRestore();
      const { buildId, attempt } = shared;
      await db.query(sql('nights/record_share'), [buildId, attempt, (await shares()).at(-1)!.share, '{}']);
      expect((await shares()).at(-1)).toMatchObject({ state: 'taken', made: null });
    };
    expect(bytesOf(await night({ callHelpers }))).toEqual(bytesOf(expected));
    expect(await store.listUnfinished()).toEqual([]);
  });

  it('has its deltas when a helper cannot read the version before, which then makes no share', async () => {
    const expected = await alone();
    await fill();
    await night();
    await change();
    const errors: unknown[] = [];
    const callHelpers = async (shared: SharedAttempt) => {
      const without = new ArtefactDirectory(join(store.directory, 'elsewhere'));
      errors.push(await help(shared, { store: without }).catch((error: unknown) => error));
    };
    expect(bytesOf(await night({ callHelpers, fullBuild: true }))).toEqual(bytesOf(expected.second));
    expect(errors).toEqual([expect.objectContaining({ code: 'basis_unusable' })]);
    expect((await shares()).map(({ state }) => state)).not.toContain('made');
  });

  it('is not shared if it has too few rows for two shares', async () => {
    await night({ callHelpers: () => Promise.reject(new Error('not expected')), rangeBytes: 1_000_000 });
    expect(await shares()).toEqual([]);
  });

  it('leaves nothing behind after the housekeeping of the night', async () => {
    await night({ callHelpers: async (shared) => void (await help(shared)) });
    const made = (await shares()).map((share) => share.made!);
    const stored = async () => (await store.list()).filter(({ kind }) => kind === 'share');
    const digests = (await stored()).map(({ sha256 }) => sha256);
    expect(digests).toEqual(expect.arrayContaining(made.map(({ sha256 }) => sha256)));
    await sweepUnfinishedFiles(db, store);
    await collectGarbage({ db, store, versionsKept: 14, dryRun: false });
    expect(await stored()).toEqual([]);
    expect(await shares()).toEqual([]);
  });
});

describe('a share that another worker made', () => {
  const damages: readonly [string, (path: string) => Promise<void>][] = [
    ['is missing', (path) => rm(path)],
    ['is truncated by a byte', async (path) => truncate(path, (await readFile(path)).length - 1)],
    ['has a bit turned over in its first block', (path) => turnBit(path, 40)],
    ['has a bit turned over in its last block', async (path) => turnBit(path, (await readFile(path)).length - 20)],
  ];

  it.each(damages)(
    'is refused with a typed error if it %s, and the build reads all rows itself',
    async (_how, damage) => {
      const expected = await night();
      await fill();
      const errors: unknown[] = [];
      const callHelpers = async (shared: SharedAttempt) => {
        await help(shared);
        const { ranges, made } = (await shares()).at(1)!;
        await damage(store.path({ ...artefact, sha256: made!.sha256, kind: 'share' }));
        errors.push(await refusal({ ranges, made: made! }));
      };
      expect(bytesOf(await night({ callHelpers }))).toEqual(bytesOf(expected));
      expect(errors).toEqual([expect.objectContaining({ code: 'share_unusable' })]);
    },
  );

  it('is refused if its delta is damaged', async () => {
    await night();
    await change();
    const errors: unknown[] = [];
    const callHelpers = async (shared: SharedAttempt) => {
      await help(shared);
      const { ranges, made } = (await shares()).at(-1)!;
      await turnBit(store.path({ ...artefact, sha256: made!.delta!, kind: 'share' }), 15);
      errors.push(await refusal({ ranges, made: made! }));
    };
    expect((await night({ callHelpers, fullBuild: true })).deltas).toHaveLength(1);
    expect(errors).toEqual([expect.objectContaining({ code: 'share_unusable' })]);
  });

  it('is refused if its rows are not those of the ranges', async () => {
    const errors: unknown[] = [];
    const callHelpers = async (shared: SharedAttempt) => {
      await help(shared);
      const [first, second] = await shares();
      errors.push(await refusal({ ranges: first!.ranges, made: second!.made! }));
      errors.push(await refusal({ ranges: second!.ranges, made: first!.made! }));
      errors.push(await refusal({ ranges: first!.ranges, made: { ...first!.made!, index: second!.made!.index } }));
      expect(await refusal({ ranges: first!.ranges, made: first!.made! })).toBeUndefined();
    };
    await night({ callHelpers });
    expect(errors).toEqual(new Array(3).fill(expect.objectContaining({ code: 'share_unusable' })));
  });
});

/** The error of reading a share; undefined if it can be read. */
async function refusal({ ranges, made }: { ranges: KeyRange[]; made: MadeShare }): Promise<unknown> {
  try {
    let rows = 0;
    for await (const { segments } of readMadeShare({ store, artefact, ranges }, made))
      for (const segment of segments) rows += segment.rows;
    expect(rows).toBeGreaterThan(0);
    return undefined;
  } catch (error) {
    return error;
  }
}

async function turnBit(path: string, at: number): Promise<void> {
  const handle = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, at);
  await handle.write(Buffer.from([byte[0]! ^ 0x10]), 0, 1, at);
  await handle.close();
}
