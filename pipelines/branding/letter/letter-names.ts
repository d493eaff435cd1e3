import { findName, wordsInText, type NameInText } from '../names/name-match.ts';
import type { FoundText, PageText } from './letter-text.ts';

/** A name of the request, and how it is on the pages; `seen` is null where it was not found. */
export interface FoundName {
  readonly name: string;
  readonly kind: 'legalName' | 'dba' | 'displayName';
  readonly how: NameInText['kind'] | null;
  readonly seen: FoundText | null;
}

/** The names of a request. */
export interface RequestedNames {
  readonly legalName: string;
  readonly dba: string | null;
  readonly displayName: string;
}

const order: readonly NameInText['kind'][] = ['whole', 'other_form', 'longer', 'near'];

/** The best occurrence of each name on the pages. */
export function findNames(pages: readonly PageText[], names: RequestedNames): readonly FoundName[] {
  const texts = pages.map((page) => ({ page, words: wordsInText(page.text) }));
  return (['legalName', 'dba', 'displayName'] as const).flatMap((kind): FoundName[] => {
    const name = names[kind];
    if (name === null) return [];
    const found = texts.flatMap(({ page, words }) => {
      const match = findName(page.text, words, name, { near: true });
      return match === null ? [] : [{ how: match.kind, page, start: match.start }];
    });
    const [best] = found.sort((a, b) => order.indexOf(a.how) - order.indexOf(b.how));
    if (best === undefined) return [{ name, kind, how: null, seen: null }];
    return [{ name, kind, how: best.how, seen: best.page.seen(best.start, best.start + name.length) }];
  });
}
