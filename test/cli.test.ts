import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli, runCliJson, runCliProcess } from './support/cli.ts';
import { useTestDatabase } from './support/database.ts';
import { manyNumbers, putNumbers } from './support/numbers.ts';

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-cli-'));
const env = { DATABASE_URL: url, STATE_DIR: stateDir };
afterAll(() => rm(stateDir, { recursive: true, force: true }));

describe('exit codes', () => {
  const cases: [string, string[], number, string][] = [
    ['0 for help', ['--help'], 0, ''],
    ['0 for the help of a command, which has examples', ['night', 'run', '--help'], 0, ''],
    ['0 for the version', ['--version'], 0, ''],
    ['2 for an unknown command', ['publish'], 2, 'unknown command'],
    ['2 for a missing argument', ['feed', 'load', 'complaints'], 2, 'missing required argument'],
    ['2 for an unknown option', ['night', 'run', '--fast'], 2, 'unknown option'],
    ['2 for an id that is none', ['feed', 'show', '0'], 2, 'positive integer'],
    ['2 for a date that is not in the calendar', ['night', 'run', '--date', '2026-02-30'], 2, 'date_invalid'],
    ['2 for a date in the future', ['night', 'run', '--date', '2999-01-01'], 2, 'date_invalid'],
    ['2 for an unknown cache', ['night', 'run', '--only', 'phone'], 2, 'cache_unknown'],
    ['2 for a country in small letters', ['night', 'run', '--only', 'phones/us'], 2, 'country_invalid'],
    [
      '2 for a country of a cache that has none',
      ['night', 'run', '--only', 'spammer_phones/US'],
      2,
      'parameter_unknown',
    ],
    ['2 for a phone that is none', ['number', 'show', '12'], 2, 'phone_invalid'],
    ['2 for an unknown scope', ['keys', 'create', 'acme', '--scope', 'everything'], 2, 'scope_unknown'],
    ['2 for an unknown feed', ['feed', 'load', 'spam', 'package.json'], 2, 'feed_unknown'],
    ['1 for a feed file that is not there', ['feed', 'load', 'complaints', '/does/not/exist.csv'], 1, 'feed_not_found'],
    ['1 for a load that is not there', ['feed', 'show', '999999'], 1, 'feed_not_found'],
    ['1 for a number that nobody knows', ['number', 'show', '+12025550199'], 1, 'phone_unknown'],
    ['1 for a night that is not there', ['night', 'report', '--run', '999999'], 1, 'night_unknown'],
    ['1 for a key that is not there', ['keys', 'revoke', 'aaaaaaaaaaaa'], 1, 'key_unknown'],
  ];
  it.each(cases)('are %s', async (_name, args, code, stderr) => {
    const result = await runCliProcess(env, ...args);
    expect({ code: result.code, stderr: result.stderr }).toEqual({
      code,
      stderr: expect.stringContaining(stderr) as string,
    });
    if (code !== 0) expect(result.stdout).toBe('');
  });

  it('are 69 when the database cannot be reached, and 2 for a wrong setting', async () => {
    expect(
      await runCliProcess({ ...env, DATABASE_URL: 'postgres://x:y@127.0.0.1:1/none' }, 'night', 'status'),
    ).toMatchObject({ code: 69, stderr: expect.stringContaining('database_unavailable') as string });
    expect(await runCliProcess({ ...env, REDIS_URL: 'redis://127.0.0.1:1' }, 'night', 'run')).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('redis_unavailable') as string,
    });
    expect(await runCliProcess({ ...env, BUILD_CONCURRENCY: 'many' }, 'night', 'status')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('BUILD_CONCURRENCY') as string,
    });
  });
});

describe('the help', () => {
  it('of the program shows each command with its arguments, as the help of the command does', async () => {
    const { stdout } = await runCli(env, '--help');
    const commands = [...stdout.matchAll(/^ {2}([a-z]\S*( \S+)*) {2}/gm)].map(([, usage]) => usage!);
    expect(commands.length).toBeGreaterThan(20);
    for (const usage of commands.filter((each) => !each.startsWith('help'))) {
      const help = await runCli(env, usage.split(' ')[0]!, '--help');
      const ofGroup = `${usage.replace(' [options]', '')} [options] [command]`;
      const [line] = help.stdout.split('\n');
      expect([usage, ofGroup].map((each) => `Usage: caller-trust ${each}`)).toContain(line);
    }
  });

  it('of the program takes little more processor time than Node itself, since it loads no command', async () => {
    const cpuSecondsOf = async (words: string) => {
      const script = `for i in 1 2 3 4 5; do node ${words} >/dev/null; done; times`;
      const { stdout } = await promisify(execFile)('sh', ['-c', script]);
      const [, ofChildren] = stdout.trim().split('\n');
      return ofChildren!.split(' ').reduce((sum, time) => sum + Number(/m([\d.]+)s/.exec(time)![1]), 0);
    };
    expect((await cpuSecondsOf('dist/cli.js --help')) / (await cpuSecondsOf('-e 0'))).toBeLessThan(2.5); // all commands: 6 to 7
  });
});

describe('--json', () => {
  it('prints errors as JSON too, on standard error', async () => {
    const { stderr, stdout } = await runCli(env, 'night', 'report', '--run', '999999', '--json');
    expect(stdout).toBe('');
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'night_unknown', hint: expect.any(String) as string } });
  });
});

describe('the commands of an operator', () => {
  it('load a feed without any worker, and read its rejects back', async () => {
    const path = join(stateDir, 'levels.csv');
    await writeFile(
      path,
      'phone,level,category\n+12025550123,SPAM,6\n12,SPAM,6\n+12025550124,FRAUD,6\n+12025550126,NEUTRAL,\n+12025550127,NEUTRAL,\n',
    );
    const load = await runCliJson<{ loadId: number; rowsGiven: number; rowsAccepted: number; rowsRejected: number }>(
      env,
      'feed',
      'load',
      'reputation',
      path,
    );
    expect(load).toMatchObject({ rowsGiven: 5, rowsAccepted: 3, rowsRejected: 2 });
    const rejects = await runCliJson<{ line: number; code: string }[]>(env, 'feed', 'rejects', String(load.loadId));
    expect(rejects.map(({ line, code }) => [line, code])).toEqual([
      [3, 'phone_invalid'],
      [4, expect.any(String)],
    ]);
    expect((await runCli(env, 'feed', 'rejects', String(load.loadId), '--after', '3')).stdout).not.toContain(
      'phone_invalid',
    );
    expect((await runCli(env, 'feed', 'list')).stdout).toContain('levels.csv');
  });

  it('show a number and clear it with a reason', async () => {
    expect((await runCli(env, 'number', 'show', '+12025550123')).stdout).toMatch(
      /level\s+SPAM\n.*category\s+6 telemarketer/,
    );
    expect(await runCli(env, 'number', 'clear', '+12025550123')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--reason') as string,
    });
    const { stdout } = await runCli(env, 'number', 'clear', '+12025550123', '--reason', 'ticket 4711');
    expect(stdout).toMatch(/level\s+NEUTRAL/);
    expect(stdout).toMatch(/cleared .* by cli \S+, was SPAM: ticket 4711/);
  });

  it('file a dispute, list it, and refuse that who filed it decides it', async () => {
    await putNumbers(db, [{ phone: '+12025550125', level: 'SPAM', category: 6 }]);
    const path = join(stateDir, 'dispute.json');
    await writeFile(
      path,
      JSON.stringify({ phone: '+12025550125', reason: 'Ours since May', contact: 'office@clinic.example' }),
    );
    expect((await runCli(env, 'number', 'dispute', path)).stdout).toBe('Filed as dispute 1: it is open.\n');
    expect(
      (
        await runCli(
          env,
          'number',
          'dispute',
          '+12025550125',
          '--reason',
          'Ours since May',
          '--contact',
          'office@clinic.example',
        )
      ).stdout,
    ).toBe('This is dispute 1: it is open.\n');
    expect((await runCli(env, 'number', 'disputes', 'list')).stdout).toContain('+12025550125');
    expect(await runCli(env, 'number', 'dispute', 'decide', '1', '--uphold', '--reason', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/set TWO_PAIRS_OF_EYES=off.*\[decided_by_requester\]/) as string,
    });
    await runCli(
      { ...env, TWO_PAIRS_OF_EYES: 'off' },
      'number',
      'dispute',
      'decide',
      '1',
      '--uphold',
      '--reason',
      'The reports go on',
    );
    const { stdout } = await runCli(env, 'number', 'history', '+12025550125');
    expect(stdout).toMatch(/NEUTRAL\s+SPAM 6/);
    expect(stdout).toMatch(/dispute 1, .*: upheld .*The reports go on/);
    expect(stdout).not.toContain('clinic');
    expect((await runCli(env, 'number', 'disputes', 'show', '1', '--contact')).stdout).toContain(
      'office@clinic.example',
    );
  });

  it('run a night without any worker, exit 1 when a file failed, and report it again', async () => {
    await putNumbers(db, manyNumbers(20));
    const { stdout, stderr, code } = await runCli(env, 'night', 'run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/phones\/US\s+published\s+1/);
    await db.query("DELETE FROM phone_number WHERE reputation_level = 'NEUTRAL'");
    const failed = await runCli(env, 'night', 'run', '--only', 'phones/US');
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('[artefact_shrunk]') as string });
    expect(await runCli(env, 'night', 'report')).toEqual(failed);
    expect(await runCli(env, 'night', 'status')).toEqual(failed);
    expect((await runCli(env, 'artefacts', 'list')).stdout).toContain('stale: artefact_shrunk');
    expect(await runCli(env, 'night', 'run', '--only', 'phones/US', '--accept-shrink')).toMatchObject({ code: 0 });
  });

  it('run one night under one key, and refuse another one under it', async () => {
    const ask = (...args: string[]) =>
      runCliJson<{ runId: number; key: string; repeated: boolean }>(
        env,
        'night',
        'run',
        '--no-wait',
        '--only',
        'phones/US',
        ...args,
      );
    const first = await ask('--key', 'monday');
    expect(first).toMatchObject({ key: 'monday', state: 'due', repeated: false });
    expect(await ask('--key', 'monday')).toMatchObject({ runId: first.runId, state: 'due', repeated: true });
    expect(await runCli(env, 'night', 'run', '--key', 'monday')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('[idempotency_conflict]') as string,
    });
    const finished = await runCli(env, 'night', 'run', '--only', 'phones/US', '--key', 'monday');
    expect(finished).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`(run ${first.runId}, operator)`) as string,
    });
    expect(await runCli(env, 'night', 'run', '--only', 'phones/US', '--key', 'monday')).toEqual(finished);
    const [one, other] = [await ask(), await ask()];
    expect(one.runId).not.toBe(other.runId);
    expect(one.key).toMatch(/^cli-[0-9a-f-]{36}$/);
  });

  it('verify the files and say which is damaged', async () => {
    expect(await runCli(env, 'artefacts', 'verify')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 bad') as string,
    });
    const [manifest] = await runCliJson<{ cache: string; country: string; file: { sha256: string } }[]>(
      env,
      'artefacts',
      'list',
    );
    await writeFile(
      join(stateDir, 'artefacts', manifest!.cache, manifest!.country ?? '', `${manifest!.file.sha256}.tsv.gz`),
      'not gzip',
    );
    expect(await runCli(env, 'artefacts', 'verify', '--current')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 bad. Damaged files removed from the store: 1.') as string,
    });
    expect(await runCli(env, 'artefacts', 'gc')).toMatchObject({ code: 0 });
    expect(await runCli(env, 'doctor')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/artefacts\s+BAD .*: 1 of \d+ are not in /) as string,
    });
    expect(await runCli(env, 'night', 'run')).toMatchObject({ code: 0 });
    expect(await runCli(env, 'artefacts', 'verify')).toMatchObject({ code: 0 });
  });

  it('make keys, at most two live ones a client, and revoke them', async () => {
    const { key, keyId } = await runCliJson<{ key: string; keyId: string }>(
      env,
      'keys',
      'create',
      'acme',
      '--expires',
      '2999-01-01',
    );
    expect(key).toContain(keyId);
    await runCliJson(env, 'keys', 'create', 'acme');
    expect(await runCli(env, 'keys', 'create', 'acme')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('key_limit_reached') as string,
    });
    expect((await runCli(env, 'keys', 'revoke', keyId)).code).toBe(0);
    const { stdout } = await runCli(env, 'keys', 'list');
    expect(stdout).toContain('revoked');
    expect(stdout).not.toContain(key);
  });

  it('say what was resolved', async () => {
    const { stdout, code } = await runCli(env, 'doctor');
    expect(code).toBe(0);
    expect(stdout).toMatch(/database\s+ok\s+given PostgreSQL 1\d/);
    expect(stdout).toMatch(
      /decisions\s+\?\?\s+who submits something does not decide it, and nobody may decide in the console/,
    );
    expect(stdout).toMatch(/queues\s+ok\s+BullMQ .* on PostgreSQL/);
    expect(stdout).not.toContain(new URL(url).password);
  });

  it('do not touch a database that lacks migrations, unless asked to migrate', async () => {
    await db.query('DELETE FROM schema_migration WHERE number = (SELECT max(number) FROM schema_migration)');
    expect(await runCli(env, 'night', 'status')).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('Run `caller-trust migrate`') as string,
    });
    expect((await runCli(env, 'doctor')).code).toBe(69);
  });
});
