import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  addProtectedName,
  listOwnProtectedNames,
  readProtectedNames,
  removeProtectedName,
} from '../../pipelines/branding/names/protected-name-record.ts';
import { NEARNESS, nearProtectedName, PROTECTED_CATEGORIES } from '../../pipelines/branding/names/protected-names.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import type { NearName, ProtectedNames } from '../answers/brand-answers.ts';
import { reasonField } from '../answers/branding-parameters.ts';
import type { ConsoleWork } from '../http/console-work.ts';

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
