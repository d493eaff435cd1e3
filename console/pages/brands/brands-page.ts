import type { BrandState, BrandSummary, BrandSummaryPage } from '../../answers/brand-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ChoiceFilter, Filters, Paging, queryOf, TextFilter } from '../shell/list-filters.ts';
import { Empty, Name, Page, Read, State, Table, type Columns, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { mayRequestBranding } from '../shell/request.ts';
import { Link, usePlace } from '../shell/router.ts';
import { formatCount, operationTitles } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

const brandStates = Object.keys({
  draft: 0,
  submitted: 0,
  in_review: 0,
  approved: 0,
  rejected: 0,
  suspended: 0,
  expired: 0,
  withdrawn: 0,
} satisfies Record<BrandState, 0>);

const filters = ['prefix', 'owner', 'state', 'after'];

const columns: Columns<Json<BrandSummary>> = [
  ['Handle', ({ handle }) => html`<${Link} href=${`/brands/${handle}`}>${handle}</${Link}>`],
  [
    'Display name',
    ({ displayName, pendingDisplayName }) =>
      html`<${Name} text=${displayName} />${pendingDisplayName !== null && pendingDisplayName !== displayName ? html`<div class="soft">asked for: <${Name} text=${pendingDisplayName} /></div>` : null}`,
  ],
  ['State', ({ state }) => html`<${State} name=${state} />`],
  ['Legal name', ({ legalName }) => html`<${Name} text=${legalName} />`],
  ['Owner', ({ owner }) => html`<${Name} text=${owner} />`],
  ['Verified numbers', ({ verifiedNumbers }) => formatCount(verifiedNumbers), 'number'],
  ['Changed', ({ changedAt }) => html`<${When} at=${changedAt} />`],
];

/** Managed brands by handle. */
export default function BrandsPage(): VNode {
  const place = usePlace();
  const reading = useReading<BrandSummaryPage>(`/api/brands${queryOf(place.query, filters)}`);
  return html`<${Page} title="Brands" lead="Managed brands, whose names are shown on calls once a letter of authorization has been approved." actions=${mayRequestBranding() ? html`<${Link} href="/new-brand" class="button">${operationTitles.add_managed_brand}</${Link}>` : null}>
    <${Filters}>
      <${TextFilter} name="prefix" label="Handle begins with" hint="Lower-case letters, digits, hyphens." maxlength=${63} pattern="[a-z0-9\\-]*" />
      <${TextFilter} name="owner" label="Owner" hint="The whole name of the client." maxlength=${128} />
      <${ChoiceFilter} name="state" label="State" choices=${brandStates} />
    </${Filters}>
    <${Read} reading=${reading} what="brands" show=${({ brands, next }: Json<BrandSummaryPage>) => html`
      <${Table} box="wide-list" caption="Managed brands" rows=${brands} keyOf=${({ handle }: Json<BrandSummary>) => handle} columns=${columns}
        empty=${html`<${Empty} title="There is no such brand.">${filters.some((name) => place.query.has(name)) ? 'Change the filters to see others.' : 'Add Managed Brand makes the first one.'}</${Empty}>`} />
      <${Paging} next=${next} cursor="after" moreText="More" />`} />
  </${Page}>`;
}
