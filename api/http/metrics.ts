import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FeedArrival } from '../../pipelines/intake/feed-arrivals.ts';
import { CACHES } from '../../pipelines/caches/definition.ts';
import type { FeedWatch } from './feed-watch.ts';
import type { Manifest } from '../../pipelines/caches/format/manifest.ts';
import type { ArtefactName } from '../../pipelines/caches/definition.ts';

/** Route label of a request that matched no route, so that clients cannot create labels. */
export const unknownRoute = 'unknown';

/** How the body of a download ended. */
export type DownloadOutcome = 'sent' | 'client_gone' | 'too_slow' | 'damaged';

/** The facts about the served artefacts that gauges read. */
interface ServedArtefacts {
  /** False until the database is read for the first time. */
  readonly known: boolean;
  readonly fileChecks: { readonly lost: number; readonly due: number };
  readonly snapshot: {
    readonly artefacts: ReadonlyMap<string, { readonly name: ArtefactName; readonly manifest: Manifest }>;
  };
}

/** The metrics of the API; names begin with `caller_trust_`. No label contains a key, an address or a phone number. */
export interface Metrics {
  readonly registry: Registry;
  requestEnded(request: { route: string; method: string; status: number; seconds: number }): void;
  bytesSent(route: string, bytes: number): void;
  /** A request that was refused before routing. */
  requestUnreadable(code: string): void;
  downloadStarted(): void;
  downloadEnded(outcome: DownloadOutcome): void;
  /** A request read the database, failed to read it, or was refused before reading. */
  databaseReadEnded(outcome: 'answered' | 'failed' | 'refused', seconds: number): void;
}

/** Creates the metrics of one API in a new registry. */
export function createMetrics({
  publications,
  feeds,
  now = Date.now,
}: {
  publications: ServedArtefacts;
  feeds: FeedWatch;
  now?: () => number;
}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'caller_trust_' });
  registerArtefactGauges({ registry, publications, now });
  registerFeedGauges({ registry, feeds, now });

  const requests = new Counter({
    name: 'caller_trust_api_requests_total',
    help: 'Answered requests.',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'caller_trust_api_request_seconds',
    help: 'Seconds from the header of a request to the end of its answer.',
    labelNames: ['route', 'method'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600],
    registers,
  });
  const bytes = new Counter({
    name: 'caller_trust_api_body_bytes_total',
    help: 'Bytes of bodies that were handed to the network.',
    labelNames: ['route'],
    registers,
  });
  const unreadable = new Counter({
    name: 'caller_trust_api_unreadable_requests_total',
    help: 'Requests that could not be read as HTTP.',
    labelNames: ['code'],
    registers,
  });
  const running = new Gauge({
    name: 'caller_trust_api_downloads_in_progress',
    help: 'Downloads that are being sent.',
    registers,
  });
  const downloads = new Counter({
    name: 'caller_trust_api_downloads_total',
    help: 'Ended downloads.',
    labelNames: ['outcome'],
    registers,
  });
  const databaseReads = new Counter({
    name: 'caller_trust_api_database_reads_total',
    help: 'Requests that needed the database.',
    labelNames: ['outcome'],
    registers,
  });
  const databaseSeconds = new Histogram({
    name: 'caller_trust_api_database_read_seconds',
    help: 'Seconds that requests read the database, with the wait for a connection.',
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10],
    registers,
  });

  return {
    registry,
    requestEnded({ route, method, status, seconds }) {
      const label = methodLabel(method);
      requests.inc({ route, method: label, status });
      duration.observe({ route, method: label }, seconds);
    },
    bytesSent: (route, count) => bytes.inc({ route }, count),
    requestUnreadable: (code) => unreadable.inc({ code }),
    downloadStarted: () => running.inc(),
    downloadEnded(outcome) {
      running.dec();
      downloads.inc({ outcome });
    },
    databaseReadEnded(outcome, seconds) {
      databaseReads.inc({ outcome });
      if (outcome !== 'refused') databaseSeconds.observe(seconds);
    },
  };
}

function methodLabel(method: string): string {
  return method === 'GET' || method === 'HEAD' ? method : 'other';
}

/** Gauges that read the publication index on each scrape. */
function registerArtefactGauges({
  registry,
  publications,
  now,
}: {
  registry: Registry;
  publications: ServedArtefacts;
  now: () => number;
}): void {
  const artefacts = () => (publications.known ? [...publications.snapshot.artefacts.values()] : []);
  const registers = [registry];
  const labelNames = ['cache', 'country'] as const;
  const measures = [
    {
      name: 'age_seconds',
      help: 'Seconds since the snapshot that last confirmed the bytes.',
      read: (manifest: { confirmedAsOf: string }) => (now() - Date.parse(manifest.confirmedAsOf)) / 1000,
    },
    {
      name: 'version',
      help: 'Published version that is served.',
      read: (manifest: { version: number }) => manifest.version,
    },
    { name: 'rows', help: 'Rows of the served version.', read: (manifest: { rows: number }) => manifest.rows },
  ];
  for (const { name, help, read } of measures) {
    new Gauge({
      name: `caller_trust_artefact_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const {
          name: { cache, country },
          manifest,
        } of artefacts())
          this.set({ cache, country }, read(manifest));
      },
    });
  }
  new Gauge({
    name: 'caller_trust_artefacts_stale',
    help: 'Served artefacts whose last build failed.',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const { name } of CACHES) this.set({ cache: name }, 0);
      for (const { name, manifest } of artefacts()) if (manifest.status === 'stale') this.inc({ cache: name.cache });
    },
  });
  const checks = [
    {
      name: 'damaged',
      help: 'Published files (artefacts, indexes, deltas) that are damaged or missing, and withheld.',
      read: () => publications.fileChecks.lost,
    },
    {
      name: 'unchecked',
      help: 'Published files that are still to be compared with their digest.',
      read: () => publications.fileChecks.due,
    },
  ];
  for (const { name, help, read } of checks) {
    new Gauge({
      name: `caller_trust_artefact_files_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
}

/** Gauges of the last load of each feed that had rows. */
function registerFeedGauges({
  registry,
  feeds,
  now,
}: {
  registry: Registry;
  feeds: FeedWatch;
  now: () => number;
}): void {
  const measures = [
    {
      name: 'age_seconds',
      help: 'Seconds since the submission of the last load that brought something.',
      read: ({ lastAt }: FeedArrival) => (lastAt === null ? null : (now() - lastAt.getTime()) / 1000),
    },
    { name: 'rows', help: 'Accepted rows of that load.', read: ({ rows }: FeedArrival) => rows },
    {
      name: 'late',
      help: '1 for a feed that has stayed away for longer than its usual interval allows.',
      read: ({ late }: FeedArrival) => (late ? 1 : 0),
    },
  ];
  for (const { name, help, read } of measures) {
    new Gauge({
      name: `caller_trust_feed_${name}`,
      help,
      labelNames: ['feed', 'source'],
      registers: [registry],
      collect() {
        this.reset();
        for (const arrival of feeds.arrivals) {
          const value = read(arrival);
          if (value !== null) this.set({ feed: arrival.feed, source: arrival.source }, value);
        }
      },
    });
  }
}
