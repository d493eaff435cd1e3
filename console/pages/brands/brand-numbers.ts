import type { NumberState, ProvenNumber, ShownBrand, ProvenNumberPage } from '../../answers/brand-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ChoiceFilter, Filters, Paging } from '../shell/list-filters.ts';
import {
  Dialog,
  Empty,
  Facts,
  Name,
  Read,
  Section,
  State,
  Table,
  type Columns,
  ChoiceField,
} from '../shell/components.ts';
import { Day, NumberProof, ProveNumbers } from './number-proof.ts';
import { useReading } from '../shell/reading.ts';
import { ReasonForm } from '../shell/reason-dialog.ts';
import { mayDo, mayRequestBranding, sendJson } from '../shell/request.ts';
import { usePlace } from '../shell/router.ts';
import { asWords, formatCount } from '../shell/text.ts';
import { html, useState, type VNode } from '../shell/view.ts';

const numberStates = Object.keys({
  submitted: 0,
  in_review: 0,
  verified: 0,
  unsuccessful: 0,
  permanently_rejected: 0,
  suspended: 0,
  expired: 0,
  removed: 0,
} satisfies Record<NumberState, 0>);

type NumberAction = ProvenNumber['can'][number];

/** Actions on a number, in the order of the choices. */
const actions: Readonly<Record<NumberAction, { readonly label: string; readonly effect: string }>> = {
  suspend: { label: 'Suspend', effect: "It leaves the next night's file until it is resumed." },
  resume: { label: 'Resume', effect: "It comes back into the next night's file, if a letter in force names it." },
  remove: { label: 'Remove', effect: 'It is taken from the brand. It can be submitted again.' },
  reject: { label: 'Reject permanently', effect: 'No brand can submit it again.' },
};

/** The numbers of a brand by state, with the possible actions. */
export function BrandNumbers({ brand, onChanged }: { brand: Json<ShownBrand>; onChanged: () => void }): VNode {
  const place = usePlace();
  const [chosen, setChosen] = useState<Json<ProvenNumber> | null>(null);
  const query = new URLSearchParams(
    [
      ['state', place.query.get('numbers') ?? ''],
      ['after', place.query.get('after') ?? ''],
    ].filter(([, value]) => value !== '') as [string, string][],
  );
  const reading = useReading<ProvenNumberPage>(`/api/brands/${brand.handle}/numbers?${query.toString()}`);
  const changed = () => {
    reading.readAgain();
    onChanged();
  };
  const columns: Columns<Json<ProvenNumber>> = [
    ['Number', ({ phone }) => phone],
    ['Country', ({ country }) => country ?? '–'],
    ['State', ({ state }) => html`<${State} name=${state} />`],
    ['Call reason', ({ callReason }) => html`<${Name} text=${callReason ?? '–'} />`],
    ['Verified', ({ verifiedAt }) => html`<${Day} at=${verifiedAt} />`],
    ['Proof', (number) => html`<${NumberProof} handle=${brand.handle} number=${number} onChanged=${changed} />`],
    ['Shown until', ({ liveUntil }) => html`<${Day} at=${liveUntil} />`],
    mayDo('reviewer') && [
      'Actions',
      (number) =>
        number.can.length === 0
          ? '–'
          : html`<button type="button" aria-label=${`Change ${number.phone}`} onClick=${() => setChosen(number)}>Change</button>`,
    ],
  ];
  const counts = Object.entries(brand.numbers);
  return html`<${Section} title="Numbers">
    ${counts.length === 0 ? null : html`<${Facts} entries=${counts.map(([state, count]) => [asWords(state), formatCount(count)])} />`}
    ${counts.length > 0 && mayRequestBranding() ? html`<${ProveNumbers} handle=${brand.handle} onChanged=${changed} />` : null}
    <${Filters}><${ChoiceFilter} name="numbers" label="State of the number" choices=${numberStates} /></${Filters}>
    <${Read} reading=${reading} what="numbers" show=${({ numbers, next }: Json<ProvenNumberPage>) => html`
      <${Table} box="wide-list" caption="Numbers of the brand" rows=${numbers} keyOf=${({ phone }: Json<ProvenNumber>) => phone} columns=${columns}
        empty=${html`<${Empty} title="The brand has no such number.">Numbers come with the brand, its updates, and Add Phone number for Branding.</${Empty}>`} />
      <${Paging} next=${next} cursor="after" moreText="More" label="Pages of the numbers" stays=${true} />`} />
    <${Dialog} title=${`Change ${chosen?.phone ?? ''}`} isOpen=${chosen !== null} onClose=${() => setChosen(null)}>
      ${chosen === null ? null : html`<${NumberAction} key=${chosen.phone} handle=${brand.handle} number=${chosen} onClose=${() => setChosen(null)} onChanged=${changed} />`}
    </${Dialog}>
  </${Section}>`;
}

function NumberAction({
  handle,
  number: { phone, state, can },
  onClose,
  onChanged,
}: {
  handle: string;
  number: Json<ProvenNumber>;
  onClose: () => void;
  onChanged: () => void;
}): VNode {
  const names = (Object.keys(actions) as NumberAction[]).filter((name) => can.includes(name));
  const [action, setAction] = useState<NumberAction>(names[0]!);
  const act = async (reason: string) => {
    await sendJson('POST', `/api/brands/${handle}/numbers/action`, { phone, action, reason });
    onChanged();
  };
  return html`<${ReasonForm} confirm=${actions[action].label} isDanger=${action === 'reject'} act=${act} onClose=${onClose}>
    <p>It is <${State} name=${state} /> with ${handle}.</p>
    <${ChoiceField} label="What to do" hint=${actions[action].effect} value=${action} choices=${names.map((name) => [name, actions[name].label])} onChoose=${setAction} />
  </${ReasonForm}>`;
}
