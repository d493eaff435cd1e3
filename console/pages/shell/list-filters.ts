import { ChoiceField, Field, Pager } from './components.ts';
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
  return html`<form class="filters" role="search" aria-label="Filters" onSubmit=${(event: SubmitEvent) => event.preventDefault()}>${children}</form>`;
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

/** A filter with fixed choices; `textOf` gives their texts. */
export function ChoiceFilter({
  name,
  label,
  choices,
  textOf = asWords,
}: {
  name: string;
  label: string;
  choices: readonly string[];
  textOf?: (choice: string) => string;
}): VNode {
  const { value, set } = useFilter(name);
  const options = [['', 'all'], ...choices.map((choice) => [choice, textOf(choice)] as const)] as const;
  return html`<${ChoiceField} label=${label} value=${value} choices=${options} onChoose=${set} />`;
}

/** The query of the filters in use. */
export function queryOf(query: URLSearchParams, names: readonly string[]): string {
  const given = names.flatMap((name) => (query.get(name) ? [[name, query.get(name)!] as [string, string]] : []));
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/**
 * The pager of a list whose cursor is in the address; nothing if the list fits on one page, unless it is always shown. With
 * `stays` the pages of the list are no steps of the browser's history.
 */
export function Paging({
  next,
  cursor,
  moreText,
  label,
  stays = false,
  isAlwaysShown = false,
}: {
  next: string | null;
  cursor: string;
  moreText?: string;
  label?: string;
  stays?: boolean;
  isAlwaysShown?: boolean;
}): VNode | null {
  const place = usePlace();
  const isFirst = !place.query.has(cursor);
  if (isFirst && next === null && !isAlwaysShown) return null;
  const go = (to: string | null) => goTo(withQuery(place, { [cursor]: to }), { replace: stays });
  return html`<${Pager} next=${next} isFirst=${isFirst} moreText=${moreText} label=${label} onFirst=${() => go(null)} onNext=${go} />`;
}
