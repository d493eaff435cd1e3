import type { Json } from '../../answers/json.ts';
import type { LetterRequest, RequestedNumber, RequestedNumberPage } from '../../answers/letter-answers.ts';
import { Empty, Pager, Read, State, Table, type Columns } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { formatCount } from '../shell/text.ts';
import { html, useState, type VNode } from '../shell/view.ts';

const columns: Columns<Json<RequestedNumber>> = [
  ['Line', ({ line }) => formatCount(line), 'number'],
  ['Number', ({ phone }) => phone],
  [
    'On the letter',
    ({ authorized: isOn }) => html`<span class=${`state ${isOn ? 'good' : 'warn'}`}>${isOn ? 'yes' : 'no'}</span>`,
  ],
  ['State now', ({ state }) => (state === null ? '–' : html`<${State} name=${state} />`)],
];

/** The numbers requested with a letter, and which of them it authorizes. */
export function RequestedNumbers({
  letterId,
  request: { requested, authorized },
}: {
  letterId: number;
  request: Pick<Json<LetterRequest>, 'requested' | 'authorized'>;
}): VNode {
  const [after, setAfter] = useState('0');
  const [missing, setMissing] = useState(false);
  const reading = useReading<RequestedNumberPage>(
    requested === 0 ? null : `/api/letters/${letterId}/numbers?limit=20&after=${after}&missing=${missing ? '1' : '0'}`,
  );
  if (requested === 0)
    return html`<${Empty} title="No number was requested with the letter.">Numbers can follow with Add Phone number for Branding.</${Empty}>`;
  const choose = ({ target }: Event) => {
    setAfter('0');
    setMissing((target as HTMLInputElement).checked);
  };
  return html`<p>${formatCount(authorized)} of ${formatCount(requested)} ${requested === 1 ? 'requested number is' : 'requested numbers are'} on the letter or its CSV.</p>
    ${authorized === requested ? null : html`<p><label class="check-line"><input type="checkbox" checked=${missing} onChange=${choose} /> Only those that are not on it</label></p>`}
    <${Read} reading=${reading} what="numbers" show=${({ numbers, next }: Json<RequestedNumberPage>) => html`
      <${Table} caption="Requested numbers" rows=${numbers} keyOf=${({ line }: Json<RequestedNumber>) => line} columns=${columns} />
      ${next === null && after === '0' ? null : html`<${Pager} moreText="More" label="Pages of the requested numbers" next=${next} isFirst=${after === '0'} onFirst=${() => setAfter('0')} onNext=${setAfter} />`}`} />` as VNode;
}
