import type { Json } from '../../answers/json.ts';
import type { Dispute } from '../../answers/number-answers.ts';
import { Name, State, Table, type Columns, When } from '../shell/components.ts';
import { LabelName } from './label-changes.ts';
import { mayDo } from '../shell/request.ts';
import { Link } from '../shell/router.ts';
import { html, type VNode } from '../shell/view.ts';

const columns: Columns<Json<Dispute>> = [
  [
    'Dispute',
    ({ disputeId }) =>
      mayDo('reviewer')
        ? html`<${Link} href=${`/disputes/${disputeId}`}>Dispute ${disputeId}</${Link}>`
        : `Dispute ${disputeId}`,
  ],
  ['Number', ({ phone }) => phone],
  ['Label then', ({ label }) => html`<${LabelName} label=${label} />`],
  ['State', ({ state }) => html`<${State} name=${state} />`],
  ['Filed', ({ filedAt }) => html`<${When} at=${filedAt} />`],
  ['By', ({ filedBy }) => html`<${Name} text=${filedBy} />`],
  ['Decision', ({ decision }) => (decision === null ? '–' : html`<${Name} text=${decision.reason} />`)],
];

/** Disputes, with links to their pages for users who may decide them. */
export function DisputeTable({ disputes }: { disputes: readonly Json<Dispute>[] }): VNode {
  return html`<${Table} box="wide-list" caption="Disputes" rows=${disputes} keyOf=${({ disputeId }: Json<Dispute>) => disputeId} columns=${columns} />`;
}
