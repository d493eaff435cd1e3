import { z } from 'zod';
import { RELATIONSHIPS } from '../../pipelines/branding/brand-profile.ts';
import { BRAND_TRANSITIONS, LETTER_TRANSITIONS, NUMBER_TRANSITIONS } from '../../pipelines/branding/states.ts';
import { pageParameters } from '../documents/paging.ts';
import {
  countSchema,
  countrySchema,
  nameSchemas,
  nextPageSchema,
  pathSchema,
  timeSchema,
} from '../documents/schemas.ts';

const phone = z
  .string()
  .regex(/^\+[1-9][0-9]{7,14}$/)
  .describe('E.164.');

const brandState = z.enum(BRAND_TRANSITIONS.states);
const letterState = z.enum(LETTER_TRANSITIONS.states);
const numberState = z.enum(NUMBER_TRANSITIONS.states);

/** Parameters in the path, for the documentation: the routes answer other text as unknown. */
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

/** The number of rows in each state, zeros included. */
const countsOf = <const State extends string>(states: readonly State[]) =>
  z.object(Object.fromEntries(states.map((state) => [state, countSchema])) as { [Name in State]: typeof countSchema });

const brandSchema = z.object({
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
  logoSha256: z.string().nullable().describe('SHA-256 of the picture that was approved as the logo, hexadecimal.'),
  relationship: z.enum(RELATIONSHIPS),
  pendingRevision: z
    .object({ revision: z.int().positive(), displayName: z.string() })
    .nullable()
    .describe('A change of an approved brand that waits for a decision. What was approved stays published meanwhile.'),
  createdAt: timeSchema,
  changedAt: timeSchema,
  approvedAt: timeSchema.nullable(),
  links: z.object({ self: pathSchema, numbers: pathSchema, letters: pathSchema }),
});

export const brandDetailSchema = brandSchema.extend({
  numbers: z.object({ total: countSchema, states: countsOf(NUMBER_TRANSITIONS.states) }),
  letters: z.object({
    total: countSchema,
    states: countsOf(LETTER_TRANSITIONS.states),
    inForceUntil: timeSchema.nullable().describe('End of the validity of the approved letter that ends last.'),
    newest: z
      .object({ letterId: z.int().positive(), state: letterState, links: z.object({ self: pathSchema }) })
      .nullable(),
  }),
});

export const brandListSchema = z.object({ brands: z.array(brandSchema), next: nextPageSchema });

const brandNumberSchema = z.object({
  phone,
  country: countrySchema.nullable().describe('Null for a number that belongs to no country.'),
  state: numberState,
  callReason: z.string().nullable(),
  submittedAt: timeSchema,
  changedAt: timeSchema,
  verifiedAt: timeSchema.nullable(),
  liveUntil: timeSchema
    .nullable()
    .describe(
      'When its place in the caches ends: with the last letter that names it. Past for a number that has expired; null for one that is not published.',
    ),
});

export const brandNumberListSchema = z.object({ numbers: z.array(brandNumberSchema), next: nextPageSchema });

export const letterSchema = z.object({
  letterId: z.int().positive(),
  state: letterState,
  submittedAt: timeSchema,
  ruleVersion: z.string().describe('Version of the rules that the letter was checked with.'),
  signedOn: z.iso.date().nullable().describe('Date of the signature as it was read.'),
  validFrom: timeSchema.nullable(),
  validUntil: timeSchema.nullable(),
  decidedAt: timeSchema.nullable(),
  decidedBy: z.enum(['rules', 'person']).nullable(),
  decisionReason: z.string().nullable(),
  format: z.string().nullable().describe('`pdf` or `png`; null for a file that could not be read.'),
  pages: countSchema.nullable(),
  numbers: countSchema.describe('Numbers that the letter authorizes.'),
  findings: z.array(
    z.object({
      code: z.string(),
      severity: z.enum(['pass', 'note', 'review', 'reject']),
      message: z.string().describe('What was found and, unless it passed, what to do.'),
      page: z.int().positive().nullable(),
      line: z.int().positive().nullable(),
    }),
  ),
  links: z.object({ self: pathSchema, brand: pathSchema }),
});

export const letterListSchema = z.object({ letters: z.array(letterSchema), next: nextPageSchema });

export type BrandAnswer = z.output<typeof brandSchema>;
export type BrandDetailAnswer = z.output<typeof brandDetailSchema>;
export type BrandNumberAnswer = z.output<typeof brandNumberSchema>;
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
