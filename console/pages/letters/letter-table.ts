import type { Json } from '../../answers/json.ts';
import type { LetterRecord } from '../../answers/letter-answers.ts';
import { Name, State, Table, When } from '../shell/components.ts';
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
  const brand = withBrand
    ? [
        {
          title: 'Brand',
          show: ({ handle }: Json<LetterRecord>) => html`<${Link} href=${`/brands/${handle}`}>${handle}</${Link}>`,
        },
      ]
    : [];
  return html`<div class="wide-list"><${Table} caption="Letters of authorization" rows=${letters} keyOf=${({ letterId }: Json<LetterRecord>) => letterId} columns=${[
    {
      title: 'Letter',
      show: ({ letterId }: Json<LetterRecord>) =>
        html`<${Link} href=${`/letters/${letterId}`}>Letter ${letterId}</${Link}>`,
    },
    ...brand,
    { title: 'State', show: ({ state }: Json<LetterRecord>) => html`<${State} name=${state} />` },
    { title: 'Signed', show: ({ signedOn }: Json<LetterRecord>) => html`<span class="when">${signedOn ?? '–'}</span>` },
    { title: 'Valid until', show: (letter: Json<LetterRecord>) => html`<${ValidUntil} letter=${letter} />` },
    { title: 'Numbers', isNumber: true, show: ({ numbers }: Json<LetterRecord>) => formatCount(numbers) },
    { title: 'Submitted', show: ({ submittedAt }: Json<LetterRecord>) => html`<${When} at=${submittedAt} />` },
    { title: 'Decided by', show: ({ decidedBy }: Json<LetterRecord>) => html`<${Name} text=${decidedBy ?? '–'} />` },
  ]} /></div>`;
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
