import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { fileDispute, readDispute, type Dispute } from '../../pipelines/labels/number-dispute.ts';
import { requirePhone } from '../../pipelines/labels/number-record.ts';
import { holdsNumber } from '../../pipelines/submissions/number-holder.ts';
import type { Requester } from '../../pipelines/submissions/request-ledger.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { exampleTime } from '../http/operations.ts';
import { acceptRequest, actorOf, parseJsonBody } from '../http/request-reading.ts';
import { registerSubmission } from '../http/submission-routes.ts';
import type { IntakeWork } from '../work/intake-work.ts';

/** A dispute of the label of a number; the form of `number dispute` checks the fields further. */
const disputeSchema = z.strictObject({
  phone: z.string().max(64).describe('The number in international form.'),
  reason: z.string().describe('Why its label is wrong; 2,000 characters at most.'),
  contact: z.string().optional().describe('How to reach who asks; 200 characters at most. Kept sealed.'),
});

const answer = {
  dispute: 3,
  phone: '+12025550123',
  label: { level: 'SPAM', category: 6, source: 'feed' },
  state: 'open',
  filedAt: exampleTime,
  decision: null,
};

/** `/v1/disputes`: a dispute of the label of a number, which a person decides. */
export function registerDisputeRoutes(app: FastifyInstance, work: IntakeWork): void {
  registerSubmission(app, work, {
    kind: 'dispute',
    scope: 'numbers:dispute',
    tag: 'Disputes',
    answer,
    submission: {
      path: '/v1/disputes',
      operationId: 'fileDispute',
      summary: 'Dispute the label of a number; a person decides',
      location: 'The number at the API: `/v1/numbers/{phone}`.',
      schema: disputeSchema,
      example: { phone: '+12025550123', reason: 'The number is ours since March.', contact: 'ops@example.com' },
      codes: ['dispute_invalid', 'phone_invalid', 'dispute_unneeded', 'disputes_too_many'],
      submit: (request, requester) => submitDispute(work, request, requester),
    },
    outcome: {
      path: '/v1/disputes',
      noun: 'dispute',
      operationId: 'getDispute',
      summary: 'Outcome of a dispute',
      unknown: 'dispute_unknown',
      read: async (id) => shownDispute(await readDispute(work.db, id)),
      pathAtApi: ({ phone }) => `/v1/numbers/${phone}`,
    },
  });
}

async function submitDispute(work: IntakeWork, request: FastifyRequest, requester: Requester) {
  const body = parseJsonBody(disputeSchema, request.body, 'dispute_invalid');
  await requireOwnNumber(work, requester, requirePhone('file dispute', body.phone));
  return acceptRequest(work, request, { requester, kind: 'dispute', content: body }, (key, record) =>
    work.room.run(null, async () => {
      const submission = {
        request: body,
        filedBy: actorOf(requester),
        key,
        record: (client: Parameters<typeof record>[0], id: number) => record(client, String(id)),
      };
      return String((await fileDispute(work, submission)).disputeId);
    }),
  );
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
