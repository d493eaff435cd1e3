import type { Json, Listed } from '../../answers/json.ts';
import type { WaitingBrand, WaitingCounts, WaitingLetter } from '../../answers/letter-answers.ts';
import { Paging } from '../shell/brand-filters.ts';
import { Empty, Name, Page, Read, Section, State, Table, When } from '../shell/components.ts';
import { ProtectedNamesSection } from './protected-names.ts';
import { useReading } from '../shell/reading.ts';
import { Link, usePlace } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
import { html, type Shown, type VNode } from '../shell/view.ts';

/** The review desk: letters, brands and disputes that wait for a decision. */
export default function ReviewPage(): VNode {
  const counts = useReading<WaitingCounts>('/api/review/counts');
  const waiting =
    counts.value === undefined
      ? 'Letters, brands and disputes that wait for a person.'
      : `${formatCount(counts.value.letters)} ${counts.value.letters === 1 ? 'letter' : 'letters'} and ${formatCount(counts.value.brands)} ${counts.value.brands === 1 ? 'brand' : 'brands'} wait for a person.`;
  const disputes = counts.value?.disputes ?? 0;
  return html`<${Page} title="Review desk" lead=${waiting}>
    <${Section} title="Letters, oldest first"><${WaitingLetters} /></${Section}>
    <${Section} title="Brands"><${WaitingBrands} /></${Section}>
    <${Section} title="Disputes">${disputes === 0 ? html`<${Empty} title="No dispute waits.">Disputes of labels are filed with the command line.</${Empty}>` : html`<p><${Link} class="button" href="/disputes?state=open">${formatCount(disputes)} ${disputes === 1 ? 'dispute waits' : 'disputes wait'}</${Link}></p>`}</${Section}>
    <${ProtectedNamesSection} />
  </${Page}>`;
}

function WaitingLetters(): VNode {
  const place = usePlace();
  const after = place.query.get('after');
  const reading = useReading<Listed & { letters: WaitingLetter[] }>(
    `/api/review/letters${after === null ? '' : `?after=${encodeURIComponent(after)}`}`,
  );
  return html`<${Read} reading=${reading} what="letters" show=${({
    letters,
    next,
  }: Listed & { letters: Json<WaitingLetter>[] }) => html`
    ${
      letters.length === 0
        ? html`<${Empty} title="No letter waits.">Letters that the rules cannot decide come here by themselves.</${Empty}>`
        : html`<div class="wide-list"><${Table} caption="Letters that wait for a person" rows=${letters} keyOf=${({ letterId }: Json<WaitingLetter>) => letterId} columns=${[
            {
              title: 'Letter',
              show: ({ letterId }: Json<WaitingLetter>) =>
                html`<${Link} href=${`/review/letters/${letterId}`}>Letter ${letterId}</${Link}>`,
            },
            {
              title: 'Brand',
              show: ({ displayName, handle }: Json<WaitingLetter>) =>
                html`<${Name} text=${displayName} /><div class="soft">${handle}</div>`,
            },
            { title: 'For a person', show: ({ findings }: Json<WaitingLetter>) => codes(findings) },
            { title: 'Numbers', isNumber: true, show: ({ requested }: Json<WaitingLetter>) => formatCount(requested) },
            { title: 'Pages', isNumber: true, show: ({ pages }: Json<WaitingLetter>) => formatCount(pages) },
            { title: 'Submitted', show: ({ submittedAt }: Json<WaitingLetter>) => html`<${When} at=${submittedAt} />` },
            { title: 'Owner', show: ({ owner }: Json<WaitingLetter>) => html`<${Name} text=${owner} />` },
          ]} /></div>`
    }
    <${Paging} next=${next} cursor="after" moreText="More" label="Pages of the letters" stays=${true} />`} />`;
}

function WaitingBrands(): VNode {
  const place = usePlace();
  const after = place.query.get('brand');
  const reading = useReading<Listed & { brands: WaitingBrand[] }>(
    `/api/review/brands${after === null ? '' : `?after=${encodeURIComponent(after)}`}`,
  );
  return html`<${Read} reading=${reading} what="brands" show=${({
    brands,
    next,
  }: Listed & { brands: Json<WaitingBrand>[] }) => html`
    ${
      brands.length === 0
        ? html`<${Empty} title="No brand waits.">A brand waits here when a person must judge its name. One whose letter waits comes after its letter.</${Empty}>`
        : html`<div class="wide-list"><${Table} caption="Brands that wait for a person" rows=${brands} keyOf=${({ handle }: Json<WaitingBrand>) => handle} columns=${[
            {
              title: 'Brand',
              show: ({ handle }: Json<WaitingBrand>) => html`<${Link} href=${`/brands/${handle}`}>${handle}</${Link}>`,
            },
            {
              title: 'Asked for',
              show: ({ pendingDisplayName }: Json<WaitingBrand>) => html`<${Name} text=${pendingDisplayName} />`,
            },
            {
              title: 'Approved now',
              show: ({ approvedDisplayName }: Json<WaitingBrand>) =>
                html`<${Name} text=${approvedDisplayName ?? 'nothing'} />`,
            },
            { title: 'State', show: ({ state }: Json<WaitingBrand>) => html`<${State} name=${state} />` },
            { title: 'For a person', show: ({ findings }: Json<WaitingBrand>) => codes(findings) },
            {
              title: 'Waiting since',
              show: ({ waitingSince }: Json<WaitingBrand>) => html`<${When} at=${waitingSince} />`,
            },
            { title: 'Owner', show: ({ owner }: Json<WaitingBrand>) => html`<${Name} text=${owner} />` },
          ]} /></div>`
    }
    <${Paging} next=${next} cursor="brand" moreText="More" label="Pages of the brands" stays=${true} />`} />`;
}

function codes(findings: readonly string[]): Shown {
  return findings.length === 0 ? 'its new name' : findings.map((code) => html`<code key=${code}>${code}</code> `);
}
