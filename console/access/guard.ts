import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';
import type { Pool, Queryable } from '../../runtime/postgres.ts';
import { recordEvent, type NewEvent } from './audit.ts';
import type { ConsoleAddress } from './address.ts';
import { mayUse, type LeastRole } from './roles.ts';
import { findSession, isCsrfToken, lookAtSession, type Session, type SessionLimits } from './sessions.ts';
import type { ConsoleUser } from './users.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The session that the request belongs to; undefined where nobody is logged in. Set before any route of the console runs. */
    session: Session | undefined;
    /** True while the session goes on and its user may use the route, with the role and the owners of the start; for answers that last. Asking does not count as use of the session. */
    isStillAllowed(): Promise<boolean>;
  }
  interface FastifyContextConfig {
    /** Least role that may use the route; `nobody`: also without a session. Every route of the console says it. */
    access?: LeastRole | 'nobody';
    /** Also for users of agencies, to whom the route gives what belongs to their owners alone. */
    forAgencies?: boolean;
    /** The route looks at the session, though it needs none. */
    readsSession?: boolean;
    /** False for an answer from memory: it does not count towards the limit of requests of an address. */
    isCounted?: boolean;
  }
}

/** What the guard decides by. */
export interface GuardOptions {
  readonly db: Pool;
  readonly limits: SessionLimits;
  /** Known once the server listens. */
  readonly address: () => ConsoleAddress;
}

/** Requests that change nothing (RFC 9110 section 9.2.1). */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Name of the cookie; with the prefix, browsers keep it to this host and to TLS (RFC 6265bis section 4.1.3.2). */
export function cookieName({ secure }: Pick<ConsoleAddress, 'secure'>): string {
  return secure ? '__Host-caller-trust-console' : 'caller-trust-console';
}

/**
 * Lets a request through to its route only if it names this console as its host and no other page as its origin, its user has the role
 * of the route, and, where it changes something, it comes from a page of this console with the token of the session.
 */
export function guardRoutes(app: FastifyInstance, { db, limits, address }: GuardOptions): void {
  app.decorateRequest('session');
  app.decorateRequest('isStillAllowed', async function (this: FastifyRequest) {
    const { access, forAgencies = false } = this.routeOptions.config;
    const session = await lookAtSession(db, this.cookies[cookieName(address())] ?? '', limits);
    if (session === undefined || access === undefined || access === 'nobody') return false;
    return mayUse(session.user.role, { access, forAgencies }) && isDeepStrictEqual(session.user, this.session?.user);
  });
  app.addHook('onRequest', async (request) => {
    requireOwnHost(request, address());
    const { access, forAgencies = false, readsSession = access !== 'nobody' } = request.routeOptions.config;
    if (!safeMethods.has(request.method) || request.headers.origin !== undefined) requireOwnOrigin(request, address());
    const token = request.cookies[cookieName(address())];
    request.session = token === undefined || !readsSession ? undefined : await findSession(db, token, limits);
    const { session } = request;
    if (access === 'nobody') return;
    if (session === undefined)
      throw new ServiceError('unauthenticated', {
        operation: 'open console',
        problem: 'Nobody is logged in, or the session has ended.',
        hint: 'Log in.',
      });
    if (access === undefined) throw new ServiceError('route_unknown', { operation: 'route request' });
    if (!mayUse(session.user.role, { access, forAgencies }))
      throw new ServiceError('forbidden', {
        operation: 'open console',
        problem: `This needs the role ${access}; ${session.user.name} has the role ${session.user.role}.`,
        hint: '`caller-trust console users role` gives a user another role.',
      });
    if (!safeMethods.has(request.method) && !isCsrfToken(request.headers['x-csrf-token'], session)) throw forged();
  });
}

/** A name that was pointed at this address would make another page's requests look like our own. */
function requireOwnHost({ headers }: FastifyRequest, { hosts }: ConsoleAddress): void {
  if (headers.host !== undefined && hosts.has(headers.host.toLowerCase())) return;
  throw new ServiceError('request_invalid', {
    operation: 'open console',
    problem: 'The Host header does not name this console.',
    hint: 'Open it under CONSOLE_ORIGIN, or under localhost.',
  });
}

/** @throws ServiceError `forbidden` for a request that a page elsewhere has made */
export function requireOwnOrigin({ headers }: Pick<FastifyRequest, 'headers'>, { origins }: ConsoleAddress): void {
  if (headers.origin === undefined || !origins.has(headers.origin.toLowerCase())) throw forged();
}

function forged(): ServiceError {
  return new ServiceError('forbidden', {
    operation: 'open console',
    problem: 'The request does not come from a page of this session.',
    hint: 'Load the page again.',
  });
}

/** Who makes a request; its route is for users. */
export function userOf({ session }: FastifyRequest): ConsoleUser {
  if (session === undefined) throw new ServiceError('unauthenticated', { operation: 'open console' });
  return session.user;
}

/** Who acts, for the trails of brands, letters, nights and voices. */
export function actorOf(request: FastifyRequest): string {
  return `console ${userOf(request).name}`;
}

/**
 * Records what the user of a request does. Nothing is done without a record: that of a change in the database is written in the
 * transaction of the change; that of a look, and of a change elsewhere (queues, files), before it, and so stands for the intent.
 */
export async function recordAction(
  db: Queryable,
  request: FastifyRequest,
  event: Pick<NewEvent, 'action' | 'object' | 'detail'>,
): Promise<void> {
  await recordEvent(db, { ...event, actor: userOf(request).name, address: request.ip });
}
