import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';

/** A signal that fires when the browser has left, before its answer or after it. */
export function leavingOf({ raw }: Pick<FastifyReply, 'raw'>, operation: string): AbortSignal {
  const left = new AbortController();
  const leave = () => left.abort(new ServiceError('interrupted', { operation, problem: 'The browser left.' }));
  if (raw.destroyed) leave();
  else raw.once('close', leave);
  return left.signal;
}
