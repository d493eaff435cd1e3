import { makeExcerpt } from '../../phone/text-cleaning.ts';
import type { Box, LetterReading, LetterPlace } from '../letter-reading.ts';

/** Limits of a letter's text; a letter with more is not decided without a person. */
export const letterTextLimits = {
  /** Characters of all lines. A dense page has 4,500, and a letter at most 20 pages. */
  charactersMax: 100_000,
  lineCharactersMax: 1_000,
  linesMax: 4_000,
} as const;

/** A line in the form in which fields are searched. */
export interface TextLine {
  /** NFKC, without invisible characters; a tab is two spaces. */
  readonly text: string;
  /** The same, character for character, in lower case without accents; misread accented words are corrected. */
  readonly folded: string;
  /** Its offset in the text of the letter. */
  readonly start: number;
  readonly page: number;
  /** In its page, from 1. */
  readonly line: number;
  readonly box: Box;
  readonly confidence: number | null;
  readonly font: string | null;
}

/** All lines of a letter, and one text of them with a line feed between two. */
export interface LetterText {
  readonly lines: readonly TextLine[];
  readonly text: string;
  readonly folded: string;
  /** The folded text with a space for each line feed, for wording that may be wrapped. */
  readonly flat: string;
  /** False if the letter exceeds the limits. */
  readonly complete: boolean;
}

const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** The text of a letter, up to the limits. */
export function letterTextOf(reading: LetterReading): LetterText {
  const lines: TextLine[] = [];
  let start = 0;
  let complete = true;
  for (const page of reading.pages) {
    for (const [at, line] of page.lines.entries()) {
      const text = cleanLine(line.text.slice(0, letterTextLimits.lineCharactersMax));
      if (line.text.length > letterTextLimits.lineCharactersMax) complete = false;
      if (lines.length === letterTextLimits.linesMax || start + text.length > letterTextLimits.charactersMax)
        return joinLines(lines, false);
      lines.push({
        text,
        folded: line.confidence === null ? foldSameLength(text) : mendAccented(foldSameLength(text)),
        start,
        page: page.page,
        line: at + 1,
        box: line.box,
        confidence: line.confidence,
        font: line.font,
      });
      start += text.length + 1;
    }
  }
  return joinLines(lines, complete);
}

function joinLines(lines: readonly TextLine[], complete: boolean): LetterText {
  const folded = lines.map((line) => line.folded).join('\n');
  return {
    lines,
    text: lines.map(({ text }) => text).join('\n'),
    folded,
    flat: folded.replaceAll('\n', ' '),
    complete,
  };
}

function cleanLine(text: string): string {
  return text
    .replaceAll('\t', '  ')
    .normalize('NFKC')
    .replace(invisible, '')
    .replace(/[\u2010-\u2012\u2212]/g, '-')
    .trimEnd();
}

/** Lower case without accents; as many characters as before, so that offsets in one are offsets in the other. */
export function foldSameLength(text: string): string {
  return /^[ -~\n]*$/.test(text) ? text.toLowerCase() : text.replace(/[^ -@[-`{-~\n]/g, foldCharacter);
}

/** Accented words that the rules of a letter look for, in the languages of letters. */
const accentedWords = (
  'número números teléfono teléfonos telefónico telefónicos excluído excluídos numéro numéros téléphone ' +
  'téléphonique téléphoniques autorisé autorisés ermächtigt ermächtigen bevollmächtigt bevollmächtigen'
).split(' ');

const mendings = accentedWords.map((word) => ({
  word: foldSameLength(word),
  misread: new RegExp(`(?<![a-z0-9])${word.replace(/[^a-z]/g, '[a-z0-9]')}(?![a-z0-9])`, 'g'),
}));

/**
 * The folded text of a recognised line with the words of a list corrected. The English model reads an accented letter
 * as any other one: `números` as `nimeros`, after which its numbers were not listed.
 */
function mendAccented(folded: string): string {
  return mendings.reduce((text, { word, misread }) => text.replace(misread, word), folded);
}

function foldCharacter(character: string): string {
  const folded = character.normalize('NFD')[0]!.toLowerCase();
  return folded.length === 1 ? folded : character;
}

/** The index of the last of some ordered places that begins at an offset or before it; -1 if none does. */
export function lastIndexAt(places: readonly { readonly start: number }[], offset: number): number {
  let low = -1;
  let high = places.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (places[middle]!.start <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The index of the line that holds a character of the letter's text. */
export function lineIndexAt({ lines }: LetterText, offset: number): number {
  return lastIndexAt(lines, offset);
}

/** A text and its source. */
export interface FoundText {
  readonly value: string;
  readonly place: LetterPlace;
  /** The line's text, cut to 200 characters. */
  readonly excerpt: string;
}

/** A value that was read in a line. */
export function foundIn(line: TextLine, value: string): FoundText {
  return { value, place: placeOfLine(line), excerpt: makeExcerpt(line.text) };
}

/** The place of a line. */
export function placeOfLine({ page, line, box }: TextLine): LetterPlace {
  return { page, line, box };
}

/** Searches folded text for one of several wordings, with any spaces between two words, as wrapping and columns leave them. */
export function wording(...alternatives: readonly string[]): RegExp {
  return new RegExp(`(?<![a-z])(?:${alternatives.join('|').replaceAll(' ', ' +')})(?![a-z])`, 'g');
}

/** A regular expression that is written in several lines: `pattern('u')` of a template, whose line breaks and indentation do not count. */
export function pattern(flags: string): (text: TemplateStringsArray) => RegExp {
  return ({ raw }) => new RegExp(raw.join('').replace(/\n */g, ''), flags);
}
