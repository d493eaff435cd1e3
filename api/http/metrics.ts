import { CACHES, type ArtefactName } from '../../pipelines/caches/definition.ts';
import type { Manifest } from '../../pipelines/caches/manifest.ts';
import type { Metrics as ProcessMetrics } from '../../runtime/metrics/metrics.ts';

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

/** What the API counts. No label contains a key, an address or a phone number. */
export interface Metrics {
  requestEnded(request: { route: string; method: string; status: number; seconds: number }): void;
  bytesSent(route: string, bytes: number): void;
  /** A request that was refused before routing. */
  requestUnreadable(code: string): void;
  downloadStarted(): void;
  downloadEnded(outcome: DownloadOutcome): void;
  /** A request read the database, failed to read it, or was refused before reading. */
  databaseReadEnded(outcome: 'answered' | 'failed' | 'refused', seconds: number): void;
}

/** Counts in the metrics of the process, which read the publication index on each scrape. */
export function createMetrics({
  metrics,
  publications,
  now = Date.now,
}: {
  metrics: ProcessMetrics;
  publications: ServedArtefacts;
  now?: () => number;
}): Metrics {
  readArtefactsAtScrape({ metrics, publications, now });
  return {
    requestEnded({ route, method, status, seconds }) {
      const label = methodLabel(method);
      metrics.count('caller_trust_api_requests_total', { route, method: label, status });
      metrics.observe('caller_trust_api_request_seconds', { route, method: label }, seconds);
    },
    bytesSent: (route, count) => metrics.count('caller_trust_api_body_bytes_total', { route }, count),
    requestUnreadable: (code) => metrics.count('caller_trust_api_unreadable_requests_total', { code }),
    downloadStarted: () => metrics.change('caller_trust_api_downloads_in_progress', {}, 1),
    downloadEnded(outcome) {
      metrics.change('caller_trust_api_downloads_in_progress', {}, -1);
      metrics.count('caller_trust_api_downloads_total', { outcome });
    },
    databaseReadEnded(outcome, seconds) {
      metrics.count('caller_trust_api_database_reads_total', { outcome });
      if (outcome !== 'refused') metrics.observe('caller_trust_api_database_read_seconds', {}, seconds);
    },
  };
}

function methodLabel(method: string): string {
  return method === 'GET' || method === 'HEAD' ? method : 'other';
}

function readArtefactsAtScrape({
  metrics,
  publications,
  now,
}: {
  metrics: ProcessMetrics;
  publications: ServedArtefacts;
  now: () => number;
}): void {
  const names = [
    'caller_trust_artefact_age_seconds',
    'caller_trust_artefact_version',
    'caller_trust_artefact_rows',
    'caller_trust_artefacts_stale',
    'caller_trust_artefact_files_damaged',
    'caller_trust_artefact_files_unchecked',
  ] as const;
  metrics.atScrape(names, (set) => {
    const artefacts = publications.known ? [...publications.snapshot.artefacts.values()] : [];
    for (const { name, manifest } of artefacts) {
      const labels = { cache: name.cache, country: name.country };
      set('caller_trust_artefact_age_seconds', labels, (now() - Date.parse(manifest.confirmedAsOf)) / 1000);
      set('caller_trust_artefact_version', labels, manifest.version);
      set('caller_trust_artefact_rows', labels, manifest.rows);
    }
    for (const { name: cache } of CACHES) {
      const stale = artefacts.filter(({ name, manifest }) => name.cache === cache && manifest.status === 'stale');
      set('caller_trust_artefacts_stale', { cache }, stale.length);
    }
    set('caller_trust_artefact_files_damaged', {}, publications.fileChecks.lost);
    set('caller_trust_artefact_files_unchecked', {}, publications.fileChecks.due);
  });
}
