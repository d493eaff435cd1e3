import type { Json } from '../../answers/json.ts';
import type { ListedReport } from '../../answers/model-answers.ts';
import { Name, Table, When } from '../shell/components.ts';
import { Link } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** Drift reports, newest first. */
export function DriftReportTable({ reports }: { reports: readonly Json<ListedReport>[] }): VNode {
  return html`<${Table} caption="Reports, newest first" rows=${reports} keyOf=${({ reportId }: Json<ListedReport>) => reportId} columns=${[
    {
      title: 'Report',
      show: ({ reportId }: Json<ListedReport>) =>
        html`<${Link} href=${`/drift/${reportId}`}>report ${reportId}</${Link}>`,
    },
    { title: 'Old', show: ({ old }: Json<ListedReport>) => old },
    { title: 'New', show: ({ new: now }: Json<ListedReport>) => now },
    { title: 'Compared', isNumber: true, show: ({ counts }: Json<ListedReport>) => formatCount(counts.compared) },
    { title: 'Other decision', isNumber: true, show: ({ counts }: Json<ListedReport>) => formatCount(counts.flips) },
    {
      title: 'Not compared',
      isNumber: true,
      show: ({ counts }: Json<ListedReport>) => formatCount(counts.notCompared),
    },
    { title: 'Made', show: ({ madeAt }: Json<ListedReport>) => html`<${When} at=${madeAt} />` },
    { title: 'By', show: ({ madeBy }: Json<ListedReport>) => html`<${Name} text=${madeBy} />` },
  ]} />`;
}
