import type { Json } from '../../answers/json.ts';
import type { ShownVoiceModel } from '../../answers/model-answers.ts';
import { Empty, Facts, Page, Read, Section } from '../shell/components.ts';
import { ModelCard } from './model-card.ts';
import { useReading } from '../shell/reading.ts';
import { html, type VNode } from '../shell/view.ts';

/** The model that compares voices, with its card. */
export default function VoiceprintModelPage(): VNode {
  const reading = useReading<ShownVoiceModel>('/api/voiceprint-model');
  return html`<${Page} title="Voiceprint model" lead="It makes the numbers that voices are compared by.">
    <${Read} reading=${reading} what="the model" show=${({
      model,
      identityThreshold,
      mismatchThreshold,
      agreementMin,
      card,
    }: Json<ShownVoiceModel>) => html`<div class="page">
      <${Section} title="Facts"><${Facts} entries=${[
        ['Model', model],
        ['Identity', `match from ${identityThreshold}, mismatch below ${mismatchThreshold}, undecided in between`],
        ['Least agreement of an enrolment', `${agreementMin} (cosine)`],
      ]} /></${Section}>
      ${card === null ? html`<${Section} title="Card"><${Empty} title="It has no card here." /></${Section}>` : html`<${ModelCard} card=${card} pictures="/api/voiceprint-model" />`}
    </div>`} />
  </${Page}>`;
}
