import { betweenNumbers } from './branding-submission.ts';
import { ActionButton, Dialog, Field } from '../shell/components.ts';
import { saveAnswer } from '../shell/request.ts';
import { html, useState, type VNode } from '../shell/view.ts';

/** The languages of the form. */
export const formLanguages = {
  en: 'English',
  de: 'German',
  es: 'Spanish',
  fr: 'French',
  it: 'Italian',
  pt: 'Portuguese',
} as const;

/** Issues the form of a letter for a brand and saves it. */
export function IssueForm({ handle }: { handle: string }): VNode {
  const [isOpen, setOpen] = useState(false);
  const [saved, setSaved] = useState<string | null>(null);
  return html`<div class="actions"><button type="button" onClick=${() => setOpen(true)}>Issue letter of authorization</button>${saved === null ? null : html`<span role="status">Saved as ${saved}. It is to be signed in its signature field and handed in, unchanged, within 30 days.</span>`}</div>
    <${Dialog} title="Issue letter of authorization" isOpen=${isOpen} onClose=${() => setOpen(false)}>
      <${FormOrder} handle=${handle} onClose=${() => setOpen(false)} onSaved=${setSaved} />
    </${Dialog}>` as VNode;
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
    const named = numbers
      .split(betweenNumbers)
      .map((number) => number.trim())
      .filter((number) => number !== '');
    onSaved(
      await saveAnswer(`/api/brands/${handle}/letter-form`, { signer: { name, title }, language, numbers: named }),
    );
    onClose();
  };
  return html`<p>A PDF for the company to sign digitally. Signed by the named person, it is the only letter that rules alone can approve.</p>
    <${Field} label="Name of the signer" hint="As the certificate of the signature has it.">${(ids: object) => html`<input maxlength="128" autocomplete="off" value=${name} onInput=${take('name')} ...${ids} />`}</${Field}>
    <${Field} label="Title of the signer" hint="What the person is in the company: Director, Chief Financial Officer.">${(ids: object) => html`<input maxlength="128" autocomplete="off" value=${title} onInput=${take('title')} ...${ids} />`}</${Field}>
    <${Field} label="Language" hint="Of the text of the form.">${(
      ids: object,
    ) => html`<select onChange=${take('language')} ...${ids}>
      ${Object.entries(formLanguages).map(([code, text]) => html`<option value=${code} selected=${code === language}>${text}</option>`)}
    </select>`}</${Field}>
    <${Field} label="Numbers of the letter (optional)" hint="In international form, one a line, at most 1,000. Empty: the numbers of the brand that no letter in force names.">${(ids: object) => html`<textarea rows="3" spellcheck=${false} value=${numbers} onInput=${take('numbers')} ...${ids}></textarea>`}</${Field}>
    <div class="actions"><button type="button" onClick=${onClose}>Cancel</button><${ActionButton} kind="primary" disabled=${name.trim() === '' || title.trim() === ''} act=${act}>Issue and save</${ActionButton}></div>` as VNode;
}
