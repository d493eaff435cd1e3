import { inTransaction, queryRows, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { isLost, type ArtefactStore } from './artefact-store.ts';
import type { StoredName } from './stored-name.ts';
import type { CacheName } from '../definition.ts';
import type { ArtefactFile } from '../artefact-facts.ts';
import { readWhole, type StoredFile } from './stored-file.ts';
import { sha256OfStream } from '../../../runtime/digest.ts';
import { measureGzip } from '../format/gzip-text.ts';

/** One version of an artefact as the database lists it. */
export interface ListedVersion {
  readonly cache: CacheName;
  readonly country: string;
  readonly version: number;
  /** The version that readers are given. */
  readonly current: boolean;
  readonly rows: number;
  readonly publishedAt: Date;
  readonly file: ArtefactFile;
  /** Digest of its segment index; null in versions that were published before there were segments. */
  readonly indexSha256: string | null;
  /** The deltas that lead to it and are offered; those of earlier versions are not kept. */
  readonly deltas: readonly { readonly from: number; readonly sha256: string }[];
}

/** The verdict on a stored version. */
export interface CheckedVersion extends ListedVersion {
  readonly verdict: 'ok' | 'missing' | 'damaged' | 'different';
  readonly detail: string;
}

/** Every version that was published, newest first in each artefact. */
export function listVersions(db: Queryable): Promise<ListedVersion[]> {
  return queryRows<ListedVersion>(db, sql('caches/list_versions'));
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
 * Reads the file of a version and compares it with the published facts.
 * @throws the error of the store, if that cannot be asked: it says nothing about the file
 */
export async function checkVersion(store: ArtefactStore, version: ListedVersion): Promise<CheckedVersion> {
  let stored: StoredFile | undefined;
  try {
    stored = await store.openToServe({ cache: version.cache, country: version.country, sha256: version.file.sha256 });
    const { rows, ...file } = await measureGzip(readWhole(stored));
    const differences = [
      ...(Object.keys(file) as (keyof ArtefactFile)[]).filter((fact) => file[fact] !== version.file[fact]),
      ...(rows === version.rows ? [] : ['rows']),
    ];
    if (differences.length > 0)
      return { ...version, verdict: 'different', detail: `${differences.join(', ')} not as published` };
    const damaged = await damagedAttachments(store, version);
    return damaged.length === 0
      ? { ...version, verdict: 'ok', detail: '' }
      : { ...version, verdict: 'damaged', detail: damaged.join(', ') };
  } catch (error) {
    if (!isLost(error)) throw error;
    const { code } = error;
    return code === 'ENOENT'
      ? { ...version, verdict: 'missing', detail: 'no file' }
      : { ...version, verdict: 'damaged', detail: code };
  } finally {
    await stored?.close();
  }
}

/** The titles of the index and deltas of a version that are missing or damaged. */
async function damagedAttachments(
  store: ArtefactStore,
  { cache, country, indexSha256, deltas }: ListedVersion,
): Promise<string[]> {
  const attachments = [
    ...(indexSha256 === null
      ? []
      : [{ title: 'segment index', name: { cache, country, sha256: indexSha256, kind: 'index' } as const }]),
    ...deltas.map(({ from, sha256 }) => ({
      title: `delta from version ${from}`,
      name: { cache, country, sha256, kind: 'delta' } as const,
    })),
  ];
  const damaged: string[] = [];
  for (const { title, name } of attachments) {
    const digest = await digestOfStored(store, name).catch((error: unknown) => {
      if (!isLost(error)) throw error;
    });
    if (digest !== name.sha256) damaged.push(title);
  }
  return damaged;
}

async function digestOfStored(store: ArtefactStore, name: StoredName): Promise<string> {
  const stored = await store.openToServe(name);
  try {
    return await sha256OfStream(readWhole(stored));
  } finally {
    await stored.close();
  }
}

/** The files that {@link collectGarbage} removed. */
export interface CollectedGarbage {
  readonly files: readonly (StoredName & { readonly bytes: number })[];
  readonly bytes: number;
}

export interface CollectGarbageOptions {
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
  const live = await queryRows<{ cache: string; country: string; fileSha256: string | null }>(
    db,
    sql('nights/list_live_builds'),
  );
  const needed = new Set((await neededFiles(db, versionsKept)).map((file) => store.path(file)));
  for (const { cache, country, fileSha256 } of live)
    if (fileSha256 !== null) needed.add(store.path({ cache, country, sha256: fileSha256 }));
  const openArtefacts = new Set(live.map(({ cache, country }) => `${cache}/${country}`));
  return files.filter((file) => !needed.has(store.path(file)) && !openArtefacts.has(`${file.cache}/${file.country}`));
}

/** The files of the kept versions with their indexes, and the deltas that lead to the current ones. */
async function neededFiles(db: Queryable, versionsKept: number): Promise<StoredName[]> {
  const versions = await listVersions(db);
  return [
    ...keptVersions(versions, versionsKept).flatMap(({ cache, country, file, indexSha256 }): StoredName[] => [
      { cache, country, sha256: file.sha256 },
      ...(indexSha256 === null ? [] : [{ cache, country, sha256: indexSha256, kind: 'index' } as const]),
    ]),
    ...versions.flatMap(({ cache, country, deltas }) =>
      deltas.map(({ sha256 }): StoredName => ({ cache, country, sha256, kind: 'delta' })),
    ),
  ];
}
