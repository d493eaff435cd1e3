import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { fileDispute, readDispute, type Dispute } from '../../pipelines/labels/number-dispute.ts';
import { requirePhone } from '../../pipelines/labels/number-record.ts';
import { holdsNumber } from '../../pipelines/submissions/number-holder.ts';
import type { Requester } from '../../pipelines/submissions/request-ledger.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { sendJson } from '../http/answers.ts';
import { acceptRequest, actorOf, idOf, parseJsonBody, requireOwn, requireRequester } from '../http/request-reading.ts';
import type { IntakeWork } from '../work/intake-work.ts';

/** A dispute of the label of a number; the form of `number dispute` checks the fields further. */
export const disputeSchema = z.strictObject({
  phone: z.string().max(64).describe('The number in international form.'),
  reason: z.string().describe('Why its label is wrong; 2,000 characters at most.'),
  contact: z.string().optional().describe('How to reach who asks; 200 characters at most. Kept sealed.'),
});

/** `/v1/disputes`: a dispute of the label of a number, which a person decides. */
export function registerDisputeRoutes(app: FastifyInstance, work: IntakeWork): void {
  const { db } = work;
  app.post('/v1/disputes', (request, reply) => submitDispute(work, request, reply));
  app.get('/v1/disputes/:id', async (request, reply) => {
    const requester = requireRequester(request, 'numbers:dispute');
    const { id } = request.params as { id: string };
    await requireOwn(work, requester, { kind: 'dispute', object: id, code: 'dispute_unknown' });
    return sendJson(reply, { status: 200, body: shownDispute(await readDispute(db, idOf(id))) });
  });
}

async function submitDispute(work: IntakeWork, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { config, db, room } = work;
  const requester = requireRequester(request, 'numbers:dispute');
  const body = parseJsonBody(disputeSchema, request.body, 'dispute_invalid');
  await requireOwnNumber(work, requester, requirePhone('file dispute', body.phone));
  const { object, repeated } = await acceptRequest(
    work,
    request,
    { requester, kind: 'dispute', content: body },
    (key, record) =>
      room.run(null, async () => {
        const submission = {
          request: body,
          filedBy: actorOf(requester),
          key,
          record: (client: Parameters<typeof record>[0], id: number) => record(client, String(id)),
        };
        return String((await fileDispute(work, submission)).disputeId);
      }),
  );
  const dispute = await readDispute(db, idOf(object));
  return sendJson(reply, {
    status: 202,
    headers: { Location: `${config.intakeApiOrigin ?? ''}/v1/numbers/${dispute.phone}` },
    body: { ...shownDispute(dispute), status: `/v1/disputes/${object}`, repeated },
  });
}

/** A key that is bound to a brand disputes labels of the numbers of this brand alone. */
async function requireOwnNumber({ db }: IntakeWork, { client, brand }: Requester, phone: string): Promise<void> {
  if (brand === null || (await holdsNumber(db, { owner: client, handle: brand, phone }))) return;
  throw new ServiceError('forbidden', {
    operation: 'authorise',
    problem: `The key is bound to the brand ${brand}, which does not have this number.`,
  });
}

function shownDispute({ disputeId, phone, label, state, filedAt, decision }: Dispute) {
  return {
    dispute: disputeId,
    phone,
    label,
    state,
    filedAt,
    decision: decision && { at: decision.at, reason: decision.reason },
  };
}
