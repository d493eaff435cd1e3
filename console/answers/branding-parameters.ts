import { z } from 'zod';
import { handleSchema } from '../../pipelines/branding/brand-profile.ts';

/** An id of the database. */
export const idParameter = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, 'is not an id')
  .transform(Number);

/** An id after which a list begins; 0 for its start. */
export const idCursor = z
  .string()
  .regex(/^[0-9]{1,15}$/, 'is not an id')
  .default('0')
  .transform(Number);

/** How many entries of a list are asked for. */
export const limitParameter = z.coerce.number().int().min(1).max(500).default(50);

/** A line after which rows are asked for. */
export const lineParameter = z.coerce.number().int().min(0).max(2_000_000).default(0);

/** A yes in a query. */
export const flagParameter = z
  .enum(['0', '1'])
  .default('0')
  .transform((text) => text === '1');

/** The client that a list is narrowed to. */
export const ownerParameter = z.string().max(128).optional();

/** What a handle begins with; empty for any. */
export const handlePrefix = z
  .string()
  .max(63)
  .regex(/^[a-z0-9-]*$/, 'holds what no handle has')
  .default('');

/** The path of a brand. */
export const brandPath = z.strictObject({ handle: handleSchema });

/** The path of a letter or an operation. */
export const idPath = z.strictObject({ id: idParameter });

/** Why something is done. An empty one is refused where it is needed, with the error that says so. */
export const reasonField = z.string().max(500);

/** A decision of a person. */
export const verdictBody = z.strictObject({ approve: z.boolean(), reason: reasonField });

/** A decision on a brand, with the revision that was shown to who decides. */
export const brandVerdictBody = z.strictObject({
  approve: z.boolean(),
  revision: z
    .number()
    .int()
    .positive()
    .max(2 ** 31 - 1),
  reason: reasonField,
});

/** The reason of something that needs nothing else. */
export const reasonBody = z.strictObject({ reason: reasonField });

export { pageOf } from '../http/paging.ts';
