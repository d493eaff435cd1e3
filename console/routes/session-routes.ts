import type { NoSession, Session } from '../answers/session-answers.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ServiceError } from '../../runtime/errors.ts';
import type { Pool } from '../../runtime/postgres.ts';
import { cookieName, recordAction, userOf } from '../access/guard.ts';
import type { ConsoleAddress } from '../access/address.ts';
import { recordEvent } from '../access/audit.ts';
import { parseBody } from '../http/body.ts';
import { passwordCharactersMax } from '../access/password.ts';
import { csrfTokenOf, endSession, openSession, sweepSessions, type SessionLimits } from '../access/sessions.ts';
import { Turns } from '../http/turns.ts';
import { findUser, hasUsers } from '../access/users.ts';

/** Dependencies of the session routes. */
interface SessionRoutesOptions {
  readonly db: Pool;
  readonly limits: SessionLimits & { readonly consoleLogInsPerMinuteMax: number };
  readonly address: () => ConsoleAddress;
}

/** A character of a password may take two code units. */
const credentials = z.strictObject({
  name: z.string().min(1).max(40),
  password: z
    .string()
    .min(1)
    .max(2 * passwordCharactersMax),
});

/** Concurrent password comparisons: each takes 128 MiB. */
const comparisonsMax = 2;

/** Log-ins that may wait for their comparison; further ones are refused. */
const waitingMax = 20;

/** Addresses and names whose attempts are counted: many more than the possible comparisons in a minute. */
const countersMax = 20_000;

/** `POST /api/session` logs in, `GET` reads the session, `DELETE` logs out. */
export function registerSessionRoutes(app: FastifyInstance, options: SessionRoutesOptions): void {
  const { db, address } = options;
  const limit = { max: options.limits.consoleLogInsPerMinuteMax, timeWindow: 60_000, cache: countersMax };
  const addresses = app.createRateLimit(limit); // IPv6 addresses are counted by /64 network
  const names = app.createRateLimit({
    ...limit,
    keyGenerator: ({ body }: FastifyRequest) => nameIn(parseBody(credentials, body)),
  });
  const turns = new Turns({
    runningMax: comparisonsMax,
    waitingMax,
    refusal: { code: 'rate_limited', operation: 'log in', problem: 'Many users log in at this moment.' },
  });
  app.post('/api/session', { config: { access: 'nobody' } }, async (request, reply): Promise<Session> => {
    const given = parseBody(credentials, request.body);
    const name = nameIn(given);
    for (const count of [addresses, names]) requireFewTries(await count(request));
    const { user, isKnown } = await turns.take(() => findUser(db, name, given.password));
    const opened = user && (await openSession(db, user));
    if (user === undefined || opened === undefined) {
      await recordEvent(db, {
        actor: 'nobody',
        action: 'log_in_refused',
        object: isKnown ? `user ${name}` : null,
        address: request.ip,
      }); // an invalid name may be a password in the wrong field
      throw new ServiceError('unauthenticated', {
        operation: 'log in',
        problem: 'The name or the password is not right.',
        hint: '`caller-trust console users list` shows the names; `caller-trust console users password` sets another password.',
      });
    }
    await sweepSessions(db, options.limits);
    const { token, endsAt, role, owners } = opened;
    await recordEvent(db, { actor: user.name, action: 'log_in', address: request.ip });
    setCookie(reply, token, { address: address(), expires: endsAt });
    return { user: { name: user.name, role, owners }, endsAt, csrfToken: csrfTokenOf(token) };
  });
  app.get(
    '/api/session',
    { config: { access: 'nobody', readsSession: true } },
    async ({ session }): Promise<Session | NoSession> => session ?? { user: null, hasUsers: await hasUsers(db) },
  );
  app.delete('/api/session', { config: { access: 'viewer', forAgencies: true } }, async (request, reply) => {
    const token = request.cookies[cookieName(address())] ?? '';
    await endSession(db, token);
    await recordAction(db, request, { action: 'log_out', object: `user ${userOf(request).name}` });
    setCookie(reply, '', { address: address(), expires: new Date(0) });
    return { user: null };
  });
}

function setCookie(
  reply: FastifyReply,
  value: string,
  { address, expires }: { address: ConsoleAddress; expires: Date },
): void {
  void reply.setCookie(cookieName(address), value, {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: address.secure,
    expires,
  });
}

type LimitResult = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>;

/** Normalizes a name, so that spelling variants share one count of attempts. */
function nameIn({ name }: z.output<typeof credentials>): string {
  return name.trim().toLowerCase();
}

function requireFewTries(count: LimitResult): void {
  if (count.isAllowed || !count.isExceeded) return;
  throw new ServiceError('rate_limited', {
    operation: 'log in',
    problem: 'Too many attempts to log in.',
    hint: `Try again in ${Math.max(1, count.ttlInSeconds)} seconds.`,
  });
}
