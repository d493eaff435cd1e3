import type { BrandState, BrandSummary } from '../../answers/brand-answers.ts';
import type { Json, Listed } from '../../answers/json.ts';
import { ChoiceFilter, Filters, Paging, queryOf, TextFilter } from '../shell/brand-filters.ts';
import { Empty, Name, Page, Read, State, Table, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { mayRequestBranding } from '../shell/request.ts';
import { Link, usePlace } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
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

/** Managed brands by handle. */
export default function BrandsPage(): VNode {
  const place = usePlace();
  const reading = useReading<Listed & { brands: BrandSummary[] }>(`/api/brands${queryOf(place.query, filters)}`);
  return html`<${Page} title="Brands" lead="Managed brands, whose names are shown on calls once a letter of authorization has been approved." actions=${mayRequestBranding() ? html`<${Link} href="/new-brand" class="button">Add Managed Brand</${Link}>` : null}>
    <${Filters}>
      <${TextFilter} name="prefix" label="Handle begins with" hint="Lower-case letters, digits, hyphens." maxlength=${63} pattern="[a-z0-9\\-]*" />
      <${TextFilter} name="owner" label="Owner" hint="The whole name of the client." maxlength=${128} />
      <${ChoiceFilter} name="state" label="State" choices=${brandStates} />
    </${Filters}>
    <${Read} reading=${reading} what="brands" show=${({
      brands,
      next,
    }: Listed & { brands: Json<BrandSummary>[] }) => html`
      ${
        brands.length === 0
          ? html`<${Empty} title="There is no such brand.">${filters.some((name) => place.query.has(name)) ? 'Change the filters to see others.' : 'Add Managed Brand makes the first one.'}</${Empty}>`
          : html`<div class="wide-list"><${Table} caption="Managed brands" rows=${brands} keyOf=${({ handle }: Json<BrandSummary>) => handle} columns=${[
              {
                title: 'Handle',
                show: ({ handle }: Json<BrandSummary>) =>
                  html`<${Link} href=${`/brands/${handle}`}>${handle}</${Link}>`,
              },
              {
                title: 'Display name',
                show: ({ displayName, pendingDisplayName }: Json<BrandSummary>) =>
                  html`<${Name} text=${displayName} />${pendingDisplayName !== null && pendingDisplayName !== displayName ? html`<div class="soft">asked for: <${Name} text=${pendingDisplayName} /></div>` : null}`,
              },
              { title: 'State', show: ({ state }: Json<BrandSummary>) => html`<${State} name=${state} />` },
              { title: 'Legal name', show: ({ legalName }: Json<BrandSummary>) => html`<${Name} text=${legalName} />` },
              { title: 'Owner', show: ({ owner }: Json<BrandSummary>) => html`<${Name} text=${owner} />` },
              {
                title: 'Verified numbers',
                isNumber: true,
                show: ({ verifiedNumbers }: Json<BrandSummary>) => formatCount(verifiedNumbers),
              },
              { title: 'Changed', show: ({ changedAt }: Json<BrandSummary>) => html`<${When} at=${changedAt} />` },
            ]} /></div>`
      }
      <${Paging} next=${next} cursor="after" moreText="More" />`} />
  </${Page}>`;
}
