// What killed-scorer.test.ts loads into a process that it kills.
export { openScoringPool } from '../../pipelines/audio/scorers/scoring-pool.ts';
export { loadConfig } from '../../runtime/config.ts';
