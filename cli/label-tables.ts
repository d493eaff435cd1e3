import { LABEL_CAUSES, type Label, type LabelEvent, type LabelEvidence } from '../pipelines/intake/label-history.ts';
import { formatTable, formatTime } from './table.ts';

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
    { title: 'why', value: (event) => reasonOf(event) },
  ]);
}

function reasonOf({ cause, redress, loadId, ruleVersion, evaluatedAt, evidence }: LabelEvent): string {
  if (redress !== null) return `${redress.by}: ${redress.reason}`;
  if (loadId !== null) return `load ${loadId}`;
  if (cause !== 'complaints') return '';
  return [ruleVersion, evaluatedAt === null ? null : `evaluated ${formatTime(evaluatedAt)}`, evidence === null ? null : formatEvidence(evidence)].filter((part) => part !== null).join('; ');
}

function formatEvidence({ reports, independentReports, states, days, lastReportDay }: LabelEvidence): string {
  const counts = Object.entries({ reports, independent: independentReports, states, days }).filter(([, count]) => count !== undefined);
  return [...counts.map(([name, count]) => `${count} ${name}`), ...(lastReportDay === undefined ? [] : [`last report ${lastReportDay}`])].join(', ');
}
