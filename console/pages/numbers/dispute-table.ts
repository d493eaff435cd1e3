import { Name, State, Table, When } from '../shell/components.ts';
import { LabelName } from './label-changes.ts';
import type { Dispute } from './number-types.ts';
import { mayDo } from '../shell/request.ts';
import { Link } from '../shell/router.ts';
import { html, type VNode } from '../shell/view.ts';

/** Disputes, each with the way to its page for those who may decide it. */
export function DisputeTable({ disputes }: { disputes: readonly Dispute[] }): VNode {
  return html`<div class="wide-list"><${Table} caption="Disputes" rows=${disputes} keyOf=${({ disputeId }: Dispute) => disputeId} columns=${[
    {
      title: 'Dispute',
      show: ({ disputeId }: Dispute) =>
        mayDo('reviewer')
          ? html`<${Link} href=${`/disputes/${disputeId}`}>Dispute ${disputeId}</${Link}>`
          : `Dispute ${disputeId}`,
    },
    { title: 'Number', show: ({ phone }: Dispute) => phone },
    { title: 'Label then', show: ({ label }: Dispute) => html`<${LabelName} label=${label} />` },
    { title: 'State', show: ({ state }: Dispute) => html`<${State} name=${state} />` },
    { title: 'Filed', show: ({ filedAt }: Dispute) => html`<${When} at=${filedAt} />` },
    { title: 'By', show: ({ filedBy }: Dispute) => html`<${Name} text=${filedBy} />` },
    {
      title: 'Decision',
      show: ({ decision }: Dispute) => (decision === null ? '–' : html`<${Name} text=${decision.reason} />`),
    },
  ]} /></div>`;
}
