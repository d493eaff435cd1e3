import { operationTitles, formatCount } from '../shell/text.ts';
import type { OperationStanding, OperationSummary } from '../../answers/operation-answers.ts';
import type { Json, Listed } from '../../answers/json.ts';
import { ChoiceFilter, Filters, Paging, queryOf, TextFilter } from '../shell/brand-filters.ts';
import { Empty, Name, Page, Read, State, Table, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { Link, usePlace } from '../shell/router.ts';
import { html, type VNode } from '../shell/view.ts';

const operationStandings = Object.keys({
  queued: 0,
  approved: 0,
  in_review: 0,
  accepted: 0,
  rejected: 0,
  failed: 0,
} satisfies Record<OperationStanding, 0>);

const filters = ['owner', 'handle', 'standing', 'before'];

/** Requests for branding, newest first. */
export default function OperationsPage(): VNode {
  const place = usePlace();
  const reading = useReading<Listed & { operations: OperationSummary[] }>(
    `/api/operations${queryOf(place.query, filters)}`,
  );
  return html`<${Page} title="Requests" lead="Requests for branding, from wherever they came: this console, the command line, the drop folder, a program.">
    <${Filters}>
      <${TextFilter} name="handle" label="Brand" hint="The whole handle." maxlength=${63} pattern="[a-z0-9](-?[a-z0-9])+" />
      <${TextFilter} name="owner" label="Owner" hint="The whole name of the client." maxlength=${128} />
      <${ChoiceFilter} name="standing" label="Outcome" choices=${operationStandings} />
    </${Filters}>
    <${Read} reading=${reading} what="requests" show=${({
      operations,
      next,
    }: Listed & { operations: Json<OperationSummary>[] }) => html`
      ${
        operations.length === 0
          ? html`<${Empty} title="There is no such request.">Add Managed Brand makes one.</${Empty}>`
          : html`<div class="wide-list"><${Table} caption="Requests for branding" rows=${operations} keyOf=${({ operationId }: Json<OperationSummary>) => operationId} columns=${[
              {
                title: 'Request',
                show: ({ operationId }: Json<OperationSummary>) =>
                  html`<${Link} href=${`/operations/${operationId}`}>Request ${operationId}</${Link}>`,
              },
              { title: 'What', show: ({ kind }: Json<OperationSummary>) => operationTitles[kind] },
              {
                title: 'Brand',
                show: ({ handle }: Json<OperationSummary>) =>
                  html`<${Link} href=${`/brands/${handle}`}>${handle}</${Link}>`,
              },
              {
                title: 'Came to',
                show: ({ standing, failureCode }: Json<OperationSummary>) =>
                  html`<${State} name=${standing} />${failureCode === null ? null : html` <code>${failureCode}</code>`}`,
              },
              { title: 'Letter', show: ({ hasLetter }: Json<OperationSummary>) => (hasLetter ? 'yes' : 'no') },
              { title: 'Numbers', isNumber: true, show: ({ numbers }: Json<OperationSummary>) => formatCount(numbers) },
              {
                title: 'Asked for',
                show: ({ requestedAt }: Json<OperationSummary>) => html`<${When} at=${requestedAt} />`,
              },
              { title: 'By', show: ({ requestedBy }: Json<OperationSummary>) => html`<${Name} text=${requestedBy} />` },
              { title: 'Owner', show: ({ owner }: Json<OperationSummary>) => html`<${Name} text=${owner} />` },
            ]} /></div>`
      }
      <${Paging} next=${next} cursor="before" />`} />
  </${Page}>`;
}
