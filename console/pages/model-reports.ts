import { Name, Table, When } from './components.ts';
import { Link } from './router.ts';
import { formatCount } from './text.ts';
import { html, type VNode } from './view.ts';

/** A drift report in a list. */
export interface ListedReport {
  readonly reportId: number;
  readonly old: string;
  readonly new: string;
  readonly batch: string;
  readonly madeAt: string;
  readonly madeBy: string;
  readonly counts: { readonly compared: number; readonly notCompared: number; readonly flips: number };
}

/** A page of the list. */
export interface ReportPage {
  readonly reports: readonly ListedReport[];
  readonly next: string | null;
}

/** Drift reports, newest first. */
export function DriftReportTable({ reports }: { reports: readonly ListedReport[] }): VNode {
  return html`<${Table} caption="Reports, newest first" rows=${reports} keyOf=${({ reportId }: ListedReport) => reportId} columns=${[
    { title: 'Report', show: ({ reportId }: ListedReport) => html`<${Link} href=${`/drift/${reportId}`}>report ${reportId}</${Link}>` },
    { title: 'Old', show: ({ old }: ListedReport) => old },
    { title: 'New', show: ({ new: now }: ListedReport) => now },
    { title: 'Compared', isNumber: true, show: ({ counts }: ListedReport) => formatCount(counts.compared) },
    { title: 'Other decision', isNumber: true, show: ({ counts }: ListedReport) => formatCount(counts.flips) },
    { title: 'Not compared', isNumber: true, show: ({ counts }: ListedReport) => formatCount(counts.notCompared) },
    { title: 'Made', show: ({ madeAt }: ListedReport) => html`<${When} at=${madeAt} />` },
    { title: 'By', show: ({ madeBy }: ListedReport) => html`<${Name} text=${madeBy} />` },
  ]} />`;
}
