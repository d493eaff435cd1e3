import type { Config } from '../../../runtime/config.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import { StreamScorerProcess } from './stream-scorer-process.ts';

type ScorersConfig = Pick<
  Config,
  'audioScorers' | 'audioMemoryBytesMax' | 'audioWorkSecondsMax' | 'streamConnectionsMax'
>;

/** Memory of one stream with two channels, for its last seconds of audio and the list of its windows. */
const streamBytes = 4 * 1024 * 1024;

/** Milliseconds without a stream after which a process is ended. */
const idleMs = 60_000;

/** Processes that score streams, at most AUDIO_SCORERS of them: started for a stream, ended after a minute without one. */
export class StreamScorers {
  private readonly config: ScorersConfig;
  private readonly log: Pick<Log, 'warn'>;
  private readonly scorers = new Set<StreamScorerProcess>();
  private readonly sweep: NodeJS.Timeout;
  private readonly idleSince = new Map<StreamScorerProcess, number>();
  private starting: Promise<StreamScorerProcess> | undefined;
  private isClosed = false;

  constructor({ config, log }: { readonly config: ScorersConfig; readonly log: Pick<Log, 'warn'> }) {
    this.config = config;
    this.log = log;
    this.sweep = setInterval(() => this.endIdle(), idleMs / 4);
    this.sweep.unref();
  }

  /**
   * The process for one more stream: the one with the fewest. If each has a stream and the limit allows it, another process is
   * started for later streams; no stream waits for a start, which takes seconds on a busy machine, while another process runs.
   * @throws ServiceError `scorer_unavailable`, `interrupted`
   */
  async assign(): Promise<StreamScorerProcess> {
    for (;;) {
      if (this.isClosed) throw new ServiceError('interrupted', { operation: 'score stream' });
      const [least] = this.alive().sort((a, b) => a.load - b.load);
      const starting =
        this.scorers.size < this.config.audioScorers && least?.load !== 0
          ? (this.starting ??= this.startOne())
          : undefined;
      starting?.catch(() => {}); // handled where it is awaited
      if (least !== undefined) return least;
      await starting;
    }
  }

  /** Ends every process; its streams are lost. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.sweep);
    await this.starting?.catch(() => {});
    await Promise.all([...this.scorers].map((scorer) => scorer.end()));
  }

  private alive(): StreamScorerProcess[] {
    for (const scorer of this.scorers) {
      if (scorer.isAlive) continue;
      this.scorers.delete(scorer);
      if (!this.isClosed)
        this.log.warn({ scorer: scorer.pid, hung: scorer.hasHung }, 'a process that scores streams was lost');
    }
    return [...this.scorers];
  }

  private async startOne(): Promise<StreamScorerProcess> {
    try {
      const { audioMemoryBytesMax, audioWorkSecondsMax, streamConnectionsMax } = this.config;
      const scorer = await StreamScorerProcess.start({
        memoryBytesMax: audioMemoryBytesMax + streamConnectionsMax * streamBytes,
        silentSecondsMax: audioWorkSecondsMax,
      });
      this.scorers.add(scorer);
      return scorer;
    } finally {
      this.starting = undefined;
    }
  }

  private endIdle(): void {
    const now = Date.now();
    for (const scorer of this.alive()) {
      if (scorer.load > 0) this.idleSince.delete(scorer);
      else if (now - (this.idleSince.get(scorer) ?? now) < idleMs)
        this.idleSince.set(scorer, this.idleSince.get(scorer) ?? now);
      else {
        this.scorers.delete(scorer);
        this.idleSince.delete(scorer);
        void scorer.end();
      }
    }
  }
}
