import { ServiceError } from '../../runtime/errors.ts';
import { complaintFeed } from './complaint-feed.ts';
import { directoryFeed } from './directory-feed.ts';
import { reputationFeed } from './reputation-feed.ts';
import type { FeedDefinition } from './feed-definition.ts';

/** The closed list of feeds. */
export const FEEDS = [reputationFeed, directoryFeed, complaintFeed] as const satisfies readonly FeedDefinition[];

export type FeedName = (typeof FEEDS)[number]['name'];

/**
 * The definition of a feed by its name.
 * @throws ServiceError `feed_unknown`
 */
export function findFeed(name: string): FeedDefinition & { readonly name: FeedName } {
  const found = FEEDS.find((feed) => feed.name === name);
  if (found === undefined) {
    throw new ServiceError('feed_unknown', {
      operation: 'find feed',
      object: name,
      hint: `The feeds are ${FEEDS.map((feed) => feed.name).join(', ')}.`,
    });
  }
  return found;
}
