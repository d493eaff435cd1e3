import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { handleSchema } from '../../pipelines/branding/brand-profile.ts';
import { listLetters, readLetterRecord } from '../../pipelines/branding/brand/brand-record.ts';
import { openDocument } from '../../pipelines/branding/document-store.ts';
import {
  decideLetterByPerson,
  deleteLetterDocument,
  withdrawLetter,
  type Decider,
} from '../../pipelines/branding/brand/person-actions.ts';
import { LETTER_TRANSITIONS } from '../../pipelines/branding/states.ts';
import { type Queryable, inTransaction } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../access/guard.ts';
import type { NewEvent } from '../access/audit.ts';
import { parseBody } from '../http/body.ts';
import { pageOf } from '../http/paging.ts';
import {
  flagParameter,
  handleOf,
  idOf,
  idParameter,
  limitParameter,
  lineParameter,
  reasonBody,
  reasonField,
  verdictBody,
} from '../http/parameters.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { shownForm } from '../answers/form-answers.ts';
import { listRequestedNumbers, readShownLetter } from '../answers/letter-answers.ts';
import { ownersSeen, requireSeenLetter, withoutDecider, readSeenBrand } from '../access/own-data.ts';
import { listIssuedForms, revokeIssuedForm } from '../../pipelines/branding/requests/issued-forms.ts';
import { issueFormOfBrand } from '../../pipelines/branding/requests/letter-form.ts';
import { FORM_LANGUAGES } from '../../pipelines/branding/form/letter-form-texts.ts';
import { requestNumbersSchema, signerSchema } from '../../pipelines/branding/operation.ts';

const dayMs = 24 * 3_600_000;
const listQuery = z.strictObject({
  brand: handleSchema.optional(),
  state: z.enum(LETTER_TRANSITIONS.states).optional(),
  days: z.coerce.number().int().min(0).max(400).optional(),
  before: idParameter.optional(),
  limit: limitParameter,
});
const numbersQuery = z.strictObject({ missing: flagParameter, after: lineParameter, limit: limitParameter });

const letterVerdictBody = verdictBody.extend({ until: z.iso.date().optional() });

/** `/api/letters`: letters of authorization with their findings, without their text, and decisions on them. */
export function registerLetterRoutes(
  app: FastifyInstance,
  { db, vault, config }: Pick<ConsoleWork, 'db' | 'vault' | 'config'>,
): void {
  app.get('/api/letters', { config: { access: 'viewer', forAgencies: true } }, async (request) => {
    const { brand: handle, state, days, before, limit } = parseBody(listQuery, request.query);
    const endingBy = days === undefined ? undefined : new Date(Date.now() + days * dayMs);
    const { rows: letters, next } = pageOf(
      await listLetters(db, { handle, owners: ownersSeen(request), state, endingBy, before, limit: limit + 1 }),
      limit,
      ({ letterId }) => String(letterId),
    );
    return { letters: letters.map((letter) => withoutDecider(request, letter)), next };
  });
  app.get('/api/letters/:id', { config: { access: 'viewer', forAgencies: true } }, async (request) => {
    await requireSeenLetter(db, request, idOf(request));
    return withoutDecider(request, await readShownLetter(db, idOf(request)));
  });
  app.get('/api/letters/:id/numbers', { config: { access: 'viewer', forAgencies: true } }, async (request) => {
    const { limit, ...query } = parseBody(numbersQuery, request.query);
    const letterId = idOf(request);
    await requireSeenLetter(db, request, letterId);
    const { rows: numbers, next } = pageOf(
      await listRequestedNumbers(db, letterId, { ...query, limit: limit + 1 }),
      limit,
      ({ line }) => String(line),
    );
    return { numbers, next };
  });
  app.get('/api/letters/:id/file', { config: { access: 'reviewer' } }, async (request, reply) => {
    const { letterId, format, document } = await readLetterRecord(db, idOf(request));
    const bytes = await openDocument({ db, vault }, document.documentId);
    await recordAction(db, request, { action: 'save_letter', object: `letter ${letterId}` }); // before any byte is sent
    void reply.headers({
      'Content-Disposition': `attachment; filename="letter-${letterId}.${format ?? 'bin'}"`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
    });
    return reply.type('application/octet-stream').send(bytes); // so that the browser saves it instead of showing it
  });
  registerLetterActions(app, { db, config });
}

function registerLetterActions(app: FastifyInstance, { db, config }: Pick<ConsoleWork, 'db' | 'config'>): void {
  app.post('/api/letters/:id/decision', { config: { access: 'reviewer' } }, async (request) => {
    const { approve, reason, until } = parseBody(letterVerdictBody, request.body);
    const letterId = idOf(request);
    return {
      letterId,
      state: await decideLetterByPerson({
        db,
        letterId,
        approve,
        endsOn: until,
        eyes: config,
        ...deciderOf(request, { action: 'decide_letter', detail: { approve }, reason }),
      }),
    };
  });
  app.post('/api/letters/:id/withdraw', { config: { access: 'reviewer' } }, async (request) => {
    const letterId = idOf(request);
    const { reason } = parseBody(reasonBody, request.body);
    return {
      letterId,
      state: await withdrawLetter({ db, letterId, ...deciderOf(request, { action: 'withdraw_letter', reason }) }),
    };
  });
  app.post('/api/letters/:id/delete', { config: { access: 'operator' } }, async (request) => {
    const letterId = idOf(request);
    const { reason } = parseBody(reasonBody, request.body);
    return {
      letterId,
      state: await deleteLetterDocument({ db, letterId, ...deciderOf(request, { action: 'delete_letter', reason }) }),
    };
  });
}

/** The decider of a letter, the reason, and the audit record. */
function deciderOf(
  request: FastifyRequest,
  { reason, ...event }: Pick<NewEvent, 'action' | 'detail'> & { reason: string },
): Decider {
  return {
    actor: actorOf(request),
    reason,
    record: (client: Queryable) => recordAction(client, request, { ...event, object: `letter ${idOf(request)}` }),
  };
}

const formBody = z.strictObject({
  signer: signerSchema,
  language: z.enum(FORM_LANGUAGES).default('en'),
  numbers: requestNumbersSchema,
});

const formsQuery = z.strictObject({ before: idParameter.optional(), limit: limitParameter });
const revocationBody = z.strictObject({ form: z.number().int().positive(), reason: reasonField });

/** `/api/brands/:handle/letter-form`: issues, lists and revokes forms of letters for a brand, for users who may submit requests. */
export function registerLetterFormRoutes(app: FastifyInstance, { db }: Pick<ConsoleWork, 'db'>): void {
  app.get('/api/brands/:handle/letter-forms', { config: { access: 'viewer', forAgencies: true } }, async (request) => {
    const { handle } = await readSeenBrand(db, request, handleOf(request));
    const { before, limit } = parseBody(formsQuery, request.query);
    const found = await listIssuedForms(db, { owners: ownersSeen(request), handle, before, limit: limit + 1 });
    const { rows, next } = pageOf(found, limit, ({ formId }) => String(formId));
    return { forms: rows.map(shownForm), next };
  });
  app.post(
    '/api/brands/:handle/letter-forms/revocation',
    { config: { access: 'reviewer', forAgencies: true } },
    async (request) => {
      const { handle } = await readSeenBrand(db, request, handleOf(request));
      const { form: formId, reason } = parseBody(revocationBody, request.body);
      return inTransaction(db, async (client) => {
        const form = await revokeIssuedForm(client, {
          formId,
          owners: ownersSeen(request),
          handle,
          actor: actorOf(request),
          reason,
        });
        await recordAction(client, request, {
          action: 'revoke_letter_form',
          object: `brand ${handle}`,
          detail: { form: formId, reason },
        });
        return shownForm(form);
      });
    },
  );
  app.post(
    '/api/brands/:handle/letter-form',
    { config: { access: 'reviewer', forAgencies: true } },
    async (request, reply) => {
      const brand = await readSeenBrand(db, request, handleOf(request));
      const order = parseBody(formBody, request.body);
      const { formId, file } = await inTransaction(db, async (client) => {
        const form = await issueFormOfBrand(
          { db: client, now: new Date() },
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
