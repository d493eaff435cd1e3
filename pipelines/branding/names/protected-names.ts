import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { genericWords, isGeneric, splitLegalForm } from './company-words.ts';
import { isWithinOneEdit } from './edit-distance.ts';
import { foldWordsBothWays, joinWords, type FoldedWord } from './name-folding.ts';
import { lookOf } from './look-alikes.ts';
import { transliterate } from './transliteration.ts';

/** What a protected name stands for. */
export const PROTECTED_CATEGORIES = ['bank', 'payment', 'insurance', 'agency', 'authority', 'emergency', 'carrier', 'shipping', 'airline', 'energy', 'brand'] as const;
export type ProtectedCategory = (typeof PROTECTED_CATEGORIES)[number];

/** A name that nobody is shown under without a person. */
export interface ProtectedName {
  readonly name: string;
  readonly category: ProtectedCategory;
  /** ISO 3166-1, or null for several countries. */
  readonly country: string | null;
  /** An ordinary word or a family name, too: found in a longer name only where all other words are generic. */
  readonly common: boolean;
}

/** How a name is near to a protected one, with the words of the finding. */
export const NEARNESS = {
  same: 'it is that name',
  look_alike: 'it looks like that name',
  contained: 'it contains that name',
  one_edit: 'it differs from that name in one letter',
} as const;
export type Nearness = keyof typeof NEARNESS;

/** The protected name that a name is near to, and how. */
export interface NearName extends ProtectedName {
  readonly how: Nearness;
}

/** Protected names, made ready for comparison. */
export type ProtectedNames = readonly ReadyName[];

interface ReadyName extends Comparable {
  readonly entry: ProtectedName;
  /** All its words are generic ones, as in `Bank of America`: they count only in this order. */
  readonly generic: boolean;
}

/** A name in the forms in which it is compared: words that join others and the legal form are left out. */
interface Comparable {
  readonly words: readonly FoldedWord[];
  readonly looks: readonly string[];
  readonly joined: FoldedWord;
  /** The letters of all its words in a row, in each way to write them, with and without the joining words. */
  readonly rows: readonly string[];
  /** As a quick eye reads it. */
  readonly look: string;
}

/** Shortest name that is compared by its looks: `UPS` looks like too many. */
const lookLettersMin = 4;
/** Shortest name of which one letter may differ; up to here and in ordinary words only beside generic words. */
const editLettersMin = 5;
/** Shortest name that is found as a run of letters in any other. */
const runLettersMin = 6;

/** Makes names ready for comparison. */
export function prepareProtectedNames(entries: readonly ProtectedName[]): ProtectedNames {
  return entries.map((entry) => {
    const compared = comparable(entry.name);
    return { entry, ...compared, generic: compared.words.every((word) => isGeneric(word)) };
  }).filter(({ words }) => words.length > 0);
}

/** The list of the project with further names, ready for comparison. */
export function protectedNamesWith(further: readonly ProtectedName[]): ProtectedNames {
  own ??= prepareProtectedNames(parseProtectedNames(readFileSync(createRequire(import.meta.url).resolve('#data/protected-names.tsv'), 'utf8')));
  return further.length === 0 ? own : [...own, ...prepareProtectedNames(further)];
}

let own: ProtectedNames | undefined;

/** Names of a list in the form of data/protected-names.tsv. */
export function parseProtectedNames(text: string): readonly ProtectedName[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const [name, category, country, common] = line.split('\t');
    return { name: name!, category: category as ProtectedCategory, country: country === '-' ? null : country!, common: common === 'common' };
  });
}

function comparable(name: string): Comparable {
  const all = foldWordsBothWays(name).map(({ plain, spelledOut }) => ({ plain: transliterate(plain), spelledOut: transliterate(spelledOut) }));
  const core = splitLegalForm(all).core;
  const kept = core.filter((word) => !isGeneric(word, ['joining']) || core.length === 1);
  const words = kept.length === 0 ? core : kept;
  const parts = name.replace(/['’‘ʼ´`′]/gu, '').split(/[^\p{L}\p{N}\p{M}@$!|€£¥¢]+/u).map(lookOf).filter((look) => look !== '');
  return { words, looks: parts, joined: joinWords(words), rows: [...new Set([words, core].flatMap((each) => spellings(joinWords(each))))], look: lookOf(name) };
}

/**
 * The protected name that a name is near to, or null: the name itself, its look-alikes, one letter that differs, or a
 * longer name that contains it. Of several the closest is given.
 */
export function nearProtectedName(name: string, protectedNames: ProtectedNames): NearName | null {
  const shown = comparable(name);
  if (shown.words.length === 0) return null;
  const found = protectedNames.flatMap((ready) => {
    const how = nearnessOf(shown, ready);
    return how === null ? [] : [{ ...ready.entry, how }];
  });
  const order = Object.keys(NEARNESS);
  return found.sort((a, b) => order.indexOf(a.how) - order.indexOf(b.how) || b.name.length - a.name.length)[0] ?? null;
}

function nearnessOf(shown: Comparable, ready: ReadyName): Nearness | null {
  if (shown.rows.some((letters) => ready.rows.includes(letters))) return 'same';
  if (ready.look.length >= lookLettersMin && (shown.look === ready.look || withoutDoubles(shown.look) === withoutDoubles(ready.look))) return 'look_alike';
  if (containsWords(shown, ready) || containsLetters(shown, ready)) return 'contained';
  if (containsLook(shown, ready)) return 'look_alike';
  return isOneEditAway(shown, ready) ? 'one_edit' : null;
}

function spellings({ plain, spelledOut }: FoldedWord): readonly string[] {
  return plain === spelledOut ? [plain] : [plain, spelledOut];
}

function withoutDoubles(letters: string): string {
  return letters.replace(/(.)\1+/gu, '$1');
}

/** All words of the protected name are words of the other; generic ones next to one another, as in `America Bank Support`. */
function containsWords(shown: Comparable, { words, entry, generic }: ReadyName): boolean {
  const places = words.map((word) => shown.words.findIndex((other) => spellings(other).some((letters) => spellings(word).includes(letters))));
  if (places.includes(-1) || new Set(places).size < places.length) return false;
  if (generic && places.some((place, at) => at > 0 && place !== places[at - 1]! + 1)) return false;
  return !entry.common || shown.words.every((word, at) => places.includes(at) || isGeneric(word));
}

/** The letters stand in a row in the other name, as in `ChaseBank` or `mypaypalhelp`. */
function containsLetters(shown: Comparable, { rows, entry, generic }: ReadyName): boolean {
  return shown.rows.some((letters) => rows.some((wanted) => {
    if (wanted.length < 3 || !letters.includes(wanted)) return false;
    if (!entry.common && !generic && wanted.length >= runLettersMin) return true;
    return isBetweenGeneric(letters, wanted);
  }));
}

/** True if what stands before and after the letters is empty or generic words without spaces. */
function isBetweenGeneric(letters: string, wanted: string): boolean {
  for (let at = letters.indexOf(wanted); at !== -1; at = letters.indexOf(wanted, at + 1)) {
    if (isGenericRun(letters.slice(0, at)) && isGenericRun(letters.slice(at + wanted.length))) return true;
  }
  return false;
}

/** True if letters are generic words of two letters or more in a row. */
function isGenericRun(letters: string): boolean {
  if (letters === '') return true;
  for (let length = letters.length; length >= 2; length--) {
    const start = letters.slice(0, length);
    if (isGeneric({ plain: start, spelledOut: start }) && isGenericRun(letters.slice(length))) return true;
  }
  return false;
}

/** The same for what the letters look like. */
function containsLook(shown: Comparable, { look, looks, entry, generic }: ReadyName): boolean {
  if (look.length < lookLettersMin || looks.some(({ length }) => length < 3)) return false;
  const words = looks.every((wanted) => shown.looks.includes(wanted));
  const rest = shown.looks.filter((each) => !looks.includes(each));
  if (words && !generic && (!entry.common || rest.every(isGenericLook))) return true;
  return !entry.common && !generic && look.length >= runLettersMin && shown.look.includes(look);
}

const genericLooks: ReadonlySet<string> = new Set(genericWords.map(lookOf));

function isGenericLook(look: string): boolean {
  return genericLooks.has(look);
}

/** Some neighbouring words, joined, differ from the protected name in one letter. */
function isOneEditAway(shown: Comparable, { joined, look, words, entry, generic }: ReadyName): boolean {
  if (joined.plain.length < editLettersMin) return false;
  const onlyBesideGeneric = entry.common || joined.plain.length === editLettersMin;
  for (let from = 0; from < shown.words.length; from++) {
    for (let to = from + 1; to <= Math.min(shown.words.length, from + words.length + 1); to++) {
      if (onlyBesideGeneric && !shown.words.every((word, at) => (at >= from && at < to) || isGeneric(word))) continue;
      const taken = shown.words.slice(from, to);
      if (!generic && taken.every((word) => isGeneric(word))) continue;
      const run = joinWords(taken);
      if (spellings(run).some((letters) => spellings(joined).some((wanted) => isWithinOneEdit(letters, wanted)))) return true;
    }
  }
  return isWithinOneEdit(shown.look, look) && look.length >= editLettersMin;
}
