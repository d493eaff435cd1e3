import type * as feeds from '../../../console/pages/numbers/feed-types.ts';
import type { listFeedArrivals } from '../../../pipelines/intake/feed-arrivals.ts';
import type { FeedLoad, FeedReject } from '../../../pipelines/intake/load-record.ts';
import type { Fits, Json, Told } from './json.ts';

/** What the pages of feeds read, against what they are answered. */
export interface FeedAnswersFit {
  readonly arrivals: Fits<feeds.ShownArrivals['arrivals'], Told<typeof listFeedArrivals>>;
  readonly load: Fits<feeds.ShownLoad, Json<FeedLoad>>;
  readonly loads: Fits<feeds.ShownLoads, Json<{ loads: FeedLoad[]; next: string | null }>>;
  readonly rejects: Fits<feeds.ShownRejects, Json<{ rejects: FeedReject[]; next: string | null }>>;
  readonly taken: Fits<feeds.TakenFeed, Json<{ loadId: number }>>;
}
