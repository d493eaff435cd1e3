import type { Json } from '../../answers/json.ts';
import type { Label, ShownLabelChange } from '../../answers/number-answers.ts';
import { Empty, Name, State, Table, type Columns, When } from '../shell/components.ts';
import { html, type VNode } from '../shell/view.ts';

/** A label: its level, with the id of its category. */
export function LabelName({ label: { level, category } }: { label: Pick<Json<Label>, 'level' | 'category'> }): VNode {
  return html`<${State} name=${level} />${category === null ? null : html`<span class="soft"> ${category}</span>`}` as VNode;
}

const columns: Columns<Json<ShownLabelChange>> = [
  ['When', ({ at }) => html`<${When} at=${at} />`],
  ['From', ({ from }) => html`<${LabelName} label=${from} />`],
  ['To', ({ to }) => html`<${LabelName} label=${to} />`],
  ['By', ({ cause }) => cause],
  ['Why', ({ why }) => html`<${Name} text=${why === '' ? '–' : why} />`],
];

/** The changes of a label, newest first, each with its cause. */
export function LabelChanges({ changes }: { changes: readonly Json<ShownLabelChange>[] }): VNode {
  if (changes.length === 0)
    return html`<${Empty} title="Its label has not changed.">Changes by feeds, complaints, clearings and disputes appear here.</${Empty}>`;
  return html`<${Table} box="wide-list" caption="Changes of the label" rows=${changes} keyOf=${({ eventId }: Json<ShownLabelChange>) => eventId} columns=${columns} />`;
}
