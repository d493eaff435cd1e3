import type { PrivateFields, RevealedFields, ShownBrand, ShownProfile } from '../../answers/brand-answers.ts';
import type { Json } from '../../answers/json.ts';
import { BrandFields, PrivateBrandFields, privateIn, profileIn } from './brand-fields.ts';
import { betweenNumbers, fileIn, listIn, textIn, useSubmission } from './branding-submission.ts';
import { ActionButton, Empty, Notice, Page, ProblemNotice, Read, Section } from '../shell/components.ts';
import { LetterField, NumberFields } from './number-fields.ts';
import { useReading } from '../shell/reading.ts';
import { mayRequestBranding, sendJson } from '../shell/request.ts';
import type { PageProps } from '../shell/router.ts';
import { operationTitles } from '../shell/text.ts';
import { html, useState, type VNode } from '../shell/view.ts';

/** Update Managed Brand: changes fields of a brand, or adds a new letter. */
export default function BrandUpdatePage({ params }: PageProps): VNode {
  const handle = params['handle']!;
  const reading = useReading<ShownBrand>(`/api/brands/${encodeURIComponent(handle)}`);
  if (!mayRequestBranding())
    return html`<${Page} title=${operationTitles.update_managed_brand}><${Empty} title="This needs the role reviewer.">An operator gives it: caller-trust console users role.</${Empty}></${Page}>`;
  return html`<${Page} title=${operationTitles.update_managed_brand} lead=${`Changes ${handle}. A change of the legal name, the display name or "doing business as", or a new letter, makes a revision that is approved before it is published; other changes are taken at once.`}>
    <${Read} reading=${reading} what="the brand" show=${(brand: Json<ShownBrand>) => html`<${UpdateForm} brand=${brand} />`} />
  </${Page}>`;
}

function UpdateForm({ brand }: { brand: Json<ShownBrand> }): VNode {
  const { handle, pendingProfile } = brand;
  const profile = pendingProfile ?? brand.profile;
  const { isBusy, problem, wrong, submit } = useSubmission();
  const [revealed, setRevealed] = useState<Json<PrivateFields> | null>(
    profile.hasPrivate ? null : { contact: null, taxId: null },
  );
  const [isEmpty, setEmpty] = useState(false);
  const reveal = async () => {
    const fields = await sendJson<RevealedFields>('POST', `/api/brands/${handle}/private`);
    setRevealed(fields.pendingProfile ?? fields.profile);
  };
  const hand = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const changes = {
      ...changed(profileIn(form), profile),
      ...(revealed === null ? {} : changed(privateIn(form), revealed)),
    };
    const [letter, numbers] = [fileIn(form, 'letter'), fileIn(form, 'numbersFile')];
    const named = listIn(form, 'numbers', betweenNumbers);
    const asksNothing = Object.keys(changes).length === 0 && letter === null && numbers === null && named.length === 0;
    setEmpty(asksNothing);
    if (!asksNothing)
      void submit({
        kind: 'update_managed_brand',
        request: { handle, changes, numbers: named, callReason: textIn(form, 'callReason') },
        letter,
        numbers,
      });
  };
  return html`<form class="page" onSubmit=${hand}>
    <${Section} title="The brand">
      ${pendingProfile === null || brand.approvedRevision === null ? null : html`<${Notice} kind="warn"><p>Revision ${brand.pendingRevision} waits for a decision. The fields show it; a submission here replaces it.</p></${Notice}>`}
      <${BrandFields} profile=${profile} wrong=${wrong} />
      ${revealed === null ? html`<p>Contact and tax id stay as they are. <${ActionButton} act=${reveal}>Show and change them</${ActionButton}> <span class="soft">That they were shown is recorded.</span></p>` : html`<${PrivateBrandFields} fields=${revealed} wrong=${wrong} />`}
    </${Section}>
    <${Section} title="Letter and numbers">
      <${LetterField} hint="A new letter, if the name or the company changes, or the one in force ends: PDF or PNG, at most 10 MiB and 20 pages." />
      <${NumberFields} wrong=${wrong} />
    </${Section}>
    ${isEmpty ? html`<${Notice} kind="bad"><p>Nothing was changed, and neither a letter nor a number was given.</p></${Notice}>` : null}
    ${problem ? html`<${ProblemNotice} problem=${problem} />` : null}
    <div class="actions"><button class="primary" disabled=${isBusy}>${isBusy ? 'Sending …' : operationTitles.update_managed_brand}</button></div>
  </form>`;
}

/** The fields that differ from the current ones. */
function changed(
  given: Record<string, unknown>,
  there: Json<ShownProfile> | Json<PrivateFields>,
): Record<string, unknown> {
  const before = there as unknown as Record<string, unknown>; // accessed by the names of the form's fields
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name] ?? null)),
  );
}
