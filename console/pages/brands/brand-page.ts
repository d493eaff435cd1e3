import { BrandHistory } from './brand-history.ts';
import { BrandNumbers } from './brand-numbers.ts';
import { BrandRevisions } from './brand-revisions.ts';
import {
  Empty,
  Facts,
  Name,
  Page,
  Read,
  Section,
  State,
  When,
  ActionButton,
  Notice,
  DialogButton,
  Field,
  ProblemNotice,
  ChoiceField,
} from '../shell/components.ts';
import { FindingList } from '../letters/finding-list.ts';
import { LetterTable } from '../letters/letter-table.ts';
import { RivalClaims } from '../letters/rival-claims.ts';
import { useReading } from '../shell/reading.ts';
import { ReasonButton, ReasonField } from '../shell/reason-dialog.ts';
import { mayDo, mayRequestBranding, sendJson, saveAnswer } from '../shell/request.ts';
import { Link, type PageProps } from '../shell/router.ts';
import { html, type Shown, type VNode, useState } from '../shell/view.ts';
import type { ShownBrand } from '../../answers/brand-answers.ts';
import type { ShownForm } from '../../answers/form-answers.ts';
import type { Json } from '../../answers/json.ts';
import { operationTitles, visible } from '../shell/text.ts';
import { reloadCount } from '../letters/waiting-count.ts';
import { betweenNumbers, fileIn, listIn, splitEntries, textIn, useSubmission } from './branding-submission.ts';
import { LetterField, NumberFields } from './number-fields.ts';

/** A brand: its revisions, letters, numbers and history, and the possible actions. */
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
    <${Section} title="Status">
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
    ${brand.rivals.length === 0 ? null : html`<${Section} title="Claimed by others too"><${RivalClaims} rivals=${brand.rivals} /></${Section}>`}
    <${Section} title="Letters">
      ${letters.length === 0 ? html`<${Empty} title="No letter has come with this brand.">${mayRequestBranding() ? html`<${Link} href=${`/brands/${handle}/update`}>${operationTitles.update_managed_brand}</${Link}> adds one.` : 'Its owner submits one.'}</${Empty}>` : html`<${LetterTable} letters=${letters} />`}
      ${mayRequestBranding() && state !== 'withdrawn' ? html`<${IssueForm} handle=${handle} />` : null}
      <${IssuedForms} handle=${handle} />
    </${Section}>
    <${BrandNumbers} brand=${brand} onChanged=${onChanged} />
    ${mayRequestBranding() && takesNumbers(state) ? html`<${NumberForm} handle=${handle} />` : null}
    ${mayDo('viewer') ? html`<${BrandHistory} brand=${brand} />` : null}
  </div>`;
}

const stateMeanings: Readonly<Record<string, string>> = {
  draft: 'It waits for a letter of authorization.',
  submitted: 'It was submitted and is being judged.',
  in_review: 'A person decides about it, or about its letter.',
  approved: 'Its verified numbers show its name from the next night on.',
  rejected: 'It was rejected. An update that gives what its findings ask for is judged again.',
  suspended: 'Its numbers are out of the next night until it is resumed.',
  expired: 'No letter is in force any more: its numbers are out of the next night. A new letter renews it.',
  withdrawn: 'It has ended permanently, and its numbers are free.',
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
    effect: 'Ends the brand and its letters permanently, and frees its numbers. Nothing undoes it.',
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
  return html`${state === 'withdrawn' ? null : html`<${Link} href=${`/brands/${handle}/update`} class="button">${operationTitles.update_managed_brand}</${Link}>`}
    ${names.map((name) => html`<${ReasonButton} key=${name} label=${effects[name].label} title=${`${effects[name].label} ${handle}?`} confirm=${`${effects[name].label} the brand`} isDanger=${effects[name].isDanger} act=${act(name)}><p>${effects[name].effect}</p></${ReasonButton}>`)}` as VNode;
}

/** Decides a brand in review, or the pending revision of an approved one. */
function BrandDecision({ brand, onDecided }: { brand: Json<ShownBrand>; onDecided: () => void }): VNode {
  const [reason, setReason] = useState('');
  const decide = (approve: boolean) => async () => {
    await sendJson('POST', `/api/brands/${brand.handle}/decision`, {
      approve,
      revision: brand.pendingRevision,
      reason,
    });
    setReason('');
    reloadCount();
    onDecided();
  };
  const isOff = reason.trim() === '' || brand.whyNotDecide !== null;
  const [what, effect] =
    brand.approvedRevision === null
      ? ['The brand waits for a decision', 'Approved, its verified numbers show its name from the next night on.']
      : [
          'A revision waits for a decision',
          `The approved revision ${brand.approvedRevision} stays published until revision ${brand.pendingRevision} is approved. The person who approves a new name vouches for it.`,
        ];
  return html`<${Section} title=${what}>
    <p>${effect}</p>
    ${brand.whyNotDecide === null ? null : html`<${Notice}><p>${visible(brand.whyNotDecide)}</p></${Notice}>`}
    <${ReasonField} reason=${reason} onInput=${setReason} hint="Required. Kept in the audit trail." />
    <div class="actions"><${ActionButton} kind="primary" disabled=${isOff} act=${decide(true)}>Approve</${ActionButton}><${ActionButton} kind="danger" disabled=${isOff} act=${decide(false)}>Reject</${ActionButton}></div>
  </${Section}>`;
}

/** Forms that were issued for a brand, and the way to revoke one. */
function IssuedForms({ handle }: { handle: string }): VNode {
  const reading = useReading<{ forms: ShownForm[]; next: string | null }>(`/api/brands/${handle}/letter-forms`);
  const revoke = (form: number) => async (reason: string) => {
    await sendJson('POST', `/api/brands/${handle}/letter-forms/revocation`, { form, reason });
    reading.readAgain();
  };
  const row = ({ formId, issuedAt, validUntil, numbers, letterId, revokedAt }: Json<ShownForm>) =>
    html`<tr key=${formId}><th scope="row">${formId}</th><td>${numbers}</td><td><${When} at=${issuedAt} /></td><td><${When} at=${validUntil} /></td>
      <td>${letterId === null ? 'not returned' : html`<${Link} href=${`/letters/${letterId}`}>letter ${letterId}</${Link}>`}</td>
      <td>${revokedAt !== null ? html`revoked <${When} at=${revokedAt} />` : mayRequestBranding() ? html`<${ReasonButton} label="Revoke" title=${`Revoke form ${formId}?`} confirm="Revoke the form" isDanger=${true} act=${revoke(formId)}><p>Rules approve no letter any more that it comes back as. A letter that was approved stays in force.</p></${ReasonButton}>` : ''}</td></tr>`;
  return html`<${Read} reading=${reading} what="the issued forms" show=${({ forms }: { forms: Json<ShownForm>[] }) =>
    forms.length === 0
      ? null
      : html`<details><summary>Issued forms (${forms.length}${reading.value?.next ? ' newest' : ''})</summary><div class="table-box" role="region" aria-label="Issued forms" tabindex="0"><table>
      <thead><tr><th scope="col">Form</th><th scope="col">Numbers</th><th scope="col">Issued</th><th scope="col">Return by</th><th scope="col">Came back as</th><th scope="col">Revoked</th></tr></thead>
      <tbody>${forms.map(row)}</tbody></table></div></details>`} />` as VNode;
}

/** The languages of the form. */
const formLanguages = {
  en: 'English',
  de: 'German',
  es: 'Spanish',
  fr: 'French',
  it: 'Italian',
  pt: 'Portuguese',
} as const;

/** Issues and saves the form of a letter for a brand. */
function IssueForm({ handle }: { handle: string }): VNode {
  const [saved, setSaved] = useState<string | null>(null);
  return html`<div class="actions"><${DialogButton} label="Issue letter of authorization" title="Issue letter of authorization">${(close: () => void) => html`<${FormOrder} handle=${handle} onClose=${close} onSaved=${setSaved} />`}</${DialogButton}>${saved === null ? null : html`<span role="status">Saved as ${saved}. Have it signed in its signature field, and within 30 days <${Link} href=${`/brands/${handle}/update`}>send it back</${Link}> unchanged.</span>`}</div>`;
}

function FormOrder({
  handle,
  onClose,
  onSaved,
}: {
  handle: string;
  onClose: () => void;
  onSaved: (name: string) => void;
}): VNode {
  const [{ name, title, language, numbers }, setOrder] = useState({ name: '', title: '', language: 'en', numbers: '' });
  const take =
    (field: string) =>
    ({ target }: Event) =>
      setOrder((before) => ({ ...before, [field]: (target as HTMLInputElement).value }));
  const act = async () => {
    const named = splitEntries(numbers, betweenNumbers);
    onSaved(
      await saveAnswer(`/api/brands/${handle}/letter-form`, { signer: { name, title }, language, numbers: named }),
    );
    onClose();
  };
  return html`<p>A PDF for the company to sign digitally. Signed by the named person, it is the only letter that rules alone can approve.</p>
    <${Field} label="Name of the signer" hint="As the certificate of the signature has it.">${(ids: object) => html`<input maxlength="128" autocomplete="off" value=${name} onInput=${take('name')} ...${ids} />`}</${Field}>
    <${Field} label="Title of the signer" hint="The person’s position in the company: Director, Chief Financial Officer.">${(ids: object) => html`<input maxlength="128" autocomplete="off" value=${title} onInput=${take('title')} ...${ids} />`}</${Field}>
    <${ChoiceField} label="Language" hint="Of the text of the form." value=${language} choices=${Object.entries(formLanguages)} onChoose=${(chosen: string) => setOrder((before) => ({ ...before, language: chosen }))} />
    <${Field} label="Numbers of the letter (optional)" hint="In international form or that of the brand’s country, one a line, at most 1,000. Empty: the numbers of the brand that no letter in force names.">${(ids: object) => html`<textarea rows="3" spellcheck=${false} value=${numbers} onInput=${take('numbers')} ...${ids}></textarea>`}</${Field}>
    <div class="actions"><button type="button" onClick=${onClose}>Cancel</button><${ActionButton} kind="primary" disabled=${name.trim() === '' || title.trim() === ''} act=${act}>Issue and save</${ActionButton}></div>` as VNode;
}

/** Add Phone number for Branding: one, several, or a CSV, with a letter unless the brand's letters name the numbers. */
function NumberForm({ handle }: { handle: string }): VNode {
  const { isBusy, problem, wrong, submit } = useSubmission();
  const hand = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    void submit({
      kind: 'add_phone_number',
      request: { handle, numbers: listIn(form, 'numbers', betweenNumbers), callReason: textIn(form, 'callReason') },
      letter: fileIn(form, 'letter'),
      numbers: fileIn(form, 'numbersFile'),
    });
  };
  return html`<${Section} title=${operationTitles.add_phone_number}>
    <p class="lead">A number that a letter in force names is verified at once; others need a letter that names them.</p>
    <form class="branding-form" onSubmit=${hand}>
      <${NumberFields} wrong=${wrong} />
      <${LetterField} hint="If no letter in force names the numbers: PDF or PNG, at most 10 MiB and 20 pages." />
      ${problem ? html`<${ProblemNotice} problem=${problem} />` : null}
      <div class="actions"><button class="primary" disabled=${isBusy}>${isBusy ? 'Sending …' : 'Add numbers'}</button></div>
    </form>
  </${Section}>`;
}
