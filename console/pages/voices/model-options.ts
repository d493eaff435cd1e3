import type { Json } from '../../answers/json.ts';
import type { ShownRegistry } from '../../answers/model-answers.ts';
import { html, type VNode } from '../shell/view.ts';

/** What a model may be asked for by: auto, a family, or a version; removed ones say what takes their place. */
export function ModelOptions({ list }: { list: Json<ShownRegistry> | undefined }): VNode {
  const models = list?.models ?? [];
  const families = models.filter(({ isDefault }) => isDefault);
  return html`<option value="auto">auto, by the sample rate</option>
    ${families.map(({ family, model }) => html`<option key=${family} value=${family}>${family}, now ${model}</option>`)}
    ${models.map(({ model, state, replacedBy, fault }) => html`<option key=${model} value=${model} disabled=${state === 'removed' || fault !== null}>${model}${state === 'removed' ? `, removed: ${replacedBy ?? 'nothing'} takes its place` : fault === null ? '' : ', not usable'}</option>`)}` as VNode;
}
