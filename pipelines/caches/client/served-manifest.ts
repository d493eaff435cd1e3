import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ServiceError } from '../../../runtime/errors.ts';
import { ServiceClient } from './service-client.ts';
import { writeWholeFile } from '../../../runtime/whole-file.ts';

/** The manifest schema that this client understands. */
const schemaKnown = 'caller-trust/manifest/1';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();
/** A path of the same service, never a full URL: the request carries the key. */
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
  file: z.object({
    href,
    sha256,
    bytes: z.int().positive(),
    plainBytes: count,
    contentSha256: sha256.nullable().default(null),
    segmentRowsMax: z.int().positive().nullable().default(null),
  }),
  deltas: z.array(z.object({ from: z.int().positive(), href, sha256, bytes: z.int().positive() })),
  index: z.object({ href, sha256, bytes: count }).nullish(),
});

/** The fields of a manifest that the client uses. */
export type ServedManifest = z.output<typeof manifestForm>;

/** A delta that a manifest offers. */
export type OfferedDelta = ServedManifest['deltas'][number];

/**
 * Checks a received manifest.
 * @throws ServiceError `download_damaged` if this client does not understand it.
 */
export function parseManifest(document: unknown): ServedManifest {
  const parsed = manifestForm.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new ServiceError('download_damaged', {
    operation: 'read manifest',
    problem: 'The manifest has a format that this client does not know.',
    cause: parsed.error,
  });
}

/** Checks a list of manifests. @throws as {@link parseManifest} */
export function parseManifestList(document: unknown): ServedManifest[] {
  const { manifests } = (document ?? {}) as { manifests?: unknown };
  if (Array.isArray(manifests)) return manifests.map(parseManifest);
  throw new ServiceError('download_damaged', {
    operation: 'read manifest',
    problem: 'The list of manifests has a format that this client does not know.',
  });
}

/** A manifest within the JSON of a local file. */
export const manifestInFile = manifestForm;

/** Reads a document of the service. It is stored at `path`, so that the service does not send an unchanged one again. */
export async function getStored<Result>(
  client: ServiceClient,
  { href, path, parse }: { href: string; path: string | undefined; parse: (document: unknown) => Result },
): Promise<Result> {
  const stored = path === undefined ? undefined : await readStored(path, parse);
  const answer = await client.getDocument(href, stored?.etag);
  if (answer.isKnown) return stored!.document;
  if (path !== undefined)
    await writeWholeFile(path, JSON.stringify({ etag: answer.etag, body: answer.body }), { durable: false });
  return parse(answer.body);
}

/** Undefined if the file is missing or incomplete. */
async function readStored<Result>(
  path: string,
  parse: (document: unknown) => Result,
): Promise<{ etag: string; document: Result } | undefined> {
  try {
    const { etag, body } = JSON.parse(await readFile(path, 'utf8')) as { etag?: unknown; body?: unknown };
    return typeof etag === 'string' ? { etag, document: parse(body) } : undefined;
  } catch {
    return undefined;
  }
}
