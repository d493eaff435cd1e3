import { brandFinding } from './brand-check.ts';
import type { Finding } from './finding.ts';
import type { LetterPage, Place } from './letter-reading.ts';
import { editDistance } from './names/edit-distance.ts';
import { foldWords } from './names/name-folding.ts';

/** How far text that recognition read from the drawn page may differ from the text that the PDF carries. */
const limits = {
  /** Part of the words of a line that must be on the drawn page. */
  lineWordsMin: 0.5,
  /** Part of the words on the drawn page that the PDF's text may lack: those of a logo. */
  strangeWordsMax: 0.15,
  strangeWordsAllowed: 4,
  /** Confidence, 0 to 100, from which on a recognised line counts as text. */
  lineConfidenceMin: 80,
  /** Recognition misreads a letter in so many, accents above all; a word is compared with no more words than this. */
  lettersAnError: 4,
  comparedWordsMax: 2000,
} as const;

const lettersMin = 3;

/**
 * Whether what the pages show, drawn and recognised, is the text that the PDF carries. Text can be hidden in more ways than
 * a reader of PDFs can know (under a shape, clipped away, in a layer that is off, drawn with empty glyphs), and a font can
 * draw other characters than it names. So nothing is approved by text that was not seen: every number of the decisive lines
 * must be on the drawn page digit by digit, most of their words, and few words beside them.
 */
export function checkAsDrawn({ pages, drawn, places }: { pages: readonly LetterPage[]; drawn: readonly LetterPage[]; places: readonly Place[] }): Finding {
  for (const page of pages.filter(({ source }) => source === 'text')) {
    const seen = drawn.find((one) => one.page === page.page);
    if (seen === undefined) return brandFinding('letter_as_drawn', 'review', { page: page.page, line: 0, box: null });
    const page_ = describePage(seen);
    const own = places.filter((place) => place.page === page.page && place.line > 0);
    const hidden = own.find(({ line }) => !isSeen(page.lines[line - 1]?.text ?? '', page_));
    if (hidden !== undefined) return brandFinding('letter_as_drawn', 'review', hidden);
    if (hasStrangeWords(page, seen)) return brandFinding('letter_as_drawn', 'review', { page: page.page, line: 0, box: null });
  }
  return brandFinding('letter_as_drawn', 'pass', null);
}

interface SeenPage {
  readonly digits: string;
  readonly words: ReadonlySet<string>;
}

function describePage({ lines }: LetterPage): SeenPage {
  return { digits: lines.map(({ text }) => text.replace(/\D/g, '')).join(' '), words: new Set(lines.flatMap(({ text }) => wordsOf(text))) };
}

function wordsOf(text: string): string[] {
  return foldWords(text).filter((word) => word.length >= lettersMin && /^\p{L}+$/u.test(word));
}

/** Groups of digits that belong together: a telephone number, a date, a house number. */
const digitGroups = /\d(?:[\d\s().\-/]*\d)?/g;

function isSeen(text: string, { digits, words }: SeenPage): boolean {
  const together = digits.replaceAll(' ', '');
  const groups = (text.match(digitGroups) ?? []).map((group) => group.replace(/\D/g, ''));
  if (groups.some((group) => !together.includes(group))) return false;
  const own = wordsOf(text);
  return own.length === 0 || own.filter((word) => hasLike(words, word)).length >= limits.lineWordsMin * own.length;
}

function hasStrangeWords(page: LetterPage, seen: LetterPage): boolean {
  const known = new Set(page.lines.flatMap(({ text }) => wordsOf(text)));
  const shown = seen.lines.filter(({ confidence }) => (confidence ?? 0) >= limits.lineConfidenceMin).flatMap(({ text }) => wordsOf(text)).filter((word) => word.length > lettersMin);
  const strange = [...new Set(shown)].filter((word) => !hasLike(known, word)).length;
  return strange > Math.max(limits.strangeWordsAllowed, limits.strangeWordsMax * shown.length);
}

/** True if the words have this one, but for letters that recognition may have misread. */
function hasLike(words: ReadonlySet<string>, word: string): boolean {
  if (words.has(word)) return true;
  const errors = Math.max(1, Math.floor(word.length / limits.lettersAnError));
  let compared = 0;
  for (const other of words) {
    if (Math.abs(other.length - word.length) > errors) continue;
    if (++compared > limits.comparedWordsMax) return false;
    if (editDistance(word, other, errors) !== null) return true;
  }
  return false;
}
