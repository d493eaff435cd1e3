import { betweenNumbers, fileIn, listIn, textIn, useSubmission } from './branding-submission.ts';
import { ProblemNotice, Section } from '../shell/components.ts';
import { LetterField, NumberFields } from './number-fields.ts';
import { html, type VNode } from '../shell/view.ts';

/** Add Phone number for Branding: one, several, or a CSV, with a letter that names them if the brand's letters do not. */
export function NumberForm({ handle }: { handle: string }): VNode {
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
  return html`<${Section} title="Add Phone number for Branding">
    <p class="lead">A number that a letter in force names is verified at once; others need a letter that names them.</p>
    <form class="branding-form" onSubmit=${hand}>
      <${NumberFields} wrong=${wrong} />
      <${LetterField} hint="If no letter in force names the numbers: PDF or PNG, at most 10 MiB and 20 pages." />
      ${problem ? html`<${ProblemNotice} problem=${problem} />` : null}
      <div class="actions"><button class="primary" disabled=${isBusy}>${isBusy ? 'Sending …' : 'Add numbers'}</button></div>
    </form>
  </${Section}>`;
}
