import { z } from 'zod';
import { CACHES, COLUMN_TYPES, type CacheDefinition } from '../../pipelines/caches/definition.ts';
import { FILTER_KEYS } from '../../format/artefact/number-filter.ts';
import { filterMediaType, indexMediaType } from '../../pipelines/caches/manifest.ts';
import { RELEASE_SERVICES } from '../../pipelines/audio/models/releases.ts';
import { API_ERROR_CODES } from '../http/error-codes.ts';
import { databaseProblems } from '../http/reader-database.ts';
import { reputationLevels } from '../../pipelines/phone/reputation-level.ts';

const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 in lower-case hex.');
export const timeSchema = z.iso.datetime().describe('ISO 8601, UTC.');
export const countSchema = z.int().nonnegative();
export const pathSchema = z.string().describe('Path on this service.');
export const nextPageSchema = z
  .string()
  .nullable()
  .describe(
    'Path and query of the next page; null where this is the last. The same as the header `Link` with `rel="next"`.',
  );

/** Country of a request: exactly two upper-case ASCII letters. A dotless i would upper-case to I, so nothing is converted. */
export const countrySchema = z
  .string()
  .regex(/^[A-Z]{2}$/)
  .describe('ISO 3166-1 alpha-2, two upper-case letters.');

/** Query of a cache: the country if the cache is split by country, else nothing. */
export function cacheQuery({ perCountry }: CacheDefinition) {
  return perCountry ? z.strictObject({ country: countrySchema }) : noQuery;
}

/** Query of a delta: that of the cache, and the version to start from. Digits only: `1e2` and ` 5` are refused. */
export function deltaQuery({ perCountry }: CacheDefinition) {
  const from = z
    .preprocess(
      (value) => (typeof value === 'string' && /^[1-9]\d{0,8}$/.test(value) ? Number(value) : value),
      z.int().positive(),
    )
    .describe('The version that you have.');
  return perCountry ? z.strictObject({ country: countrySchema, from }) : z.strictObject({ from });
}

/** Query of a resource without parameters. */
export const noQuery = z.strictObject({});

/** Signed metadata: what is in `signed` depends on the role. */
export const signedMetadataSchema = z.object({
  signatures: z.array(z.object({ keyid: sha256, sig: z.string().describe('Ed25519, in hex.') })),
  signed: z
    .looseObject({
      _type: z.enum(['root', 'targets', 'snapshot', 'timestamp']),
      spec_version: z.string(),
      version: z.int().positive(),
      expires: z.iso.datetime(),
    })
    .describe('As the specification of TUF has it: https://theupdateframework.github.io/specification/latest/'),
});

export const manifestSchema = z.object({
  schema: z.string().describe('Version of the form of this manifest.'),
  cache: z.enum(CACHES.map(({ name }) => name)),
  country: countrySchema.nullable().describe('Null for a cache that is not split by country.'),
  version: z.int().positive().describe('Rises only when the plain bytes change.'),
  buildId: z.int().positive(),
  asOf: timeSchema.describe('Time of the database snapshot that the file was built from.'),
  confirmedAsOf: timeSchema.describe('Time of the last snapshot whose rows gave exactly these bytes.'),
  builtAt: timeSchema,
  publishedAt: timeSchema,
  rows: countSchema,
  levels: z
    .partialRecord(z.enum(reputationLevels), countSchema)
    .describe('Rows a reputation level; empty for a cache without reputation.'),
  columns: z.array(z.object({ name: z.string(), type: z.enum(COLUMN_TYPES), meaning: z.string() })),
  order: z.string(),
  notice: z
    .string()
    .nullable()
    .describe('What a reader must know before the rows are put to use; null if there is nothing.'),
  categoriesVersion: z.int().positive(),
  file: z.object({
    href: z.string().describe('Path and query of the download.'),
    mediaType: z.literal('application/gzip'),
    bytes: countSchema,
    sha256,
    plainBytes: countSchema,
    plainSha256: sha256.describe('SHA-256 of the decompressed text.'),
  }),
  previous: z.object({ version: z.int().positive(), plainSha256: sha256 }).nullable(),
  deltas: z
    .array(
      z.object({
        from: z.int().positive().describe('The version that it begins at.'),
        href: z.string().describe('Path and query of the delta.'),
        bytes: countSchema,
        sha256,
        added: countSchema.describe('Lines that add a row.'),
        changed: countSchema.describe('Lines that replace a row.'),
        removed: countSchema.describe('Lines that remove a row.'),
      }),
    )
    .describe('Deltas that lead to this version, newest first.'),
  index: z
    .object({
      href: z.string().describe('Path and query of the segment index.'),
      mediaType: z.literal(indexMediaType),
      sha256,
      bytes: countSchema,
      segments: countSchema,
      blockBytesMax: countSchema.describe('Bytes of the largest segment in the file.'),
      directory: z
        .object({ offset: countSchema, bytes: countSchema, sha256 })
        .describe('Its last bytes, which say where its pages are.'),
      columns: z.array(z.string()).describe('Of a segment.'),
      directoryColumns: z.array(z.string()).describe('Of a page.'),
    })
    .describe('Where each range of phones is in the file.'),
  filter: z
    .object({
      href: z.string().describe('Path of the filter.'),
      mediaType: z.literal(filterMediaType),
      bytes: countSchema,
      sha256,
      keys: countSchema.describe('Numbers or ranges that it holds: the rows of the file.'),
      keyType: z
        .enum(FILTER_KEYS)
        .describe('A filter of prefixes is asked with a number without its last three digits.'),
      fingerprintBits: z.union([z.literal(8), z.literal(16)]),
      falsePositiveRate: z.number().describe('Share of other numbers that it finds.'),
      bitsPerKey: z.number().nullable().describe('Bits of the file for each key; null without keys.'),
    })
    .nullable()
    .describe('A small set of the keys for phones; null in caches without one, and until one was made.'),
  status: z.enum(['fresh', 'stale']),
  stale: z
    .object({ code: z.string(), reason: z.string(), since: timeSchema })
    .nullable()
    .describe('Why the last build failed, if it did.'),
});

export const manifestListSchema = z.object({ schema: z.string(), manifests: z.array(manifestSchema) });

export const categoryListSchema = z.object({
  categoriesVersion: z.int().positive().describe('Rises when a category is added.'),
  categories: z.array(z.object({ id: z.int().positive(), name: z.string(), level: z.enum(['SPAM', 'FRAUD']) })),
});

export const releaseListSchema = z.object({
  current: z.partialRecord(z.enum(RELEASE_SERVICES), z.string()).describe('Newest release of each service.'),
  releases: z
    .array(
      z.object({
        service: z.enum(RELEASE_SERVICES),
        name: z.string().describe('`<year>.<month>.r<n>[p<n>]` of audio, `<year>.<month>-p<n>` of branding.'),
        year: z.int().positive(),
        month: z.int().min(1).max(12),
        revision: countSchema.nullable().describe('The number after `r`; null for branding.'),
        patch: countSchema
          .nullable()
          .describe('The number after `p`; null where there is none, which is older than 0.'),
        changes: z.readonly(
          z.array(
            z.object({
              kind: z.enum(['introduced', 'refined', 'removed']),
              subject: z.string().describe('A model, or an operation.'),
              replacedBy: z.string().nullable(),
              note: z.string().nullable(),
            }),
          ),
        ),
      }),
    )
    .describe('Oldest first within a service.'),
});

export const problemSchema = z.object({
  type: z.string().describe('`urn:caller-trust:error:` and the code.'),
  title: z.string().describe('Meaning of the code.'),
  status: z.int(),
  code: z.enum(API_ERROR_CODES).describe('Stable; decide by this.'),
  detail: z.string().describe('What is wrong with this request.'),
  requestId: z.string().describe('The same as the header X-Request-Id; the log has more under it.'),
});

export const liveSchema = z.object({ status: z.literal('live') });

export const readinessSchema = z.object({
  status: z.enum(['ready', 'degraded', 'not_ready']).describe('`degraded`: it serves, and a person should look.'),
  database: z.object({
    reachable: z.boolean().describe('False if no server answers.'),
    problem: z
      .enum(databaseProblems)
      .nullable()
      .describe('Why the database is not read; what to do about each is in the operations manual.'),
    lastReadAt: timeSchema.nullable(),
  }),
  publications: z.object({
    known: z.boolean(),
    served: countSchema,
    unavailable: z.array(z.string()).describe('Published, but the file cannot be read here.'),
  }),
  keys: z.object({ known: z.boolean() }),
  stopping: z.boolean(),
  stale: z
    .array(z.object({ artefact: z.string(), code: z.string(), since: timeSchema }))
    .describe('Artefacts whose last build failed.'),
  old: z
    .array(z.object({ artefact: z.string(), confirmedAsOf: timeSchema, ageHours: z.number() }))
    .describe('Artefacts that no night has confirmed for too long.'),
  lateFeeds: z
    .array(
      z.object({
        feed: z.string(),
        source: z.string(),
        lastAt: timeSchema.nullable(),
        ageHours: z.number().nullable(),
        expectedHours: z.number().nullable(),
      }),
    )
    .describe('Feeds whose last load is older than their usual interval allows.'),
  endingSignatures: z
    .array(
      z.object({
        role: z.enum(['root', 'targets', 'snapshot', 'timestamp']),
        expires: timeSchema,
        expired: z.boolean().describe('True: clients refuse what is served.'),
      }),
    )
    .describe('Signed metadata that has expired, or will before it is usually renewed.'),
});

const schemaIds: readonly (readonly [z.ZodType, string])[] = [
  [manifestSchema, 'Manifest'],
  [manifestListSchema, 'ManifestList'],
  [categoryListSchema, 'CategoryList'],
  [releaseListSchema, 'ReleaseList'],
  [problemSchema, 'Problem'],
  [readinessSchema, 'Readiness'],
  [liveSchema, 'Live'],
  [signedMetadataSchema, 'SignedMetadata'],
];

/** The schemas by their names in the OpenAPI document. Only zod's global registry holds their descriptions. */
export const namedSchemas = z.globalRegistry;

/** Gives schemas names in the OpenAPI document. */
export function nameSchemas(ids: readonly (readonly [z.ZodType, string])[]): void {
  for (const [schema, id] of ids) namedSchemas.add(schema, { ...namedSchemas.get(schema), id });
}

nameSchemas(schemaIds);
