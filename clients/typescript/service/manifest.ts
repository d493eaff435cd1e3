import { parseJsonBytes, toUtf8 } from '../../../format/base/bytes.ts';
import { ClientError } from '../../../format/base/errors.ts';
import {
  exactForm,
  integerForm,
  listForm,
  nullable,
  objectForm,
  textForm,
  type ValueOf,
} from '../../../format/base/json-forms.ts';
import type { ByteStore } from './byte-store.ts';
import type { ServiceClient } from './service-client.ts';

/** The manifest schema that this client understands. */
const schemaKnown = 'caller-trust/manifest/1';

const sha256 = textForm(/^[0-9a-f]{64}$/);
const count = integerForm(0);
/** A path of the same service, never a full URL: the request carries the key. */
const href = textForm(/^\/(?!\/)[\x21-\x7e]*$/);

/** Where the directory of an index is. */
export const directoryForm = objectForm({ offset: count, bytes: count, sha256 });

const manifestForm = objectForm({
  schema: exactForm(schemaKnown),
  cache: textForm(/^[a-z_]{1,40}$/),
  country: nullable(textForm(/^[A-Z]{2}$/)),
  version: integerForm(1),
  rows: count,
  columns: listForm(objectForm({ name: textForm(), type: textForm() }), { min: 1 }),
  file: objectForm({ href, sha256, bytes: integerForm(1), plainBytes: count, plainSha256: sha256 }),
  deltas: listForm(objectForm({ from: integerForm(1), href, sha256, bytes: integerForm(1) })),
  index: objectForm({ href, sha256, bytes: count, blockBytesMax: count, directory: directoryForm }),
  filter: nullable(objectForm({ href, sha256, bytes: integerForm(1) })),
});

/** The fields of a manifest that the client uses. */
export type ServedManifest = ValueOf<typeof manifestForm>;

/** A delta that a manifest offers. */
export type OfferedDelta = ServedManifest['deltas'][number];

/**
 * Checks a received manifest.
 * @throws ClientError `download_damaged` if this client does not understand it.
 */
export function parseManifest(document: unknown): ServedManifest {
  try {
    return manifestForm(document);
  } catch (cause) {
    throw new ClientError('download_damaged', {
      operation: 'read manifest',
      problem: 'The manifest has a format that this client does not know.',
      cause,
    });
  }
}

/** Checks a list of manifests. @throws as {@link parseManifest} */
export function parseManifestList(document: unknown): ServedManifest[] {
  const { manifests } = (document ?? {}) as { manifests?: unknown };
  if (Array.isArray(manifests)) return manifests.map(parseManifest);
  throw new ClientError('download_damaged', {
    operation: 'read manifest',
    problem: 'The list of manifests has a format that this client does not know.',
  });
}

/** A manifest within the JSON of a local file. */
export const manifestInFile = manifestForm;

/** Where a document is, and where it is kept. */
interface StoredDocument<Result> {
  readonly href: string;
  readonly store: ByteStore | undefined;
  readonly name: string;
  readonly parse: (document: unknown) => Result;
}

/** Reads a document of the service. It is kept in the store, so that the service does not send an unchanged one again. */
export async function getStored<Result>(
  client: ServiceClient,
  { href, store, name, parse }: StoredDocument<Result>,
): Promise<Result> {
  const stored = readStored(await store?.read(name), parse);
  const answer = await client.getDocument(href, stored?.etag);
  if (answer.isKnown) return stored!.document;
  const document = parse(answer.body);
  await store?.write(name, toUtf8(JSON.stringify({ etag: answer.etag, body: answer.body })));
  return document;
}

/** Undefined if the file is missing or incomplete. */
function readStored<Result>(
  bytes: Uint8Array | undefined,
  parse: (document: unknown) => Result,
): { etag: string; document: Result } | undefined {
  try {
    if (bytes === undefined) return undefined;
    const { etag, body } = parseJsonBytes(bytes) as { etag?: unknown; body?: unknown };
    return typeof etag === 'string' ? { etag, document: parse(body) } : undefined;
  } catch {
    return undefined;
  }
}
