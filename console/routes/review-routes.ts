import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readBrand, readLetterRecord } from '../../pipelines/branding/brand/brand-record.ts';
import { openDocument } from '../../pipelines/branding/document-store.ts';
import {
  addProtectedName,
  listOwnProtectedNames,
  readProtectedNames,
  removeProtectedName,
} from '../../pipelines/branding/names/protected-name-record.ts';
import { NEARNESS, nearProtectedName, PROTECTED_CATEGORIES } from '../../pipelines/branding/names/protected-names.ts';
import { renderLetterPages } from '../../pipelines/branding/reading/letter-reader.ts';
import { whyNotDecide } from '../../pipelines/access/two-pairs-of-eyes.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import { handlePrefix, idCursor, idOf, idParameter, limitParameter, reasonField } from '../http/parameters.ts';
import { pageOf } from '../http/paging.ts';
import type { NearName, ProtectedNames } from '../answers/brand-answers.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { countWaiting, listWaitingBrands, listWaitingLetters, reviewedLetter } from '../answers/letter-answers.ts';
import { LetterPages } from '../media/letter-pages.ts';

const lettersQuery = z.strictObject({ after: idCursor, limit: limitParameter });
const brandsQuery = z.strictObject({ after: handlePrefix, limit: limitParameter });
const pagePath = z.strictObject({
  id: idParameter,
  page: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/, 'is not a page')
    .transform(Number),
});

/** Enough for enlarged small print: a page of A4 is 1240 pixels wide. */
const pageDotsPerInch = 150;

/** `/api/review`: pending decisions, and letters with their text and pages for reviewers. */
export function registerReviewRoutes(app: FastifyInstance, { db, vault, config, signal }: ConsoleWork): void {
  app.get('/api/review/counts', { config: { access: 'viewer' } }, () => countWaiting(db));
  app.get('/api/review/letters', { config: { access: 'reviewer' } }, async (request) => {
    const { after, limit } = parseBody(lettersQuery, request.query);
    const { rows: letters, next } = pageOf(
      await listWaitingLetters(db, { after, limit: limit + 1 }),
      limit,
      ({ letterId }) => String(letterId),
    );
    return { letters, next };
  });
  app.get('/api/review/brands', { config: { access: 'reviewer' } }, async (request) => {
    const { after, limit } = parseBody(brandsQuery, request.query);
    const { rows: brands, next } = pageOf(
      await listWaitingBrands(db, { after, limit: limit + 1 }),
      limit,
      ({ handle }) => handle,
    );
    return { brands, next };
  });
  app.get('/api/review/letters/:id', { config: { access: 'reviewer' } }, async (request) => {
    const id = idOf(request);
    const letter = await readLetterRecord(db, id, vault);
    if (letter.opened !== null) await recordAction(db, request, { action: 'view_letter', object: `letter ${id}` });
    const { brandId } = await readBrand(db, letter.handle);
    return reviewedLetter(
      db,
      letter,
      await whyNotDecide(db, { eyes: config, actor: actorOf(request), of: { kind: 'letter', brandId, letterId: id } }),
    );
  });
  const pages = new LetterPages(async (documentId) =>
    renderLetterPages({ bytes: await openDocument({ db, vault }, documentId), dotsPerInch: pageDotsPerInch, signal }),
  );
  app.get('/api/review/letters/:id/pages/:page', { config: { access: 'reviewer' } }, async (request, reply) => {
    const { id, page } = parseBody(pagePath, request.params);
    const { document } = await readLetterRecord(db, id);
    if (document.destroyedAt !== null) pages.forget(document.documentId); // opening it then reports the deletion
    const drawn = await pages.pagesOf(document.documentId);
    const picture = drawn.find((each) => each.page === page);
    if (picture === undefined) throw notDrawn(id, drawn.length);
    await recordAction(db, request, { action: 'view_letter_page', object: `letter ${id}`, detail: { page } });
    void reply.header('Content-Security-Policy', "default-src 'none'; sandbox");
    return reply.type('image/png').send(Buffer.from(picture.png));
  });
}

function notDrawn(letterId: number, pages: number): ServiceError {
  const [problem, hint] =
    pages === 0
      ? ['The letter cannot be drawn.', 'Its findings say why; its file can be saved as it came.']
      : ['The letter has no such page.', `It has ${pages}.`];
  return new ServiceError('letter_file_invalid', { operation: 'draw letter', object: String(letterId), problem, hint });
}

const nameField = z.string().max(256);
const checkBody = z.strictObject({ name: nameField });
const addBody = z.strictObject({
  name: nameField,
  category: z.enum(PROTECTED_CATEGORIES),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'is not two upper-case letters of ISO 3166-1')
    .nullable(),
  common: z.boolean(),
  reason: reasonField,
});
const removeBody = z.strictObject({ name: nameField, reason: reasonField });

/** `/api/protected-names`: names that operators have protected, and a check of a name against all protected names. */
export function registerProtectedNameRoutes(app: FastifyInstance, { db }: Pick<ConsoleWork, 'db'>): void {
  app.get('/api/protected-names', { config: { access: 'reviewer' } }, async (): Promise<ProtectedNames> => ({
    names: await listOwnProtectedNames(db),
    categories: PROTECTED_CATEGORIES,
  }));
  app.post('/api/protected-names/check', { config: { access: 'reviewer' } }, async (request): Promise<NearName> => {
    const { name } = parseBody(checkBody, request.body);
    const near = nearProtectedName(name, await readProtectedNames(db));
    return { near: near && { name: near.name, category: near.category, how: NEARNESS[near.how] } };
  });
  app.post('/api/protected-names', { config: { access: 'operator' } }, (request) => {
    const change = parseBody(addBody, request.body);
    return inTransaction(db, async (client) => {
      await addProtectedName({ db: client, ...change, actor: actorOf(request) });
      await recordAction(client, request, { action: 'protect_name', object: `name ${change.name}` });
      return { name: change.name };
    });
  });
  app.post('/api/protected-names/remove', { config: { access: 'operator' } }, (request) => {
    const change = parseBody(removeBody, request.body);
    return inTransaction(db, async (client) => {
      await removeProtectedName({ db: client, ...change, actor: actorOf(request) });
      await recordAction(client, request, { action: 'unprotect_name', object: `name ${change.name}` });
      return { name: change.name };
    });
  });
}
