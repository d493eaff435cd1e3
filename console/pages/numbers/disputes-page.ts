import type { Json } from '../../answers/json.ts';
import type { DisputePage } from '../../answers/number-answers.ts';
import { ChoiceFilter, Filters, Paging, queryOf } from '../shell/list-filters.ts';
import { Empty, Page, Read } from '../shell/components.ts';
import { DisputeTable } from './dispute-table.ts';
import { useReading } from '../shell/reading.ts';
import { usePlace } from '../shell/router.ts';
import { html, type VNode } from '../shell/view.ts';

const states = ['open', 'cleared', 'upheld'];

/** Disputes of labels, oldest first. */
export default function DisputesPage(): VNode {
  const reading = useReading<DisputePage>(`/api/disputes${queryOf(usePlace().query, ['state', 'after'])}`);
  return html`<${Page} title="Disputes" lead="Requests to review the label of a number, oldest first.">
    <${Filters}><${ChoiceFilter} name="state" label="State" choices=${states} /></${Filters}>
    <${Read} reading=${reading} what="disputes" show=${({ disputes, next }: Json<DisputePage>) => html`
      ${disputes.length === 0 ? html`<${Empty} title="There is no such dispute.">Disputes are filed on the command line, or through the intake.</${Empty}>` : html`<${DisputeTable} disputes=${disputes} />`}
      <${Paging} next=${next} cursor="after" moreText="More" label="Pages of the disputes" stays=${true} />`} />
  </${Page}>`;
}
