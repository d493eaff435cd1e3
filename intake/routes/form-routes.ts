import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { FORM_LANGUAGES } from '../../pipelines/branding/form/letter-form-texts.ts';
import { issueLetterForm, letterFormRequestSchema } from '../../pipelines/branding/requests/letter-form.ts';
import { listIssuedForms, revokeIssuedForm, type FormSummary } from '../../pipelines/branding/requests/issued-forms.ts';
import type { Requester } from '../../pipelines/submissions/request-ledger.ts';
import { sendJson } from '../http/answers.ts';
import {
  exampleTime,
  guardedCodes,
  jsonAnswer,
  jsonSchemaOf,
  keyNeeded,
  pathParameter,
  problems,
  useCodes,
} from '../http/operations.ts';
import { actorOf, idOf, parseJsonBody, requireRequester } from '../http/request-reading.ts';
import type { IntakeWork } from '../work/intake-work.ts';
import { readUpload, requireOwnBrand } from './branding-routes.ts';

const path = '/v1/letter-forms';
const scope = 'branding:write';

const orderSchema = letterFormRequestSchema.extend({
  language: z.enum(FORM_LANGUAGES).default('en'),
  numbersFile: z.string().max(64).optional().describe('Id of a complete upload for numbers: a CSV.'),
});
const revocationSchema = z.strictObject({ reason: z.string().max(500).describe('Kept with the form.') });
const listQuery = z.strictObject({
  before: z
    .string()
    .regex(/^[1-9]\d{0,15}$/)
    .optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});

const example = {
  form: 7,
  code: 'ABCD2EFGH3IJKL4MNOP5QRST6U',
  handle: 'northwind-dental',
  legalName: 'Northwind Dental LLC',
  displayName: 'Northwind Dental',
  language: 'en',
  numbers: 1,
  issuedAt: exampleTime,
  validUntil: exampleTime,
  letter: null,
  revokedAt: null,
  revokedReason: null,
};

const described = { tags: ['Branding'], security: keyNeeded };

/** `/v1/letter-forms`: forms of letters that rules approve when they come back signed; issued, listed and revoked. */
export function registerFormRoutes(app: FastifyInstance, work: IntakeWork): void {
  registerIssue(app, work);
  registerList(app, work);
  registerRevocation(app, work);
}

function registerIssue(app: FastifyInstance, work: IntakeWork): void {
  const post = {
    ...described,
    operationId: 'issueLetterForm',
    summary: 'Issue the form of a letter, to be signed',
    description: `Needs the scope \`${scope}\`. The fields are those of the branding request that the letter will come with, and who signs. Each request issues another form.`,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: jsonSchemaOf(orderSchema),
          example: {
            handle: 'northwind-dental',
            numbers: ['+12025550123'],
            signer: { name: 'Jane Sample', title: 'Director' },
          },
        },
      },
    },
    responses: {
      201: {
        description: 'The form.',
        headers: { Location: { schema: { type: 'string' }, description: 'The form.' } },
        content: { 'application/pdf': { schema: { type: 'string', format: 'binary' } } },
      },
      ...problems([
        ...guardedCodes,
        ...useCodes,
        'media_type_unsupported',
        'overloaded',
        'brand_request_invalid',
        'brand_unknown',
        'numbers_file_invalid',
        'form_text_unsupported',
      ]),
    },
  };
  app.post(path, { config: { operations: { post } } }, async (request, reply) => {
    const requester = requireRequester(request, scope);
    const { language, numbersFile, ...order } = parseJsonBody(orderSchema, request.body, 'brand_request_invalid');
    requireOwnBrand(requester, order.handle);
    const { formId, file } = await work.room.run('branding', async () =>
      issueLetterForm(
        { db: work.db, now: new Date() },
        {
          request: order,
          owner: requester.client,
          numbersFile: await readUpload(work, requester, { kind: 'numbers', id: numbersFile }),
          language,
          issuedBy: actorOf(requester),
        },
      ),
    );
    return reply
      .code(201)
      .headers({
        Location: `${path}/${formId}`,
        'Cache-Control': 'no-store',
        'Content-Disposition': `attachment; filename="letter-form-${formId}.pdf"`,
      })
      .type('application/pdf')
      .send(Buffer.from(file));
  });
}

function registerList(app: FastifyInstance, { db }: IntakeWork): void {
  const get = {
    ...described,
    operationId: 'listLetterForms',
    summary: 'Issued forms of the client, newest first',
    description: `Needs the scope \`${scope}\`. \`next\` is the \`before\` of the next page, or null.`,
    parameters: [
      {
        name: 'before',
        in: 'query',
        description: 'Id of the form after which the page begins.',
        schema: { type: 'string' },
      },
      {
        name: 'limit',
        in: 'query',
        description: 'Forms a page.',
        schema: { type: 'integer', maximum: 1000, default: 100 },
      },
    ],
    responses: {
      200: { description: 'The forms.', content: jsonAnswer({ forms: [example], next: null }) },
      ...problems([...guardedCodes, 'parameter_invalid']),
    },
  };
  app.get(path, { config: { operations: { get } } }, async (request, reply) => {
    const requester = requireRequester(request, scope);
    const { before, limit } = parseJsonBody(listQuery, request.query, 'parameter_invalid');
    const filter = { ...seenBy(requester), ...(before === undefined ? {} : { before: Number(before) }) };
    const found = await listIssuedForms(db, { ...filter, limit: limit + 1 });
    const forms = found.slice(0, limit).map(shownForm);
    return sendJson(reply, {
      status: 200,
      body: { forms, next: found.length > limit ? String(forms.at(-1)!.form) : null },
    });
  });
}

function registerRevocation(app: FastifyInstance, { db }: IntakeWork): void {
  const post = {
    ...described,
    operationId: 'revokeLetterForm',
    summary: 'Revoke an issued form: rules approve no letter any more that it comes back as',
    description: `Needs the scope \`${scope}\`. A letter that was approved before stays in force.`,
    parameters: [pathParameter('id', 'Id of the form.')],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: jsonSchemaOf(revocationSchema), example: { reason: 'Wrong signer' } } },
    },
    responses: {
      200: {
        description: 'The form.',
        content: jsonAnswer({ ...example, revokedAt: exampleTime, revokedReason: 'Wrong signer' }),
      },
      ...problems([...guardedCodes, 'media_type_unsupported', 'form_unknown', 'form_revoked', 'reason_required']),
    },
  };
  app.post(`${path}/:id/revocation`, { config: { operations: { post } } }, async (request, reply) => {
    const requester = requireRequester(request, scope);
    const { reason } = parseJsonBody(revocationSchema, request.body, 'request_invalid');
    const formId = idOf((request.params as { id: string }).id);
    const form = await revokeIssuedForm(db, { ...seenBy(requester), formId, actor: actorOf(requester), reason });
    return sendJson(reply, { status: 200, body: shownForm(form) });
  });
}

/** The forms of a client; with a key that is bound to a brand, those of this brand. */
function seenBy({ client, brand }: Requester): { owners: readonly string[]; handle?: string } {
  return { owners: [client], ...(brand === null ? {} : { handle: brand }) };
}

function shownForm(form: FormSummary) {
  const { formId, code, handle, legalName, displayName, language, numbers, issuedAt, validUntil, letterId } = form;
  const { revokedAt, revokedReason } = form;
  const shown = { code, handle, legalName, displayName, language, numbers, issuedAt, validUntil };
  return { form: formId, ...shown, letter: letterId, revokedAt, revokedReason };
}
