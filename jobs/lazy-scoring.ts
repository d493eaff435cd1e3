import type { ScoringPool } from '../pipelines/audio/scorers/scoring-pool.ts';
import type { Services } from '../runtime/services/services.ts';

/** The scoring processes of this process, started when the first recording is scored. */
export type LazyScoring = Pick<ScoringPool, 'score' | 'close'>;

/** Scoring for a process that may never need it. */
export function openLazyScoring({
  config,
  log,
  metrics,
}: Pick<Services, 'config' | 'log'> & Partial<Pick<Services, 'metrics'>>): LazyScoring {
  let opened: Promise<ScoringPool> | undefined;
  const pool = (): Promise<ScoringPool> =>
    (opened ??= import('../pipelines/audio/scorers/scoring-pool.ts').then(({ openScoringPool }) =>
      openScoringPool({ config, log, ...(metrics && { metrics }) }),
    ));
  return {
    score: async (request, signal) => (await pool()).score(request, signal),
    close: async () => (await opened)?.close(),
  };
}
