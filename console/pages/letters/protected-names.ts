import type { NearName, OwnProtectedName, ProtectedNames } from '../../answers/brand-answers.ts';
import type { Json } from '../../answers/json.ts';
import {
  ActionButton,
  Field,
  Name,
  Read,
  Section,
  Table,
  type Columns,
  When,
  ChoiceField,
} from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { ReasonButton } from '../shell/reason-dialog.ts';
import { mayDo, sendJson } from '../shell/request.ts';
import { asWords } from '../shell/text.ts';
import { html, useState, type VNode } from '../shell/view.ts';

/** Protected names: the check of a name, and the names that operators have added. */
export function ProtectedNamesSection(): VNode {
  const reading = useReading<ProtectedNames>('/api/protected-names');
  const remove = (name: string) => async (reason: string) => {
    await sendJson('POST', '/api/protected-names/remove', { name, reason });
    reading.readAgain();
  };
  const columns: Columns<Json<OwnProtectedName>> = [
    ['Name', ({ name }) => html`<${Name} text=${name} />`],
    ['Category', ({ category }) => asWords(category)],
    ['Country', ({ country }) => country ?? 'several'],
    ['Ordinary word', ({ common }) => (common ? 'yes' : 'no')],
    ['Since', ({ addedAt, addedBy }) => html`<${When} at=${addedAt} /> by <${Name} text=${addedBy} />`],
    ['Reason', ({ reason }) => html`<${Name} text=${reason} />`],
    mayDo('operator') && [
      'Actions',
      ({ name }) =>
        html`<${ReasonButton} label="Remove" title=${`Remove ${name}?`} confirm="Remove the name" act=${remove(name)}><p>From then on, brands near it no longer go to a person for its sake.</p></${ReasonButton}>`,
    ],
  ];
  return html`<${Section} title="Protected names">
    <p>A brand whose name is near a protected one always goes to a person. The service brings a list of its own; operators add to it.</p>
    <${Read} reading=${reading} what="protected names" show=${({ names, categories }: Json<ProtectedNames>) => html`
      <${NameCheck} categories=${categories} onAdded=${reading.readAgain} />
      <${Table} box="wide-list" caption="Names that operators have protected" rows=${names} keyOf=${({ name }: Json<OwnProtectedName>) => name} columns=${columns}
        empty=${html`<p class="soft">Operators have added no name.</p>`} />`} />
  </${Section}>`;
}

function NameCheck({ categories, onAdded }: { categories: readonly string[]; onAdded: () => void }): VNode {
  const [name, setName] = useState('');
  const [result, setResult] = useState<Json<NearName> | null>(null);
  const check = async () => setResult(await sendJson<NearName>('POST', '/api/protected-names/check', { name }));
  const added = () => {
    setResult(null);
    onAdded();
  };
  const type = ({ target }: Event) => {
    setName((target as HTMLInputElement).value);
    setResult(null);
  };
  return html`<${Field} label="Name" hint=${result === null ? 'As it would be shown on a call.' : html`<span role="status">${nearWords(result)}</span>`}>${(ids: object) => html`<input autocomplete="off" maxlength="128" value=${name} onInput=${type} ...${ids} />`}</${Field}>
    <div class="actions"><${ActionButton} disabled=${name.trim() === ''} act=${check}>Check the name</${ActionButton}>${mayDo('operator') && name.trim() !== '' ? html`<${Addition} name=${name} categories=${categories} onAdded=${added} />` : null}</div>` as VNode;
}

function nearWords({ near }: Json<NearName>): string {
  return near === null
    ? 'It is near no protected name.'
    : `It is near ${near.name} (${asWords(near.category)}): ${near.how}.`;
}

function Addition({
  name,
  categories,
  onAdded,
}: {
  name: string;
  categories: readonly string[];
  onAdded: () => void;
}): VNode {
  const [{ category, country, common }, setChoice] = useState({ category: 'brand', country: '', common: false });
  const change = (changed: object) => setChoice((before) => ({ ...before, ...changed }));
  const add = async (reason: string) => {
    await sendJson('POST', '/api/protected-names', {
      name,
      category,
      country: country === '' ? null : country.toUpperCase(),
      common,
      reason,
    });
    onAdded();
  };
  return html`<${ReasonButton} label="Protect the name" title=${`Protect ${name}`} confirm="Protect it" act=${add}>
    <p>From the next request on, brands near it go to a person. Brands that are approved stay as they are.</p>
    <${ChoiceField} label="Category" value=${category} choices=${categories.map((each) => [each, asWords(each)])} onChoose=${(chosen: string) => change({ category: chosen })} />
    <${Field} label="Country" hint="Two letters of ISO 3166-1; empty for several countries.">${(ids: object) => html`<input maxlength="2" autocomplete="off" value=${country} onInput=${({ target }: Event) => change({ country: (target as HTMLInputElement).value })} ...${ids} />`}</${Field}>
    <label><input type="checkbox" checked=${common} onChange=${({ target }: Event) => change({ common: (target as HTMLInputElement).checked })} /> It is an ordinary word or a family name, too</label>
  </${ReasonButton}>`;
}
