import type { Json } from '../../answers/json.ts';
import type { LetterRecord } from '../../answers/letter-answers.ts';
import { Name, State, Table, type Columns, When } from '../shell/components.ts';
import { Link } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

const dayMs = 86_400_000;

/** Letters with their validity; `withBrand` adds the brand's column. */
export function LetterTable({
  letters,
  withBrand = false,
}: {
  letters: readonly Json<LetterRecord>[];
  withBrand?: boolean;
}): VNode {
  const columns: Columns<Json<LetterRecord>> = [
    ['Letter', ({ letterId }) => html`<${Link} href=${`/letters/${letterId}`}>Letter ${letterId}</${Link}>`],
    withBrand && ['Brand', ({ handle }) => html`<${Link} href=${`/brands/${handle}`}>${handle}</${Link}>`],
    ['State', ({ state }) => html`<${State} name=${state} />`],
    ['Signed', ({ signedOn }) => html`<span class="when">${signedOn ?? '–'}</span>`],
    ['Valid until', (letter) => html`<${ValidUntil} letter=${letter} />`],
    ['Numbers', ({ numbers }) => formatCount(numbers), 'number'],
    ['Submitted', ({ submittedAt }) => html`<${When} at=${submittedAt} />`],
    ['Decided by', ({ decidedBy }) => html`<${Name} text=${decidedBy ?? '–'} />`],
  ];
  return html`<${Table} box="wide-list" caption="Letters of authorization" rows=${letters} keyOf=${({ letterId }: Json<LetterRecord>) => letterId} columns=${columns} />`;
}

/** The end of a letter's validity, and the days until then. */
export function ValidUntil({
  letter: { validUntil, state },
}: {
  letter: Pick<Json<LetterRecord>, 'validUntil' | 'state'>;
}): VNode {
  if (validUntil === null) return html`<span>–</span>`;
  const days = Math.ceil((Date.parse(validUntil) - Date.now()) / dayMs);
  const inForce = state === 'approved' || state === 'expiring';
  return html`<span><${When} at=${validUntil} />${inForce ? html` <span class="soft">${days > 0 ? `in ${days} ${days === 1 ? 'day' : 'days'}` : 'over'}</span>` : null}</span>`;
}
