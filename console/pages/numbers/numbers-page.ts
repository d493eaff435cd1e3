import type { Json } from '../../answers/json.ts';
import type { ShownNumber } from '../../answers/number-answers.ts';
import {
  ActionButton,
  Empty,
  Facts,
  Field,
  Name,
  Page,
  ProblemNotice,
  Section,
  State,
  When,
} from '../shell/components.ts';
import { useAskedNumber } from './asked-number.ts';
import { DisputeTable } from './dispute-table.ts';
import { LabelChanges, LabelName } from './label-changes.ts';
import { ReasonButton } from '../shell/reason-dialog.ts';
import { asProblem, mayDo, sendJson, type Problem } from '../shell/request.ts';
import { Link } from '../shell/router.ts';
import { asWords, formatCount } from '../shell/text.ts';
import { html, useState, type Shown, type VNode } from '../shell/view.ts';

/**
 * Looks a number up: its label, the reason, and since when. The number never appears in an address, since browsers and proxies
 * store these.
 */
export default function NumbersPage(): VNode {
  const [phone, setPhone] = useState('');
  const [number, setNumber] = useState<Json<ShownNumber> | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const lookUp = async (wanted = phone) => {
    setProblem(null);
    try {
      setNumber(await sendJson<ShownNumber>('POST', '/api/numbers/look-up', { phone: wanted }));
    } catch (error) {
      setNumber(null);
      setProblem(asProblem(error));
    }
  };
  useAskedNumber((searched) => {
    setPhone(searched);
    void lookUp(searched);
  });
  return html`<${Page} title="Numbers" lead="The label of a number, why it has it, and since when.">
    <form class="look-up" onSubmit=${(event: Event) => {
      event.preventDefault();
      void lookUp();
    }}>
      <${Field} label="Number" hint="In international form: +12025550143.">${(ids: object) => html`<input type="tel" autocomplete="off" maxlength="40" required value=${phone} onInput=${({ target }: Event) => setPhone((target as HTMLInputElement).value)} ...${ids} />`}</${Field}>
      <div class="actions"><${ActionButton} kind="primary" disabled=${phone.trim() === ''} act=${() => lookUp()}>Look up</${ActionButton}></div>
    </form>
    ${problem === null ? null : html`<${ProblemNotice} problem=${problem} />`}
    ${number === null ? null : html`<${FoundNumber} number=${number} onChanged=${setNumber} />`}
  </${Page}>`;
}

function FoundNumber({
  number,
  onChanged,
}: {
  number: Json<ShownNumber>;
  onChanged: (number: Json<ShownNumber>) => void;
}): VNode {
  const { phone, disputes, changes } = number;
  const clear = async (reason: string) =>
    onChanged(await sendJson<ShownNumber>('POST', '/api/numbers/clear', { phone, reason }));
  return html`<div class="page" aria-live="polite">
    <${Section} title=${phone} actions=${mayDo('reviewer') ? html`<${ReasonButton} label="Clear the number" title=${`Clear ${phone}`} confirm="Clear it" isDanger=${true} act=${clear}><p>It is published as NEUTRAL until a feed has another word on it, or new complaints come.</p></${ReasonButton}>` : null}>
      <${Facts} entries=${factsOf(number)} />
    </${Section}>
    <${Section} title="History"><${LabelChanges} changes=${changes} /></${Section}>
    <${Section} title="Disputes">${disputes.length === 0 ? html`<${Empty} title="Nobody has disputed its label.">Disputes are filed on the command line, or through the intake.</${Empty}>` : html`<${DisputeTable} disputes=${disputes} />`}</${Section}>
  </div>`;
}

function factsOf({
  country,
  reputation,
  since,
  feed,
  complaints,
  score,
  redress: [cleared],
  protection,
}: Json<ShownNumber>): readonly (readonly [string, Shown])[] {
  const facts: (readonly [string, Shown])[] = [
    [
      'Label',
      reputation === null
        ? 'not in the caches'
        : html`<${State} name=${reputation.level} />${reputation.category === null ? null : ` ${reputation.category.id} ${asWords(reputation.category.name)}`}`,
    ],
    ['Decided by', reputation?.source ?? '–'],
    ['Since', since === null ? '–' : html`<${When} at=${since} />`],
    ['Country', country ?? '–'],
    ['Complaints', formatCount(complaints)],
  ];
  if (feed !== null)
    facts.push([
      'A feed says',
      html`<${LabelName} label=${feed} /> (<${Link} href=${`/feeds/${feed.loadId}`}>load ${feed.loadId}</${Link}>, <${When} at=${feed.requestedAt} />)`,
    ]);
  if (score !== null)
    facts.push([
      'The rule says',
      html`<${LabelName} label=${score} /> (${score.ruleVersion}, ${formatCount(score.reports)} reports that count, ${formatCount(score.independentReports)} independent, the last <${When} at=${score.lastReportedAt} />)`,
    ]);
  if (cleared !== undefined)
    facts.push([
      'Last cleared',
      html`<${When} at=${cleared.clearedAt} /> by <${Name} text=${cleared.clearedBy} />: <${Name} text=${cleared.reason} />`,
    ]);
  if (protection !== null) facts.push(['Never labelled', protection]);
  return facts;
}
