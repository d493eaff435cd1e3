import { compareNames, looksLikePerson } from '../names/name-match.ts';
import type { Box, LetterLine, LetterPage, LetterPlace, LetterReading } from '../letter-reading.ts';
import type { FoundText } from './letter-text.ts';

/** Where a letter is signed, as far as a page shows it, and what is printed there. */
export interface FoundSigning {
  /** Ink away from the letterhead: handwriting, a stamp, a picture. */
  readonly ink: readonly LetterPlace[];
  /** A name near the signature, and the line that stands with it and may be a title. */
  readonly signer: FoundText | null;
  readonly title: FoundText | null;
  /** The place that `signer` was searched around; null without any sign of a signature. */
  readonly place: LetterPlace | null;
}

/** The letterhead with its logo ends here, as a part of a page. */
const letterheadBottom = 0.17;

/** How far from a signature its signer is printed, as parts of a page. */
const reach = { above: 0.06, below: 0.14, beside: 0.25 } as const;

/** Less confidence has handwriting that was read as text. */
const printedConfidenceMin = 60;

/** Finds ink on the pages, and the signer's name and title near the ink, the field of a PDF signature, or `/s/`. */
export function findSigning(reading: LetterReading, companyNames: readonly string[]): FoundSigning {
  const ink = reading.pages.flatMap(({ page, ink: boxes }) =>
    boxes
      .filter(({ top, height }) => page > 1 || top + height / 2 > letterheadBottom)
      .map((box) => ({ page, line: 0, box })),
  );
  const fields = reading.signatures.flatMap(({ page, box }) =>
    page === null || box === null ? [] : [{ page, line: 0, box }],
  );
  const typed = reading.pages.flatMap(({ page, lines }) =>
    lines.flatMap(({ text, box }, at) => (/(?:^|\s)\/s\//i.test(text) ? [{ page, line: at + 1, box }] : [])),
  );
  const places = [...fields, ...typed, ...ink.toReversed()];
  for (const place of places) {
    const page = reading.pages.find(({ page: number }) => number === place.page);
    if (page === undefined) continue;
    const [signer, title] = signerNear(page, place.box, companyNames);
    if (signer !== null) return { ink, signer, title, place };
  }
  return { ink, signer: null, title: null, place: places[0] ?? null };
}

interface Candidate {
  readonly at: number;
  readonly text: string;
  readonly line: LetterLine;
}

/** The nearest line that holds a person's name alone, or behind a label, and the title beside or under it. */
function signerNear(
  page: LetterPage,
  box: Box,
  companyNames: readonly string[],
): readonly [FoundText | null, FoundText | null] {
  const near = page.lines
    .map((line, at): Candidate => ({ at, line, text: withoutLabel(printedText(line)) }))
    .filter(({ line, text }) => text !== '' && isNear(line.box, box));
  const isCompany = (text: string) => companyNames.some((name) => compareNames(text, name) !== 'other');
  const named = near
    .map((candidate) => ({ candidate, parts: candidate.text.split(/\s*[,|;(]\s*/) }))
    .filter(({ parts: [name = ''] }) => looksLikePerson(name) && !isCompany(name))
    .sort((a, b) => distance(a.candidate.line.box, box) - distance(b.candidate.line.box, box));
  const [best] = named;
  if (best === undefined) return [null, null];
  const { candidate, parts } = best;
  const isTitle = (text: string) => /^\p{L}[\p{L} .,&/'’-]{1,60}$/u.test(text) && !isCompany(text) && text !== parts[0];
  const under = near
    .filter(({ line, text }) => line.box.top > candidate.line.box.top && isTitle(text))
    .sort((a, b) => a.line.box.top - b.line.box.top)[0];
  const title = parts[1] !== undefined && isTitle(parts[1]) ? { ...candidate, text: parts[1] } : under;
  return [foundAt(page, candidate, parts[0]!), title === undefined ? null : foundAt(page, title, title.text)];
}

/** The words of a line without handwriting. */
function printedText({ words }: LetterLine): string {
  return words
    .filter(({ confidence }) => confidence >= printedConfidenceMin)
    .map(({ text }) => text)
    .join(' ');
}

/** The text behind a label: `Name: Jane Doe`, `/s/ Jane Doe`. */
function withoutLabel(text: string): string {
  return text
    .slice(text.lastIndexOf(':') + 1)
    .replace(/^.*\/s\//i, '')
    .replace(/^[\s_.]+|[\s_.]+$/g, '');
}

function isNear(line: Box, box: Box): boolean {
  return (
    line.top + line.height > box.top - reach.above &&
    line.top < box.top + box.height + reach.below &&
    line.left < box.left + box.width + reach.beside &&
    line.left + line.width > box.left - reach.beside
  );
}

function distance(line: Box, box: Box): number {
  return Math.abs(line.top + line.height / 2 - (box.top + box.height / 2));
}

function foundAt({ page }: LetterPage, { at, line }: Candidate, value: string): FoundText {
  return { value, place: { page, line: at + 1, box: line.box } };
}
