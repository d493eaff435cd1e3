import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../runtime/package-root.ts';
import { genericWords, isGeneric, splitLegalForm } from './company-words.ts';
import { editDistance, isWithinOneEdit } from './edit-distance.ts';
import { foldWordsBothWays, joinWords, letterTable, type FoldedWord } from './name-folding.ts';
import { lookOf } from './look-alikes.ts';

/** The kinds of protected names. */
export const PROTECTED_CATEGORIES = [
  'bank',
  'payment',
  'insurance',
  'agency',
  'authority',
  'emergency',
  'caller',
  'carrier',
  'shipping',
  'airline',
  'energy',
  'brand',
] as const;
export type ProtectedCategory = (typeof PROTECTED_CATEGORIES)[number];

/** A name that may be shown only after a person has decided. */
export interface ProtectedName {
  readonly name: string;
  readonly category: ProtectedCategory;
  /** ISO 3166-1, or null for several countries. */
  readonly country: string | null;
  /** An ordinary word or a family name, too: found in a longer name only where all other words are generic. */
  readonly common: boolean;
}

/** How a name resembles a protected one, with the words of the finding. */
export const NEARNESS = {
  same: 'it is that name',
  look_alike: 'it looks like that name',
  contained: 'it contains that name',
  one_edit: 'it differs from that name in one letter',
  two_edits: 'it differs from that name in two letters',
} as const;
type Nearness = keyof typeof NEARNESS;

/** The protected name that a name resembles, and how. */
export interface NearName extends ProtectedName {
  readonly how: Nearness;
}

/** Protected names, prepared for comparison. */
export type ProtectedNames = readonly ReadyName[];

interface ReadyName extends Comparable {
  readonly entry: ProtectedName;
  /** All its words are generic ones, as in `Bank of America`: they count only in this order. */
  readonly generic: boolean;
}

/** A name in the forms that are compared, without joining words and the legal form. */
interface Comparable {
  readonly words: readonly FoldedWord[];
  readonly looks: readonly string[];
  readonly joined: FoldedWord;
  /** The spellings of `joined`. */
  readonly spelled: readonly string[];
  /** All its words joined, in each spelling, with and without the joining words. */
  readonly rows: readonly string[];
  /** Reduced to its look (`lookOf`). */
  readonly look: string;
  /** The same with repeated letters written once. */
  readonly lookWithoutDoubles: string;
}

/** Shortest name that is compared by its looks; of three letters only where all other words are generic. */
const lookLettersMin = 3;
/**
 * Shortest name that is near a name with one other letter wherever it stands; a shorter one alone, or beside words of its own trade.
 * In a name of three letters only a swap of two letters or an added s counts. One that is an ordinary word is near beside such words
 * alone.
 */
const editLettersMin = 3;
const editLettersAnywhereMin = 6;
/** Words of the trades of these categories: a short name with another letter beside one is near (Chose Bank, DLH Express). */
const ownTrade: Partial<Record<ProtectedCategory, string>> = {
  bank: 'bank banking card cards credit account online',
  payment: 'pay payment payments card cards wallet account',
  insurance: 'insurance assurance versicherung seguros',
  carrier: 'mobile wireless telecom internet broadband media',
  shipping: 'express delivery parcel package tracking paket logistics shipping',
  airline: 'air airline airlines airways travel',
  energy: 'energy power gas',
  brand: 'store shop online computer computers software electronics tech repair media music delivery printer doorbell',
};
/** Shortest name that is near a name with two other letters. */
const twoEditsLettersMin = 9;
/** Shortest generic word whose misspellings are recognised. */
const misspelledLettersMin = 4;
/** Shortest name that is found inside of a word with generic words around it; a shorter one only before those of roles and help desks. */
const affixLettersMin = 4;
/** Shortest name that is searched as a substring in scripts without spaces, in which a letter is a syllable or a word. */
const runLettersMinEastAsian = 3;
const eastAsian = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+$/u;

/** Prepares names for comparison. */
function prepareProtectedNames(entries: readonly ProtectedName[]): ProtectedNames {
  return entries
    .map((entry) => {
      const compared = comparable(entry.name);
      return { entry, ...compared, generic: compared.words.every((word) => isGeneric(word)) };
    })
    .filter(({ words }) => words.length > 0);
}

/** The shipped list with further names, prepared for comparison. */
export function protectedNamesWith(further: readonly ProtectedName[]): ProtectedNames {
  own ??= prepareProtectedNames(
    parseProtectedNames(readFileSync(join(packageRoot, 'data', 'protected-names.tsv'), 'utf8')),
  );
  return further.length === 0 ? own : [...own, ...prepareProtectedNames(further)];
}

let own: ProtectedNames | undefined;

/** Names of a list in the form of data/protected-names.tsv. */
export function parseProtectedNames(text: string): readonly ProtectedName[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name, category, country, common] = line.split('\t');
      return {
        name: name!,
        category: category as ProtectedCategory,
        country: country === '-' ? null : country!,
        common: common === 'common',
      };
    });
}

function comparable(name: string): Comparable {
  const all = foldWordsBothWays(name).map(({ plain, spelledOut }) => ({
    plain: transliterate(plain),
    spelledOut: transliterate(spelledOut),
  }));
  const core = splitLegalForm(all).core;
  const kept = core.filter((word) => !isGeneric(word, ['joining']) || core.length === 1);
  const words = kept.length === 0 ? core : kept;
  const parts = name
    .replace(/['’‘ʼ´`′]/gu, '')
    .split(/[^\p{L}\p{N}\p{M}@$!|€£¥¢]+/u)
    .map(lookOf)
    .filter((look) => look !== '');
  const look = lookOf(name);
  const joined = joinWords(words);
  return {
    words,
    looks: parts,
    joined,
    spelled: spellings(joined),
    rows: [
      ...new Set(
        [words, core, core.filter(({ plain }) => plain !== 'and')].flatMap((each) => spellings(joinWords(each))),
      ),
    ],
    look,
    lookWithoutDoubles: withoutDoubles(look),
  };
}

/**
 * The protected name that a name resembles, or null: the name itself, its look-alikes, one letter that differs, or a
 * longer name that contains it. Of several the closest.
 */
export function nearProtectedName(name: string, protectedNames: ProtectedNames): NearName | null {
  const withoutDigits = name.replace(/\d+/g, ' '); // digits may be letters (`PayPa1`) or nothing (`DHL24`)
  const shown = [...new Set([name, withoutDigits])].map(comparedName).filter(({ words }) => words.length > 0);
  const found = shown.flatMap((each) =>
    protectedNames.flatMap((ready) => {
      const how = nearnessOf(each, ready);
      return how === null ? [] : [{ ...ready.entry, how }];
    }),
  );
  const order = Object.keys(NEARNESS);
  return (
    found.sort(
      (a, b) =>
        order.indexOf(a.how) - order.indexOf(b.how) ||
        Number(isWording(a)) - Number(isWording(b)) ||
        b.name.length - a.name.length,
    )[0] ?? null
  );
}

/** True for an entry that is a word of authority or of telephones, and no company's name. */
const isWording = ({ category }: ProtectedName) => category === 'authority' || category === 'caller';

/**
 * The protected name that a part of a web address holds, or null. Ordinary words may be in one: those of authority, and those near a
 * name by chance.
 */
export function protectedNameIn(words: string, protectedNames: ProtectedNames): NearName | null {
  const near = nearProtectedName(words, protectedNames);
  return near === null || near.how === 'one_edit' || near.how === 'two_edits' || isWording(near) ? null : near;
}

/** A name that is compared with each protected one, prepared once. */
interface ComparedName extends Comparable {
  /** Positions of each spelling of its words. */
  readonly places: ReadonlyMap<string, number>;
  /** Neighbouring words, joined. */
  readonly runs: readonly {
    readonly words: number;
    readonly letters: readonly string[];
    readonly isGeneric: boolean;
    /** The other words. */
    readonly rest: readonly FoldedWord[];
  }[];
}

/** Protected names have no more words; and one more where a space splits one. */
const runWordsMax = 7;

function comparedName(name: string): ComparedName {
  const shown = comparable(name);
  const generic = shown.words.map((word) => isGeneric(word));
  const places = new Map(
    shown.words.flatMap((word, at) => spellings(word).map((letters) => [letters, at] as const)).reverse(),
  );
  const runs = shown.words.flatMap((_, from) =>
    Array.from({ length: Math.min(runWordsMax, shown.words.length - from) }, (__, more) => {
      const to = from + more + 1;
      return {
        words: to - from,
        letters: spellings(joinWords(shown.words.slice(from, to))),
        isGeneric: generic.slice(from, to).every(Boolean),
        rest: shown.words.filter((__, at) => at < from || at >= to),
      };
    }),
  );
  return { ...shown, places, runs };
}

function nearnessOf(shown: ComparedName, ready: ReadyName): Nearness | null {
  if (shown.rows.some((letters) => ready.rows.includes(letters))) return 'same';
  if (ready.look.length >= lookLettersMin && shown.lookWithoutDoubles === ready.lookWithoutDoubles) return 'look_alike';
  if (containsWords(shown, ready) || containsLetters(shown, ready)) return 'contained';
  if (containsLook(shown, ready)) return 'look_alike';
  if (isEditedFrom(shown, ready, isOneEdit)) return 'one_edit';
  return isEditedFrom(shown, ready, areTwoEdits) ? 'two_edits' : null;
}

function spellings({ plain, spelledOut }: FoldedWord): readonly string[] {
  return plain === spelledOut ? [plain] : [plain, spelledOut];
}

function withoutDoubles(letters: string): string {
  return letters.replace(/(.)\1+/gu, '$1');
}

/** All words of the protected name are words of the other; generic ones next to one another, as in `America Bank Support`. */
function containsWords(shown: ComparedName, { words, entry, generic }: ReadyName): boolean {
  const places: number[] = [];
  for (const { plain, spelledOut } of words) {
    const place = shown.places.get(plain) ?? shown.places.get(spelledOut);
    if (place === undefined) return false;
    places.push(place);
  }
  if (new Set(places).size < places.length) return false;
  if (generic && places.some((place, at) => at > 0 && place !== places[at - 1]! + 1)) return false;
  return !entry.common || shown.words.every((word, at) => places.includes(at) || addsNothing(word, entry));
}

/** True for a word that makes an ordinary word beside it no other company's name: a generic one of no other trade, as in Chase Bank. */
function addsNothing(word: FoldedWord, { category }: ProtectedName): boolean {
  const isOtherTrade =
    isGeneric(word, ['trade']) &&
    !isGeneric(word, ['joining', 'business', 'role', 'contact']) &&
    ownTrade[category]?.split(' ').includes(word.plain) !== true;
  return isNearGeneric(word) && !isOtherTrade;
}

/** True for a generic word, also a misspelled one: `Bnak`. */
function isNearGeneric(word: FoldedWord): boolean {
  if (isGeneric(word)) return true;
  return (
    word.plain.length >= misspelledLettersMin && claimingWords.some((generic) => isWithinOneEdit(word.plain, generic))
  );
}

/** The protected name is a word of the other but for spaces and generic words without spaces: `Pay Pal Help`, `mypaypalhelp`. */
function containsLetters(shown: ComparedName, { rows, words, entry, generic }: ReadyName): boolean {
  const isInRow = (wanted: string) => shown.rows.some((letters) => letters.includes(wanted));
  const isFound = (wanted: string) =>
    shown.runs.some(
      (run) =>
        run.words <= words.length + 1 &&
        run.letters.some((letters) =>
          run.words > 1 ? letters === wanted : !run.isGeneric && isBetweenGeneric(letters, wanted, genericSpellings),
        ) &&
        (!(entry.common || generic) || run.rest.every((word) => addsNothing(word, entry))),
    );
  return rows.some((wanted) =>
    eastAsian.test(wanted)
      ? !entry.common && wanted.length >= runLettersMinEastAsian && isInRow(wanted)
      : wanted.length >= lookLettersMin && isInRow(wanted) && isFound(wanted),
  );
}

/** True if the rest before and after the substring is empty or generic words without spaces. */
function isBetweenGeneric(letters: string, wanted: string, generic: GenericSpellings): boolean {
  if (wanted.length < affixLettersMin)
    return letters.startsWith(wanted) && isRunOf(generic.claiming, letters.slice(wanted.length)); // no Accounting with ING
  for (let at = letters.indexOf(wanted); at !== -1; at = letters.indexOf(wanted, at + 1)) {
    if (isRunOf(generic.all, letters.slice(0, at)) && isRunOf(generic.all, letters.slice(at + wanted.length)))
      return true;
  }
  return false;
}

/** True if a text is a sequence of some words of at least two letters. */
function isRunOf(words: ReadonlySet<string>, letters: string): boolean {
  const ends = new Set([0]); // each end of a word is visited once
  for (const from of ends) {
    for (let to = from + 2; to <= Math.min(letters.length, from + genericLettersMax); to++)
      if (words.has(letters.slice(from, to))) ends.add(to);
  }
  return ends.has(letters.length);
}

/** The same for what the letters look like. */
function containsLook(shown: Comparable, { look, looks, entry, generic }: ReadyName): boolean {
  if (look.length < lookLettersMin || looks.some(({ length }) => length < 3)) return false;
  if (new Set(looks).size < looks.length) return false; // Johnson is not Johnson & Johnson
  const words = looks.every((wanted) => shown.looks.includes(wanted));
  const rest = shown.looks.filter((each) => !looks.includes(each));
  if (
    words &&
    !generic &&
    (!(entry.common || look.length === lookLettersMin) ||
      rest.every((each) => (entry.common ? genericLooks.claiming : genericLooks.all).has(each)))
  )
    return true;
  return !entry.common && !generic && shown.looks.some((each) => isBetweenGeneric(each, look, genericLooks));
}

const genericLettersMax = Math.max(...genericWords.map(({ length }) => length));

/** Generic words whose misspellings count, too: what copies of names of banks and help desks add. */
const claimingWords = genericWords.filter(
  (word) => word.length >= misspelledLettersMin && isGeneric({ plain: word, spelledOut: word }, ['role', 'contact']),
);

/** Generic words in one form of their letters: all of them, and those of roles and help desks. */
interface GenericSpellings {
  readonly all: ReadonlySet<string>;
  readonly claiming: ReadonlySet<string>;
}

const genericSpellings: GenericSpellings = { all: new Set(genericWords), claiming: new Set(claimingWords) };
const genericLooks: GenericSpellings = {
  all: new Set(genericWords.map(lookOf)),
  claiming: new Set(claimingWords.map(lookOf)),
};

/** Some consecutive words, joined, differ from the protected name by a few letters. */
function isEditedFrom(
  shown: ComparedName,
  { joined, spelled, look, words, entry }: ReadyName,
  isEdit: (letters: string, wanted: string) => boolean,
): boolean {
  if (joined.plain.length < editLettersMin) return false;
  const isShort = joined.plain.length < editLettersAnywhereMin;
  const own = ownTrade[entry.category]?.split(' ') ?? [];
  const differs = shown.runs.some(
    (run) =>
      run.words <= words.length + 1 &&
      !run.isGeneric && // Law Office is no misspelt Tax Office
      (!(isShort || entry.common) || run.rest.every(({ plain }) => own.includes(plain))) &&
      !(entry.common && run.rest.length === 0) &&
      run.letters.some((letters) => spelled.some((wanted) => isEdit(letters, wanted))),
  );
  return differs || (!entry.common && isEdit(shown.look, look));
}

function isOneEdit(letters: string, wanted: string): boolean {
  if (wanted.length < editLettersMin || !isWithinOneEdit(letters, wanted)) return false;
  return (
    wanted.length > editLettersMin ||
    letters === `${wanted}s` ||
    (letters.length === wanted.length && [...letters].sort().join('') === [...wanted].sort().join(''))
  );
}

function areTwoEdits(letters: string, wanted: string): boolean {
  return Math.min(letters.length, wanted.length) >= twoEditsLettersMin && editDistance(letters, wanted, 2) !== null;
}

/** From a katakana letter to the hiragana of the same sound. */
const katakanaToHiragana = -0x60;

/** Latin letters for those of Cyrillic and Greek, as brands are written in both; after folding, in lower case. */
const latinLetters = letterTable(`
  а:a б:b в:v г:g ґ:g д:d е:e є:e ж:zh з:z и:i і:i ј:j к:k л:l љ:lj м:m н:n њ:nj о:o п:p р:r с:s т:t ћ:c ђ:dj у:u ф:f
  х:h ц:ts ч:ch џ:dz ш:sh щ:sch ъ: ы:y ь: э:e ю:yu я:ya α:a β:v γ:g δ:d ε:e ζ:z η:i θ:th ι:i κ:k λ:l μ:m ν:n ξ:x ο:o
  π:p ρ:r σ:s τ:t υ:y φ:f χ:ch ψ:ps ω:o
`);

/** A folded word in Latin letters, letter by letter, and in hiragana for katakana; letters of other alphabets stay. */
function transliterate(word: string): string {
  const latin = word.replace(/[\u0370-\u03FF\u0400-\u04FF]/gu, (letter) => latinLetters[letter] ?? letter);
  return latin.replace(/[\u30A1-\u30F6]/gu, (letter) =>
    String.fromCodePoint(letter.codePointAt(0)! + katakanaToHiragana),
  );
}
