import { execFile, spawnSync } from 'node:child_process';
import { chmod, chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorCodeOf } from '../../runtime/errors.ts';
import type { CliResult } from '../support/cli.ts';
import { runCliJson, runCliProcess } from '../support/cli.ts';
import { useTestDatabase } from '../support/database.ts';

const { db, url } = await useTestDatabase();
const isRoot = process.getuid?.() === 0;

/** Why no file system of a test's own can be mounted here. */
const noMounts =
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0
    ? undefined
    : 'this machine allows no mounts in a user namespace';

describe('a disk', () => {
  let home: string;
  let feed: string;
  let env: Record<string, string>;
  const inFeedDir = () => readdir(join(home, 'feeds'));

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'caller-trust-disk-'));
    feed = join(home, 'levels.csv');
    const rows = Array.from({ length: 30_000 }, (_, at) => `+1202${2_000_000 + at},SPAM\n`);
    await writeFile(feed, `phone,level\n${rows.join('')}`);
    env = { DATABASE_URL: url, STATE_DIR: home };
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  /** Runs a command where a directory is a file system of its own, with these options of mount(8). */
  function runMounted(directory: string, options: string, ...args: string[]): Promise<CliResult> {
    const script =
      'mkdir -p "$0" && mount -t tmpfs -o "$1" tmpfs "$0" && shift && "$@"; code=$?; ls -A "$0"; exit $code';
    return new Promise((resolve) => {
      execFile(
        'unshare',
        ['-rm', 'sh', '-c', script, directory, options, process.execPath, 'dist/cli.js', ...args],
        { env: { ...env, PATH: process.env['PATH'] } },
        (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  }

  describe.skipIf(noMounts !== undefined)(noMounts ?? 'mounted', () => {
    it('that is full refuses a feed with the cause, keeps nothing of it, and takes it when space is free', async () => {
      const full = await runMounted(join(home, 'feeds'), 'size=256k', 'feed', 'load', 'reputation', feed);
      expect(full).toMatchObject({ code: 69, stdout: '' });
      expect(full.stderr).toMatch(/^caller-trust: write: No space is left on the device\..*\[storage_unavailable\]/);
      expect((await db.query('SELECT FROM feed_load')).rowCount).toBe(0);
      await runCliJson(env, 'feed', 'load', 'reputation', feed, '--no-wait');
      expect(await inFeedDir()).toHaveLength(1);
    });

    it('that can only be read is named where the embedded database needs it', async () => {
      const state = join(home, 'read-only');
      env = { STATE_DIR: state };
      expect(await runMounted(state, 'ro', 'doctor')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('STATE_DIR cannot be created or written (EROFS)') as string,
      });
      env = { DATABASE_URL: url, STATE_DIR: home };
    });
  });
});

describe('a secret of another user', () => {
  it('is named', async () => {
    const state = await mkdtemp(join(tmpdir(), 'caller-trust-secret-'));
    const secret = join(state, 'api-key-secret');
    await writeFile(secret, '0'.repeat(64), { mode: 0o600 });
    await chmod(state, 0o755);
    if (isRoot) await chown(secret, 65_533, 65_533);
    else await chmod(secret, 0);
    const words = ['dist/cli.js', 'keys', 'create', 'acme', '--scope', 'phones'];
    const env = { PATH: process.env['PATH'], DATABASE_URL: url, STATE_DIR: state };
    // Root may read any file; in a user namespace it is root only there.
    const { status, stderr } = isRoot
      ? spawnSync('unshare', ['-r', process.execPath, ...words], { env, encoding: 'utf8' })
      : spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    expect(stderr).toContain(`open ${secret}: This user has no permission.`);
    expect(stderr).toContain('[storage_unavailable]');
    expect(status).toBe(69);
    await rm(state, { recursive: true });
  });
});

describe('a database', () => {
  it('of another encoding is refused by its name', async () => {
    const name = `ascii_${process.pid}`;
    await db.query(`CREATE DATABASE ${name} ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`);
    const { code, stderr } = await runCliProcess(
      { DATABASE_URL: url.replace(/[^/]+$/, name), STATE_DIR: tmpdir() },
      'migrate',
    );
    await db.query(`DROP DATABASE ${name}`);
    expect(stderr).toContain(
      "The database has the encoding SQL_ASCII. Create it with `CREATE DATABASE ... ENCODING 'UTF8'",
    );
    expect(code).toBe(69);
  });

  it.each([
    ['a full disk', '53100', 'database_unavailable'],
    ['too many connections', '53300', 'database_unavailable'],
    ['a device that fails', '58030', 'database_unavailable'],
    ['a fault of a statement', '42601', 'internal'],
  ])('with %s has the code', async (_name, state, code) => {
    const error: unknown = await db
      .query(`DO $$ BEGIN RAISE EXCEPTION 'no more' USING ERRCODE = '${state}'; END $$`)
      .catch((thrown: unknown) => thrown);
    expect(errorCodeOf(error)).toBe(code);
  });
});

describe('a missing service', () => {
  it('makes the doctor end with 69', async () => {
    const { code, stdout } = await runCliProcess(
      { DATABASE_URL: url, STATE_DIR: tmpdir(), REDIS_URL: 'redis://127.0.0.1:1' },
      'doctor',
    );
    expect([code, stdout]).toEqual([69, expect.stringMatching(/queues\s+BAD/) as string]);
  });
});
