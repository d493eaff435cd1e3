import { listFeedArrivals, type ArrivalLimits, type FeedArrival } from '../../pipelines/feeds/feed-arrivals.ts';
import type { Queryable } from '../../runtime/postgres.ts';

/** The last arrival of each feed, as of the last refresh. */
export class FeedWatch {
  readonly #limits: ArrivalLimits;
  readonly #now: () => number;
  #arrivals: readonly FeedArrival[] = [];

  constructor({ limits, now }: { limits: ArrivalLimits; now: () => number }) {
    this.#limits = limits;
    this.#now = now;
  }

  get arrivals(): readonly FeedArrival[] {
    return this.#arrivals;
  }

  async refresh(db: Queryable): Promise<void> {
    this.#arrivals = await listFeedArrivals(db, this.#limits, new Date(this.#now()));
  }
}
