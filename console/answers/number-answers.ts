import {
  describeLabelReason,
  LABEL_CAUSES,
  type Label,
  type LabelEvent,
} from '../../pipelines/labels/label-history.ts';
import { readNumberHistory, type Dispute } from '../../pipelines/labels/number-dispute.ts';
import { readNumber, type NumberRecord } from '../../pipelines/labels/number-record.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import type { listFeedArrivals } from '../../pipelines/feeds/feed-arrivals.ts';
import type { FeedLoad, FeedReject } from '../../pipelines/feeds/load-record.ts';
import type { Listed } from './json.ts';

export type { Dispute, FeedLoad, FeedReject, Label };

/** Most label changes, and disputes, on the page of a number; the command line lists all. */
const historyShown = 100;

/** A change of a label with its cause in words. */
export interface ShownLabelChange {
  readonly eventId: number;
  readonly at: Date;
  readonly from: Label;
  readonly to: Label;
  readonly cause: string;
  /** The basis: a load, a rule with its counts, or who cleared the number and why. */
  readonly why: string;
}

/** A number with its label, the reason for it, and its disputes. */
export type ShownNumber = Pick<
  NumberRecord,
  'phone' | 'country' | 'reputation' | 'since' | 'feed' | 'complaints' | 'score' | 'redress' | 'protection'
> & { readonly changes: readonly ShownLabelChange[]; readonly disputes: readonly Dispute[] };

/** Reads a number for its page. @throws ServiceError `phone_invalid`, `phone_unknown` */
export async function shownNumber(db: Queryable, phoneText: string): Promise<ShownNumber> {
  const { phone, country, reputation, since, feed, complaints, score, redress, protection } = await readNumber(
    db,
    phoneText,
  );
  const { changes, disputes } = await readNumberHistory(db, phone, { limit: historyShown });
  return {
    phone,
    country,
    reputation,
    since,
    feed,
    complaints,
    score,
    redress,
    protection,
    changes: changes.map(shownChange),
    disputes,
  };
}

function shownChange(event: LabelEvent): ShownLabelChange {
  const { eventId, at, from, to, cause } = event;
  return { eventId, at, from, to, cause: LABEL_CAUSES[cause], why: describeLabelReason(event) };
}

/** The contact of the person who filed a dispute. */
export interface DisputeContact {
  readonly contact: string | null;
}

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

/** Disputes, oldest first. */
export type DisputePage = Listed & { readonly disputes: readonly Dispute[] };
