import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listBrands, listIdentifiedNumbers, readBrand } from '../../pipelines/branding/brand/brand-record.ts';
import { listRivalClaims } from '../../pipelines/branding/brand/number-claims.ts';
import {
  changeNumber,
  decideBrand,
  NUMBER_PERSON_ACTIONS,
  resumeBrand,
  suspendBrand,
  withdrawBrand,
} from '../../pipelines/branding/brand/person-actions.ts';
import { BRAND_TRANSITIONS, NUMBER_TRANSITIONS } from '../../pipelines/branding/states.ts';
import { whyNotDecide } from '../../pipelines/access/two-pairs-of-eyes.ts';
import { requirePhone } from '../../pipelines/labels/number-record.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { actorOf, recordAction, userOf } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import { listBrandHistory, revealedFields, shownBrand, withProofs } from '../answers/brand-answers.ts';
import { pageOf } from '../http/paging.ts';
import {
  brandVerdictBody,
  handleOf,
  handlePrefix,
  idCursor,
  idParameter,
  limitParameter,
  ownerParameter,
  reasonBody,
  reasonField,
} from '../http/parameters.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { ownersSeen, readSeenBrand } from '../access/own-data.ts';
import { mayActAs } from '../access/roles.ts';
import { requestProofs } from '../../jobs/queues/proof-producer.ts';
import { confirmCode } from '../../pipelines/branding/proof/number-proof.ts';
import { loadCodeSecret } from '../../pipelines/branding/proof/proof-code.ts';

const listQuery = z.strictObject({
  owner: ownerParameter,
  state: z.enum(BRAND_TRANSITIONS.states).optional(),
  prefix: handlePrefix,
  after: handlePrefix,
  limit: limitParameter,
});
const numbersQuery = z.strictObject({
  state: z.enum(NUMBER_TRANSITIONS.states).optional(),
  after: idCursor,
  limit: limitParameter,
});
const historyQuery = z.strictObject({ before: idParameter.optional(), limit: limitParameter });
const numberBody = z.strictObject({
  phone: z.string().max(40),
  action: z.enum(NUMBER_PERSON_ACTIONS),
  reason: reasonField,
});

/** `/api/brands`: managed brands with their numbers and histories, and decisions on them. */
export function registerBrandRoutes(app: FastifyInstance, { db, config }: Pick<ConsoleWork, 'db' | 'config'>): void {
  app.get('/api/brands', { config: { access: 'viewer', forAgencies: true } }, async (request) => {
    const { owner, ...query } = parseBody(listQuery, request.query);
    const { rows: brands, next } = pageOf(
      await listBrands(db, { ...query, owners: ownersSeen(request, owner), limit: query.limit + 1 }),
      query.limit,
      ({ handle }) => handle,
    );
    return { brands, next };
  });
  app.get('/api/brands/:handle', { config: { access: 'viewer', forAgencies: true } }, async (request) => {
    const brand = await readSeenBrand(db, request, handleOf(request));
    const { role } = userOf(request);
    return shownBrand(brand, {
      isOutside: role === 'agency',
      rivals: mayActAs(role, 'reviewer') ? await listRivalClaims(db, brand.handle) : [],
      whyNot: mayActAs(role, 'reviewer')
        ? await whyNotDecide(db, {
            eyes: config,
            actor: actorOf(request),
            of: { kind: 'brand', brandId: brand.brandId },
          })
        : null,
    });
  });
  app.get('/api/brands/:handle/numbers', { config: { access: 'viewer', forAgencies: true } }, async (request) => {
    const { limit, state, after } = parseBody(numbersQuery, request.query);
    const brand = await readSeenBrand(db, request, handleOf(request));
    const { rows: numbers, next } = pageOf(
      await listIdentifiedNumbers(db, brand, { state, afterId: after || undefined, limit: limit + 1 }),
      limit,
      ({ numberId }) => String(numberId),
    );
    return { numbers: await withProofs(db, brand.brandId, numbers), next };
  });
  app.get('/api/brands/:handle/history', { config: { access: 'viewer' } }, async (request) => {
    const { limit, before } = parseBody(historyQuery, request.query);
    const { brandId } = await readBrand(db, handleOf(request));
    const { rows: events, next } = pageOf(
      await listBrandHistory(db, brandId, { before, limit: limit + 1 }),
      limit,
      ({ eventId }) => String(eventId),
    );
    return { events, next };
  });
  registerBrandActions(app, { db, config });
}

function registerBrandActions(app: FastifyInstance, { db, config }: Pick<ConsoleWork, 'db' | 'config'>): void {
  // A recorded read: POST, so that only a page of this session can make it.
  app.post('/api/brands/:handle/private', { config: { access: 'reviewer' } }, async (request) => {
    const brand = await readBrand(db, handleOf(request));
    await recordAction(db, request, { action: 'view_private_fields', object: `brand ${brand.handle}` });
    return revealedFields(brand);
  });
  app.post('/api/brands/:handle/decision', { config: { access: 'reviewer' } }, async (request) => {
    const { approve, revision, reason } = parseBody(brandVerdictBody, request.body);
    const handle = handleOf(request);
    const record = (client: Queryable) =>
      recordAction(client, request, {
        action: 'decide_brand',
        object: `brand ${handle}`,
        detail: { approve, revision },
      });
    const state = await decideBrand({
      db,
      handle,
      approve,
      revision,
      reason,
      eyes: config,
      actor: actorOf(request),
      record,
    });
    return { handle, state };
  });
  const actions = [
    ['suspend', suspendBrand, 'suspend_brand'],
    ['resume', resumeBrand, 'resume_brand'],
    ['withdraw', withdrawBrand, 'withdraw_brand'],
  ] as const;
  for (const [name, act, action] of actions) {
    app.post(`/api/brands/:handle/${name}`, { config: { access: 'reviewer' } }, async (request) => {
      const handle = handleOf(request);
      const { reason } = parseBody(reasonBody, request.body);
      const record = (client: Queryable) => recordAction(client, request, { action, object: `brand ${handle}` });
      return { handle, state: await act({ db, handle, reason, eyes: config, actor: actorOf(request), record }) };
    });
  }
  app.post('/api/brands/:handle/numbers/action', { config: { access: 'reviewer' } }, async (request) => {
    const { phone: text, action, reason } = parseBody(numberBody, request.body);
    const handle = handleOf(request);
    const phone = requirePhone(`${action} number`, text);
    const record = (client: Queryable) =>
      recordAction(client, request, { action: 'change_number', object: `brand ${handle}`, detail: { action } });
    const state = await changeNumber({
      db,
      handle,
      phone,
      action,
      reason,
      eyes: config,
      actor: actorOf(request),
      record,
    });
    return { handle, phone, state };
  });
}

const phoneText = z.string().max(40);
const startBody = z.strictObject({
  phones: z.array(phoneText).min(1).max(1000).optional(),
  language: z.string().max(20).default('en'),
});
const confirmBody = z.strictObject({ phone: phoneText, code: z.string().min(1).max(40) });

/** `/api/brands/:handle/proofs`: proofs that a brand answers its numbers, for users who may submit requests. */
export function registerProofRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db, config } = work;
  app.post('/api/brands/:handle/proofs', { config: { access: 'reviewer', forAgencies: true } }, async (request) => {
    const { handle } = await readSeenBrand(db, request, handleOf(request));
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
      const { handle } = await readSeenBrand(db, request, handleOf(request));
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
        policy: config.letterApproval,
        record,
      });
    },
  );
}
