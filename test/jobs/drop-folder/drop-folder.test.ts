import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Queues } from '../../../jobs/queues/backend.ts';
import { queueSchema } from '../../../jobs/queues/queue-schema.ts';
import { openDropFolder, type DropFolder } from '../../../jobs/drop-folder/drop-folder.ts';
import { feedInboxes, type SubmitDropped } from '../../../jobs/drop-folder/feed-drop.ts';
import { submitFeed } from '../../../pipelines/feeds/feed-load.ts';
import { queryRows } from '../../../runtime/postgres.ts';
import { openBackend, silent } from '../backends.ts';

const backend = await openBackend('postgres');
const queues: Queues = await backend.openQueues();
const { db } = backend.database;

let directory: string;
let now: number;

const drop = (...path: string[]) => join(directory, 'drop', ...path);
const submit: SubmitDropped = (file) => submitFeed({ db, feedDir: join(directory, 'feeds'), ...file });
const open = (changes: { submit?: SubmitDropped } = {}): DropFolder => {
  const config = { dropDir: drop(), dropSettleSeconds: 10 };
  return openDropFolder({
    config,
    db,
    log: silent,
    inboxes: feedInboxes({ config, queues, log: silent, submit, ...changes }),
    clock: () => new Date(now),
  });
};
const loads = () =>
  queryRows<{ loadId: number; fileName: string; feed: string }>(
    db,
    'SELECT load_id, feed, file_name FROM feed_load ORDER BY load_id',
  );
const finish = (state: 'done' | 'failed') =>
  db.query(
    `UPDATE feed_load SET state = $1, finished_at = now(), rows_given = 2, rows_accepted = 2, rows_rejected = 0, failure_code = CASE WHEN $1 = 'failed' THEN 'feed_header_invalid' END, failure_reason = CASE WHEN $1 = 'failed' THEN 'No phone column.' END`,
    [state],
  );
const result = async (...path: string[]) =>
  JSON.parse(await readFile(drop(...path), 'utf8')) as Record<string, unknown>;
/** Polls, and again when every entry is stable. */
const pollWhenStable = async (...folders: DropFolder[]) => {
  await Promise.all(folders.map((folder) => folder.poll()));
  now += 10_000;
  await Promise.all(folders.map((folder) => folder.poll()));
};
const takenFiles = async () =>
  (await readdir(drop('taken'), { recursive: true, withFileTypes: true })).filter((entry) => !entry.isDirectory());

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'caller-trust-drop-'));
  await mkdir(join(directory, 'feeds'));
  now = Date.parse('2026-03-29T12:00:00Z');
  await open().poll(); // makes the folders
});
afterEach(async () => {
  await db.query('TRUNCATE feed_load RESTART IDENTITY CASCADE');
  await db.query(`DELETE FROM ${queueSchema}.job`);
  await rm(directory, { recursive: true });
});
afterAll(async () => {
  await queues.close();
  await backend.close();
});

describe('the drop folder', () => {
  it('takes a file whose name is not UTF-8 under a name that is', async () => {
    const folder = open();
    const latin1 = (name: string) => Buffer.concat([Buffer.from(drop('directory', '/')), Buffer.from(name, 'latin1')]);
    await writeFile(latin1('caf\xe9 \xff.csv'), 'phone\n');
    await folder.poll();
    now += 9_999;
    await folder.poll();
    expect(await takenFiles()).toEqual([]);
    now += 1;
    await folder.poll(); // renames it
    await pollWhenStable(folder);
    expect(await loads()).toMatchObject([{ fileName: 'caf%E9 %FF.csv' }]);
    await writeFile(latin1('\xe9.csv'), 'phone\n');
    await writeFile(drop('directory', '%E9.csv'), 'phone\n+15005550006\n');
    await pollWhenStable(folder);
    expect(await readdir(drop('directory'))).toEqual([expect.stringContaining('\uFFFD')]); // until the other is taken
    await pollWhenStable(folder); // renames the other
    await pollWhenStable(folder);
    expect((await loads()).map(({ fileName }) => fileName)).toEqual(['caf%E9 %FF.csv', '%E9.csv', '%E9.csv']);
  });

  it('takes a file when it has not changed for the settling time, and queues it under its feed', async () => {
    const folder = open();
    await writeFile(drop('directory', 'names.csv'), 'phone\n');
    await folder.poll();
    now += 9_000;
    await writeFile(drop('directory', 'names.csv'), 'phone\n+15005550006\n'); // it grows
    await folder.poll();
    now += 9_999;
    await folder.poll();
    expect(await loads()).toEqual([]);
    now += 1;
    await folder.poll();
    expect(await loads()).toEqual([{ loadId: 1, feed: 'directory', fileName: 'names.csv' }]);
    expect(await queues.state('feeds', 'feed-1')).toBe('waiting');
    expect(await readdir(drop('directory'))).toEqual([]);
  });

  it('leaves files alone that are still being copied', async () => {
    for (const name of ['.names.csv', 'names.csv.part', 'names.csv.tmp'])
      await writeFile(drop('directory', name), 'phone\n');
    await pollWhenStable(open());
    expect(await readdir(drop('directory'))).toHaveLength(3);
  });

  it('moves a file to done with the report when its load is done', async () => {
    const folder = open();
    await writeFile(drop('reputation', 'scores.csv'), 'phone\n');
    await pollWhenStable(folder);
    await finish('done');
    await folder.poll();
    expect((await readdir(drop('done'))).toSorted()).toEqual(['scores.csv', 'scores.csv.result.json']);
    expect(await result('done', 'scores.csv.result.json')).toMatchObject({
      outcome: 'done',
      feed: 'reputation',
      file: 'scores.csv',
      failure: null,
      load: { loadId: 1, rowsGiven: 2, rowsAccepted: 2 },
    });
    expect(await takenFiles()).toEqual([]);
  });

  it('moves a file to rejected with the reason when its load has failed', async () => {
    const folder = open();
    await writeFile(drop('complaints', 'ftc.csv'), 'nothing\n');
    await pollWhenStable(folder);
    await finish('failed');
    await folder.poll();
    expect(await result('rejected', 'ftc.csv.result.json')).toMatchObject({
      outcome: 'rejected',
      failure: { code: 'feed_header_invalid', reason: 'No phone column.' },
    });
  });

  it('refuses what is not a regular file, without following it', async () => {
    const secret = join(directory, 'secret.csv');
    await writeFile(secret, 'secret');
    await symlink(secret, drop('directory', 'link.csv'));
    await mkdir(drop('directory', 'folder.csv'));
    await pollWhenStable(open());
    expect(await result('rejected', 'link.csv.result.json')).toMatchObject({
      failure: { code: 'feed_file_invalid', reason: 'The feed is a symbolic link, and must be a regular file.' },
    });
    expect(await result('rejected', 'folder.csv.result.json')).toMatchObject({
      failure: { code: 'feed_file_invalid', reason: 'The feed is a folder, and must be a regular file.' },
    });
    expect(await loads()).toEqual([]);
    expect(await readFile(secret, 'utf8')).toBe('secret');
  });

  it('gives each of two files of one name a result of its own', async () => {
    const folder = open();
    for (let file = 0; file < 2; file++) {
      await writeFile(drop('directory', 'names.csv'), `phone\n${file}\n`);
      await pollWhenStable(folder);
      await finish('done');
      await folder.poll();
    }
    expect(await readdir(drop('done'))).toHaveLength(4);
  });

  it('writes one result for a file whose watcher was killed after the result and before the move', async () => {
    const folder = open();
    await writeFile(drop('directory', 'names.csv'), 'phone\n');
    await pollWhenStable(folder);
    await finish('done');
    const [id] = await readdir(drop('taken', 'directory'));
    await writeFile(drop('done', 'names.csv.result.json'), `{\n  "id": "${id}"`);
    await folder.poll();
    expect((await readdir(drop('done'))).toSorted()).toEqual(['names.csv', 'names.csv.result.json']);
  });

  it('puts a file away whose name is as long as names may be', async () => {
    const folder = open();
    await writeFile(drop('directory', `${'ü'.repeat(125)}.csv`), 'phone\n');
    await pollWhenStable(folder);
    await finish('done');
    await folder.poll();
    expect(await readdir(drop('done'))).toHaveLength(2);
  });

  it('takes each file once with two watchers', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `${String(index).padStart(2, '0')}.csv`);
    for (const name of names) await writeFile(drop('directory', name), `phone\n${name}\n`);
    await pollWhenStable(open(), open());
    await Promise.all([open().poll(), open().poll()]);
    expect((await loads()).map(({ fileName }) => fileName).toSorted()).toEqual(names);
  });

  it('submits a taken file again after a watcher was killed before its submission, and not after it', async () => {
    await writeFile(drop('directory', 'names.csv'), 'phone\n');
    await pollWhenStable(open({ submit: () => Promise.reject(new Error('killed before')) }));
    expect(await takenFiles()).toHaveLength(1);
    const killedAfter = open({
      submit: async (file) => {
        await submit(file);
        throw new Error('killed after');
      },
    });
    await killedAfter.poll();
    expect(await loads()).toHaveLength(1);
    await open().poll();
    expect(await loads()).toHaveLength(1);
    await finish('done');
    await open().poll();
    expect(await readdir(drop('done'))).toHaveLength(2);
  });
});
