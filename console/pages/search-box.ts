import type { FoundPlace } from '../answers/find-answers.ts';
import { askNumber } from './numbers/asked-number.ts';
import { asProblem, sendJson } from './shell/request.ts';
import { goTo } from './shell/router.ts';
import { html, useState, type VNode } from './shell/view.ts';

/** Id of the search field, which the shortcut `/` focuses. */
export const searchFieldId = 'search';

const phoneForm = /^\+?[\d\s().-]+$/;
const dateForm = /^\d{4}-\d{2}-\d{2}$/;
const phoneDigitsMin = 7;

/** The search field of the bar: leads to the page of a number, a brand, an id, a night's date, a model or an artefact. */
export function SearchBox(): VNode {
  const [text, setText] = useState('');
  const [answer, setAnswer] = useState('');
  const search = async (event: SubmitEvent) => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted === '') return;
    setAnswer('');
    try {
      const href = isPhone(wanted) ? null : (await sendJson<FoundPlace>('POST', '/api/find', { text: wanted })).href;
      if (isPhone(wanted)) askNumber(wanted);
      else if (href === null)
        return setAnswer(
          'Nothing has this name: a number, the handle of a brand, an id, the date of a night, "letter 4".',
        );
      else goTo(href);
      setText('');
    } catch (error) {
      setAnswer(asProblem(error).message);
    }
  };
  const leave = () => setAnswer('');
  return html`<form class="search" role="search" aria-label="The whole console" onSubmit=${search}>
    <input id=${searchFieldId} type="search" aria-label="Search" aria-describedby="search-answer" placeholder="Number, brand, id, date …" maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${false} value=${text} onInput=${({ currentTarget }: { currentTarget: HTMLInputElement }) => setText(currentTarget.value)} onBlur=${leave} />
    <p id="search-answer" class="search-answer" role="status">${answer}</p>
  </form>`;
}

function isPhone(text: string): boolean {
  return phoneForm.test(text) && !dateForm.test(text) && text.replace(/\D/g, '').length >= phoneDigitsMin;
}
