import { sha256Of } from '../../../runtime/digest.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import type { Vault } from '../../../runtime/secrets/vault.ts';
import { sql } from '../../../sql/sql.ts';
import type { Publication, PublishedVersion } from '../artefact-facts.ts';
import { makeManifest } from '../manifest.ts';
import { listPublications } from '../publications.ts';
import { canonicalJson } from '../../../format/trust/canonical-json.ts';
import { describeMetadata, signMetadata, specVersion } from './signed-metadata.ts';
import {
  metadataName,
  parseMetadata,
  type Role,
  type Signed,
  type TargetFile,
} from '../../../format/trust/metadata.ts';
import { formatTarget } from '../../../format/trust/targets.ts';
import { openOnlineKeys, type OnlineKeys, type OnlineRole } from './signing-keys.ts';

const hourMs = 3_600_000;

/**
 * How long the metadata of an online role holds. The timestamp bounds how long a mirror can keep a client at an old state: two
 * nights, so that one night that fails and a scheduler that is down for a day make no client stop.
 */
const expiryHours: Readonly<Record<OnlineRole, number>> = { timestamp: 48, snapshot: 14 * 24, targets: 30 * 24 };

/** The timestamp is renewed after this time; the other roles when half of theirs is over. */
const timestampAgeHoursMax = 12;

/** How long superseded documents are served: a client reads a set within minutes. */
const supersededHours = 1;

/** A document of the signed set. */
interface SignedDocument {
  readonly name: string;
  readonly kind: Role | 'manifest';
  readonly body: Buffer;
}

/** The newest metadata of each role; only the root is always there once the service signs. */
type PresentSet = { readonly [R in Role]?: Buffer };

interface SigningOptions {
  /** Absent: signing fails if the service signs. */
  readonly vault?: Vault | undefined;
  readonly now: Date;
}

/** Reads the present set, and keeps every other process from signing until the transaction ends. */
export async function lockTrust(client: Queryable): Promise<PresentSet> {
  await client.query(sql('signing/lock_trust'));
  return readPresentSet(client);
}

/** The newest metadata of each role. */
export async function readPresentSet(db: Queryable): Promise<PresentSet> {
  const rows = await queryRows<{ kind: Role; body: Buffer }>(db, sql('signing/list_present_documents'));
  return Object.fromEntries(rows.map(({ kind, body }) => [kind, body]));
}

/**
 * Signs what is published, in the transaction of the caller: readers see publications and signatures change together. Does
 * nothing unless the service signs (`trust init`).
 * @throws ServiceError `trust_key_missing`
 */
export async function signPublications(client: Queryable, options: SigningOptions): Promise<void> {
  const present = await lockTrust(client);
  if (present.root !== undefined) await signNow(client, present, { ...options, renewAll: false });
}

/**
 * Signs again what is due: the timestamp after half a day, the others when half of their time is over, and what is published if
 * it is not what was signed. Returns whether it signed; undefined if the service does not sign.
 * @throws ServiceError `trust_key_missing`
 */
export async function refreshSignatures(client: Queryable, options: SigningOptions): Promise<boolean | undefined> {
  const present = await lockTrust(client);
  if (present.root === undefined) return undefined;
  const { targets } = await describeTargets(client);
  const isSame =
    present.targets !== undefined &&
    canonicalJson(parseMetadata('targets', present.targets).signed.targets) === canonicalJson(targets);
  const isDue = (['targets', 'snapshot', 'timestamp'] as const).some((role) => isToRenew(role, present, options.now));
  if (isSame && !isDue) return false;
  await signNow(client, present, { ...options, renewAll: false });
  return true;
}

function isToRenew(role: OnlineRole, present: PresentSet, now: Date): boolean {
  const bytes = present[role];
  if (bytes === undefined) return true;
  const leftMs = new Date(parseMetadata(role, bytes).signed.expires).getTime() - now.getTime();
  const keptHours = role === 'timestamp' ? expiryHours.timestamp - timestampAgeHoursMax : expiryHours[role] / 2;
  return leftMs < keptHours * hourMs;
}

interface SignNowOptions extends SigningOptions {
  /** True after a change of keys: the other roles are signed again though nothing in them changed. */
  readonly renewAll: boolean;
}

/** Signs and stores a set under the root of `present`. The caller holds the lock. */
export async function signNow(
  client: Queryable,
  present: PresentSet,
  { vault, now, renewAll }: SignNowOptions,
): Promise<void> {
  const root = parseMetadata('root', present.root!);
  const keys = await openOnlineKeys(client, vault, root.signed);
  const { targets, manifests } = await describeTargets(client);
  const set = makeSet({ present, targets, keys, now, renewAll });
  await storeDocuments(client, [...set, ...manifests], now);
}

/** The targets of what is published, and the manifests as they are served. */
async function describeTargets(
  client: Queryable,
): Promise<{ targets: Record<string, TargetFile>; manifests: SignedDocument[] }> {
  const publications = (await listPublications(client)).filter(isLive);
  const described = publications.map(describeArtefact);
  return {
    targets: Object.fromEntries(described.flatMap(({ entries }) => entries)),
    manifests: described.map(({ manifest }) => manifest),
  };
}

type LivePublication = Publication & { readonly published: PublishedVersion };

function isLive(publication: Publication): publication is LivePublication {
  return publication.published !== null;
}

/** What is signed of an artefact: the file, its index, its filter, the deltas to it, and the manifest. */
function describeArtefact(publication: LivePublication): { entries: [string, TargetFile][]; manifest: SignedDocument } {
  const { cache, country, published } = publication;
  const { file, index, filter, deltas, version, rows, asOf } = published;
  const body = Buffer.from(`${JSON.stringify(makeManifest(publication))}\n`);
  const manifestPath = formatTarget({ cache, country, kind: 'manifest' });
  const custom = { version, rows, asOf: asOf.toISOString(), plainSha256: file.plainSha256 };
  const entry = ({ bytes, sha256 }: { bytes: number; sha256: string }): TargetFile => ({
    length: bytes,
    hashes: { sha256 },
  });
  return {
    entries: [
      [manifestPath, entry({ bytes: body.length, sha256: sha256Of(body) })],
      [formatTarget({ cache, country, kind: 'rows' }), { ...entry(file), custom }],
      [formatTarget({ cache, country, kind: 'index' }), entry(index)],
      ...(filter === null
        ? []
        : [[formatTarget({ cache, country, kind: 'filter' }), entry(filter)] satisfies [string, TargetFile]]),
      ...deltas.map((delta): [string, TargetFile] => [
        formatTarget({ cache, country, kind: 'delta', from: delta.from }),
        entry(delta),
      ]),
    ],
    manifest: { name: manifestPath, kind: 'manifest', body },
  };
}

interface SetOptions {
  readonly present: PresentSet;
  readonly targets: Record<string, TargetFile>;
  readonly keys: OnlineKeys;
  readonly now: Date;
  readonly renewAll: boolean;
}

/** The next set: targets and snapshot only if something in them changed, half of their time is over, or all are renewed. */
function makeSet({ targets: files, ...options }: SetOptions): SignedDocument[] {
  const targets = signRole('targets', { targets: files }, options);
  const snapshot = signRole('snapshot', { meta: { 'targets.json': metaOf('targets', targets) } }, options);
  const timestamp = signRole('timestamp', { meta: { 'snapshot.json': metaOf('snapshot', snapshot) } }, options);
  return [targets, snapshot, timestamp];
}

function signRole(
  role: OnlineRole,
  content: object,
  { present, keys, now, renewAll }: Omit<SetOptions, 'targets'>,
): SignedDocument {
  const bytes = present[role];
  const before = bytes === undefined ? undefined : parseMetadata(role, bytes).signed;
  const signed = { ...common(role, before?.version, now), ...content } as Signed<OnlineRole>;
  const isKept =
    role !== 'timestamp' &&
    !renewAll &&
    before !== undefined &&
    canonicalJson({ ...signed, version: before.version, expires: before.expires }) === canonicalJson(before) &&
    !isToRenew(role, present, now);
  return isKept
    ? { name: metadataName(role, before.version), kind: role, body: bytes! }
    : { name: metadataName(role, signed.version), kind: role, body: signMetadata(signed, [keys[role]]) };
}

function metaOf(role: Role, { body }: SignedDocument) {
  return describeMetadata(parseMetadata(role, body).signed.version, body);
}

/**
 * The fields that all roles have. A version is the time in seconds, or one more than the version before: so it rises also after
 * the database was restored from a backup, whose versions clients have seen pass.
 */
function common(role: OnlineRole, versionBefore: number | undefined, now: Date) {
  return {
    _type: role,
    spec_version: specVersion,
    version: Math.max((versionBefore ?? 0) + 1, Math.floor(now.getTime() / 1000)),
    expires: formatExpiry(new Date(now.getTime() + expiryHours[role] * hourMs)),
  };
}

/** TUF's times have no fractions of a second. */
export function formatExpiry(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

/** Stores documents as the present set. */
async function storeDocuments(client: Queryable, documents: readonly SignedDocument[], now: Date): Promise<void> {
  await queryRow(client, sql('signing/store_documents'), [
    documents.map(({ name }) => name),
    documents.map(({ body }) => sha256Of(body)),
    documents.map(({ kind }) => kind),
    documents.map(({ body }) => body),
    new Date(now.getTime() - supersededHours * hourMs),
  ]);
}
