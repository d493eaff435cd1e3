import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';

/** A signal that fires when the browser disconnects or the answer has ended. */
export function disconnectSignal({ raw }: Pick<FastifyReply, 'raw'>, operation: string): AbortSignal {
  const controller = new AbortController();
  const disconnect = () =>
    controller.abort(new ServiceError('interrupted', { operation, problem: 'The browser disconnected.' }));
  if (raw.destroyed) disconnect();
  else raw.once('close', disconnect);
  return controller.signal;
}
