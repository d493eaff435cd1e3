import { createRequire } from 'node:module';
import { foldWords, letterTable } from './name-folding.ts';

/**
 * Letters that look like others (Unicode Technical Standard 39). The table of confusables is that of the package
 * unhomoglyph: each character, and the characters that it looks like.
 */
const confusables = createRequire(import.meta.url)('unhomoglyph/data.json') as Readonly<Record<string, string>>;

/** Strokes that UTS 39 leaves in their own scripts, and that a Latin word hides. */
const strokes = letterTable('丨:l ㅣ:l 〡:l ǀ:l 〇:o ㅇ:o ㅁ:o 口:o ロ:o 工:i エ:i 卜:t ト:t 丶: ノ: 丿:');

/** Digits and signs that replace letters in a word. */
const digitsAsLetters = letterTable('0:o 1:l 3:e 4:a 5:s 7:t 8:b 9:g @:a $:s !:l |:l €:e £:l ¥:y ¢:c');

/** The Latin letters that a character resembles, else the character itself. */
function latinOf(character: string): string {
  if (/[\u0000-\u007F]/.test(character)) return character;
  const looks = strokes[character] ?? confusables[character] ?? character;
  if (/^[\x20-\x7E]/.test(looks)) return looks;
  // Small Cyrillic and Greek letters have small capitals in the table (в is ʙ) where their capitals have Latin ones
  const upper = character.toUpperCase();
  const ofUpper = confusables[upper] ?? upper;
  return /^[\x20-\x7E]/.test(ofUpper) ? ofUpper.toLowerCase() : looks;
}

/**
 * The letters of a text reduced to their look: `PayPa1`, `РауРаl` (Cyrillic) and `P a y P a l` give the same.
 * Only for comparison with another text in this form.
 */
export function lookOf(text: string): string {
  const shown = [...text.normalize('NFD').replace(/\p{Default_Ignorable_Code_Point}/gu, '')].map(latinOf).join('');
  const letters = [...shown.normalize('NFKD').toLowerCase()]
    .map((character) => digitsAsLetters[character] ?? latinOf(character))
    .join('');
  const folded = foldWords(letters)
    .join('')
    .replace(/\d/g, (digit) => digitsAsLetters[digit] ?? digit);
  return folded.replace(/i/g, 'l').replaceAll('rn', 'm').replaceAll('vv', 'w').replaceAll('cl', 'd');
}

/** Letters of the alphabets that are in use, which are no base letter with a mark. */
const ordinaryLetters = new Set('ßæœøłđðþħŧŋıĸəʻʼ');

/** True if a text has a Latin letter of phonetic or historic use, or one that is a letter by its looks only. */
export function hasUnusualLetters(text: string): boolean {
  return [...text.normalize('NFKD').toLowerCase().normalize('NFKD')].some(
    (character) => /\p{Script=Latin}/u.test(character) && !/[a-z]/.test(character) && !ordinaryLetters.has(character),
  );
}

/** True if a text in another alphabet could be read as Latin letters throughout: `сосо` in Cyrillic. */
export function looksLatin(text: string): boolean {
  const letters = [...text.normalize('NFC')].filter((character) => /\p{L}/u.test(character));
  return (
    letters.length > 0 &&
    letters.some((character) => !/\p{Script=Latin}/u.test(character)) &&
    letters.every((character) => /^[a-z]+$/i.test(latinOf(character).normalize('NFD').replace(/\p{M}/gu, '')))
  );
}

const eastAsian = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}`;
const signsOfStrokes = Object.keys(strokes).join('');
const strayStroke = new RegExp(
  `[a-z][${signsOfStrokes}]+(?![${eastAsian}])|(?<![${eastAsian}])[${signsOfStrokes}]+[a-z]`,
  'iu',
);

/** True if strokes of a Chinese, Japanese or Korean script are alone between Latin letters: `PayPa丨`. */
export function hasStrayStrokes(text: string): boolean {
  return strayStroke.test(text);
}

/** True if a text has characters that are not shown. */
export function hasHiddenCharacters(text: string): boolean {
  // Joiners are letters' shapes where scripts join: Arabic and those of India
  const joined = text.replace(
    /(?<=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}][\p{M}]*)[\u200C\u200D]/gu,
    '',
  );
  return /[\p{Default_Ignorable_Code_Point}\u2800]/u.test(joined);
}

const scripts = `
  Latin Cyrillic Greek Armenian Georgian Hebrew Arabic Devanagari Bengali Gurmukhi Gujarati Tamil Telugu Kannada
  Malayalam Sinhala Thai Lao Khmer Myanmar Tibetan Ethiopic Han Hiragana Katakana Hangul Bopomofo Mongolian Cherokee
  Thaana Lisu Canadian_Aboriginal
`
  .trim()
  .split(/\s+/);
const scriptTests = scripts.map((script) => [script, new RegExp(`\\p{Script=${script}}`, 'u')] as const);

/** Scripts that are written together in one name (UTS 39, highly restrictive). */
const writtenTogether: readonly (readonly string[])[] = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
];

/** The scripts of a text's letters; `other` for one that is not in the list. Digits and signs have none. */
export function scriptsOf(text: string): readonly string[] {
  const found = new Set<string>();
  for (const character of text) {
    if (!/\p{L}/u.test(character) || /\p{Script=Common}/u.test(character)) continue;
    found.add(scriptTests.find(([, own]) => own.test(character))?.[0] ?? 'other');
  }
  return [...found];
}

/** True if a text mixes scripts that no name mixes: `Pаypal` with one Cyrillic letter. */
export function mixesScripts(text: string): boolean {
  const found = scriptsOf(text);
  return found.length > 1 && !writtenTogether.some((together) => found.every((script) => together.includes(script)));
}
