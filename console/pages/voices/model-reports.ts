import type { Json } from '../../answers/json.ts';
import type { DefaultChange, ListedReport } from '../../answers/model-answers.ts';
import { Name, Table, type Columns, When } from '../shell/components.ts';
import { Link } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
import { html, type Shown, type VNode } from '../shell/view.ts';

const columns: Columns<Json<ListedReport>> = [
  ['Report', ({ reportId }) => html`<${Link} href=${`/drift/${reportId}`}>report ${reportId}</${Link}>`],
  ['Old', ({ old }) => old],
  ['New', ({ new: now }) => now],
  ['Compared', ({ counts }) => formatCount(counts.compared), 'number'],
  ['Other decision', ({ counts }) => formatCount(counts.flips), 'number'],
  ['Not compared', ({ counts }) => formatCount(counts.notCompared), 'number'],
  ['Made', ({ madeAt }) => html`<${When} at=${madeAt} />`],
  ['By', ({ madeBy }) => html`<${Name} text=${madeBy} />`],
];

/** Drift reports, newest first. */
export function DriftReportTable({ reports }: { reports: readonly Json<ListedReport>[] }): VNode {
  return html`<${Table} caption="Reports, newest first" rows=${reports} keyOf=${({ reportId }: Json<ListedReport>) => reportId} columns=${columns} />`;
}

/** What a change of a default rests on: the report, or nothing. */
export function basisOf({ reportId, forced }: Pick<Json<DefaultChange>, 'reportId' | 'forced'>): Shown {
  if (reportId !== null) return html`<${Link} href=${`/drift/${reportId}`}>report ${reportId}</${Link}>`;
  return forced ? 'nothing: forced' : '–';
}
