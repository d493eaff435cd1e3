import { PublicationIndex } from '../api/downloads/publication-index.ts';
import { SignedDocuments } from '../api/downloads/signed-documents.ts';
import { createMetrics } from '../api/http/metrics.ts';
import { RequestReads } from '../api/http/request-reads.ts';
import { createServer } from '../api/server.ts';
import { formatKey, generateKey, hashKey } from '../pipelines/access/key-text.ts';
import { KeyTable } from '../pipelines/access/key-table.ts';
import type { ArtefactDirectory } from '../pipelines/caches/store/artefact-directory.ts';
import { loadConfig } from '../runtime/config.ts';
import { createLog } from '../runtime/log.ts';
import { openMetrics } from '../runtime/metrics/prometheus.ts';
import type { Queryable } from '../runtime/postgres.ts';
import { sql } from '../sql/sql.ts';

/** The API without a database. */
interface ApiService {
  readonly url: string;
  /** Its one key. */
  readonly key: string;
  /** Serves this publication, a row of its list, from now on. */
  publish(row: object): Promise<void>;
  close(): Promise<unknown>;
}

const secret = 'x'.repeat(32);

/** Starts the API for the files of a store. */
export async function startApiService(store: ArtefactDirectory): Promise<ApiService> {
  const { keyId, random, ...parts } = generateKey();
  const usable = { keyId, client: 'bench', hash: hashKey(random, secret), scopes: ['caches:read'] };
  const log = createLog({ level: 'silent', process: 'bench' });
  const publications = new PublicationIndex({ store, log });
  const keys = new KeyTable({ secret: async () => secret });
  await keys.refresh(answering({ 'access/list_usable_keys': [{ ...usable, brand: null, expiresAt: null }] }));
  const metrics = createMetrics({ metrics: openMetrics('api'), publications });
  const app = await createServer({
    limits: loadConfig({ API_REQUESTS_PER_MINUTE_MAX: '100000000' }),
    publications,
    signed: new SignedDocuments(),
    keys,
    reads: new RequestReads({ opened: () => undefined, metrics }),
    modelDir: store.directory,
    metrics,
    readiness: () => {
      throw new Error('not asked');
    },
    log,
  });
  return {
    url: await app.listen({ host: '127.0.0.1', port: 0 }),
    key: formatKey({ keyId, random, ...parts }),
    publish: (row) => publications.refresh(answering({ 'caches/list_publications': [row] })),
    close: () => app.close(),
  };
}

/** A substitute for the database: the rows of statements by their names. */
function answering(answers: Partial<Record<Parameters<typeof sql>[0], object[]>>): Queryable {
  const rows = Object.entries(answers).map(([name, each]) => [sql(name as Parameters<typeof sql>[0]), each] as const);
  return { query: async (text: string) => ({ rows: new Map(rows).get(text) ?? [] }) } as unknown as Queryable;
}
