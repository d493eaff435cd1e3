import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addressOf } from '../../../console/access/address.ts';
import { cookieName } from '../../../console/access/guard.ts';
import { listEvents } from '../../../console/access/audit.ts';
import { openSession } from '../../../console/access/sessions.ts';
import { changePassword, changeRole, findUser, removeUser, addUser } from '../../../console/access/users.ts';
import { queryRow, type PoolClient } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { startProcess, until } from '../../support/service-process.ts';
import { useConsoleServer } from '../support/console-server.ts';
import { logIn, passwordOf, useConsole, type ConsoleClient } from '../support/console-process.ts';

const running = await useConsole();
const { db } = running.database;
const secure = await useConsoleServer({ CONSOLE_ORIGIN: 'https://console.example.com' });

const tokenOf = ({ cookie }: ConsoleClient) => cookie.split('=')[1]!;
const hashOf = (token: string) => createHash('sha256').update(token).digest();
const who = async (client: ConsoleClient) =>
  (await client.json<{ user: { name: string; role: string } | null }>('/api/session')).user;

describe('the cookie of a session', () => {
  it('is kept from scripts and from requests of other sites', async () => {
    const response = await fetch(`${running.url}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: running.url },
      body: JSON.stringify({ name: 'viewer', password: passwordOf('viewer') }),
    });
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^caller-trust-console=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/),
    ]);
    const body = await response.text();
    expect(body).not.toContain(response.headers.getSetCookie()[0]!.split(/[=;]/)[1]!);
  });

  it('is also kept to TLS and to its host where CONSOLE_ORIGIN is of https', async () => {
    await addUser(secure.db, { name: 'ada', role: 'viewer', password: passwordOf('viewer') });
    const page = { Host: 'console.example.com', Origin: 'https://console.example.com' };
    const response = await secure.send({
      method: 'POST',
      url: '/api/session',
      payload: { name: 'ada', password: passwordOf('viewer') },
      headers: page,
    });
    expect(response.headers['set-cookie']).toMatch(
      /^__Host-caller-trust-console=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(response.headers['strict-transport-security']).toBe('max-age=31536000');
    const cookie = String(response.headers['set-cookie']).split(';')[0]!;
    expect(
      (await secure.send({ method: 'GET', url: '/api/session', headers: { ...page, Cookie: cookie } })).json(),
    ).toMatchObject({ user: { name: 'ada' } });
    expect(
      (
        await secure.send({
          method: 'GET',
          url: '/api/session',
          headers: { ...page, Cookie: cookie.replace('__Host-', '') },
        })
      ).json(),
    ).toMatchObject({ user: null });
  });

  it('is taken back by logging out, which needs the token of the session', async () => {
    const client = await logIn(running, 'viewer');
    expect((await client.fetch('/api/session', { method: 'DELETE', headers: { 'X-CSRF-Token': '' } })).status).toBe(
      403,
    );
    const response = await client.fetch('/api/session', { method: 'DELETE' });
    expect(response.headers.getSetCookie()[0]).toMatch(/^caller-trust-console=; Path=\/; Expires=Thu, 01 Jan 1970/);
    expect((await client.fetch('/api/voiceprints')).status).toBe(401);
    expect(
      await queryRow(db, 'SELECT 1 FROM console_session WHERE session_hash = $1', [hashOf(tokenOf(client))]),
    ).toBeUndefined();
  });
});

describe('a session', () => {
  it('is stored as a digest of its token only', async () => {
    const client = await logIn(running, 'viewer');
    const token = tokenOf(client);
    expect(await queryRow(db, 'SELECT 1 AS one FROM console_session WHERE session_hash = $1', [hashOf(token)])).toEqual(
      { one: 1 },
    );
    const all = await queryRow<{ rows: string }>(
      db,
      'SELECT (SELECT string_agg(s::text, $1) FROM console_session AS s) || (SELECT string_agg(e::text, $1) FROM console_event AS e) AS rows',
      [' '],
    );
    for (const secret of [
      token,
      Buffer.from(token).toString('hex'),
      Buffer.from(token, 'base64url').toString('hex'),
      client.csrfToken,
    ])
      expect(all!.rows).not.toContain(secret);
  });

  it('ends when it was idle for CONSOLE_IDLE_MINUTES_MAX, and lives on while it is used', async () => {
    const client = await logIn(running, 'viewer');
    const seen = (minutes: number) =>
      db.query('UPDATE console_session SET seen_at = now() - make_interval(mins => $2) WHERE session_hash = $1', [
        hashOf(tokenOf(client)),
        minutes,
      ]);
    await seen(59);
    expect((await client.fetch('/api/voiceprints')).status).toBe(200);
    expect(
      await queryRow(
        db,
        "SELECT seen_at > now() - interval '1 minute' AS noted FROM console_session WHERE session_hash = $1",
        [hashOf(tokenOf(client))],
      ),
    ).toEqual({ noted: true });
    await seen(60);
    expect((await client.fetch('/api/voiceprints')).status).toBe(401);
  });

  it('ends 12 hours after the log-in, however much it is used', async () => {
    const client = await logIn(running, 'viewer');
    expect(
      await queryRow(
        db,
        'SELECT round(extract(epoch FROM ends_at - created_at) / 3600)::int AS hours FROM console_session WHERE session_hash = $1',
        [hashOf(tokenOf(client))],
      ),
    ).toEqual({ hours: 12 });
    await db.query('UPDATE console_session SET ends_at = now() WHERE session_hash = $1', [hashOf(tokenOf(client))]);
    expect((await client.fetch('/api/voiceprints')).status).toBe(401);
  });

  it('ends when the password changes, but those of others do not', async () => {
    const [client, other] = [await logIn(running, 'reviewer'), await logIn(running, 'operator')];
    await changePassword(db, 'reviewer', 'another pass phrase for it');
    expect(await who(client)).toBeNull();
    expect(await who(other)).toMatchObject({ name: 'operator' });
    await changePassword(db, 'reviewer', passwordOf('reviewer'));
  });

  it('has the role that its user has at this moment', async () => {
    const client = await logIn(running, 'reviewer');
    await changeRole(db, 'reviewer', 'operator');
    expect((await client.fetch('/api/events')).status).toBe(200);
    await changeRole(db, 'reviewer', 'viewer');
    expect((await client.fetch('/api/events')).status).toBe(403);
    await changeRole(db, 'reviewer', 'reviewer');
  });

  it('ends with its user', async () => {
    await addUser(db, { name: 'leaving', role: 'operator', password: passwordOf('operator') });
    const response = await fetch(`${running.url}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: running.url },
      body: JSON.stringify({ name: 'leaving', password: passwordOf('operator') }),
    });
    const cookie = response.headers.getSetCookie()[0]!.split(';')[0]!;
    await removeUser(db, 'leaving');
    expect((await fetch(`${running.url}/api/events`, { headers: { Cookie: cookie } })).status).toBe(401);
  });

  describe('whose log-in meets a change of its user', () => {
    const name = 'meeting';
    const [old, other] = ['a pass phrase that was', 'a pass phrase that is now'];
    let held: PoolClient;

    beforeEach(async () => {
      await addUser(db, { name, role: 'reviewer', password: old });
      held = await db.connect();
      await held.query('BEGIN');
    });
    afterEach(async () => {
      held.release(true);
      await db.query('DELETE FROM console_user WHERE name = $1', [name]);
    });

    const logInWith = (password: string) =>
      fetch(`${running.url}/api/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: running.url },
        body: JSON.stringify({ name, password }),
      });
    const waits = (statement: string) =>
      until(
        async () =>
          (
            await db.query(
              "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1",
              [`%${statement}%`],
            )
          ).rows.length > 0,
        `${statement} waits for a lock`,
      );
    const sessions = async () =>
      (await queryRow<{ count: number }>(
        db,
        'SELECT count(*) FROM console_session JOIN console_user USING (user_id) WHERE name = $1',
        [name],
      ))!.count;
    const refusal = async (answer: Promise<Response>) => [
      (await answer).status,
      (await answer).headers.getSetCookie(),
      ((await (await answer).json()) as { code: string }).code,
    ];

    it('is refused if the password has changed since it was compared, and leaves no session', async () => {
      expect((await logInWith(old)).status).toBe(200);
      await held.query(
        'SELECT FROM console_session JOIN console_user USING (user_id) WHERE name = $1 FOR UPDATE OF console_session',
        [name],
      ); // the change ends this session last
      const changing = changePassword(db, name, other);
      await waits('DELETE FROM console_session WHERE user_id');
      const answer = logInWith(old);
      await waits('INSERT INTO console_session');
      await held.query('COMMIT');
      await changing;
      expect(await refusal(answer)).toEqual([401, [], 'unauthenticated']);
      expect(await sessions()).toBe(0);
      expect((await listEvents(db, { limit: 1 }))[0]).toMatchObject({
        actor: 'nobody',
        action: 'log_in_refused',
        object: `user ${name}`,
      });
      expect((await logInWith(other)).status).toBe(200);
    });

    it('is ended if it was opened while the change of the password waited for it', async () => {
      const { user } = await findUser(db, name, old);
      const opened = await openSession(held, user!);
      const changing = changePassword(db, name, other);
      await waits('UPDATE console_user SET password_hash');
      await held.query('COMMIT');
      await changing;
      expect(opened).toBeDefined();
      expect(await sessions()).toBe(0);
    });

    it('is refused if its user is being removed', async () => {
      await held.query(sql('console/delete_user'), [name]);
      const answer = logInWith(old);
      await waits('INSERT INTO console_session');
      await held.query('COMMIT');
      expect(await refusal(answer)).toEqual([401, [], 'unauthenticated']);
      expect(
        await queryRow(
          db,
          'SELECT count(*) FROM console_session AS s WHERE NOT EXISTS (SELECT FROM console_user AS u WHERE u.user_id = s.user_id)',
        ),
      ).toEqual({ count: 0 });
    });

    it('has the role that its user has by then', async () => {
      await held.query(sql('console/set_role'), [name, 'viewer']);
      const answer = logInWith(old);
      await waits('INSERT INTO console_session');
      await held.query('COMMIT');
      expect(await (await answer).json()).toMatchObject({ user: { name, role: 'viewer' } });
    });
  });

  it('has another token for changes than any other session, which does not lead to its cookie', async () => {
    const [one, two] = [await logIn(running, 'viewer'), await logIn(running, 'viewer')];
    expect(one.csrfToken).not.toBe(two.csrfToken);
    expect(one.csrfToken).not.toContain(tokenOf(one));
  });
});

describe('the name of the cookie', () => {
  it('has the prefix of its host under TLS alone', () => {
    expect(cookieName(addressOf({ consoleHost: '127.0.0.1', consoleOrigin: 'https://a.example' }, 8090))).toBe(
      '__Host-caller-trust-console',
    );
    expect(cookieName(addressOf({ consoleHost: '127.0.0.1' }, 8090))).toBe('caller-trust-console');
  });
});

describe('the address of the console', () => {
  it('is refused where sessions would cross a network in the clear', () => {
    const start = (consoleHost: string, consoleOrigin?: string) => () =>
      addressOf({ consoleHost, consoleOrigin }, 8090);
    for (const wrong of [
      start('0.0.0.0'),
      start('::'),
      start('192.0.2.7'),
      start('0.0.0.0', 'http://console.example.com'),
      start('127.0.0.1', 'http://console.example.com'),
    ])
      expect(wrong).toThrow(expect.objectContaining({ code: 'setting_invalid' }) as Error);
    for (const right of [
      start('127.0.0.1'),
      start('localhost'),
      start('0.0.0.0', 'https://console.example.com'),
      start('127.0.0.1', 'http://localhost:8090'),
    ])
      expect(right).not.toThrow();
  });

  it('is known under its origin and on this machine, by names as browsers write them', () => {
    expect(addressOf({ consoleHost: '127.0.0.1', consoleOrigin: 'https://Console.Example.com:443' }, 80)).toEqual({
      origins: new Set(['https://console.example.com', 'http://127.0.0.1', 'http://[::1]', 'http://localhost']),
      hosts: new Set(['console.example.com', '127.0.0.1', '[::1]', 'localhost']),
      secure: true,
    });
  });

  it.each([
    ['would be open to a network', { CONSOLE_HOST: '0.0.0.0' }],
    [
      'would believe what is no proxy',
      { CONSOLE_ORIGIN: 'https://console.example.com', CONSOLE_PROXIES: 'not-an-address' },
    ],
  ])('stops a process that %s', async (_what, settings) => {
    const open = startProcess('console/main.js', { ...running.env, ...settings });
    await until(async () => open.log().includes('setting_invalid'), 'the process says why it does not start');
    expect(await open.end('SIGCONT')).toBe(2); // it ends by itself
    expect(open.log()).not.toContain('listening');
  });
});
