import { AudioStore } from '../pipelines/audio/store/audio-store.ts';
import { runRetention } from '../pipelines/audio/batches/retention.ts';
import type { Config } from '../runtime/config.ts';
import type { Log } from '../runtime/log.ts';
import type { Pool } from '../runtime/postgres.ts';
import { repeat } from '../runtime/repeat.ts';

/** Seconds between two runs: the retention counts in days. */
const retentionEverySeconds = 3600;

/** What the retention of audio works with. */
export interface AudioRetentionOptions {
  readonly config: Pick<Config, 'audioDir' | 'audioRetentionDays'>;
  readonly db: Pool;
  readonly log: Log;
  readonly clock: () => Date;
}

/** Deletes stored audio whose time is over, again and again. Beside the nights, so that no failure here costs one. */
export function keepAudioRetention({ config, db, log, clock }: AudioRetentionOptions): { stop(): Promise<void> } {
  const store = new AudioStore(config.audioDir);
  return repeat({
    seconds: retentionEverySeconds,
    work: async () => {
      const end = await runRetention({ db, store }, { retentionDays: config.audioRetentionDays, at: clock() });
      if (end.deleted + end.swept + end.cancelled > 0) log.info(end, 'stored audio whose time is over is deleted');
    },
    onError: (error) => log.error({ err: error }, 'stored audio could not be deleted; it is tried again'),
  });
}
