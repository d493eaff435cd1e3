import { createHash, randomBytes } from 'node:crypto';
import type { ArtefactStore } from '../../pipelines/caches/store/artefact-store.ts';
import { filterOf } from '../../pipelines/caches/build/filter-file.ts';
import { findCache, type ArtefactName } from '../../pipelines/caches/definition.ts';
import {
  compareFiles,
  writeDeltas,
  type DeltaPlace,
  type IndexedFile,
} from '../../pipelines/caches/build/delta-files.ts';
import type { ArtefactFile, FilterFile, StoredDelta } from '../../pipelines/caches/artefact-facts.ts';
import { findRows } from '../../format/artefact/row-block.ts';
import { SegmentCutter } from '../../format/artefact/segment-cutter.ts';
import { formatSegmentIndex, type Segment } from '../../format/artefact/segment-index.ts';
import { compressSegment } from '../../pipelines/caches/format/segment-work.ts';
import { SegmentWriter } from '../../pipelines/caches/format/segment-writer.ts';
import { sha256Of } from '../../runtime/digest.ts';
import type { Pool } from '../../runtime/postgres.ts';

/** An artefact in a store, with its index. */
export interface StoredArtefact {
  readonly file: ArtefactFile;
  readonly segments: readonly Segment[];
  readonly index: { readonly sha256: string; readonly bytes: number };
  readonly rows: number;
}

/** Stores rows as an artefact of segments, and its index. */
export async function storeArtefact(
  store: ArtefactStore,
  artefact: ArtefactName,
  { plain, segmentRowsMax = 500 }: { plain: Buffer; segmentRowsMax?: number },
): Promise<StoredArtefact> {
  const unfinished = await store.start(`test-${randomBytes(6).toString('hex')}`);
  const writer = await SegmentWriter.begin(unfinished.handle, segmentRowsMax);
  const cutter = new SegmentCutter({
    regions: ['+'],
    rowsMax: segmentRowsMax,
    hasLevels: artefact.cache !== 'branded_phones',
  });
  for (const cut of [...cutter.push(findRows(plain)), ...cutter.end()])
    await writer.append(await compressSegment({ cut, before: null, profile: 'compact' }));
  const { file, segments, rows } = await writer.end(sha256Of(plain));
  await unfinished.keep({ ...artefact, sha256: file.sha256 });
  const text = formatSegmentIndex(segments);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const index = await store.start(`test-${randomBytes(6).toString('hex')}`);
  await index.handle.writeFile(text);
  await index.keep({ ...artefact, sha256, kind: 'index' });
  return { file, segments, rows, index: { sha256, bytes: text.length } };
}

export const indexed = ({ file: { sha256 }, segments }: StoredArtefact): IndexedFile => ({ sha256, segments });

/** The deltas to a stored artefact: from the one before, by a comparison, and those that follow from it. */
export async function deltasBetween(
  place: DeltaPlace,
  basis: IndexedFile & { readonly version: number },
  { built, earlier }: { readonly built: IndexedFile; readonly earlier: readonly StoredDelta[] },
): Promise<StoredDelta[]> {
  return writeDeltas({ ...place, step: await compareFiles(place, basis, built), built, earlier });
}

interface PublishOptions {
  readonly segmentRowsMax?: number;
  /** 0: none. */
  readonly deltasKept?: number;
}

/** Versions of one artefact, published the way nights do it: files first, then the rows, the pointer last. */
export class PublishedHistory {
  readonly #db: Pool;
  readonly #store: ArtefactStore;
  readonly #artefact: ArtefactName;
  #current: { version: number; stored: StoredArtefact; deltas: readonly StoredDelta[] } | undefined;

  constructor({ db, store, artefact }: { db: Pool; store: ArtefactStore; artefact: ArtefactName }) {
    this.#db = db;
    this.#store = store;
    this.#artefact = artefact;
  }

  /** Publishes rows as the next version, with deltas from the versions before. */
  async publish(
    plain: Buffer | string,
    { segmentRowsMax, deltasKept = 4 }: PublishOptions = {},
  ): Promise<{ version: number; stored: StoredArtefact; deltas: readonly StoredDelta[] }> {
    const stored = await storeArtefact(this.#store, this.#artefact, {
      plain: Buffer.from(plain),
      ...(segmentRowsMax === undefined ? {} : { segmentRowsMax }),
    });
    const basis = this.#current;
    const deltas =
      basis === undefined || deltasKept === 0
        ? []
        : await deltasBetween(
            { store: this.#store, artefact: this.#artefact, owner: `test-${randomBytes(6).toString('hex')}` },
            { ...indexed(basis.stored), version: basis.version },
            { built: indexed(stored), earlier: basis.deltas.slice(0, deltasKept - 1) },
          );
    this.#current = { version: (basis?.version ?? 0) + 1, stored, deltas };
    await this.#record({ ...this.#current, filter: await this.#makeFilter(stored) });
    return this.#current;
  }

  async #makeFilter(stored: StoredArtefact): Promise<FilterFile | null> {
    const { filterKeys: keyType } = findCache(this.#artefact.cache);
    if (keyType === null) return null;
    return filterOf({
      store: this.#store,
      artefact: this.#artefact,
      kind: { keyType, bits: 8 },
      known: null,
      built: { ...indexed(stored), rows: stored.rows },
      owner: `test-${randomBytes(6).toString('hex')}`,
    });
  }

  async #record({
    version,
    stored,
    deltas,
    filter,
  }: {
    version: number;
    stored: StoredArtefact;
    deltas: readonly StoredDelta[];
    filter: FilterFile | null;
  }): Promise<void> {
    const { cache, country } = this.#artefact;
    const run = await this.#db.query<{ run_id: number }>(
      "INSERT INTO night_run (night_date, trigger, requested_by) VALUES (current_date, 'operator', 'test') RETURNING run_id",
    );
    const build = await this.#db.query<{ build_id: number }>(
      "INSERT INTO build (run_id, generation, cache, country, rows_expected, levels_expected) VALUES ($1, 1, $2, $3, 0, '{}') RETURNING build_id",
      [run.rows[0]!.run_id, cache, country],
    );
    await this.#db.query(
      `INSERT INTO artefact_version (cache, country, version, build_id, as_of, built_at, published_at, rows, levels, categories_version, file_sha256, file_bytes, plain_sha256, plain_bytes, index_sha256, index_bytes, segments, plain_crc32, content_sha256, segment_rows_max, filter)
       VALUES ($1, $2, $3, $4, now(), now(), now(), $5, '{}', 1, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
      [
        cache,
        country,
        version,
        build.rows[0]!.build_id,
        stored.rows,
        stored.file.sha256,
        stored.file.bytes,
        stored.file.plainSha256,
        stored.file.plainBytes,
        stored.index.sha256,
        stored.index.bytes,
        stored.segments.length,
        stored.file.plainCrc32,
        stored.file.contentSha256,
        stored.file.segmentRowsMax,
        filter === null ? null : JSON.stringify(filter),
      ],
    );
    for (const { from, sha256, bytes, added, changed, removed } of deltas) {
      await this.#db.query('INSERT INTO artefact_delta VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
        cache,
        country,
        from,
        version,
        sha256,
        bytes,
        added,
        changed,
        removed,
      ]);
    }
    await this.#db.query(
      `INSERT INTO publication (cache, country, version, status, confirmed_as_of) VALUES ($1, $2, $3, 'fresh', now())
       ON CONFLICT (cache, country) DO UPDATE SET version = excluded.version, confirmed_as_of = excluded.confirmed_as_of`,
      [cache, country, version],
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
