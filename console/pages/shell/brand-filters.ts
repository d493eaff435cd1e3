import { Field, Pager } from './components.ts';
import { goTo, usePlace, withQuery } from './router.ts';
import { asWords } from './text.ts';
import { html, type Shown, type VNode } from './view.ts';

/** Cursors of pages, which a change of filters invalidates. */
const fromTheStart = { after: null, before: null };

function useFilter(name: string): { value: string; set: (value: string) => void } {
  const place = usePlace();
  return {
    value: place.query.get(name) ?? '',
    set: (value) => goTo(withQuery(place, { ...fromTheStart, [name]: value.trim() }), { replace: true }),
  };
}

/** The filters of a list, kept in the address, so that a filtered list can be shared. */
export function Filters({ children }: { children?: Shown }): VNode {
  return html`<form class="filters" role="search" onSubmit=${(event: SubmitEvent) => event.preventDefault()}>${children}</form>`;
}

/** A text filter, applied with Enter or on leaving the field. */
export function TextFilter({
  name,
  label,
  hint,
  type = 'text',
  ...limits
}: {
  name: string;
  label: string;
  hint?: string;
  type?: string;
  maxlength?: number;
  min?: number;
  max?: number;
  pattern?: string;
}): VNode {
  const { value, set } = useFilter(name);
  const take = ({ target }: Event) => {
    const input = target as HTMLInputElement;
    if (input.reportValidity()) set(input.value);
  };
  return html`<${Field} label=${label} hint=${hint}>${(ids: object) => html`<input type=${type} autocomplete="off" autocapitalize="none" spellcheck=${false} value=${value} onChange=${take} ...${limits} ...${ids} />`}</${Field}>`;
}

/** A filter with fixed choices. */
export function ChoiceFilter({
  name,
  label,
  hint,
  choices,
}: {
  name: string;
  label: string;
  hint?: string;
  choices: readonly string[];
}): VNode {
  const { value, set } = useFilter(name);
  return html`<${Field} label=${label} hint=${hint}>${(
    ids: object,
  ) => html`<select onChange=${({ target }: Event) => set((target as HTMLSelectElement).value)} ...${ids}>
    <option value="" selected=${value === ''}>all</option>
    ${choices.map((choice) => html`<option value=${choice} selected=${value === choice}>${asWords(choice)}</option>`)}
  </select>`}</${Field}>`;
}

/** The query of the filters in use. */
export function queryOf(query: URLSearchParams, names: readonly string[]): string {
  const given = names.flatMap((name) => (query.get(name) ? [[name, query.get(name)!] as [string, string]] : []));
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** The pager of a list whose cursor is in the address; nothing if the list fits on one page. */
export function Paging({
  next,
  cursor,
  moreText,
  label,
  stays = false,
}: {
  next: string | null;
  cursor: string;
  moreText?: string;
  label?: string;
  stays?: boolean;
}): VNode | null {
  const place = usePlace();
  const isFirst = !place.query.has(cursor);
  if (isFirst && next === null) return null;
  const go = (to: string | null) => goTo(withQuery(place, { [cursor]: to }), { replace: stays });
  return html`<${Pager} next=${next} isFirst=${isFirst} moreText=${moreText} label=${label} onFirst=${() => go(null)} onNext=${go} />`;
}
