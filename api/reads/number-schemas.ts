import { z } from 'zod';
import { countSchema, countrySchema, nameSchemas, timeSchema } from '../documents/schemas.ts';
import { reputationLevels } from '../../pipelines/phone/reputation-level.ts';

const level = z.enum(reputationLevels);
const category = z
  .int()
  .positive()
  .nullable()
  .describe('As `/v1/reputation/categories` names it; null where there is none.');

/** The number in the path, for the documentation: the route refuses other text with `phone_invalid`. */
export const numberParameters = z.object({
  phone: z.string().describe('E.164 with its plus sign, as it stands or as `%2B`: `+12025550123`.'),
});

export const numberSchema = z.object({
  phone: z
    .string()
    .regex(/^\+[1-9][0-9]{7,14}$/)
    .describe('E.164.'),
  country: countrySchema
    .nullable()
    .describe('Null for a number that belongs to no country, and for one that is not known.'),
  known: z.boolean().describe('False for a number without a row in the caches: it has no label.'),
  level: level.describe('The label as it is now; the files have it from the next night on.'),
  category,
  since: timeSchema
    .nullable()
    .describe('When level and category came to be what they are. Null for a number that never had a label.'),
  source: z
    .enum(['feed', 'complaints', 'clearing'])
    .nullable()
    .describe(
      'Whose word it is: that of a reputation feed, of the rule on complaints, or of an operator who cleared the number. Null where nobody has spoken of the number.',
    ),
  feed: z
    .object({ level, category, submittedAt: timeSchema.nullable().describe('When the load came that said so.') })
    .nullable()
    .describe('The last word of a reputation feed, also where a clearing overrules it.'),
  complaints: z
    .object({
      level: level.describe('What the rule makes of them, also where a feed overrules it.'),
      category,
      ruleVersion: z.string(),
      reports: countSchema.describe('Complaints that count.'),
      independentReports: countSchema.describe('Of those, reports that differ in state or day.'),
      firstReportedAt: timeSchema.nullable(),
      lastReportedAt: timeSchema.nullable(),
      evaluatedAt: timeSchema.nullable().describe('The instant of the last scoring.'),
    })
    .nullable()
    .describe('Null for a number without complaints.'),
  cleared: z
    .object({ at: timeSchema, inEffect: z.boolean().describe('False once a feed has said something else since.') })
    .nullable()
    .describe('The last time that an operator cleared the number.'),
  rangeRisk: z
    .object({
      prefix: z.string().describe('The block of 1,000 numbers, without their last three digits.'),
      risk: z.enum(['ELEVATED', 'HIGH', 'SEVERE']),
      lift: countSchema.describe(
        'How many times likelier than others a number of such a block is to be reported next.',
      ),
      numbersReported: countSchema,
      since: z.iso.date(),
      until: z.iso.date().describe('The day until which the block is listed if nothing more is reported.'),
      exempt: z
        .enum(['branded', 'cleared', 'protected'])
        .nullable()
        .describe('Why this number is exempt; null if it is not.'),
    })
    .nullable()
    .describe(
      'The risk of the block of the number as of the last night: evidence about a block, and no label. Null for a block that is not listed.',
    ),
  display: z
    .object({
      name: z.string().nullable(),
      description: z.string().nullable(),
      detail: z.string().nullable(),
      image: z.string().nullable(),
      branded: z.boolean(),
    })
    .nullable()
    .describe('What the caches show: of the live brand of the number (`branded`), else of the directory.'),
  links: z.object({ self: z.string(), categories: z.string() }),
});

export type NumberAnswer = z.output<typeof numberSchema>;

nameSchemas([[numberSchema, 'Number']]);
