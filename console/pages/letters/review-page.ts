import type { Json } from '../../answers/json.ts';
import type {
  WaitingBrand,
  WaitingCounts,
  WaitingLetter,
  WaitingLetterPage,
  WaitingBrandPage,
} from '../../answers/letter-answers.ts';
import { Paging, queryOf } from '../shell/list-filters.ts';
import { Empty, Name, Page, Read, Section, State, Table, type Columns, When } from '../shell/components.ts';
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
    <${Section} title="Disputes">${disputes === 0 ? html`<${Empty} title="No dispute waits.">Disputes of labels are filed on the command line, or through the intake.</${Empty}>` : html`<p><${Link} class="button" href="/disputes?state=open">${formatCount(disputes)} ${disputes === 1 ? 'dispute waits' : 'disputes wait'}</${Link}></p>`}</${Section}>
    <${ProtectedNamesSection} />
  </${Page}>`;
}

const letterColumns: Columns<Json<WaitingLetter>> = [
  ['Letter', ({ letterId }) => html`<${Link} href=${`/review/letters/${letterId}`}>Letter ${letterId}</${Link}>`],
  ['Brand', ({ displayName, handle }) => html`<${Name} text=${displayName} /><div class="soft">${handle}</div>`],
  ['For a person', ({ findings }) => codes(findings)],
  ['Numbers', ({ requested }) => formatCount(requested), 'number'],
  ['Pages', ({ pages }) => formatCount(pages), 'number'],
  ['Submitted', ({ submittedAt }) => html`<${When} at=${submittedAt} />`],
  ['Owner', ({ owner }) => html`<${Name} text=${owner} />`],
];

function WaitingLetters(): VNode {
  const reading = useReading<WaitingLetterPage>(`/api/review/letters${queryOf(usePlace().query, ['after'])}`);
  return html`<${Read} reading=${reading} what="letters" show=${({ letters, next }: Json<WaitingLetterPage>) => html`
    <${Table} box="wide-list" caption="Letters that wait for a person" rows=${letters} keyOf=${({ letterId }: Json<WaitingLetter>) => letterId} columns=${letterColumns}
      empty=${html`<${Empty} title="No letter waits.">Letters that the rules cannot decide come here by themselves.</${Empty}>`} />
    <${Paging} next=${next} cursor="after" moreText="More" label="Pages of the letters" stays=${true} />`} />`;
}

const brandColumns: Columns<Json<WaitingBrand>> = [
  ['Brand', ({ handle }) => html`<${Link} href=${`/brands/${handle}`}>${handle}</${Link}>`],
  ['Asked for', ({ pendingDisplayName }) => html`<${Name} text=${pendingDisplayName} />`],
  ['Approved now', ({ approvedDisplayName }) => html`<${Name} text=${approvedDisplayName ?? 'nothing'} />`],
  ['State', ({ state }) => html`<${State} name=${state} />`],
  ['For a person', ({ findings }) => codes(findings)],
  ['Waiting since', ({ waitingSince }) => html`<${When} at=${waitingSince} />`],
  ['Owner', ({ owner }) => html`<${Name} text=${owner} />`],
];

function WaitingBrands(): VNode {
  const after = usePlace().query.get('brand');
  const reading = useReading<WaitingBrandPage>(
    `/api/review/brands${after === null ? '' : `?after=${encodeURIComponent(after)}`}`,
  );
  return html`<${Read} reading=${reading} what="brands" show=${({ brands, next }: Json<WaitingBrandPage>) => html`
    <${Table} box="wide-list" caption="Brands that wait for a person" rows=${brands} keyOf=${({ handle }: Json<WaitingBrand>) => handle} columns=${brandColumns}
      empty=${html`<${Empty} title="No brand waits.">A brand waits here when a person must judge its name. One whose letter waits comes after its letter.</${Empty}>`} />
    <${Paging} next=${next} cursor="brand" moreText="More" label="Pages of the brands" stays=${true} />`} />`;
}

function codes(findings: readonly string[]): Shown {
  return findings.length === 0 ? 'its new name' : findings.map((code) => html`<code key=${code}>${code}</code> `);
}
