import { z } from 'zod';
import { ServiceError } from '../../../runtime/errors.ts';

/** The form of the manifests that this client understands. */
const schemaKnown = 'caller-trust/manifest/1';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();
/** A path of the service that the manifest came from, never an address: the key goes with the request. */
const href = z.string().regex(/^\/(?!\/)[\x21-\x7e]*$/);

const manifestForm = z.object({
  schema: z.literal(schemaKnown),
  cache: z.string().regex(/^[a-z_]{1,40}$/),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .nullable(),
  version: z.int().positive(),
  rows: count,
  columns: z.array(z.object({ name: z.string(), type: z.string() })).min(1),
  file: z.object({ href, sha256, bytes: z.int().positive(), plainSha256: sha256, plainBytes: count }),
  deltas: z.array(z.object({ from: z.int().positive(), href, sha256, bytes: z.int().positive() })),
  index: z.object({ href, sha256, bytes: count }).nullish(),
});

/** What the client uses of a manifest; the service sends more. */
export type ServedManifest = z.output<typeof manifestForm>;

/** A delta that a manifest offers. */
export type OfferedDelta = ServedManifest['deltas'][number];

/**
 * Checks a manifest that was received.
 * @throws ServiceError `download_damaged` if it is not one that this client understands.
 */
export function parseManifest(document: unknown): ServedManifest {
  const parsed = manifestForm.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new ServiceError('download_damaged', {
    operation: 'read manifest',
    problem: 'The manifest has a form that this client does not know.',
    cause: parsed.error,
  });
}

/** Checks a list of manifests. @throws as {@link parseManifest} */
export function parseManifestList(document: unknown): ServedManifest[] {
  const { manifests } = (document ?? {}) as { manifests?: unknown };
  if (Array.isArray(manifests)) return manifests.map(parseManifest);
  throw new ServiceError('download_damaged', {
    operation: 'read manifest',
    problem: 'The list of manifests has a form that this client does not know.',
  });
}

/** Checks the bytes of a local file that holds JSON with a manifest in it. */
export const manifestInFile = manifestForm;
