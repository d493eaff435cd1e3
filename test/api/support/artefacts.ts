import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ArtefactStore } from '../../../pipelines/caches/store/artefact-store.ts';
import type { CacheName } from '../../../pipelines/caches/definition.ts';
import type { Pool } from '../../../runtime/postgres.ts';
import { SegmentIndexWriter } from '../../../format/artefact/segment-index.ts';
import type { VersionFacts } from '../../../pipelines/caches/artefact-facts.ts';
import { storeBytes } from '../../../pipelines/caches/store/store-bytes.ts';

/** An artefact that a test published. */
export interface TestArtefact {
  readonly cache: CacheName;
  readonly country: string;
  readonly version: number;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly sha256: string;
  readonly publishedAt: Date;
}

export interface ToPublish {
  readonly cache: CacheName;
  readonly country?: string;
  readonly plain?: Buffer | string;
  /** Bytes of the file, where they need not be gzip of `plain`. */
  readonly gzip?: Buffer;
  readonly publishedAt?: Date;
  readonly confirmedAsOf?: Date;
  readonly keepFile?: boolean;
}

export const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Bytes that gzip cannot make small, the same for the same seed. */
export function noise(bytes: number, seed = 1): Buffer {
  const block = createHash('sha512').update(String(seed)).digest();
  const out = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 64) {
    block.writeUInt32LE(at >>> 0, 0);
    createHash('sha512').update(block).digest().copy(out, at);
  }
  return out;
}

/** Publishes a version the way a night does: file first, then the rows, the pointer last. */
export async function publish(
  db: Pool,
  store: ArtefactStore,
  { cache, country = '', plain = `+12025550100\t${randomBytes(4).toString('hex')}\n`, ...options }: ToPublish,
): Promise<TestArtefact> {
  const plainBytes = Buffer.from(plain);
  const gzip = options.gzip ?? gzipSync(plainBytes);
  const sha256 = sha256Of(gzip);
  const name = { cache, country, sha256 };
  const file = await store.start(`test-${randomBytes(6).toString('hex')}`);
  await file.handle.writeFile(gzip);
  await file.keep(name);
  if (options.keepFile === false) await store.remove(name);

  const publishedAt = options.publishedAt ?? new Date();
  const run = await db.query<{ run_id: number }>(
    "INSERT INTO night_run (night_date, trigger, requested_by) VALUES (current_date, 'operator', 'test') RETURNING run_id",
  );
  const build = await db.query<{ build_id: number }>(
    'INSERT INTO build (run_id, generation, cache, country) VALUES ($1, 1, $2, $3) RETURNING build_id',
    [run.rows[0]?.run_id, cache, country],
  );
  const last = await db.query<{ version: number | null }>(
    'SELECT max(version) AS version FROM artefact_version WHERE cache = $1 AND country = $2',
    [cache, country],
  );
  const version = (last.rows[0]?.version ?? 0) + 1;
  const rows = plainBytes.toString().split('\n').length - 1;
  const index = new SegmentIndexWriter().end();
  await storeBytes(store, { name: { cache, country, kind: 'index' }, owner: `test-${sha256}`, bytes: index.bytes });
  const facts = {
    rows,
    levels: cache === 'branded_phones' ? {} : { SPAM: rows },
    categoriesVersion: 1,
    file: { sha256, bytes: gzip.length, plainBytes: plainBytes.length, plainSha256: sha256Of(plainBytes) },
    index: index.facts,
    filter: null,
    deltas: [],
  } satisfies VersionFacts;
  await db.query(
    `INSERT INTO artefact_version (cache, country, version, build_id, as_of, built_at, published_at, facts)
     VALUES ($1, $2, $3, $4, $5, $5, $5, $6)`,
    [cache, country, version, build.rows[0]?.build_id, publishedAt, JSON.stringify(facts)],
  );
  await db.query(
    `INSERT INTO publication (cache, country, version, status, confirmed_as_of) VALUES ($1, $2, $3, 'fresh', $4)
     ON CONFLICT (cache, country) DO UPDATE SET version = excluded.version, status = 'fresh', stale_code = NULL, stale_reason = NULL, stale_since = NULL, confirmed_as_of = excluded.confirmed_as_of`,
    [cache, country, version, options.confirmedAsOf ?? publishedAt],
  );
  return { cache, country, version, plain: plainBytes, gzip, sha256, publishedAt };
}
