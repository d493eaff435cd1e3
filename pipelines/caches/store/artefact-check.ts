import { inTransaction, queryRows, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { isLost, type ArtefactStore } from './artefact-store.ts';
import type { StoredName } from './stored-name.ts';
import type { CacheName } from '../definition.ts';
import { versionFacts, type VersionFacts } from '../artefact-facts.ts';
import { readWhole, type StoredFile } from './stored-file.ts';
import { sha256OfStream } from '../../../runtime/digest.ts';
import { DamagedCompression } from '../../../format/base/compression.ts';
import { measureGzip } from '../../../format/gzip/gzip-reading.ts';
import { ServiceError } from '../../../runtime/errors.ts';

/** One version of an artefact as the database lists it. */
export interface ListedVersion extends VersionFacts {
  readonly cache: CacheName;
  readonly country: string;
  readonly version: number;
  /** The version that readers are given. */
  readonly current: boolean;
  readonly publishedAt: Date;
}

/** The verdict on a stored version. */
export interface CheckedVersion extends ListedVersion {
  readonly verdict: 'ok' | 'missing' | 'damaged' | 'different';
  readonly detail: string;
  /** The stored files of the version whose bytes are not those that were published. */
  readonly damaged: readonly StoredName[];
}

/** Every version that was published, newest first in each artefact. Deltas to earlier ones are not kept, and not listed. */
export async function listVersions(db: Queryable): Promise<ListedVersion[]> {
  const rows = await queryRows<Omit<ListedVersion, keyof VersionFacts> & { readonly facts: unknown }>(
    db,
    sql('caches/list_versions'),
  );
  return rows.map(({ facts, ...version }) => ({ ...version, ...versionFacts.parse(facts) }));
}

/** The versions of each artefact whose files are kept: the newest ones, `versionsKept` of them. */
export function keptVersions(versions: readonly ListedVersion[], versionsKept: number): ListedVersion[] {
  const seen = new Map<string, number>();
  return versions.filter(({ cache, country }) => {
    const key = `${cache}/${country}`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count <= versionsKept;
  });
}

/**
 * Reads the files of a version and compares them with the published facts.
 * @throws the error of the store, if that cannot be asked: it says nothing about the file
 */
export async function checkVersion(store: ArtefactStore, version: ListedVersion): Promise<CheckedVersion> {
  const file = await checkFile(store, version);
  const attachments = await checkAttachments(store, version);
  const damaged = [...(file.damaged ? [fileName(version)] : []), ...attachments.damaged.map(({ name }) => name)];
  if (file.verdict !== 'ok') return { ...version, verdict: file.verdict, detail: file.detail, damaged };
  const detail = attachments.lost.map(({ title }) => title).join(', ');
  return { ...version, verdict: detail === '' ? 'ok' : 'damaged', detail, damaged };
}

function fileName({ cache, country, file: { sha256 } }: ListedVersion): StoredName {
  return { cache, country, sha256 };
}

/** `damaged`: the digest of the stored bytes is not their name. */
async function checkFile(
  store: ArtefactStore,
  version: ListedVersion,
): Promise<Pick<CheckedVersion, 'verdict' | 'detail'> & { readonly damaged: boolean }> {
  let stored: StoredFile | undefined;
  try {
    stored = await store.openToServe(fileName(version));
    const { rows, ...file } = await measureGzip(readWhole(stored));
    const differences = [
      ...(Object.keys(file) as (keyof typeof file)[]).filter((fact) => file[fact] !== version.file[fact]),
      ...(rows === version.rows ? [] : ['rows']),
    ];
    return differences.length > 0
      ? {
          verdict: 'different',
          detail: `${differences.join(', ')} not as published`,
          damaged: differences.includes('sha256'),
        }
      : { verdict: 'ok', detail: '', damaged: false };
  } catch (thrown) {
    const error = thrown instanceof DamagedCompression ? notGzip(version, thrown) : thrown;
    if (!isLost(error)) throw error;
    return error.code === 'ENOENT'
      ? { verdict: 'missing', detail: 'no file', damaged: false }
      : { verdict: 'damaged', detail: error.code, damaged: await isDamaged(store, fileName(version)) };
  } finally {
    await stored?.close();
  }
}

function notGzip(version: ListedVersion, cause: unknown): ServiceError {
  return new ServiceError('artefact_damaged', { operation: 'check artefact', object: version.file.sha256, cause });
}

interface Attachment {
  readonly title: string;
  readonly name: StoredName;
}

function attachmentsOf({ cache, country, index, filter, deltas }: ListedVersion): Attachment[] {
  return [
    { title: 'segment index', name: { cache, country, sha256: index.sha256, kind: 'index' } },
    ...(filter === null
      ? []
      : [{ title: 'filter', name: { cache, country, sha256: filter.sha256, kind: 'filter' } as const }]),
    ...deltas.map(({ from, sha256 }) => ({
      title: `delta from version ${from}`,
      name: { cache, country, sha256, kind: 'delta' } as const,
    })),
  ];
}

/** The index, filter and deltas of a version that are missing or damaged. */
async function checkAttachments(
  store: ArtefactStore,
  version: ListedVersion,
): Promise<{ readonly lost: readonly Attachment[]; readonly damaged: readonly Attachment[] }> {
  const attachments = attachmentsOf(version);
  const [lost, damaged]: [Attachment[], Attachment[]] = [[], []];
  for (const attachment of attachments) {
    const digest = await digestOfStored(store, attachment.name).catch((error: unknown) => {
      if (!isLost(error)) throw error;
    });
    if (digest !== attachment.name.sha256) lost.push(attachment);
    if (digest !== undefined && digest !== attachment.name.sha256) damaged.push(attachment);
  }
  return { lost, damaged };
}

/** True if the file can be read and the digest of its bytes is not its name. */
async function isDamaged(store: ArtefactStore, name: StoredName): Promise<boolean> {
  try {
    return (await digestOfStored(store, name)) !== name.sha256;
  } catch (error) {
    if (isLost(error)) return false;
    throw error;
  }
}

async function digestOfStored(store: ArtefactStore, name: StoredName): Promise<string> {
  const stored = await store.openToServe(name);
  try {
    return await sha256OfStream(readWhole(stored));
  } finally {
    await stored.close();
  }
}

/** Pause between two statements of a transaction that reads a file: the server ends one whose client is silent. */
const keepAliveMs = 10_000;

/**
 * Removes damaged files from the store: they are no longer served, and the next night makes them again. Each is read once more
 * first. The artefacts of an open night are skipped: it may be storing a good file under the same name. Returns what was
 * removed.
 */
export async function withdrawDamaged({
  db,
  store,
  damaged,
}: {
  readonly db: Pool;
  readonly store: ArtefactStore;
  readonly damaged: readonly StoredName[];
}): Promise<StoredName[]> {
  if (damaged.length === 0) return [];
  return inTransaction(db, async (client) => {
    await client.query(sql('caches/lock_collection'));
    const beat = setInterval(() => void client.query('SELECT 1').catch(() => {}), keepAliveMs);
    try {
      const live = await listLiveBuilds(client);
      const isOpen = ({ cache, country }: StoredName) =>
        live.some((build) => build.cache === cache && build.country === country);
      const withdrawn: StoredName[] = [];
      for (const name of damaged.filter((each) => !isOpen(each))) {
        if (!(await isDamaged(store, name))) continue;
        await client.query('SELECT 1'); // fails if the lock is gone
        await store.remove(name);
        withdrawn.push(name);
      }
      return withdrawn;
    } finally {
      clearInterval(beat);
    }
  });
}

function listLiveBuilds(db: Queryable): Promise<{ cache: string; country: string; fileSha256: string | null }[]> {
  return queryRows(db, sql('nights/list_live_builds'));
}

/** The files that {@link collectGarbage} removed. */
interface CollectedGarbage {
  readonly files: readonly (StoredName & { readonly bytes: number })[];
  readonly bytes: number;
}

interface CollectGarbageOptions {
  readonly db: Pool;
  readonly store: ArtefactStore;
  readonly versionsKept: number;
  readonly dryRun: boolean;
}

/** Files that are removed between two statements: the server ends a transaction whose client is silent. */
const removalsAtATime = 16;

/**
 * Removes the files that no kept version and no open night needs. No night records its builds meanwhile: one might store a
 * file of the same content, and so of the same name, just before it is removed. Running downloads continue: an open file stays
 * readable after its removal.
 */
export async function collectGarbage(options: CollectGarbageOptions): Promise<CollectedGarbage> {
  const files = await options.store.list(); // outside of the lock: what is stored later is not listed
  return inTransaction(options.db, async (client) => {
    await client.query(sql('caches/lock_collection'));
    const garbage = await findGarbage(client, files, options);
    for (let at = 0; at < garbage.length && !options.dryRun; at += removalsAtATime) {
      await client.query('SELECT 1'); // fails if the lock is gone
      await Promise.all(garbage.slice(at, at + removalsAtATime).map((file) => options.store.remove(file)));
    }
    return { files: garbage, bytes: garbage.reduce((sum, { bytes }) => sum + bytes, 0) };
  });
}

async function findGarbage<File extends StoredName>(
  db: Queryable,
  files: readonly File[],
  { store, versionsKept }: CollectGarbageOptions,
): Promise<File[]> {
  // Before the versions: a night that ends in between is still live here.
  const live = await listLiveBuilds(db);
  const needed = new Set(
    keptVersions(await listVersions(db), versionsKept)
      .flatMap(namesOf)
      .map((file) => store.path(file)),
  );
  for (const { cache, country, fileSha256 } of live)
    if (fileSha256 !== null) needed.add(store.path({ cache, country, sha256: fileSha256 }));
  const openArtefacts = new Set(live.map(({ cache, country }) => `${cache}/${country}`));
  return files.filter((file) => !needed.has(store.path(file)) && !openArtefacts.has(`${file.cache}/${file.country}`));
}

/** The file, the index, the filter and the deltas of a version. */
export function namesOf(version: ListedVersion): StoredName[] {
  return [fileName(version), ...attachmentsOf(version).map(({ name }) => name)];
}
