import type { Letter } from './brand-types.ts';
import { Name, State, Table, When } from '../shell/components.ts';
import { Link } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

const dayMs = 86_400_000;

/** Letters with their validity; `withBrand`: of several brands. */
export function LetterTable({
  letters,
  withBrand = false,
}: {
  letters: readonly Letter[];
  withBrand?: boolean;
}): VNode {
  const brand = withBrand
    ? [{ title: 'Brand', show: ({ handle }: Letter) => html`<${Link} href=${`/brands/${handle}`}>${handle}</${Link}>` }]
    : [];
  return html`<div class="wide-list"><${Table} caption="Letters of authorization" rows=${letters} keyOf=${({ letterId }: Letter) => letterId} columns=${[
    {
      title: 'Letter',
      show: ({ letterId }: Letter) => html`<${Link} href=${`/letters/${letterId}`}>Letter ${letterId}</${Link}>`,
    },
    ...brand,
    { title: 'State', show: ({ state }: Letter) => html`<${State} name=${state} />` },
    { title: 'Signed', show: ({ signedOn }: Letter) => html`<span class="when">${signedOn ?? '–'}</span>` },
    { title: 'Valid until', show: (letter: Letter) => html`<${ValidUntil} letter=${letter} />` },
    { title: 'Numbers', isNumber: true, show: ({ numbers }: Letter) => formatCount(numbers) },
    { title: 'Submitted', show: ({ submittedAt }: Letter) => html`<${When} at=${submittedAt} />` },
    { title: 'Decided by', show: ({ decidedBy }: Letter) => html`<${Name} text=${decidedBy ?? '–'} />` },
  ]} /></div>`;
}

/** The end of a letter with how far away it is. */
export function ValidUntil({ letter: { validUntil, state } }: { letter: Pick<Letter, 'validUntil' | 'state'> }): VNode {
  if (validUntil === null) return html`<span>–</span>`;
  const days = Math.ceil((Date.parse(validUntil) - Date.now()) / dayMs);
  const inForce = state === 'approved' || state === 'expiring';
  return html`<span><${When} at=${validUntil} />${inForce ? html` <span class="soft">${days > 0 ? `in ${days} ${days === 1 ? 'day' : 'days'}` : 'over'}</span>` : null}</span>`;
}
