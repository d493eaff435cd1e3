import type { ShownBrand } from '../../answers/brand-answers.ts';
import type { Json } from '../../answers/json.ts';
import { BrandDecision } from './brand-decision.ts';
import { BrandHistory } from './brand-history.ts';
import { BrandNumbers } from './brand-numbers.ts';
import { BrandRevisions } from './brand-revisions.ts';
import { Empty, Facts, Name, Page, Read, Section, State, When } from '../shell/components.ts';
import { FindingList } from './finding-list.ts';
import { IssueForm } from './letter-form.ts';
import { LetterTable } from './letter-table.ts';
import { NumberForm } from './number-form.ts';
import { useReading } from '../shell/reading.ts';
import { ReasonButton } from '../shell/reason-dialog.ts';
import { mayDo, mayRequestBranding, sendJson } from '../shell/request.ts';
import { Link, type PageProps } from '../shell/router.ts';
import { html, type Shown, type VNode } from '../shell/view.ts';

/** One brand: its revisions, letters, numbers and history, and what a person can do to it. */
export default function BrandPage({ params }: PageProps): VNode {
  const handle = params['handle']!;
  const reading = useReading<ShownBrand>(`/api/brands/${encodeURIComponent(handle)}`);
  const { value: brand, readAgain } = reading;
  return html`<${Page} title=${brand?.profile.displayName ?? handle} lead=${`Brand ${handle}`} actions=${brand && mayRequestBranding() ? html`<${BrandActions} brand=${brand} onDone=${readAgain} />` : null}>
    <${Read} reading=${reading} what="the brand" show=${(shown: Json<ShownBrand>) => html`<${BrandParts} brand=${shown} onChanged=${readAgain} />`} />
  </${Page}>`;
}

function BrandParts({ brand, onChanged }: { brand: Json<ShownBrand>; onChanged: () => void }): VNode {
  const { handle, owner, state, letters, findings } = brand;
  return html`<div class="page">
    <${Section} title="Where it stands">
      <${Facts} entries=${[
        ['State', html`<${State} name=${state} />`],
        ['Owner', html`<${Name} text=${owner} />`],
        ['Registered', html`<${When} at=${brand.createdAt} />`],
        ['Changed', html`<${When} at=${brand.changedAt} />`],
        ['Approved', brand.approvedAt && html`<${When} at=${brand.approvedAt} />`],
        ['Revisions', revisionWords(brand)],
      ]} />
      <p class="soft">${stateMeanings[state] ?? ''}</p>
    </${Section}>
    ${brand.can.decide && mayDo('reviewer') ? html`<${BrandDecision} brand=${brand} onDecided=${onChanged} />` : null}
    <${BrandRevisions} brand=${brand} />
    ${findings.length === 0 ? null : html`<${Section} title="Findings about the brand"><${FindingList} findings=${findings} /></${Section}>`}
    <${Section} title="Letters">
      ${letters.length === 0 ? html`<${Empty} title="No letter has come with this brand.">${mayRequestBranding() ? html`<${Link} href=${`/brands/${handle}/update`}>Update Managed Brand</${Link}> hands one in.` : 'Its owner hands one in.'}</${Empty}>` : html`<${LetterTable} letters=${letters} />`}
      ${mayRequestBranding() && state !== 'withdrawn' ? html`<${IssueForm} handle=${handle} />` : null}
    </${Section}>
    <${BrandNumbers} brand=${brand} onChanged=${onChanged} />
    ${mayRequestBranding() && takesNumbers(state) ? html`<${NumberForm} handle=${handle} />` : null}
    ${mayDo('viewer') ? html`<${BrandHistory} brand=${brand} />` : null}
  </div>`;
}

const stateMeanings: Readonly<Record<string, string>> = {
  draft: 'It waits for a letter of authorization.',
  submitted: 'It was handed in and is being judged.',
  in_review: 'A person decides about it, or about its letter.',
  approved: 'Its verified numbers show its name from the next night on.',
  rejected: 'It was rejected. An update that gives what its findings ask for is judged again.',
  suspended: 'Its numbers are out of the next night until it is resumed.',
  expired: 'No letter is in force any more: its numbers are out of the next night. A new letter renews it.',
  withdrawn: 'It has ended for good, and its numbers are free.',
};

function takesNumbers(state: string): boolean {
  return state !== 'withdrawn' && state !== 'rejected';
}

function revisionWords({ approvedRevision, pendingRevision }: Json<ShownBrand>): string {
  const words = [
    approvedRevision === null ? '' : `revision ${approvedRevision} is approved`,
    pendingRevision === null ? '' : `revision ${pendingRevision} waits`,
  ].filter((word) => word !== '');
  return words.length === 0 ? 'none is approved or waits' : words.join(', ');
}

const effects: Readonly<
  Record<'suspend' | 'resume' | 'withdraw', { label: string; effect: Shown; isDanger: boolean }>
> = {
  suspend: {
    label: 'Suspend',
    effect: "Its numbers leave the next night's file. Resuming undoes it.",
    isDanger: false,
  },
  resume: {
    label: 'Resume',
    effect: "Its numbers come back into the next night's file, as far as a letter in force names them.",
    isDanger: false,
  },
  withdraw: {
    label: 'Withdraw',
    effect: 'Ends the brand and its letters for good, and frees its numbers. Nothing undoes it.',
    isDanger: true,
  },
};

function BrandActions({
  brand: { handle, state, can },
  onDone,
}: {
  brand: Json<ShownBrand>;
  onDone: () => void;
}): VNode {
  const names = (['suspend', 'resume', 'withdraw'] as const).filter((name) => can[name]);
  const act = (name: string) => async (reason: string) => {
    await sendJson('POST', `/api/brands/${handle}/${name}`, { reason });
    onDone();
  };
  return html`${state === 'withdrawn' ? null : html`<${Link} href=${`/brands/${handle}/update`} class="button">Update Managed Brand</${Link}>`}
    ${names.map((name) => html`<${ReasonButton} key=${name} label=${effects[name].label} kind=${effects[name].isDanger ? 'danger' : ''} title=${`${effects[name].label} ${handle}?`} confirm=${`${effects[name].label} the brand`} isDanger=${effects[name].isDanger} act=${act(name)}><p>${effects[name].effect}</p></${ReasonButton}>`)}` as VNode;
}
