import { Field } from '../shell/components.ts';
import { html, type VNode } from '../shell/view.ts';

/** Numbers of a request as a list, or as a CSV. */
export function NumberFields({ wrong }: { wrong: ReadonlyMap<string, string> }): VNode {
  return html`<${Field} label="Numbers" problem=${wrong.get('numbers')} hint="In international form, one a line: +1 202 555 0143. At most 1,000; more come as a CSV.">${(ids: object) => html`<textarea name="numbers" rows="3" spellcheck=${false} ...${ids}></textarea>`}</${Field}>
    <${Field} label="Numbers as CSV" hint="Instead of the list: up to 100,000 rows with a column phone, or numbers alone.">${(ids: object) => html`<input type="file" name="numbersFile" accept=".csv,.tsv,.txt,text/csv" ...${ids} />`}</${Field}>
    <${Field} label="Call reason of these numbers" problem=${wrong.get('callReason')} hint="At most 50 characters. Empty: the first call reason of the brand.">${(ids: object) => html`<input name="callReason" maxlength="50" autocomplete="off" ...${ids} />`}</${Field}>` as VNode;
}

/** Of 24 numbers 24 were read at 150 and 200 dots per inch, 20 at 100; of 12 on photographs 2. */
const scanHint = 'A scan needs 200 dots per inch, 150 at least; photographs are seldom read.';

/** The letter of authorization of a request. */
export function LetterField({ hint }: { hint: string }): VNode {
  return html`<${Field} label="Letter of authorization" hint=${`${hint} ${scanHint}`}>${(ids: object) => html`<input type="file" name="letter" accept=".pdf,.png,application/pdf,image/png" ...${ids} />`}</${Field}>`;
}
