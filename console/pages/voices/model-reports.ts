import { Name, Table, When } from '../shell/components.ts';
import type { ListedReport } from './model-types.ts';
import { Link } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** Drift reports, newest first. */
export function DriftReportTable({ reports }: { reports: readonly ListedReport[] }): VNode {
  return html`<${Table} caption="Reports, newest first" rows=${reports} keyOf=${({ reportId }: ListedReport) => reportId} columns=${[
    {
      title: 'Report',
      show: ({ reportId }: ListedReport) => html`<${Link} href=${`/drift/${reportId}`}>report ${reportId}</${Link}>`,
    },
    { title: 'Old', show: ({ old }: ListedReport) => old },
    { title: 'New', show: ({ new: now }: ListedReport) => now },
    { title: 'Compared', isNumber: true, show: ({ counts }: ListedReport) => formatCount(counts.compared) },
    { title: 'Other decision', isNumber: true, show: ({ counts }: ListedReport) => formatCount(counts.flips) },
    { title: 'Not compared', isNumber: true, show: ({ counts }: ListedReport) => formatCount(counts.notCompared) },
    { title: 'Made', show: ({ madeAt }: ListedReport) => html`<${When} at=${madeAt} />` },
    { title: 'By', show: ({ madeBy }: ListedReport) => html`<${Name} text=${madeBy} />` },
  ]} />`;
}
