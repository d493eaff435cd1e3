import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { requestProofs } from '../../jobs/queues/proof-producer.ts';
import { confirmCode } from '../../pipelines/branding/proof/number-proof.ts';
import { loadCodeSecret } from '../../pipelines/branding/proof/proof-code.ts';
import { requirePhone } from '../../pipelines/labels/number-record.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../http/access.ts';
import { parseBody } from '../http/body.ts';
import { brandPath } from '../answers/branding-parameters.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { readSeenBrand } from '../http/own-data.ts';

const phoneText = z.string().max(40);
const startBody = z.strictObject({
  phones: z.array(phoneText).min(1).max(1000).optional(),
  language: z.string().max(20).default('en'),
});
const confirmBody = z.strictObject({ phone: phoneText, code: z.string().min(1).max(40) });

/** `/api/brands/:handle/proofs`: proofs that a brand answers its numbers, for those who hand its requests in. */
export function registerProofRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db, config } = work;
  app.post('/api/brands/:handle/proofs', { config: { access: 'reviewer', forAgencies: true } }, async (request) => {
    const { handle } = await readSeenBrand(db, request, parseBody(brandPath, request.params).handle);
    const { phones, language } = parseBody(startBody, request.body);
    const record = (client: Queryable) =>
      recordAction(client, request, { action: 'prove_numbers', object: `brand ${handle}` });
    return requestProofs(work, {
      handle,
      phones: phones?.map((text) => requirePhone('prove number', text)) ?? null,
      language,
      actor: actorOf(request),
      record,
    });
  });
  app.post(
    '/api/brands/:handle/proofs/confirm',
    { config: { access: 'reviewer', forAgencies: true } },
    async (request) => {
      const { handle } = await readSeenBrand(db, request, parseBody(brandPath, request.params).handle);
      const { phone, code } = parseBody(confirmBody, request.body);
      const record = (client: Queryable) =>
        recordAction(client, request, { action: 'confirm_number', object: `brand ${handle}` });
      return confirmCode({
        db,
        handle,
        phone: requirePhone('confirm number', phone),
        code,
        actor: actorOf(request),
        secret: await loadCodeSecret(config),
        limits: config,
        policy: config.letterApproval,
        record,
      });
    },
  );
}
