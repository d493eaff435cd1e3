import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fastifyCookie from '@fastify/cookie';
import fastify from 'fastify';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { cookieName, guardRoutes } from '../../../console/access/guard.ts';
import { addressOf } from '../../../console/access/address.ts';
import { liveConnectionsPerUserMax, sendLive } from '../../../console/http/live.ts';
import { sendProblem, asServiceError } from '../../../console/http/problem.ts';
import { openSession } from '../../../console/access/sessions.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { createLog } from '../../../runtime/log.ts';
import { queryRow } from '../../../runtime/postgres.ts';
import { useTestDatabase } from '../../support/database.ts';

const { db } = await useTestDatabase();
const config = loadConfig({});
const log = createLog({ level: 'silent', process: 'test' });

let value: { readonly text: string; readonly isLast?: boolean } = { text: 'first' };
let reads = 0;
let readMs = 0;
let port = 0;
const sockets = new Set<Socket>();
const stopping = new AbortController();
const app = fastify({ forceCloseConnections: true });
app.setErrorHandler((thrown, request, reply) => sendProblem(request, reply, asServiceError(thrown)));
app.server.on('connection', (socket: Socket) => {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});
await app.register(fastifyCookie);
guardRoutes(app, { db, limits: config, address: () => addressOf(config, port) });
app.get('/api/live', { config: { access: 'reviewer' } }, (request, reply) =>
  sendLive(request, reply, {
    work: { signal: stopping.signal, log },
    read: async () => {
      reads++;
      const current = value;
      await sleep(readMs);
      return current;
    },
    isLast: ({ isLast }) => isLast === true,
  }),
);
await app.listen({ host: '127.0.0.1', port: 0 });
port = (app.server.address() as { port: number }).port;
const url = `http://127.0.0.1:${port}/api/live`;

const opened: AbortController[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) each.abort();
  await vi.waitFor(() => expect([...sockets].filter((socket) => !socket.destroyed)).toEqual([]), 5000);
  value = { text: 'first' };
});
afterAll(() => app.close());

let users = 0;
async function session(role = 'reviewer'): Promise<{ Cookie: string; name: string }> {
  const name = `user-${++users}`;
  const { userId } = (await queryRow<{ userId: number }>(
    db,
    "INSERT INTO console_user (name, role, password_hash) VALUES ($1, $2, 'none') RETURNING user_id",
    [name, role],
  ))!;
  const { token } = (await openSession(db, { userId, passwordHash: 'none' }))!;
  return { Cookie: `${cookieName({ secure: false })}=${token}`, name };
}

async function follow(Cookie: string): Promise<{ status: number; text: () => string; ended: Promise<void> }> {
  const left = new AbortController();
  opened.push(left);
  const response = await fetch(url, { headers: { Cookie, Connection: 'close' }, signal: left.signal });
  let text = '';
  const ended = (async () => {
    for await (const chunk of response.body!) text += Buffer.from(chunk as Uint8Array).toString();
  })().catch(() => {});
  return { status: response.status, text: () => text, ended };
}

describe('a live answer', () => {
  it('sends the value at once, again only when it changed, and says when it was the last', async () => {
    const { Cookie } = await session();
    const { text, ended } = await follow(Cookie);
    await vi.waitFor(() => expect(text()).toBe('event: value\ndata: {"text":"first"}\n\n'), 10_000);
    const before = reads;
    await vi.waitFor(() => expect(reads).toBeGreaterThan(before + 1), 5000);
    value = { text: 'second', isLast: true };
    await ended;
    expect(text()).toBe(
      'event: value\ndata: {"text":"first"}\n\nevent: value\ndata: {"text":"second","isLast":true}\n\nevent: end\ndata: {}\n\n',
    );
  });

  it('is read once for all who follow it, and left alone for longer than it takes', async () => {
    const followers = await Promise.all(Array.from({ length: 8 }, async () => follow((await session()).Cookie)));
    await vi.waitFor(
      () =>
        expect(followers.map(({ text }) => text())).toEqual(
          followers.map(() => 'event: value\ndata: {"text":"first"}\n\n'),
        ),
      5000,
    );
    const [before, since] = [reads, performance.now()];
    await sleep(3000);
    expect(reads - before).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - since) / 800));
    readMs = 400;
    await sleep(1500);
    const [slow, slowSince] = [reads, performance.now()];
    await sleep(3200);
    expect(reads - slow).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - slowSince) / 1600));
    readMs = 0;
    value = { text: 'second' };
    await vi.waitFor(() => expect(followers.filter(({ text }) => text().includes('second'))).toHaveLength(8), 5000);
  });

  it.each([
    [
      'the session is gone',
      'DELETE FROM console_session USING console_user AS u WHERE u.user_id = console_session.user_id AND u.name = $1',
    ],
    ['its user has a lesser role', "UPDATE console_user SET role = 'viewer' WHERE name = $1"],
    [
      'the session was idle for too long, as following a page is no use of it',
      "UPDATE console_session AS s SET seen_at = now() - interval '1 day' FROM console_user AS u WHERE u.user_id = s.user_id AND u.name = $1",
    ],
  ])('breaks off when %s', async (_when, statement) => {
    const { Cookie, name } = await session();
    const { text, ended } = await follow(Cookie);
    await vi.waitFor(() => expect(text()).toContain('first'), 10_000);
    await db.query(statement, [name]);
    value = { text: 'secret' };
    await ended;
    expect(text()).toBe('event: value\ndata: {"text":"first"}\n\n');
    expect((await follow(Cookie)).status).toBeGreaterThanOrEqual(401);
  });

  it('is open as often as the limit says for one user, and not once more, however fast they come', async () => {
    const [{ Cookie }, other] = [await session(), await session()];
    const answers = await Promise.all(Array.from({ length: liveConnectionsPerUserMax + 20 }, () => follow(Cookie)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(liveConnectionsPerUserMax);
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(20);
    expect((await follow(other.Cookie)).status).toBe(200);
    for (const each of opened.splice(0)) each.abort();
    await vi.waitFor(async () => expect((await follow(Cookie)).status).toBe(200), 5000);
  });

  it('keeps nothing but the newest value for a browser that does not read', async () => {
    const { Cookie } = await session();
    const megabytes = 4;
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write(`GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${Cookie}\r\n\r\n`);
    const before = reads;
    for (let round = 0; round < 5; round++) {
      value = { text: `${round}`.repeat(megabytes * 1024 * 1024) };
      await vi.waitFor(() => expect(reads).toBeGreaterThan(before + round), 5000);
    }
    const kept = Math.max(...[...sockets].map((each) => each.writableLength));
    expect(kept).toBeLessThan(2 * megabytes * 1024 * 1024);
    socket.destroy();
  });

  it('is its header alone for HEAD', async () => {
    const { Cookie } = await session();
    const response = await fetch(url, { method: 'HEAD', headers: { Cookie, Connection: 'close' } });
    expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/event-stream; charset=utf-8',
    });
  });
});
