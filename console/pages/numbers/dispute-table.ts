import type { Json } from '../../answers/json.ts';
import type { Dispute } from '../../answers/number-answers.ts';
import { Name, State, Table, When } from '../shell/components.ts';
import { LabelName } from './label-changes.ts';
import { mayDo } from '../shell/request.ts';
import { Link } from '../shell/router.ts';
import { html, type VNode } from '../shell/view.ts';

/** Disputes, with links to their pages for users who may decide them. */
export function DisputeTable({ disputes }: { disputes: readonly Json<Dispute>[] }): VNode {
  return html`<div class="wide-list"><${Table} caption="Disputes" rows=${disputes} keyOf=${({ disputeId }: Json<Dispute>) => disputeId} columns=${[
    {
      title: 'Dispute',
      show: ({ disputeId }: Json<Dispute>) =>
        mayDo('reviewer')
          ? html`<${Link} href=${`/disputes/${disputeId}`}>Dispute ${disputeId}</${Link}>`
          : `Dispute ${disputeId}`,
    },
    { title: 'Number', show: ({ phone }: Json<Dispute>) => phone },
    { title: 'Label then', show: ({ label }: Json<Dispute>) => html`<${LabelName} label=${label} />` },
    { title: 'State', show: ({ state }: Json<Dispute>) => html`<${State} name=${state} />` },
    { title: 'Filed', show: ({ filedAt }: Json<Dispute>) => html`<${When} at=${filedAt} />` },
    { title: 'By', show: ({ filedBy }: Json<Dispute>) => html`<${Name} text=${filedBy} />` },
    {
      title: 'Decision',
      show: ({ decision }: Json<Dispute>) => (decision === null ? '–' : html`<${Name} text=${decision.reason} />`),
    },
  ]} /></div>`;
}
