import { letterTable } from './name-folding.ts';

/** From a katakana letter to the hiragana of the same sound. */
const katakanaToHiragana = -0x60;

/** Latin letters for those of Cyrillic and Greek, as brands are written in both; after folding, in lower case. */
const latinLetters = letterTable(`
  а:a б:b в:v г:g ґ:g д:d е:e є:e ж:zh з:z и:i і:i ј:j к:k л:l љ:lj м:m н:n њ:nj о:o п:p р:r с:s т:t ћ:c ђ:dj у:u ф:f
  х:h ц:ts ч:ch џ:dz ш:sh щ:sch ъ: ы:y ь: э:e ю:yu я:ya α:a β:v γ:g δ:d ε:e ζ:z η:i θ:th ι:i κ:k λ:l μ:m ν:n ξ:x ο:o
  π:p ρ:r σ:s τ:t υ:y φ:f χ:ch ψ:ps ω:o
`);

/** A folded word in Latin letters, letter by letter, and in hiragana for katakana; letters of other alphabets stay. */
export function transliterate(word: string): string {
  const latin = word.replace(/[\u0370-\u03FF\u0400-\u04FF]/gu, (letter) => latinLetters[letter] ?? letter);
  return latin.replace(/[\u30A1-\u30F6]/gu, (letter) =>
    String.fromCodePoint(letter.codePointAt(0)! + katakanaToHiragana),
  );
}
