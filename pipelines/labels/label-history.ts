import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { pruneRows } from '../../sql/prune.ts';
import { sql } from '../../sql/sql.ts';

/**
 * Why a published label changed. Triggers write the history, so that no code path can omit it; they see the source of the new
 * label and take the rest from {@link setLabelCause}.
 */
export const LABEL_CAUSES = {
  feed: 'a reputation feed',
  complaints: 'the rule on complaints',
  clearing: 'an operator cleared the number',
  dispute: 'a dispute was decided for the number',
  protection: 'the list of numbers that are never labelled has changed',
  removed: 'the number was removed',
  other: 'another change of the database',
} as const;

type LabelCause = keyof typeof LABEL_CAUSES;

/** The cause that a transaction gives for its changes of labels. */
interface GivenCause {
  readonly cause: LabelCause;
  /** Of a scoring: the version of its rule, and the instant at which complaints are evaluated. */
  readonly ruleVersion?: string;
  readonly evaluatedAt?: Date;
  /** The clearing, with its reason. */
  readonly redressId?: number;
}

/** A published label: level, and category if it has one. */
export interface Label {
  readonly level: string;
  readonly category: number | null;
  /** The origin of the label; null without a label. */
  readonly source: string | null;
}

/** Counts of the complaints behind a label. Days are UTC. Counts that the rule does not use are absent. */
interface LabelEvidence {
  readonly score?: number;
  readonly reports?: number;
  readonly independentReports?: number;
  readonly states?: number;
  readonly days?: number;
  readonly firstReportDay?: string;
  readonly lastReportDay?: string;
}

/** One change of a published label. */
export interface LabelEvent {
  readonly eventId: number;
  readonly at: Date;
  readonly from: Label;
  readonly to: Label;
  readonly cause: LabelCause;
  readonly ruleVersion: string | null;
  readonly evaluatedAt: Date | null;
  readonly loadId: number | null;
  readonly evidence: LabelEvidence | null;
  /** Of a clearing: who did it, and why. */
  readonly redress: { readonly redressId: number; readonly reason: string; readonly by: string } | null;
}

/** Sets the cause of label changes until the transaction of `client` ends. */
export async function setLabelCause(client: Queryable, cause: GivenCause): Promise<void> {
  await client.query(sql('labels/set_label_cause'), [JSON.stringify(cause)]);
}

/** The changes of a number's label, newest first; `phone` in E.164. */
export async function listLabelEvents(
  db: Queryable,
  phone: string,
  { limit }: { limit: number },
): Promise<LabelEvent[]> {
  return queryRows<LabelEvent>(db, sql('labels/list_label_events'), [phone, limit]);
}

/** The reason of a label change in words: who cleared the number and why, the load, or the rule with its counts. */
export function describeLabelReason({
  cause,
  redress,
  loadId,
  ruleVersion,
  evaluatedAt,
  evidence,
}: Omit<LabelEvent, 'eventId' | 'at' | 'from' | 'to'>): string {
  if (redress !== null) return `${redress.by}: ${redress.reason}`;
  if (loadId !== null) return `load ${loadId}`;
  if (cause !== 'complaints') return '';
  const evaluated = evaluatedAt === null ? null : `evaluated at ${evaluatedAt.toISOString()}`;
  return [ruleVersion, evaluated, evidence === null ? null : describeEvidence(evidence)]
    .filter((part) => part !== null)
    .join('; ');
}

function describeEvidence({ reports, independentReports, states, days, lastReportDay }: LabelEvidence): string {
  const counts = Object.entries({ reports, independent: independentReports, states, days }).filter(
    ([, count]) => count !== undefined,
  );
  return [
    ...counts.map(([name, count]) => `${count} ${name}`),
    ...(lastReportDay === undefined ? [] : [`last report ${lastReportDay}`]),
  ].join(', ');
}

/** Rows that one statement removes, so that it does not hold locks for long. */
const prunedAtOnce = 50_000;

/** Removes changes older than `retentionDays` (the database refuses less than 400); returns their number. */
export function pruneLabelHistory(
  db: Queryable,
  retention: { readonly retentionDays: number; readonly at: Date },
): Promise<number> {
  return pruneRows(db, sql('labels/prune_label_events'), { ...retention, atOnce: prunedAtOnce });
}
