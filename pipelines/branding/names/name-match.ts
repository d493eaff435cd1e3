import { formWordsMax, legalFormOf, splitCompanyName, splitLegalForm } from './company-words.ts';
import { isNearSpelling } from './edit-distance.ts';
import { foldWords, foldWordsBothWays, isSameWord, joinWords, type FoldedWord } from './name-folding.ts';

/**
 * Names of companies and people as they are written in letters, compared word by word. Pure: no dictionary, no service.
 */

/**
 * How two names compare: `same` (case, accents, punctuation and a legal form that one of them leaves out do not count),
 * `other_form` (Acme Inc. and Acme LLC are two companies), `near` (a letter or two differ: a misread scan, or a
 * look-alike), `other`.
 */
export type NameComparison = 'same' | 'other_form' | 'near' | 'other';

/** Compares two names of companies or brands. */
export function compareNames(left: string, right: string): NameComparison {
  const [a, b] = [splitCompanyName(left), splitCompanyName(right)];
  const [coreA, coreB] = [joinWords(a.core), joinWords(b.core)]; // Foo Bar and FooBar are one name
  if (coreA.plain === '' || coreB.plain === '') return 'other';
  if (isSameWord(coreA, coreB)) return a.form !== null && b.form !== null && a.form !== b.form ? 'other_form' : 'same';
  return isNearSpelling(coreA.plain, coreB.plain) ? 'near' : 'other';
}

/** A word of a text with its position. */
export interface TextWord extends FoldedWord {
  /** Offset of its first character and the one after its last. */
  readonly start: number;
  readonly end: number;
  /** As written. */
  readonly written: string;
}

/** The words of a text with their positions. A written word may be several folded ones (`AT&T`), which share its position. */
export function wordsInText(text: string): readonly TextWord[] {
  return [...text.matchAll(/[\p{L}\p{N}\p{M}'’]+|[&+]/gu)].flatMap((match) =>
    foldWordsBothWays(match[0]).map(({ plain, spelledOut }) => ({
      plain,
      spelledOut,
      written: match[0],
      start: match.index,
      end: match.index + match[0].length,
    })),
  );
}

/**
 * How a name occurs in a text. `whole`: as a name of its own; `longer`: perhaps as a part of a longer name (`Acme Rivals`
 * for Acme); `other_form`: with another legal form; `near`: with a letter or two that differ, searched only on request.
 */
export interface NameInText {
  readonly kind: 'whole' | 'longer' | 'other_form' | 'near';
  readonly start: number;
}

const ranks: Readonly<Record<NameInText['kind'], number>> = { whole: 0, other_form: 1, longer: 2, near: 3 };

/** Words with a capital that may precede a name without being part of it. */
const notPartOfNames = new Set(
  (
    'i we our the for of by to at from on and or as is in re dear behalf company customer client ' +
    'brand name entity organization business legal that whereas hereby ' +
    'authorizes authorises authorized authorise authorize authorization letter ' +
    'subject sincerely regards signed print title address this your my its a an with between if when while all any ' +
    'la el le les der die das das die von de di da firma empresa societe societa unternehmen para por pour fur per'
  ).split(' '),
);

/** The best occurrence of a name in a text, or null. */
export function findName(
  text: string,
  words: readonly TextWord[],
  name: string,
  options: { readonly near: boolean },
): NameInText | null {
  const { core, form } = splitCompanyName(name);
  if (core.length === 0) return null;
  let best: NameInText | null = null;
  for (let at = 0; at + core.length <= words.length; at++) {
    if (!core.every((word, offset) => isSameWord(words[at + offset]!, word))) continue;
    const found: NameInText = {
      kind: kindOfOccurrence({ text, words, from: at, to: at + core.length, name, form }),
      start: words[at]!.start,
    };
    if (best === null || ranks[found.kind] < ranks[best.kind]) best = found;
    if (best.kind === 'whole') return best;
  }
  return best ?? (options.near ? findNear(words, core) : null);
}

interface Occurrence {
  readonly text: string;
  readonly words: readonly TextWord[];
  readonly from: number;
  readonly to: number;
  readonly name: string;
  readonly form: string | null;
}

function kindOfOccurrence({ text, words, from, to, name, form }: Occurrence): NameInText['kind'] {
  const written = text.slice(words[from]!.start, words[to - 1]!.end);
  if (to - from === 1 && !isWrittenAsName(written, name)) return 'longer';
  const found = formAfter(words, to);
  if (found !== null && form !== null && found.form !== form) return 'other_form';
  const end = found === null ? to : to + found.words;
  return isJoined(text, words[end - 1]!, words[end]) || isJoinedBefore(text, words[from - 1], words[from]!)
    ? 'longer'
    : 'whole';
}

/** Capitals distinguish a name of one word from the common word: Target is not `target`. */
function isWrittenAsName(written: string, name: string): boolean {
  const first = name
    .replace(/^the\s+/i, '')
    .trim()
    .slice(0, written.length);
  return (
    written === first || (written.length > 1 && written === written.toUpperCase() && written !== written.toLowerCase())
  );
}

function formAfter(words: readonly TextWord[], at: number): { form: string; words: number } | null {
  for (let count = formWordsMax; count > 0; count--) {
    const form = legalFormOf(words.slice(at, at + count).map(({ plain }) => plain));
    // `as`, `co`, `se` and others are words of their own in some language: small letters make no form
    if (form !== undefined && words[at]!.written !== words[at]!.written.toLowerCase()) return { form, words: count };
  }
  return null;
}

/** A line of this length probably continues in the next. */
const fullLineCharacters = 60;

/** True if a capitalized word follows with a single space between, or in the next line of a paragraph: the name may continue. */
function isJoined(text: string, last: TextWord, next: TextWord | undefined): boolean {
  if (next === undefined || next.start === last.end) return false;
  const between = text.slice(last.end, next.start);
  const goesOn =
    /^ ?(?:& |- ?)?$/.test(between) ||
    (between === '\n' && last.end - text.lastIndexOf('\n', last.start) > fullLineCharacters);
  return goesOn && (next.written === '&' || (/^\p{Lu}/u.test(next.written) && !notPartOfNames.has(next.plain)));
}

function isJoinedBefore(text: string, previous: TextWord | undefined, first: TextWord): boolean {
  if (previous === undefined || text.slice(previous.end, first.start) !== ' ') return false;
  return previous.written === '&' || (/^\p{Lu}/u.test(previous.written) && !notPartOfNames.has(previous.plain));
}

function findNear(words: readonly TextWord[], core: readonly FoldedWord[]): NameInText | null {
  const letters = (some: readonly FoldedWord[]) => some.map(({ plain }) => plain).join('');
  const wanted = letters(core);
  for (let at = 0; at < words.length; at++) {
    for (let count = Math.max(1, core.length - 1); count <= core.length + 1; count++) {
      if (isNearSpelling(letters(words.slice(at, at + count)), wanted))
        return { kind: 'near', start: words[at]!.start };
    }
  }
  return null;
}

const personTitles = new Set(
  'mr mrs ms mx dr prof professor sir madam herr frau senor senora sr sra m mme monsieur madame dott dottssa ing jr ii iii iv esq phd mba cpa'.split(
    ' ',
  ),
);

/** True if two names of people agree in all their parts, in either order of family and given name: `Sample, Jane` is Jane Sample. */
export function isSamePerson(left: string, right: string): boolean {
  const [a, b] = [left, right].map((name) => orderedName(name).filter((word) => !honorifics.has(word)));
  return a!.length > 0 && a!.join(' ') === b!.join(' ');
}

/** Titles that are no part of a name; Jr. and III distinguish people. */
const honorifics = new Set('mr mrs ms mx dr prof professor herr frau phd mba esq'.split(' '));

function orderedName(name: string): readonly string[] {
  const [family, given, more] = name.split(',');
  const isReversed =
    given !== undefined && more === undefined && foldWords(given).some((word) => !personTitles.has(word));
  return foldWords(isReversed ? `${given} ${family}` : name);
}

const notInPersonNames = /[\d@:;/\\_<>[\]{}|#*=]/;
const particles = new Set(
  'de del della di da do dos das du la le van von der den ten ter zu zum y e bin al el st'.split(' '),
);

/** True for two to six words that each begin with a capital, as a person's name does. Wholly upper case counts. */
export function looksLikePerson(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length < 4 || trimmed.length > 60 || notInPersonNames.test(trimmed)) return false;
  const words = trimmed.replaceAll(',', ' ').split(/\s+/);
  if (words.length < 2 || words.length > 6 || splitLegalForm(foldWords(trimmed)).form !== null) return false;
  return words.every((word) => /^\p{Lu}[\p{L}\p{M}.'’-]*$/u.test(word) || particles.has(word.toLowerCase()));
}
