import type { AuditEvents } from '../answers/session-answers.ts';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listEvents, shownEvent } from '../http/audit.ts';
import { parseBody } from '../http/body.ts';
import type { ConsoleWork } from '../http/console-work.ts';

const query = z.strictObject({
  before: z.coerce.number().int().positive().optional(),
  actor: z.string().max(40).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

/** `GET /api/events`: what was done in the console, newest first, for operators. */
export function registerEventRoutes(app: FastifyInstance, { db }: Pick<ConsoleWork, 'db'>): void {
  app.get('/api/events', { config: { access: 'operator' } }, async (request): Promise<AuditEvents> => {
    const events = await listEvents(db, parseBody(query, request.query));
    return { events: events.map(shownEvent) };
  });
}
