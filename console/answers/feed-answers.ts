import type { listFeedArrivals } from '../../pipelines/intake/feed-arrivals.ts';
import type { FeedLoad, FeedReject } from '../../pipelines/intake/load-record.ts';
import type { Listed } from './json.ts';

export type { FeedLoad, FeedReject };

/** The last arrival of each feed. */
export interface FeedArrivals {
  readonly arrivals: Awaited<ReturnType<typeof listFeedArrivals>>;
}

/** Loads, newest first. */
export interface FeedLoads extends Listed {
  readonly loads: readonly FeedLoad[];
}

/** Refused rows of a load, in the order of the file. */
export interface FeedRejects extends Listed {
  readonly rejects: readonly FeedReject[];
}

/** A feed that was submitted. */
export interface SubmittedFeed {
  readonly loadId: number;
}
