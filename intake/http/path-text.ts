import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';
import { isStorable, unstorableProblem } from '../../runtime/stored-text.ts';

/** Refuses paths and queries with a text that the database can hold nowhere, before a statement gets it: nothing has such a name. */
export function refuseUnstorableText(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ params, query }) => {
    if (!isStorable(params))
      throw new ServiceError('route_unknown', { operation: 'route request', problem: unstorableProblem });
    if (!isStorable(query))
      throw new ServiceError('parameter_invalid', { operation: 'read parameters', problem: unstorableProblem });
  });
}
