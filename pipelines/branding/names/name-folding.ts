/**
 * The one folding of names: case, accents, compatibility forms, ligatures and punctuation do not count. Pure. Letters of
 * different scripts are never equated here; see look-alikes.ts.
 */

/** A word of a name, folded. */
export interface FoldedWord {
  /** Without accents: `muller` for Müller, `strasse` for Straße, `orsted` for Ørsted. */
  readonly plain: string;
  /** With the ASCII spelling of an umlaut or a Nordic letter: `mueller` for Müller, `oersted` for Ørsted; else as `plain`. */
  readonly spelledOut: string;
}

/** A table of letters and their replacements, written as `ß:ss æ:ae`. */
export function letterTable(text: string): Readonly<Record<string, string>> {
  const pairs = text.trim().split(/\s+/);
  return Object.fromEntries(pairs.map((pair) => pair.split(':') as [string, string]));
}

/** Letters that Unicode does not decompose into a letter and a mark. */
const plainLetters = letterTable('ß:ss æ:ae œ:oe ø:o ł:l đ:d ð:d þ:th ħ:h ŧ:t ŋ:n ı:i ĸ:k ς:σ');

/** ASCII spellings of letters that a keyboard may lack, after NFC and in lower case. */
const spelledOutLetters = letterTable('ä:ae ö:oe ü:ue å:aa ø:oe');

/** Signs behind a company's name that are not read as letters: NFKD would turn one into `TM`. */
const signsOfRights = /[©®™℠]/gu;
/**
 * Marks that are no letters in any alphabet: accents, Arabic vowels, selectors. Those of kana distinguish sounds, as vowel signs of
 * Indic scripts do.
 */
const accents = /(?![\u3099\u309A])(?:(?=\p{M})\p{Script=Inherited})|[\u0591-\u05C7]/gu;
const notShown = /\p{Default_Ignorable_Code_Point}/gu;
const apostrophes = /['’‘ʼ´`′]/gu;
/** Forms of companies that are written without a space before or after the name. */
const unspacedForms =
  /株式会社|有限会社|合同会社|合資会社|一般社団法人|股份有限公司|有限责任公司|有限公司|주식회사|유한회사/gu;

/** Words of a text without accents and punctuation, in lower case: `Café «Müller», Inc.` is cafe, muller, inc. */
export function foldWords(text: string): readonly string[] {
  return foldWordsBothWays(text).map(({ plain }) => plain);
}

/** The same words with both ways to write umlauts and their like. */
export function foldWordsBothWays(text: string): readonly FoldedWord[] {
  if (/^[a-z0-9 ]*$/.test(text))
    return text
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => ({ plain: word, spelledOut: word }));
  const prepared = text
    .replace(signsOfRights, ' ')
    .replace(notShown, '')
    .replace(apostrophes, '')
    .normalize('NFKC')
    .toLowerCase();
  const written = splitWords(prepared.replace(notShown, '').replace(unspacedForms, ' $& '));
  return written.flatMap((word) => {
    const plain = withoutAccents(word);
    return plain === ''
      ? []
      : [
          {
            plain,
            spelledOut: withoutAccents(
              word.normalize('NFC').replace(/[äöüåø]/g, (letter) => spelledOutLetters[letter]!),
            ),
          },
        ];
  });
}

function splitWords(text: string): readonly string[] {
  return text
    .replace(/[&+]/g, ' and ')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '');
}

function withoutAccents(word: string): string {
  const bare = word.normalize('NFKD').toLowerCase().normalize('NFKD').replace(accents, '');
  const letters = bare.replace(/[ßæœøłđðþħŧŋıĸς]/g, (letter) => plainLetters[letter]!);
  return letters.replace(/[^\p{L}\p{N}\p{M}]+/gu, '').normalize('NFC');
}

/** True if two words are equal in some spelling: `Müller` equals `Mueller` and `Muller`. */
export function isSameWord(left: FoldedWord, right: FoldedWord): boolean {
  return left.plain === right.plain || left.spelledOut === right.plain || left.plain === right.spelledOut;
}

/** Some words joined without spaces, in each spelling. */
export function joinWords(words: readonly FoldedWord[]): FoldedWord {
  return {
    plain: words.map(({ plain }) => plain).join(''),
    spelledOut: words.map(({ spelledOut }) => spelledOut).join(''),
  };
}
