import { z } from 'zod';
import { handleSchema } from '../../pipelines/branding/brand-profile.ts';
import { parseBody } from './body.ts';

/** An id of the database. */
export const idParameter = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, 'is not an id')
  .transform(Number);

/** The id after which a page begins; 0 for the first page. */
export const idCursor = z
  .string()
  .regex(/^[0-9]{1,15}$/, 'is not an id')
  .default('0')
  .transform(Number);

/** Most entries of a page. */
export const limitParameter = z.coerce.number().int().min(1).max(500).default(50);

/** The line after which a page begins. */
export const lineParameter = z.coerce.number().int().min(0).max(2_000_000).default(0);

/** A boolean in a query. */
export const flagParameter = z
  .enum(['0', '1'])
  .default('0')
  .transform((text) => text === '1');

/** Filters a list by client. */
export const ownerParameter = z.string().max(128).optional();

/** Prefix of handles; empty for all. */
export const handlePrefix = z
  .string()
  .max(63)
  .regex(/^[a-z0-9-]*$/, 'holds what no handle has')
  .default('');

const brandPath = z.strictObject({ handle: handleSchema });
const idPath = z.strictObject({ id: idParameter });

/** The brand that a path names. @throws ServiceError `parameter_invalid` */
export function handleOf({ params }: { readonly params: unknown }): string {
  return parseBody(brandPath, params).handle;
}

/** The id of the database that a path names. @throws ServiceError `parameter_invalid` */
export function idOf({ params }: { readonly params: unknown }): number {
  return parseBody(idPath, params).id;
}

/** The reason of an action. Where a reason is required, the action itself refuses an empty one. */
export const reasonField = z.string().max(500);

/** A decision of a person. */
export const verdictBody = z.strictObject({ approve: z.boolean(), reason: reasonField });

/** A decision on a brand, with the revision that the person saw. */
export const brandVerdictBody = z.strictObject({
  approve: z.boolean(),
  revision: z
    .number()
    .int()
    .positive()
    .max(2 ** 31 - 1),
  reason: reasonField,
});

export const reasonBody = z.strictObject({ reason: reasonField });
