import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { sendAnswer } from './http/answer.ts';
import { problemResponses } from './documents/descriptions.ts';
import { makeJsonDocument } from './http/json-document.ts';
import type { Metrics } from './http/metrics.ts';
import { retryAfterSeconds } from './http/problem.ts';
import type { Readiness } from './readiness.ts';
import { liveSchema, noQuery, readinessSchema } from './documents/schemas.ts';

const noStore = { 'Cache-Control': 'no-store', 'Content-Type': 'application/json; charset=utf-8' };

/** `/healthz`: the process is alive. `/readyz`: whether it can serve, and what needs attention. Neither needs a key. */
export function registerHealthRoutes(
  app: FastifyInstance,
  { readiness, metrics }: { readiness: () => Readiness; metrics: Metrics },
): void {
  const config = { unlimited: true };
  const live = makeJsonDocument({ status: 'live' });
  app.get('/healthz', { config, schema: healthDescription }, async (request, reply) =>
    sendAnswer(request, reply, { status: 200, headers: noStore, body: live.body }, metrics),
  );
  app.get('/readyz', { config, schema: readinessDescription }, async (request, reply) => {
    const state = readiness();
    const { body } = makeJsonDocument(state);
    if (state.status === 'not_ready')
      sendAnswer(
        request,
        reply,
        { status: 503, headers: { ...noStore, 'Retry-After': retryAfterSeconds }, body },
        metrics,
      );
    else sendAnswer(request, reply, { status: 200, headers: noStore, body }, metrics);
  });
}

const errors = problemResponses(['parameter_unknown', 'method_not_allowed', 'internal']);
const json = (description: string, schema: z.ZodType) => ({ description, content: { 'application/json': { schema } } });

const healthDescription = {
  operationId: 'getHealth',
  summary: 'The process lives',
  tags: ['Health'],
  security: [],
  querystring: noQuery,
  response: { 200: json('It lives.', liveSchema), ...errors },
};

const readinessDescription = {
  operationId: 'getReadiness',
  summary: 'The service can answer',
  tags: ['Health'],
  security: [],
  querystring: noQuery,
  response: {
    200: json('`ready`, or `degraded`: it serves, and a person should look.', readinessSchema),
    503: json('`not_ready`.', readinessSchema),
    ...errors,
  },
};
