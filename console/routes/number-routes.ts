import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  decideDispute,
  DISPUTE_STATES,
  listDisputes,
  openDisputeContact,
  readDispute,
} from '../../pipelines/labels/number-dispute.ts';
import { clearNumber } from '../../pipelines/labels/number-record.ts';
import { actorOf, recordAction } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import { pageOf } from '../http/paging.ts';
import { idCursor, idOf, limitParameter, reasonField } from '../http/parameters.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { shownNumber, type DisputeContact } from '../answers/number-answers.ts';

const phoneField = z.string().max(64);
const lookUpBody = z.strictObject({ phone: phoneField });
const clearBody = z.strictObject({ phone: phoneField, reason: reasonField });
const disputesQuery = z.strictObject({
  state: z.enum(DISPUTE_STATES).optional(),
  after: idCursor,
  limit: limitParameter,
});
const decisionBody = z.strictObject({ clear: z.boolean(), reason: reasonField });

/**
 * `/api/numbers` and `/api/disputes`: labels with their reasons, redress, and disputes. Numbers are sent in the body, since
 * addresses end up in histories and logs.
 */
export function registerNumberRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db, config } = work;
  app.post('/api/numbers/look-up', { config: { access: 'viewer' } }, (request) =>
    shownNumber(db, parseBody(lookUpBody, request.body).phone),
  );
  app.post('/api/numbers/clear', { config: { access: 'reviewer' } }, async (request) => {
    const { phone, reason } = parseBody(clearBody, request.body);
    await clearNumber({
      db,
      phone,
      reason,
      eyes: config,
      actor: actorOf(request),
      record: (client, redressId) =>
        recordAction(client, request, { action: 'clear_number', object: `clearing ${redressId}` }),
    });
    return shownNumber(db, phone);
  });
  registerDisputeRoutes(app, work);
}

function registerDisputeRoutes(app: FastifyInstance, { db, vault, config }: ConsoleWork): void {
  app.get('/api/disputes', { config: { access: 'reviewer' } }, async (request) => {
    const { state, after, limit } = parseBody(disputesQuery, request.query);
    const { rows: disputes, next } = pageOf(
      await listDisputes(db, { state, after, limit: limit + 1 }),
      limit,
      ({ disputeId }) => String(disputeId),
    );
    return { disputes, next };
  });
  app.get('/api/disputes/:id', { config: { access: 'reviewer' } }, (request) => readDispute(db, idOf(request)));
  app.get('/api/disputes/:id/contact', { config: { access: 'reviewer' } }, async (request): Promise<DisputeContact> => {
    const { disputeId } = await readDispute(db, idOf(request));
    const contact = await openDisputeContact({ db, vault }, disputeId);
    await recordAction(db, request, { action: 'view_dispute_contact', object: `dispute ${disputeId}` }); // before the answer
    return { contact };
  });
  app.post('/api/disputes/:id/decision', { config: { access: 'reviewer' } }, (request) => {
    const { clear, reason } = parseBody(decisionBody, request.body);
    const disputeId = idOf(request);
    return decideDispute({
      db,
      disputeId,
      clear,
      reason,
      actor: actorOf(request),
      eyes: config,
      record: (client) =>
        recordAction(client, request, { action: 'decide_dispute', object: `dispute ${disputeId}`, detail: { clear } }),
    });
  });
}
