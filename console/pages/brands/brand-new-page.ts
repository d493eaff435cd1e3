import { BrandFields, PrivateBrandFields, privateIn, profileIn } from './brand-fields.ts';
import { betweenNumbers, fileIn, listIn, textIn, useSubmission } from './branding-submission.ts';
import { Empty, Field, Page, ProblemNotice, Section } from '../shell/components.ts';
import { LetterField, NumberFields } from './number-fields.ts';
import { currentSession, mayRequestBranding } from '../shell/request.ts';
import { operationTitles } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** Add Managed Brand: registers a brand, with an optional letter and optional numbers. */
export default function BrandNewPage(): VNode {
  const { isBusy, problem, wrong, submit } = useSubmission();
  const hand = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const handle = textIn(form, 'handle');
    void submit({
      kind: 'add_managed_brand',
      owner: textIn(form, 'owner') ?? '',
      request: {
        ...(handle === null ? {} : { handle }),
        brand: { ...profileIn(form), ...privateIn(form) },
        numbers: listIn(form, 'numbers', betweenNumbers),
        callReason: textIn(form, 'callReason'),
      },
      letter: fileIn(form, 'letter'),
      numbers: fileIn(form, 'numbersFile'),
    });
  };
  if (!mayRequestBranding())
    return html`<${Page} title=${operationTitles.add_managed_brand}><${Empty} title="This needs the role reviewer.">An operator gives it: caller-trust console users role.</${Empty}></${Page}>`;
  return html`<${Page} title=${operationTitles.add_managed_brand} lead="Registers a brand. With a letter of authorization it is checked at once; without one it stays a draft.">
    <form class="page" onSubmit=${hand}>
      <${Section} title="The brand">
        <div class="field-pairs">
          <${Field} label="Owner" hint="The client that owns the brand, as named by its API keys." problem=${wrong.get('owner')}>${(ids: object) => html`<input name="owner" required defaultValue=${currentSession().user.owners[0] ?? ''} maxlength="128" autocomplete="off" ...${ids} />`}</${Field}>
          <${Field} label="Handle (optional)" hint="2 to 63 lower-case letters, digits and single hyphens. Empty: made of the display name." problem=${wrong.get('handle')}>${(ids: object) => html`<input name="handle" maxlength="63" pattern="[a-z0-9](-?[a-z0-9])+" autocomplete="off" autocapitalize="none" spellcheck=${false} ...${ids} />`}</${Field}>
        </div>
        <${BrandFields} wrong=${wrong} />
        <${PrivateBrandFields} wrong=${wrong} />
      </${Section}>
      <${Section} title="Letter and numbers">
        <${LetterField} hint="PDF or PNG, at most 10 MiB and 20 pages, not encrypted. It names the company, the name that calls show, the numbers and its signer." />
        <${NumberFields} wrong=${wrong} />
      </${Section}>
      ${problem ? html`<${ProblemNotice} problem=${problem} />` : null}
      <div class="actions"><button class="primary" disabled=${isBusy}>${isBusy ? 'Sending …' : operationTitles.add_managed_brand}</button></div>
    </form>
  </${Page}>`;
}
