import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listEvents } from '../../../console/access/audit.ts';
import { hashPassword, isPassword } from '../../../console/access/password.ts';
import { addUser, findUser, listUsers } from '../../../console/access/users.ts';
import { queryRow } from '../../../runtime/postgres.ts';
import { refusedWith, runCli, runCliJson } from '../../support/cli.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useFolder } from '../../support/recording-batch.ts';

const { db, url } = await useTestDatabase();
const folder = await useFolder('console-users');
const env = { DATABASE_URL: url, STATE_DIR: join(folder, 'state') };
const cli = (...args: string[]) => runCli(env, 'console', 'users', ...args);
const json = <Result>(...args: string[]) => runCliJson<Result>(env, 'console', 'users', ...args);

describe('console users', () => {
  it('says how to make the first one', async () => {
    expect((await cli('list')).stdout).toContain('caller-trust console users add NAME --role operator --generate');
  });

  it('add makes a password, shows it once, and stores its hash', async () => {
    const { password } = await json<{ password: string }>('add', 'ada', '--role', 'operator', '--generate');
    expect(password).toMatch(/^[\w-]{24}$/);
    expect((await findUser(db, 'ada', password)).user).toMatchObject({ name: 'ada', role: 'operator' });
    const stored = await queryRow<{ passwordHash: string }>(
      db,
      "SELECT password_hash FROM console_user WHERE name = 'ada'",
    );
    expect(stored!.passwordHash).toMatch(/^scrypt\$131072\$8\$1\$[\w+/]{22}==\$[\w+/]{43}=$/);
    expect((await cli('list')).stdout).toMatch(/^ada +operator +- +0 /m);
    expect(await cli('add', 'ada', '--generate')).toMatchObject(refusedWith('console_user_exists'));
  });

  it('add takes the password of a file, and is a viewer without a role', async () => {
    const file = join(folder, 'password');
    await writeFile(file, 'a pass phrase from a file\n');
    expect(await json('add', 'ben', '--password-file', file)).toEqual({ name: 'ben', role: 'viewer' });
    expect((await findUser(db, 'ben', 'a pass phrase from a file')).user).toMatchObject({ role: 'viewer' });
    expect(await cli('add', 'cid', '--password-file', join(folder, 'none'))).toMatchObject(
      refusedWith('usage_invalid', 2),
    );
    expect(await cli('add', 'cid')).toMatchObject(refusedWith('usage_invalid', 2)); // there is no terminal
  });

  it('password and role change them; remove removes', async () => {
    const { password } = await json<{ password: string }>('password', 'ben', '--generate');
    expect((await findUser(db, 'ben', 'a pass phrase from a file')).user).toBeUndefined();
    expect((await findUser(db, 'ben', password)).user).toBeDefined();
    expect((await cli('role', 'ben', 'reviewer')).stdout).toBe('User ben has the role reviewer.\n');
    expect(await cli('role', 'ben', 'root')).toMatchObject(refusedWith('console_user_invalid', 2));
    expect((await cli('remove', 'ben')).code).toBe(0);
    for (const args of [
      ['remove', 'ben'],
      ['role', 'ben', 'viewer'],
      ['password', 'ben', '--generate'],
    ])
      expect(await cli(...args)).toMatchObject(refusedWith('console_user_unknown'));
  });

  it('are in the trail, with who at this machine did it, and without passwords', async () => {
    const events = await listEvents(db, { limit: 20 });
    expect(events.map(({ action, object }) => `${action} ${object}`)).toEqual([
      'remove_user user ben',
      'change_role user ben',
      'change_password user ben',
      'add_user user ben',
      'add_user user ada',
    ]);
    expect(new Set(events.map(({ actor }) => actor)).size).toBe(1);
    expect(JSON.stringify(events)).not.toMatch(/scrypt|pass phrase/);
  });
});

describe('a user', () => {
  const good = 'long enough for a person';

  it.each([
    ['14 characters', 'a pass phrase!'],
    ['129 characters', 'abcde'.repeat(26).slice(0, 129)],
    ['four different characters', 'abcdabcdabcdabcdabcd'],
    ['the name in it', 'this is for Grace and no other'],
  ])('has no password of %s', async (_what, password) => {
    await expect(addUser(db, { name: 'grace', role: 'viewer', password })).rejects.toMatchObject({
      code: 'console_user_invalid',
    });
  });

  it.each([
    ['15 characters', 'grace-15', 'a pass phrase!!'],
    ['128 characters', 'grace-128', 'abcde'.repeat(26).slice(0, 128)],
    ['a short name in it, as many words have', 'al', 'all of the alphabet'],
  ])('has a password of %s', async (_what, name, password) => {
    expect(await addUser(db, { name, role: 'viewer', password })).toEqual({ name, role: 'viewer', owners: [] });
  });

  it.each(['', 'Ada', 'a b', '-a', 'a'.repeat(41), 'ada\u202E', '<b>', '__proto__'])(
    'is not called %j',
    async (name) => {
      await expect(addUser(db, { name, role: 'viewer', password: good })).rejects.toMatchObject({
        code: 'console_user_invalid',
      });
    },
  );

  it('has one of the roles', async () => {
    for (const role of ['', 'root', 'Operator', 'constructor'])
      await expect(addUser(db, { name: 'heidi', role, password: good })).rejects.toMatchObject({
        code: 'console_user_invalid',
      });
    expect((await listUsers(db)).map(({ name }) => name)).not.toContain('heidi');
  });
});

describe('a hash of a password', () => {
  it('is of that password alone, another one each time, and the same for both ways to write a letter', async () => {
    const [one, two] = [await hashPassword('schön lange her, Zoë'), await hashPassword('schön lange her, Zoë')];
    expect(one).not.toBe(two);
    expect(await isPassword('schön lange her, Zoë'.normalize('NFD'), one)).toBe(true);
    expect(await isPassword('schon lange her, Zoe', one)).toBe(false);
  });

  it('of no form that is known is of no password', async () => {
    await expect(isPassword('', 'scrypt$2$8$1$$').catch(() => false)).resolves.toBe(false);
  });
});
