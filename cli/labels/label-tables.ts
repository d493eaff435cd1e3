import {
  describeLabelReason,
  LABEL_CAUSES,
  type Label,
  type LabelEvent,
} from '../../pipelines/labels/label-history.ts';
import type { Dispute } from '../../pipelines/labels/number-dispute.ts';
import { formatTable, formatTime } from '../table.ts';

/** A label in words: `SPAM 6`. */
export function formatLabel({ level, category }: Pick<Label, 'level' | 'category'>): string {
  return category === null ? level : `${level} ${category}`;
}

/** Changes of a label as a table for people. */
export function formatLabelEvents(events: readonly LabelEvent[]): string {
  return formatTable(events, [
    { title: 'when', value: ({ at }) => formatTime(at) },
    { title: 'from', value: ({ from }) => formatLabel(from) },
    { title: 'to', value: ({ to }) => formatLabel(to) },
    { title: 'cause', value: ({ cause }) => LABEL_CAUSES[cause] },
    { title: 'why', value: (event) => describeLabelReason(event) },
  ]);
}

/** A dispute in one line, with its decision. */
export function formatDispute({ disputeId, filedAt, filedBy, reason, state, decision }: Dispute): string {
  const end = decision === null ? state : `${state} ${formatTime(decision.at)} by ${decision.by}: ${decision.reason}`;
  return `dispute ${disputeId}, filed ${formatTime(filedAt)} by ${filedBy} (${reason}): ${end}`;
}
