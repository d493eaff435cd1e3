import { beforeAll, describe, expect, it } from 'vitest';
import type { RouteRule } from '../../../console/server.ts';
import { mayActAs, mayUse, ROLES, type LeastRole, type Role } from '../../../console/access/roles.ts';
import { useConsoleServer } from '../support/console-server.ts';

const server = await useConsoleServer();
const rules = server.app.routeRules;
const isSafe = ({ method }: RouteRule) => ['GET', 'HEAD', 'OPTIONS'].includes(method);
const changing = rules.filter((rule) => !isSafe(rule));
const guarded = rules.filter(({ access }) => access !== 'nobody');

let sessions: Record<Role, { readonly Cookie: string; readonly 'X-CSRF-Token': string }>;

beforeAll(async () => {
  sessions = {
    viewer: await server.session('viewer'),
    reviewer: await server.session('reviewer'),
    operator: await server.session('operator'),
    agency: await server.session('agency'),
  };
});

/** A path of the route, with ids that nothing has. */
function pathOf({ url }: RouteRule): string {
  return url
    .replace(/:id\b/g, '00000000-0000-4000-8000-000000000000')
    .replace(/:[a-zA-Z]+/g, '1')
    .replace('*', 'x');
}

let asked = 0;

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly location: string | undefined;
}

/** A body that no route takes: what passes the guard ends at it, and changes nothing. */
async function ask(rule: RouteRule, headers: Record<string, string | undefined>): Promise<Answer> {
  const remoteAddress = `10.0.${Math.floor(++asked / 1000)}.1`; // the limit of requests is by address
  const body = isSafe(rule) ? {} : { payload: 'x', headers: { 'Content-Type': 'application/x-unknown' } };
  const response = await server.send({
    method: rule.method as 'GET',
    url: pathOf(rule),
    remoteAddress,
    ...body,
    headers: { ...body.headers, ...headers },
  });
  return {
    status: response.statusCode,
    location: response.headers.location,
    code:
      (response.headers['content-type'] ?? '').toString().includes('json') && rule.method !== 'HEAD'
        ? (response.json() as { code?: string }).code
        : undefined,
  };
}

/** Which of the routes are not answered so. */
async function wrongAmong(
  some: readonly RouteRule[],
  headers: Record<string, string | undefined>,
  isRight: (answer: Answer, rule: RouteRule) => boolean,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const rule of some) {
    const answer = await ask(rule, headers);
    if (!isRight(answer, rule)) wrong.push(`${rule.method} ${rule.url}: ${answer.status} ${answer.code}`);
  }
  return wrong;
}

describe('the routes', () => {
  it('all say who may use them, and under /api only logging in and streams, which look at keys as well, are open to nobody', () => {
    expect(rules.length).toBeGreaterThan(60);
    expect(changing.length).toBeGreaterThan(15);
    const open = rules
      .filter(({ access, url }) => access === 'nobody' && !url.startsWith('/pages/'))
      .map(({ method, url }) => `${method} ${url}`);
    expect(open.sort()).toEqual([
      'GET /*',
      'GET /api/*',
      'GET /api/session',
      'GET /api/stream',
      'HEAD /*',
      'HEAD /api/*',
      'HEAD /api/session',
      'HEAD /api/stream',
      'POST /api/session',
    ]);
  });

  it('are refused to nobody, also with a token of a session that there is none', async () => {
    const isRefused = ({ status }: Answer) => status === 401;
    expect(await wrongAmong(guarded, {}, isRefused)).toEqual([]);
    expect(
      await wrongAmong(
        guarded,
        { Cookie: `caller-trust-console=${'A'.repeat(43)}`, 'X-CSRF-Token': 'A'.repeat(43) },
        isRefused,
      ),
    ).toEqual([]);
  });

  it.each(['viewer', 'reviewer'] as const)('are refused to a %s who lacks the role', async (role) => {
    const above = guarded.filter(({ access }) => !mayActAs(role, access as LeastRole));
    expect(above.length).toBeGreaterThan(3);
    expect(
      await wrongAmong(
        above,
        sessions[role],
        ({ status, code }, { method }) => status === 403 && (method === 'HEAD' || code === 'forbidden'),
      ),
    ).toEqual([]);
  });

  it.each(ROLES)('let a %s pass who has the role, up to a body that they do not take', async (role) => {
    const below = changing.filter(
      ({ access, forAgencies, url, method }) =>
        access !== 'nobody' &&
        mayUse(role, { access, forAgencies }) &&
        !(method === 'DELETE' && url === '/api/session'),
    );
    expect(
      await wrongAmong(below, sessions[role], ({ status, code }) => status === 400 && code === 'request_invalid'),
    ).toEqual([]);
  });
});

describe('a request that changes something', () => {
  const forbidden = ({ status, code }: { status: number; code: string | undefined }) =>
    status === 403 && code === 'forbidden';

  it('is refused without the token of its session, with another one, and with that of another session', async () => {
    const withToken = changing.filter(({ access }) => access !== 'nobody');
    for (const token of [undefined, '', 'x', sessions.viewer['X-CSRF-Token']])
      expect(
        await wrongAmong(withToken, { ...sessions.operator, 'X-CSRF-Token': token }, forbidden),
        String(token),
      ).toEqual([]);
  });

  it('is refused without an origin, and from one that is not the console', async () => {
    for (const origin of [
      undefined,
      'null',
      'https://elsewhere.example',
      `${server.url}.elsewhere.example`,
      server.url.replace('http:', 'https:'),
      'http://127.0.0.1',
    ]) {
      expect(await wrongAmong(changing, { ...sessions.operator, Origin: origin }, forbidden), String(origin)).toEqual(
        [],
      );
    }
  });

  it('has no method but those of its route', async () => {
    for (const method of ['PUT', 'PATCH', 'POST', 'DELETE'] as const) {
      expect((await server.send({ method, url: '/api/events', headers: sessions.operator })).json()).toMatchObject({
        status: 404,
        code: 'route_unknown',
      });
    }
  });
});

describe('every request', () => {
  it('is refused if its host is not the console: a name elsewhere may be pointed at this address', async () => {
    for (const host of ['elsewhere.example', `elsewhere.example:${server.host.split(':')[1]}`, '127.0.0.1', '']) {
      expect(
        await wrongAmong(
          rules,
          { ...sessions.operator, Host: host },
          ({ status, code }, { method }) => status === 400 && (method === 'HEAD' || code === 'request_invalid'),
        ),
        host,
      ).toEqual([]);
    }
  });

  it('is refused if it comes from a page elsewhere, also where it only reads, live answers among them', async () => {
    expect(
      await wrongAmong(
        rules,
        { ...sessions.operator, Origin: 'https://elsewhere.example' },
        ({ status }) => status === 403,
      ),
    ).toEqual([]);
  });
});
