import { html, type VNode } from './view.ts';

/** A model of the registry, as the console answers it. */
export interface ListedModel {
  readonly model: string;
  readonly family: string;
  readonly release: string | null;
  readonly state: 'available' | 'removed';
  readonly isDefault: boolean;
  readonly removedIn: string | null;
  readonly replacedBy: string | null;
  readonly note: string | null;
  readonly added: { readonly at: string; readonly by: string; readonly reason: string } | null;
  readonly parameters: number | null;
  readonly bytes: number | null;
  readonly thresholds: Readonly<Record<string, number>> | null;
  readonly fault: string | null;
}

/** The registry. */
export interface ModelList {
  readonly release: string;
  readonly newestRelease: string;
  readonly models: readonly ListedModel[];
}

/** What a model may be asked for by: auto, a family, or a version; removed ones say what takes their place. */
export function ModelOptions({ list }: { list: ModelList | undefined }): VNode {
  const models = list?.models ?? [];
  const families = models.filter(({ isDefault }) => isDefault);
  return html`<option value="auto">auto, by the sample rate</option>
    ${families.map(({ family, model }) => html`<option key=${family} value=${family}>${family}, now ${model}</option>`)}
    ${models.map(({ model, state, replacedBy, fault }) => html`<option key=${model} value=${model} disabled=${state === 'removed' || fault !== null}>${model}${state === 'removed' ? `, removed: ${replacedBy ?? 'nothing'} takes its place` : fault === null ? '' : ', not usable'}</option>`)}` as VNode;
}
