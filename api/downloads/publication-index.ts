import type { ArtefactStore } from '../../pipelines/caches/store/artefact-store.ts';
import type { StoredName } from '../../pipelines/caches/store/stored-name.ts';
import { formatArtefact, type ArtefactName } from '../../pipelines/caches/definition.ts';
import type { StoredFile } from '../../pipelines/caches/store/stored-file.ts';
import { makeManifest, type Manifest } from '../../pipelines/caches/manifest.ts';
import { listPublications } from '../../pipelines/caches/publications.ts';
import { type Publication, type PublishedVersion, categoriesVersion } from '../../pipelines/caches/artefact-facts.ts';
import { ServiceError, isServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { type Queryable, queryRows } from '../../runtime/postgres.ts';
import { describePublishedFile, type DatedRepresentation } from './download-plan.ts';
import { makeJsonDocument, type JsonDocument } from '../http/json-document.ts';
import { FileChecks, type PublishedFile } from './file-checks.ts';
import { SharedFile } from './shared-file.ts';
import { describeVersionFiles, type VersionFile, type VersionFiles } from './version-files.ts';
import { sql } from '../../sql/sql.ts';

/** Schema version of the list of manifests. */
const manifestListSchema = 'caller-trust/manifests/1';

type LivePublication = Publication & { readonly published: PublishedVersion };

/** Facts, bytes and headers of one version of an artefact. */
export interface ServedArtefact extends VersionFiles {
  readonly name: ArtefactName;
  readonly publication: LivePublication;
  readonly manifest: Manifest;
  readonly manifestDocument: JsonDocument;
  readonly representation: DatedRepresentation;
  readonly file: SharedFile;
}

/** The publications at one moment. Immutable; replaced as a whole. */
export interface PublicationSnapshot {
  /** By {@link formatArtefact}. */
  readonly artefacts: ReadonlyMap<string, ServedArtefact>;
  /** Published artefacts whose file is damaged, or could not be opened while there is no earlier version in memory. */
  readonly unavailable: ReadonlySet<string>;
  readonly manifests: JsonDocument;
  readonly categories: JsonDocument;
}

/**
 * The publications, in memory, with an open file for each: answers need no database access and no path lookup.
 * A version whose file cannot be opened, or whose size differs from its manifest, does not replace the previous one.
 */
export class PublicationIndex {
  readonly #store: ArtefactStore;
  readonly #log: Log;
  readonly #now: () => number;
  /** The problem of each artefact whose newest version cannot be served; each is logged once. */
  #problems = new Map<string, string>();
  readonly #checks: FileChecks;
  #published: ReadonlyMap<string, PublishedFile> = new Map();
  #snapshot: PublicationSnapshot | undefined;
  #refreshedAt: number | undefined;

  constructor({ store, log, now = Date.now }: { store: ArtefactStore; log: Log; now?: () => number }) {
    this.#store = store;
    this.#log = log;
    this.#now = now;
    this.#checks = new FileChecks({
      store,
      log,
      now,
      published: () => this.#published,
      openFile: (name) => this.#openFile(name),
    });
  }

  /** Time of the last read of the database, in milliseconds; undefined before the first. */
  get refreshedAt(): number | undefined {
    return this.#refreshedAt;
  }

  get known(): boolean {
    return this.#snapshot !== undefined;
  }

  /**
   * The current snapshot.
   * @throws ServiceError `not_ready` before the first refresh.
   */
  get snapshot(): PublicationSnapshot {
    if (this.#snapshot === undefined)
      throw new ServiceError('not_ready', {
        operation: 'read publications',
        problem: 'The publications are not known yet.',
      });
    return this.#snapshot;
  }

  /**
   * The served version of an artefact.
   * @throws ServiceError `artefact_not_found` if it was never published, `not_ready` if its file cannot be read here or before the
   * first refresh.
   */
  find(name: ArtefactName): ServedArtefact {
    const key = formatArtefact(name);
    const { artefacts, unavailable } = this.snapshot;
    const found = artefacts.get(key);
    if (found !== undefined) return found;
    if (unavailable.has(key))
      throw new ServiceError('not_ready', {
        operation: 'find artefact',
        object: key,
        problem: 'The file of this cache cannot be read at the moment.',
      });
    throw new ServiceError('artefact_not_found', { operation: 'find artefact', object: key });
  }

  /** The served version of an artefact, if there is one. @throws ServiceError `not_ready` before the first refresh */
  artefact(name: ArtefactName): ServedArtefact | undefined {
    return this.snapshot.artefacts.get(formatArtefact(name));
  }

  /**
   * Opens a file of a served version for one answer, which retires it. They are not kept open: 200 countries with 14 deltas
   * each would need 2,800 descriptors, and most are never requested. Returns undefined, and logs, if the file is missing,
   * damaged, or its size differs from the published one.
   * @throws ServiceError `not_ready` if the store cannot be read at the moment.
   */
  async openVersionFile({ stored, representation }: VersionFile): Promise<SharedFile | undefined> {
    if (this.#checks.isDamaged(stored)) return undefined;
    const opened = await openStored(this.#store, {
      stored,
      bytes: representation.size,
      object: formatArtefact(stored),
    });
    if (!isServiceError(opened)) return opened;
    this.#log.error(
      { err: opened, artefact: formatArtefact(stored), kind: stored.kind },
      'a file of a published version cannot be served',
    );
    if (opened.code === 'not_ready') throw opened;
    return undefined;
  }

  /** Reads the publications and replaces the snapshot. On any error nothing changes. One call at a time. */
  async refresh(db: Queryable): Promise<void> {
    const [publications, categories] = [await listPublications(db), await readCategories(db)];
    const before = this.#snapshot;
    this.#published = new Map(
      publications
        .filter(isLive)
        .flatMap((publication) =>
          listFiles(publication).map((name): [string, PublishedFile] => [
            this.#store.path(name),
            { name, confirmedAsOf: publication.confirmedAsOf ?? publication.published.publishedAt },
          ]),
        ),
    );
    const opened = await this.#openAll(publications, before?.artefacts ?? new Map());
    this.#snapshot = makeSnapshot(opened, makeJsonDocument(categories), before);
    this.#refreshedAt = this.#now();
    retireReplaced(before?.artefacts, opened.artefacts);
  }

  /**
   * Compares the published files with their digests, those that have not been since they were published or confirmed. The next
   * refresh withholds what is damaged. One call at a time.
   * @throws the error of a store that cannot be asked, or the reason of the signal
   */
  checkFiles(signal: AbortSignal): Promise<void> {
    return this.#checks.run(signal);
  }

  /** Published files: how many were found damaged or missing, and how many are still to be compared. */
  get fileChecks(): { readonly lost: number; readonly due: number } {
    return { lost: this.#checks.lost, due: this.#checks.due };
  }

  /** Closes every file, each when its last response has ended. */
  close(): void {
    for (const { file } of this.#snapshot?.artefacts.values() ?? []) file.retire();
  }

  async #openAll(publications: readonly Publication[], before: ReadonlyMap<string, ServedArtefact>): Promise<Opened> {
    const artefacts = new Map<string, ServedArtefact>();
    const unavailable = new Set<string>();
    const problems = new Map<string, string>();
    for (const publication of publications.filter(isLive).map((each) => this.#withoutLostDeltas(each))) {
      const key = formatArtefact(publication);
      const known = before.get(key);
      const previous = known !== undefined && this.#checks.isDamaged(known.file.stored.name) ? undefined : known;
      const served = await this.#serve(publication, previous);
      if (!isServiceError(served)) {
        artefacts.set(key, served);
        continue;
      }
      problems.set(key, served.message);
      if (this.#problems.get(key) !== served.message)
        this.#log.error(
          { err: served, artefact: key, servedVersion: previous?.publication.published.version },
          'a published version cannot be served',
        );
      if (previous === undefined) unavailable.add(key);
      else artefacts.set(key, previous);
    }
    this.#problems = problems;
    return { artefacts, unavailable };
  }

  #withoutLostDeltas(publication: LivePublication): LivePublication {
    const { cache, country, published } = publication;
    const deltas = published.deltas.filter(
      ({ sha256 }) => !this.#checks.isLost({ cache, country, sha256, kind: 'delta' }),
    );
    return deltas.length === published.deltas.length
      ? publication
      : { ...publication, published: { ...published, deltas } };
  }

  #openFile(name: StoredName): SharedFile | undefined {
    const file = this.#snapshot?.artefacts.get(formatArtefact(name as ArtefactName))?.file;
    return file !== undefined && this.#store.path(file.stored.name) === this.#store.path(name) ? file : undefined;
  }

  /**
   * The entry of a publication: the previous one if nothing changed. If a night confirmed the version, its file is opened
   * again, because the night has stored it again: this repairs a file that was damaged on the disk.
   */
  async #serve(
    publication: LivePublication,
    previous: ServedArtefact | undefined,
  ): Promise<ServedArtefact | ServiceError> {
    if (this.#checks.isDamaged(nameOfFile(publication)))
      return new ServiceError('artefact_damaged', {
        operation: 'check artefact',
        object: formatArtefact(publication),
        problem: 'The digest of the file is not the published one.',
      });
    if (previous !== undefined && samePublication(previous.publication, publication)) return previous;
    if (previous !== undefined && sameVersion(previous.publication.published, publication.published)) {
      const repaired = await openArtefact(this.#store, publication);
      if (isServiceError(repaired))
        this.#log.error(
          { err: repaired, artefact: formatArtefact(publication) },
          'a confirmed version cannot be opened again; it is served from the file that is open',
        );
      return {
        ...previous,
        publication,
        ...describeManifest(publication),
        ...describeVersionFiles(publication, previous.representation),
        file: isServiceError(repaired) ? previous.file : repaired,
      };
    }
    const file = await openArtefact(this.#store, publication);
    return isServiceError(file) ? file : makeEntry({ publication, file, previous, now: this.#now() });
  }
}

interface Opened {
  readonly artefacts: ReadonlyMap<string, ServedArtefact>;
  readonly unavailable: ReadonlySet<string>;
}

function isLive(publication: Publication): publication is LivePublication {
  return publication.published !== null;
}

function nameOfFile({ cache, country, published: { file } }: LivePublication): StoredName {
  return { cache, country, sha256: file.sha256 };
}

/** The artefact, its index, its filter and the deltas to it. */
function listFiles(publication: LivePublication): StoredName[] {
  const { cache, country, published } = publication;
  const { index, filter, deltas } = published;
  return [
    nameOfFile(publication),
    { cache, country, sha256: index.sha256, kind: 'index' },
    ...(filter === null ? [] : [{ cache, country, sha256: filter.sha256, kind: 'filter' } as const]),
    ...deltas.map(({ sha256 }): StoredName => ({ cache, country, sha256, kind: 'delta' })),
  ];
}

function samePublication(a: LivePublication, b: LivePublication): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function sameVersion(a: PublishedVersion, b: PublishedVersion): boolean {
  return a.version === b.version && a.file.sha256 === b.file.sha256;
}

function openArtefact(
  store: ArtefactStore,
  { cache, country, published: { version, file } }: LivePublication,
): Promise<SharedFile | ServiceError> {
  return openStored(store, {
    stored: { cache, country, sha256: file.sha256 },
    bytes: file.bytes,
    object: `${formatArtefact({ cache, country })} v${version}`,
  });
}

/**
 * Opens a stored file, or returns the error: `artefact_damaged` if it is missing or has another size, `not_ready` if a retry can
 * succeed.
 */
async function openStored(
  store: ArtefactStore,
  { stored, bytes, object }: { stored: StoredName; bytes: number; object: string },
): Promise<SharedFile | ServiceError> {
  let file: StoredFile | undefined;
  try {
    file = await store.openToServe(stored);
    if (file.size === bytes) return new SharedFile(file);
    await file.close();
    return new ServiceError('artefact_damaged', {
      operation: 'open artefact',
      object,
      problem: `The file has ${file.size} bytes, its manifest says ${bytes}.`,
    });
  } catch (error) {
    await file?.close();
    const code = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'artefact_damaged' : 'not_ready';
    return new ServiceError(code, {
      operation: 'open artefact',
      object,
      problem: 'The file cannot be opened.',
      cause: error,
    });
  }
}

function makeEntry({
  publication,
  file,
  previous,
  now,
}: {
  publication: LivePublication;
  file: SharedFile;
  previous: ServedArtefact | undefined;
  now: number;
}): ServedArtefact {
  const { cache, country, published } = publication;
  const lastModified = new Date(Math.min(published.publishedAt.getTime(), now)); // RFC 9110 section 8.8.2.1: never later than our clock
  const representation = describePublishedFile({
    cache,
    country,
    version: published.version,
    rows: published.rows,
    asOf: published.asOf,
    bytes: published.file.bytes,
    sha256: published.file.sha256,
    lastModified,
    dateIsStrong: previous === undefined || second(previous.representation.lastModified) !== second(lastModified),
  });
  return {
    name: { cache, country },
    publication,
    ...describeManifest(publication),
    ...describeVersionFiles(publication, representation),
    representation,
    file,
  };
}

function second(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

function describeManifest(publication: LivePublication): Pick<ServedArtefact, 'manifest' | 'manifestDocument'> {
  const manifest = makeManifest(publication);
  return { manifest, manifestDocument: makeJsonDocument(manifest) };
}

/** Keeps the serialized list while no entry changed, as after most polls. */
function makeSnapshot(
  { artefacts, unavailable }: Opened,
  categories: JsonDocument,
  before: PublicationSnapshot | undefined,
): PublicationSnapshot {
  const unchanged =
    before !== undefined &&
    before.artefacts.size === artefacts.size &&
    [...artefacts].every(([key, artefact]) => before.artefacts.get(key) === artefact);
  const manifests = unchanged
    ? before.manifests
    : makeJsonDocument({
        schema: manifestListSchema,
        manifests: [...artefacts.values()].map(({ manifest }) => manifest),
      });
  return { artefacts, unavailable, manifests, categories };
}

function retireReplaced(
  before: ReadonlyMap<string, ServedArtefact> | undefined,
  now: ReadonlyMap<string, ServedArtefact>,
): void {
  for (const [key, { file }] of before ?? []) {
    if (now.get(key)?.file !== file) file.retire();
  }
}

/** The published category ids, as they are served. */
interface CategoryList {
  readonly categoriesVersion: number;
  readonly categories: readonly Category[];
}

/** One category: an id that never changes its meaning. */
interface Category {
  readonly id: number;
  readonly name: string;
  readonly level: 'SPAM' | 'FRAUD';
}

/** Reads the published categories, by id. */
async function readCategories(db: Queryable): Promise<CategoryList> {
  return {
    categoriesVersion,
    categories: await queryRows<{ id: number; name: string; level: Category['level'] }>(
      db,
      sql('labels/list_categories'),
    ),
  };
}
