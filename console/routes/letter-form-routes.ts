import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { issueFormOfBrand } from '../../pipelines/branding/requests/letter-form.ts';
import { FORM_LANGUAGES } from '../../pipelines/branding/form/letter-form-texts.ts';
import { requestNumbersSchema, signerSchema } from '../../pipelines/branding/operation.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../http/access.ts';
import { parseBody } from '../http/body.ts';
import { brandPath } from '../answers/branding-parameters.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { readSeenBrand } from '../http/own-data.ts';

const formBody = z.strictObject({
  signer: signerSchema,
  language: z.enum(FORM_LANGUAGES).default('en'),
  numbers: requestNumbersSchema,
});

/** `/api/brands/:handle/letter-form`: issues the form of a letter for a brand, for those who hand its requests in. */
export function registerLetterFormRoutes(
  app: FastifyInstance,
  { db, config }: Pick<ConsoleWork, 'db' | 'config'>,
): void {
  app.post(
    '/api/brands/:handle/letter-form',
    { config: { access: 'reviewer', forAgencies: true } },
    async (request, reply) => {
      const brand = await readSeenBrand(db, request, parseBody(brandPath, request.params).handle);
      const order = parseBody(formBody, request.body);
      const { formId, file } = await inTransaction(db, async (client) => {
        const form = await issueFormOfBrand(
          { db: client, limits: config, now: new Date() },
          { ...order, brand, issuedBy: actorOf(request) },
        );
        await recordAction(client, request, {
          action: 'issue_letter_form',
          object: `brand ${brand.handle}`,
          detail: { form: form.formId, language: order.language, numbers: form.content.phones.length },
        });
        return form;
      });
      void reply.headers({
        'Content-Disposition': `attachment; filename="${brand.handle}-form-${formId}.pdf"`,
        'Content-Security-Policy': "default-src 'none'; sandbox",
      });
      return reply.type('application/pdf').send(Buffer.from(file));
    },
  );
}
