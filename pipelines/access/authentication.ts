import { ServiceError } from '../../runtime/errors.ts';
import type { KeyTable, Principal } from './key-table.ts';
import type { Scope } from './keys.ts';

const bearer = /^Bearer +([^ ]+) *$/i;

/** The caller of a request: with a key, without one, with an unusable key, or not yet known. */
export type Caller =
  | { readonly kind: 'key'; readonly principal: Principal }
  | { readonly kind: 'none' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown'; readonly reason: ServiceError };

/** Reads the Authorization header (RFC 6750 section 2.1). Decides nothing yet: some routes need no key. */
export function identifyCaller(authorization: string | undefined, keys: KeyTable): Caller {
  if (authorization === undefined) return { kind: 'none' };
  if (!keys.known)
    return {
      kind: 'unknown',
      reason: new ServiceError('not_ready', { operation: 'identify key', problem: 'The keys are not known yet.' }),
    };
  const token = bearer.exec(authorization)?.[1];
  const principal = token === undefined ? undefined : keys.identify(token);
  return principal === undefined ? { kind: 'refused' } : { kind: 'key', principal };
}

/**
 * The principal of a caller that has a scope.
 * @throws ServiceError `unauthenticated`, `forbidden` naming the scope, or `not_ready` while the keys are not loaded.
 */
export function requireScope(caller: Caller, scope: Scope): Principal {
  if (caller.kind === 'unknown') throw caller.reason;
  if (caller.kind === 'none')
    throw new ServiceError('unauthenticated', {
      operation: 'authenticate',
      problem: 'This needs a key.',
      hint: 'Send `Authorization: Bearer <key>`.',
    });
  if (caller.kind === 'refused')
    throw new ServiceError('unauthenticated', {
      operation: 'authenticate',
      problem: 'The key is unknown, expired or revoked, or the header is not `Bearer <key>`.',
    });
  if (!caller.principal.scopes.includes(scope))
    throw new ServiceError('forbidden', { operation: 'authorise', problem: `The key lacks the scope ${scope}.` });
  return caller.principal;
}
