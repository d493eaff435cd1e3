import type { FastifyInstance } from 'fastify';
import { requireScope } from '../../pipelines/access/authentication.ts';
import { describeDocument } from '../http/descriptions.ts';
import type { Metrics } from '../http/metrics.ts';
import { readNumber, requireCanonicalPhone } from './number-answer.ts';
import { numberParameters, numberSchema } from './number-schemas.ts';
import { sendOwned } from '../http/owned-reads.ts';
import type { RequestReads } from '../http/request-reads.ts';
import { noQuery } from '../http/schemas.ts';

const scope = 'numbers:read';

/** The label of a number with its reason, for keys with the scope `numbers:read`; a key that is bound to a brand sees the numbers of that brand. */
export function registerNumberRoutes(
  app: FastifyInstance,
  { reads, metrics }: { reads: RequestReads; metrics: Metrics },
): void {
  app.addHook('onRequest', async (request) => void requireScope(request.caller, scope));
  const description = describeDocument({
    operationId: 'getNumber',
    summary: 'The label of a number, since when, and why',
    tag: 'Numbers',
    schema: numberSchema,
    codes: ['phone_invalid', 'phone_unknown', 'database_unavailable', 'database_unsuitable'],
  });
  app.get(
    '/v1/numbers/:phone',
    { schema: { params: numberParameters, querystring: noQuery, ...description } },
    async (request, reply) => {
      const { brand } = requireScope(request.caller, scope);
      const phone = requireCanonicalPhone((request.params as { phone: string }).phone);
      sendOwned(request, reply, { body: await reads.read((db) => readNumber(db, phone, { brand })), metrics });
    },
  );
}
