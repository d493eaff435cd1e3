import { z } from 'zod';
import { RELATIONSHIPS } from '../../pipelines/branding/brand-profile.ts';
import { BRAND_TRANSITIONS, LETTER_TRANSITIONS, NUMBER_TRANSITIONS } from '../../pipelines/branding/states.ts';
import { pageParameters } from '../http/paging.ts';
import { countrySchema, nameSchemas } from '../http/schemas.ts';

const time = z.iso.datetime().describe('ISO 8601, UTC.');
const count = z.int().nonnegative();
const path = z.string().describe('Path on this service.');
const next = z
  .string()
  .nullable()
  .describe(
    'Path and query of the next page; null where this is the last. The same as the header `Link` with `rel="next"`.',
  );
const phone = z
  .string()
  .regex(/^\+[1-9][0-9]{7,14}$/)
  .describe('E.164.');

const brandState = z.enum(BRAND_TRANSITIONS.states);
const letterState = z.enum(LETTER_TRANSITIONS.states);
const numberState = z.enum(NUMBER_TRANSITIONS.states);

/** Parameters in the path. What has not this form is unknown, so these forms are for the documentation. */
export const brandParameters = z.object({ handle: z.string().describe('The brand, as the list names it.') });
export const letterParameters = brandParameters.extend({ letterId: z.string().describe('Id of the letter.') });

export const brandListQuery = z.strictObject({
  state: brandState.optional().describe('Brands in this state only.'),
  ...pageParameters,
});
export const numberListQuery = z.strictObject({
  state: numberState.optional().describe('Numbers in this state only.'),
  ...pageParameters,
});
export const letterListQuery = z.strictObject(pageParameters);

/** How many rows are in each state; every state is there. */
const countsOf = <const State extends string>(states: readonly State[]) =>
  z.object(Object.fromEntries(states.map((state) => [state, count])) as { [Name in State]: typeof count });

export const brandSchema = z.object({
  handle: z.string().describe('Names the brand in paths.'),
  state: brandState,
  displayName: z
    .string()
    .describe('What a called person sees: of the approved revision, or of the newest while none was approved.'),
  legalName: z.string(),
  dba: z.string().nullable().describe('Doing business as.'),
  website: z.string().nullable(),
  country: countrySchema,
  callReasons: z.array(z.string()),
  logo: z.string().nullable(),
  relationship: z.enum(RELATIONSHIPS),
  pendingRevision: z
    .object({ revision: z.int().positive(), displayName: z.string() })
    .nullable()
    .describe('A change of an approved brand that waits for a decision. What was approved stays published meanwhile.'),
  createdAt: time,
  changedAt: time,
  approvedAt: time.nullable(),
  links: z.object({ self: path, numbers: path, letters: path }),
});

export const brandDetailSchema = brandSchema.extend({
  numbers: z.object({ total: count, states: countsOf(NUMBER_TRANSITIONS.states) }),
  letters: z.object({
    total: count,
    states: countsOf(LETTER_TRANSITIONS.states),
    inForceUntil: time.nullable().describe('End of the validity of the approved letter that ends last.'),
    newest: z.object({ letterId: z.int().positive(), state: letterState, links: z.object({ self: path }) }).nullable(),
  }),
});

export const brandListSchema = z.object({ brands: z.array(brandSchema), next });

export const brandNumberSchema = z.object({
  phone,
  country: countrySchema.nullable().describe('Null for a number that belongs to no country.'),
  state: numberState,
  callReason: z.string().nullable(),
  submittedAt: time,
  changedAt: time,
  verifiedAt: time.nullable(),
  liveUntil: time
    .nullable()
    .describe(
      'When its place in the caches ends: with the last letter that names it. Past for a number that has expired; null for one that is not published.',
    ),
});

export const brandNumberListSchema = z.object({ numbers: z.array(brandNumberSchema), next });

export const letterSchema = z.object({
  letterId: z.int().positive(),
  state: letterState,
  submittedAt: time,
  ruleVersion: z.string().describe('Version of the rules that the letter was checked with.'),
  signedOn: z.iso.date().nullable().describe('Date of the signature as it was read.'),
  validFrom: time.nullable(),
  validUntil: time.nullable(),
  decidedAt: time.nullable(),
  decidedBy: z.enum(['rules', 'person']).nullable(),
  decisionReason: z.string().nullable(),
  format: z.string().nullable().describe('`pdf` or `png`; null for a file that could not be read.'),
  pages: count.nullable(),
  numbers: count.describe('Numbers that the letter authorizes.'),
  findings: z.array(
    z.object({
      code: z.string(),
      severity: z.enum(['pass', 'note', 'review', 'reject']),
      message: z.string().describe('What was found and, unless it passed, what to do.'),
      page: z.int().positive().nullable(),
      line: z.int().positive().nullable(),
    }),
  ),
  links: z.object({ self: path, brand: path }),
});

export const letterListSchema = z.object({ letters: z.array(letterSchema), next });

/** A brand as it is listed. */
export type BrandAnswer = z.output<typeof brandSchema>;
/** A brand with the counts of its numbers and letters. */
export type BrandDetailAnswer = z.output<typeof brandDetailSchema>;
/** A number of a brand. */
export type BrandNumberAnswer = z.output<typeof brandNumberSchema>;
/** A letter of authorization, without anything of its text. */
export type LetterAnswer = z.output<typeof letterSchema>;

nameSchemas([
  [brandSchema, 'Brand'],
  [brandDetailSchema, 'BrandDetail'],
  [brandListSchema, 'BrandList'],
  [brandNumberSchema, 'BrandNumber'],
  [brandNumberListSchema, 'BrandNumberList'],
  [letterSchema, 'Letter'],
  [letterListSchema, 'LetterList'],
]);
