import type { LetterState, LetterRecordPage } from '../../answers/letter-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ChoiceFilter, Filters, Paging, queryOf, TextFilter } from '../shell/list-filters.ts';
import { Empty, Page, Read } from '../shell/components.ts';
import { LetterTable } from './letter-table.ts';
import { useReading } from '../shell/reading.ts';
import { usePlace } from '../shell/router.ts';
import { html, type VNode } from '../shell/view.ts';

const letterStates = Object.keys({
  submitted: 0,
  in_review: 0,
  approved: 0,
  rejected: 0,
  expiring: 0,
  expired: 0,
  withdrawn: 0,
} satisfies Record<LetterState, 0>);

const filters = ['brand', 'state', 'days', 'before'];

/** Letters of authorization, newest first. */
export default function LettersPage(): VNode {
  const place = usePlace();
  const reading = useReading<LetterRecordPage>(`/api/letters${queryOf(place.query, filters)}`);
  return html`<${Page} title="Letters" lead="Letters of authorization. One is valid for twelve months from the day on which it was signed; then its numbers leave the next night.">
    <${Filters}>
      <${TextFilter} name="brand" label="Brand" hint="The whole handle." maxlength=${63} pattern="[a-z0-9](-?[a-z0-9])+" />
      <${ChoiceFilter} name="state" label="State" choices=${letterStates} />
      <${TextFilter} name="days" label="Ends within days" type="number" min=${0} max=${400} hint="Letters in force that end soon." />
    </${Filters}>
    <${Read} reading=${reading} what="letters" show=${({ letters, next }: Json<LetterRecordPage>) => html`
      ${letters.length === 0 ? html`<${Empty} title="There is no such letter.">Letters come with Add Managed Brand, with its update, and with numbers for branding.</${Empty}>` : html`<${LetterTable} letters=${letters} withBrand=${true} />`}
      <${Paging} next=${next} cursor="before" />`} />
  </${Page}>`;
}
