import { randomBytes } from 'node:crypto';
import { applyDelta } from '../../format/artefact/delta-lines.ts';
import { parseSegmentIndex, type Segment } from '../../format/artefact/segment-index.ts';
import { chainDeltas, DeltaFile, type DeltaPlace } from '../../pipelines/caches/artefact/delta-files.ts';
import { filterOf } from '../../pipelines/caches/artefact/filter-file.ts';
import { PreviousRows } from '../../pipelines/caches/artefact/previous-rows.ts';
import { writeArtefact, type WrittenArtefact } from '../../pipelines/caches/artefact/write-artefact.ts';
import type { StoredDelta, VersionFacts } from '../../pipelines/caches/artefact-facts.ts';
import { findCache, type ArtefactName } from '../../pipelines/caches/definition.ts';
import type { ArtefactStore } from '../../pipelines/caches/store/artefact-store.ts';
import { writeAll } from '../../runtime/files/whole-file.ts';
import type { Pool } from '../../runtime/postgres.ts';

/** An artefact in a store, with its index. */
export interface StoredArtefact extends Pick<WrittenArtefact, 'file' | 'index' | 'rows'> {
  readonly segments: readonly Segment[];
  /** Those from the version before, and from those that it has deltas from. */
  readonly deltas: readonly StoredDelta[];
}

interface StoreOptions {
  readonly plain: Buffer;
  readonly segmentRowsMax?: number | undefined;
  /** The version before, from which deltas lead. */
  readonly before?: (StoredArtefact & { readonly version: number }) | undefined;
  readonly onLost?: DeltaPlace['onLost'];
}

/** Stores rows as a night does, with the index and the deltas to them. */
export async function storeArtefact(
  store: ArtefactStore,
  artefact: ArtefactName,
  { plain, segmentRowsMax = 500, before, onLost = fail }: StoreOptions,
): Promise<StoredArtefact> {
  const owner = `test-${randomBytes(6).toString('hex')}`;
  const place = { store, artefact, owner, onLost };
  const [file, index] = [await store.start(owner), await store.start(`${owner}.index`)];
  const previous = before === undefined ? null : await PreviousRows.open(store, artefact, before, fail);
  const delta = before === undefined ? undefined : await DeltaFile.begin(place, before.version);
  const indexBytes: Uint8Array[] = [];
  const written = await writeArtefact({
    rows: inOneChunk(plain),
    previous,
    hasLevels: findCache(artefact.cache).columns.some(({ type }) => type === 'level'),
    segmentRowsMax,
    writeFile: (bytes) => writeAll(file.handle, bytes),
    async writeIndex(bytes) {
      indexBytes.push(bytes);
      await writeAll(index.handle, bytes);
    },
    addToDelta: async (text) => delta?.add(text),
    onProgress: () => {},
    onLost: fail,
  });
  await previous?.close();
  await file.keep({ ...artefact, sha256: written.file.sha256 });
  await index.keep({ ...artefact, sha256: written.index.sha256, kind: 'index' });
  const deltas =
    delta === undefined ? [] : await chainDeltas(place, await delta.end(written.difference!), before!.deltas);
  return { ...written, segments: parseSegmentIndex(Buffer.concat(indexBytes), written.index), deltas };
}

function fail(...[from, error]: readonly unknown[]): never {
  throw error ?? from;
}

async function* inOneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes;
}

/** The rows that a delta of one step gives. */
export async function applied(plain: Buffer, delta: Uint8Array): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of applyDelta([plain], delta.length === 0 ? [] : [delta])) parts.push(part);
  return Buffer.concat(parts);
}

interface PublishOptions {
  readonly segmentRowsMax?: number;
  /** 0: none. */
  readonly deltasKept?: number;
}

interface PublishedArtefact {
  readonly version: number;
  readonly stored: StoredArtefact;
  readonly deltas: readonly StoredDelta[];
}

/** Versions of one artefact, published the way nights do it: files first, then the rows, the pointer last. */
export class PublishedHistory {
  readonly #db: Pool;
  readonly #store: ArtefactStore;
  readonly #artefact: ArtefactName;
  #current: PublishedArtefact | undefined;

  constructor({ db, store, artefact }: { db: Pool; store: ArtefactStore; artefact: ArtefactName }) {
    this.#db = db;
    this.#store = store;
    this.#artefact = artefact;
  }

  /** Publishes rows as the next version, with deltas from the versions before. */
  async publish(
    plain: Buffer | string,
    { segmentRowsMax, deltasKept = 4 }: PublishOptions = {},
  ): Promise<PublishedArtefact> {
    const basis = this.#current;
    const before =
      basis === undefined || deltasKept === 0
        ? undefined
        : { ...basis.stored, version: basis.version, deltas: basis.deltas.slice(0, deltasKept - 1) };
    const stored = await storeArtefact(this.#store, this.#artefact, {
      plain: Buffer.from(plain),
      segmentRowsMax,
      before,
      onLost: () => {}, // clients of that version take the whole file
    });
    this.#current = { version: (basis?.version ?? 0) + 1, stored, deltas: stored.deltas };
    await this.#record(this.#current);
    return this.#current;
  }

  async #makeFilter({ file, rows }: StoredArtefact): Promise<VersionFacts['filter']> {
    const { filterKeys: keyType } = findCache(this.#artefact.cache);
    if (keyType === null) return null;
    return filterOf({
      store: this.#store,
      artefact: this.#artefact,
      kind: { keyType, bits: 8 },
      known: null,
      built: { sha256: file.sha256, rows },
      owner: `test-${randomBytes(6).toString('hex')}`,
    });
  }

  async #record({ version, stored }: PublishedArtefact): Promise<void> {
    const { cache, country } = this.#artefact;
    const { rows, file, index, deltas } = stored;
    const filter = await this.#makeFilter(stored);
    const facts = { rows, levels: {}, categoriesVersion: 1, file, index, filter, deltas };
    await this.#db.query(
      `WITH run AS (
         INSERT INTO night_run (night_date, trigger, requested_by) VALUES (current_date, 'operator', 'test') RETURNING run_id
       ), build AS (
         INSERT INTO build (run_id, generation, cache, country) SELECT run_id, 1, $1, $2 FROM run RETURNING build_id
       ), version AS (
         INSERT INTO artefact_version (cache, country, version, build_id, as_of, built_at, facts)
         SELECT $1, $2, $3, build_id, now(), now(), $4 FROM build
       )
       INSERT INTO publication (cache, country, version, status, confirmed_as_of) VALUES ($1, $2, $3, 'fresh', now())
       ON CONFLICT (cache, country) DO UPDATE SET version = excluded.version, confirmed_as_of = excluded.confirmed_as_of`,
      [cache, country, version, JSON.stringify(facts)],
    );
  }
}

/** Rows of invented numbers, ascending: the n-th of a country's area codes. `of` gives the columns after the phone. */
export function inventedRows(count: number, of: (n: number) => string | null = (n) => `SPAM\t${1 + (n % 5)}`): Buffer {
  const lines: string[] = [];
  for (let n = 0; n < count; n++) {
    const rest = of(n);
    if (rest !== null) lines.push(`+1202${String(5_000_000 + n * 3)}\t${rest}\n`);
  }
  return Buffer.from(lines.join(''));
}
