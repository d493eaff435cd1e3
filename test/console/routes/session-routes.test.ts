import { createHook } from 'node:async_hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { listEvents } from '../../../console/access/audit.ts';
import { Turns } from '../../../console/http/turns.ts';
import { addUser } from '../../../console/access/users.ts';
import { useConsoleServer, type TestConsoleServer } from '../support/console-server.ts';

const password = 'a pass phrase for the tests';
const limited = await useConsoleServer({ CONSOLE_LOG_INS_PER_MINUTE_MAX: '3' });
const open = await useConsoleServer({ CONSOLE_LOG_INS_PER_MINUTE_MAX: '1000' });
const proxied = await useConsoleServer({
  CONSOLE_LOG_INS_PER_MINUTE_MAX: '1',
  CONSOLE_ORIGIN: 'https://console.example.com',
});

beforeAll(async () => {
  for (const { db } of [limited, open]) await addUser(db, { name: 'ada', role: 'viewer', password });
});

interface Try {
  readonly name: unknown;
  readonly password?: unknown;
  readonly from?: string;
  readonly headers?: Record<string, string>;
}

async function logIn(
  { send }: TestConsoleServer,
  { name, password: given = 'not the pass phrase', from = '10.1.1.1', headers = {} }: Try,
): Promise<{ status: number; code: string | undefined }> {
  const response = await send({
    method: 'POST',
    url: '/api/session',
    payload: { name, password: given },
    remoteAddress: from,
    headers,
  });
  return { status: response.statusCode, code: (response.json() as { code?: string }).code };
}

const refused = { status: 401, code: 'unauthenticated' };
const tooMany = { status: 429, code: 'rate_limited' };

describe('logging in', () => {
  it('may be tried as often as the limit says from one address, for any names, and not once more', async () => {
    for (const name of ['one', 'two', 'three']) expect(await logIn(limited, { name })).toEqual(refused);
    expect(await logIn(limited, { name: 'four' })).toEqual(tooMany);
    expect(await logIn(limited, { name: 'four', from: '10.1.1.2' })).toEqual(refused);
  });

  it('counts the addresses of a network of IPv6 as one, as a client has them all', async () => {
    for (const [at, from] of ['2001:db8:1:1::1', '2001:db8:1:1::2', '2001:db8:1:1:ffff::3'].entries())
      expect(await logIn(limited, { name: `six-${at}`, from })).toEqual(refused);
    expect(await logIn(limited, { name: 'six-4', from: '2001:db8:1:1::4' })).toEqual(tooMany);
    expect(await logIn(limited, { name: 'six-4', from: '2001:db8:1:2::1' })).toEqual(refused);
  });

  it('may be tried as often as the limit says for one name, however it is written and from wherever, also with the right password', async () => {
    for (const [at, name] of ['ada', ' ADA', 'Ada '].entries())
      expect(await logIn(limited, { name, from: `10.2.0.${at}` })).toEqual(refused);
    expect(await logIn(limited, { name: 'aDa', password, from: '10.2.0.9' })).toEqual(tooMany);
  });

  it('believes a reverse proxy about the address, where CONSOLE_ORIGIN says that there is one, and nobody else', async () => {
    const page = { Host: 'console.example.com', Origin: 'https://console.example.com' };
    const through = (name: string, address: string, from = '127.0.0.1') =>
      logIn(proxied, { name, from, headers: { ...page, 'X-Forwarded-For': address } });
    expect(await through('a', '192.0.2.1')).toEqual(refused);
    expect(await through('b', '192.0.2.1')).toEqual(tooMany);
    expect(await through('c', '192.0.2.2')).toEqual(refused);
    expect(await through('d', '192.0.2.99, 192.0.2.2')).toEqual(tooMany); // what the browser itself had sent before
    expect(await through('e', '192.0.2.3', '10.9.9.9')).toEqual(refused);
    expect(await through('f', '192.0.2.4', '10.9.9.9')).toEqual(tooMany);
    const direct = (at: number) =>
      logIn(limited, { name: `direct-${at}`, from: '10.4.0.1', headers: { 'X-Forwarded-For': `192.0.2.${70 + at}` } });
    for (const at of [0, 1, 2]) expect(await direct(at)).toEqual(refused);
    expect(await direct(3)).toEqual(tooMany);
  });

  it('does the work of one comparison, whether the name is known or not', async () => {
    for (const [name, given, status] of [
      ['ada', password, 200],
      ['ada', 'not the pass phrase', 401],
      ['nobody-at-all', 'not the pass phrase', 401],
    ] as const) {
      expect(
        await comparisonsOf(async () => expect((await logIn(open, { name, password: given })).status).toBe(status)),
      ).toBe(1);
    }
  });

  it('lets two be compared at a time and twenty wait; others are refused for the moment', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => logIn(open, { name: `many-${at}` })));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(22);
    expect(answers.filter(({ status, code }) => status === 429 && code === 'rate_limited')).toHaveLength(8);
    expect(await logIn(open, { name: 'ada', password })).toMatchObject({ status: 200 });
  });

  it('is in the trail with its address, refused or not; what is no name, and may be a password in the wrong field, is not', async () => {
    await logIn(open, { name: 'ada', password, from: '10.3.0.1' });
    await logIn(open, { name: 'ADA', from: '10.3.0.2' });
    await logIn(open, { name: 'my secret pass phrase', from: '10.3.0.3' });
    expect(
      (await listEvents(open.db, { limit: 3 })).map(({ actor, action, object, address }) => ({
        actor,
        action,
        object,
        address,
      })),
    ).toEqual([
      { actor: 'nobody', action: 'log_in_refused', object: null, address: '10.3.0.3' },
      { actor: 'nobody', action: 'log_in_refused', object: 'user ada', address: '10.3.0.2' },
      { actor: 'ada', action: 'log_in', object: null, address: '10.3.0.1' },
    ]);
  });

  it('takes a password of 128 characters, also where each is two units of UTF-16', async () => {
    const long = [...'🔑🔒🔓🗝🧩'].join('').repeat(26).slice(0, 256);
    expect([...long]).toHaveLength(128);
    await addUser(open.db, { name: 'long', role: 'viewer', password: long });
    expect((await logIn(open, { name: 'long', password: long })).status).toBe(200);
  });

  it.each([
    ['a list for a name', { name: ['ada'], password }],
    ['an object for a password', { name: 'ada', password: { length: 20 } }],
    ['a password that is too long', { name: 'ada', password: 'x'.repeat(257) }],
    ['a NUL', { name: 'ada\0', password }],
  ])('refuses %s before anything is compared', async (_what, given) => {
    expect(
      await comparisonsOf(async () =>
        expect(await logIn(open, given)).toEqual({ status: 400, code: 'parameter_invalid' }),
      ),
    ).toBe(0);
  });
});

/** How many hashes of passwords the work has made. */
async function comparisonsOf(work: () => Promise<unknown>): Promise<number> {
  let made = 0;
  const hook = createHook({ init: (_id, type) => void (made += type === 'SCRYPTREQUEST' ? 1 : 0) }).enable();
  await work().finally(() => hook.disable());
  return made;
}

describe('turns', () => {
  it('never let more run than may, give a place to the one that waited longest, and give it back after an error', async () => {
    const turns = new Turns({
      runningMax: 2,
      waitingMax: 20,
      refusal: { code: 'overloaded', operation: 'try', problem: 'Full.' },
    });
    let [running, most] = [0, 0];
    const begun: number[] = [];
    const work = Array.from({ length: 22 }, (_, at) =>
      turns.take(async () => {
        most = Math.max(most, ++running);
        begun.push(at);
        await new Promise((resolve) => setTimeout(resolve, at % 3));
        running--;
        if (at % 5 === 0) throw new Error('broken');
      }),
    );
    await expect(turns.take(async () => {})).rejects.toMatchObject({ code: 'overloaded' });
    expect((await Promise.allSettled(work)).filter(({ status }) => status === 'rejected')).toHaveLength(5);
    expect({ most, running, begun }).toEqual({ most: 2, running: 0, begun: Array.from({ length: 22 }, (_, at) => at) });
    expect(await turns.take(async () => 'free')).toBe('free');
  });
});
