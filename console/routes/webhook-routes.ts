import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { DELIVERY_STATES, replayDelivery, replaySince } from '../../pipelines/webhooks/delivery.ts';
import { disableEndpoint, enableEndpoint } from '../../pipelines/webhooks/endpoint.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../access/guard.ts';
import {
  listShownDeliveries,
  listShownEndpoints,
  type ReplayedWebhooks,
  type WebhookDeliveries,
  type WebhookEndpoints,
} from '../answers/webhook-answers.ts';
import { parseBody } from '../http/body.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { idParameter, limitParameter, reasonBody } from '../http/parameters.ts';

const endpointName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9-]+$/, 'is not a name');
const endpointPath = z.strictObject({ name: endpointName });
const deliveryPath = z.strictObject({ name: endpointName, delivery: idParameter });
const deliveriesQuery = z.strictObject({
  endpoint: endpointName.optional(),
  state: z.enum(DELIVERY_STATES).optional(),
  before: idParameter.optional(),
  limit: limitParameter,
});
const replayBody = z.strictObject({
  since: z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
  undelivered: z.boolean().default(true),
});

/**
 * `/api/webhooks`: endpoints with their deliveries; operators replay, disable and enable. Endpoints are added by the CLI, which
 * shows the secret.
 */
export function registerWebhookRoutes(app: FastifyInstance, { db }: Pick<ConsoleWork, 'db'>): void {
  const [viewer, operator] = [{ config: { access: 'viewer' } }, { config: { access: 'operator' } }] as const;
  app.get('/api/webhooks', viewer, async (): Promise<WebhookEndpoints> => ({
    endpoints: await listShownEndpoints(db),
  }));
  app.get('/api/webhooks/deliveries', viewer, ({ query }): Promise<WebhookDeliveries> =>
    listShownDeliveries(db, parseBody(deliveriesQuery, query)),
  );
  app.post('/api/webhooks/:name/replay', operator, (request): Promise<ReplayedWebhooks> => {
    const { name } = parseBody(endpointPath, request.params);
    const { since, undelivered } = parseBody(replayBody, request.body);
    return inTransaction(db, async (client) => {
      const deliveries = await replaySince(client, { endpoint: name, since, undelivered });
      const detail = { since: since.toISOString(), undelivered, deliveries };
      await recordAction(client, request, { action: 'replay_webhooks', object: `webhook ${name}`, detail });
      return { deliveries };
    });
  });
  app.post('/api/webhooks/:name/deliveries/:delivery/replay', operator, (request): Promise<ReplayedWebhooks> => {
    const { name, delivery } = parseBody(deliveryPath, request.params);
    return inTransaction(db, async (client) => {
      await replayDelivery(client, { endpoint: name, deliveryId: delivery });
      const object = `webhook ${name}, delivery ${delivery}`;
      await recordAction(client, request, { action: 'replay_webhooks', object });
      return { deliveries: 1 };
    });
  });
  app.post('/api/webhooks/:name/disable', operator, async (request) => {
    const { name } = parseBody(endpointPath, request.params);
    const { reason } = parseBody(reasonBody, request.body);
    await inTransaction(db, async (client) => {
      await disableEndpoint(client, { name, actor: actorOf(request), reason });
      await recordAction(client, request, { action: 'change_webhook', object: `webhook ${name}: disable` });
    });
    return { name };
  });
  app.post('/api/webhooks/:name/enable', operator, async (request) => {
    const { name } = parseBody(endpointPath, request.params);
    await inTransaction(db, async (client) => {
      await enableEndpoint(client, name);
      await recordAction(client, request, { action: 'change_webhook', object: `webhook ${name}: enable` });
    });
    return { name };
  });
}
