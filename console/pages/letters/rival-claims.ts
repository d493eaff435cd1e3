import type { Json } from '../../answers/json.ts';
import type { RivalClaim } from '../../answers/brand-answers.ts';
import { Name, State, Table, type Columns } from '../shell/components.ts';
import { Link } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

const columns: Columns<Json<RivalClaim>> = [
  ['Brand', ({ handle }) => html`<${Link} href=${`/brands/${handle}`}>${handle}</${Link}>`],
  ['Owner', ({ owner }) => html`<${Name} text=${owner} />`],
  ['State', ({ state }) => html`<${State} name=${state} />`],
  ['Numbers', ({ numbers }) => formatCount(numbers), 'number'],
  ['Of them live', ({ live }) => formatCount(live), 'number'],
];

/** Other brands that claim numbers of the one to decide. */
export function RivalClaims({ rivals }: { rivals: readonly Json<RivalClaim>[] }): VNode {
  return html`<${Table} caption="Other brands that claim numbers of this one" rows=${rivals} keyOf=${({ handle }: Json<RivalClaim>) => handle} columns=${columns} />`;
}
