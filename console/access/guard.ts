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
    /** The session of the request; undefined without one. Set before any route of the console runs. */
    session: Session | undefined;
    /**
     * True while the session lasts and its user may use the route with unchanged role and owners; for long-lived answers. The call
     * does not extend the session.
     */
    isStillAllowed(): Promise<boolean>;
  }
  interface FastifyContextConfig {
    /** Least role that may use the route; `nobody`: no session needed. Required for every route. */
    access?: LeastRole | 'nobody';
    /** True if agencies may use the route, which then shows only data of their owners. */
    forAgencies?: boolean;
    /** The route reads the session, although it needs none. */
    readsSession?: boolean;
    /** False for answers from memory, which do not count towards the request limit of an address. */
    isCounted?: boolean;
  }
}

/** Dependencies of the guard. */
export interface GuardOptions {
  readonly db: Pool;
  readonly limits: SessionLimits;
  /** Known once the server listens. */
  readonly address: () => ConsoleAddress;
}

/** Requests that change nothing (RFC 9110 section 9.2.1). */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Name of the session cookie; its prefix makes browsers restrict it to this host and to TLS (RFC 6265bis section 4.1.3.2). */
export function cookieName({ secure }: Pick<ConsoleAddress, 'secure'>): string {
  return secure ? '__Host-caller-trust-console' : 'caller-trust-console';
}

/**
 * Admits a request to its route only if its Host header names this console, its Origin is not another site, its user has the
 * role of the route, and, for a request that changes something, it comes from a page of this console with the session's token.
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

/** Prevents DNS rebinding: a foreign host name that resolves to this address would make its pages same-origin. */
function requireOwnHost({ headers }: FastifyRequest, { hosts }: ConsoleAddress): void {
  if (headers.host !== undefined && hosts.has(headers.host.toLowerCase())) return;
  throw new ServiceError('request_invalid', {
    operation: 'open console',
    problem: 'The Host header does not name this console.',
    hint: 'Open it under CONSOLE_ORIGIN, or under localhost.',
  });
}

/** @throws ServiceError `forbidden` for a request from another origin */
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

/** The user of a request whose route requires one. */
export function userOf({ session }: FastifyRequest): ConsoleUser {
  if (session === undefined) throw new ServiceError('unauthenticated', { operation: 'open console' });
  return session.user;
}

/** The actor, for the trails of brands, letters, nights and voices. */
export function actorOf(request: FastifyRequest): string {
  return `console ${userOf(request).name}`;
}

/**
 * Records the action of a request's user. Every action has a record: a change in the database is recorded in its transaction;
 * a read, and a change elsewhere (queues, files), is recorded before it happens, so that record states the intent.
 */
export async function recordAction(
  db: Queryable,
  request: FastifyRequest,
  event: Pick<NewEvent, 'action' | 'object' | 'detail'>,
): Promise<void> {
  await recordEvent(db, { ...event, actor: userOf(request).name, address: request.ip });
}
