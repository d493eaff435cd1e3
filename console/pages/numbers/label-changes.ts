import type { Json } from '../../answers/json.ts';
import type { Label, ShownLabelChange } from '../../answers/number-answers.ts';
import { Empty, Name, State, Table, When } from '../shell/components.ts';
import { html, type VNode } from '../shell/view.ts';

/** A label: its level, with the id of its category. */
export function LabelName({ label: { level, category } }: { label: Pick<Json<Label>, 'level' | 'category'> }): VNode {
  return html`<${State} name=${level} />${category === null ? null : html`<span class="soft"> ${category}</span>`}` as VNode;
}

/** The changes of a label, newest first, each with its cause. */
export function LabelChanges({ changes }: { changes: readonly Json<ShownLabelChange>[] }): VNode {
  if (changes.length === 0)
    return html`<${Empty} title="Its label has not changed since the history began.">Changes by feeds, complaints, clearings and disputes stand here.</${Empty}>`;
  return html`<div class="wide-list"><${Table} caption="Changes of the label" rows=${changes} keyOf=${({ eventId }: Json<ShownLabelChange>) => eventId} columns=${[
    { title: 'When', show: ({ at }: Json<ShownLabelChange>) => html`<${When} at=${at} />` },
    { title: 'From', show: ({ from }: Json<ShownLabelChange>) => html`<${LabelName} label=${from} />` },
    { title: 'To', show: ({ to }: Json<ShownLabelChange>) => html`<${LabelName} label=${to} />` },
    { title: 'By', show: ({ cause }: Json<ShownLabelChange>) => cause },
    { title: 'Why', show: ({ why }: Json<ShownLabelChange>) => html`<${Name} text=${why === '' ? '–' : why} />` },
  ]} /></div>`;
}
