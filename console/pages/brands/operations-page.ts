import { operationTitles, formatCount } from '../shell/text.ts';
import type { OperationStanding, OperationSummary, OperationSummaryPage } from '../../answers/operation-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ChoiceFilter, Filters, Paging, queryOf, TextFilter } from '../shell/list-filters.ts';
import { Empty, Name, Page, Read, State, Table, type Columns, When } from '../shell/components.ts';
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

const columns: Columns<Json<OperationSummary>> = [
  [
    'Request',
    ({ operationId }) => html`<${Link} href=${`/operations/${operationId}`}>Request ${operationId}</${Link}>`,
  ],
  ['What', ({ kind }) => operationTitles[kind]],
  ['Brand', ({ handle }) => html`<${Link} href=${`/brands/${handle}`}>${handle}</${Link}>`],
  [
    'Outcome',
    ({ standing, failureCode }) =>
      html`<${State} name=${standing} />${failureCode === null ? null : html` <code>${failureCode}</code>`}`,
  ],
  ['Letter', ({ hasLetter }) => (hasLetter ? 'yes' : 'no')],
  ['Numbers', ({ numbers }) => formatCount(numbers), 'number'],
  ['Asked for', ({ requestedAt }) => html`<${When} at=${requestedAt} />`],
  ['By', ({ requestedBy }) => html`<${Name} text=${requestedBy} />`],
  ['Owner', ({ owner }) => html`<${Name} text=${owner} />`],
];

/** Requests for branding, newest first. */
export default function OperationsPage(): VNode {
  const place = usePlace();
  const reading = useReading<OperationSummaryPage>(`/api/operations${queryOf(place.query, filters)}`);
  return html`<${Page} title="Requests" lead="Requests for branding from this console, the command line, the drop folder, and programs.">
    <${Filters}>
      <${TextFilter} name="handle" label="Brand" hint="The whole handle." maxlength=${63} pattern="[a-z0-9](-?[a-z0-9])+" />
      <${TextFilter} name="owner" label="Owner" hint="The whole name of the client." maxlength=${128} />
      <${ChoiceFilter} name="standing" label="Outcome" choices=${operationStandings} />
    </${Filters}>
    <${Read} reading=${reading} what="requests" show=${({ operations, next }: Json<OperationSummaryPage>) => html`
      <${Table} box="wide-list" caption="Requests for branding" rows=${operations} keyOf=${({ operationId }: Json<OperationSummary>) => operationId} columns=${columns}
        empty=${html`<${Empty} title="There is no such request.">Add Managed Brand makes one.</${Empty}>`} />
      <${Paging} next=${next} cursor="before" />`} />
  </${Page}>`;
}
