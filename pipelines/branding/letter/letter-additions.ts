import type { Box, LetterReading, PageMark, LetterPlace } from '../letter-reading.ts';
import type { FoundPhone } from './letter-numbers.ts';
import type { FoundSignature } from './letter-signature.ts';
import { foundIn, type LetterText, type TextLine } from './letter-text.ts';
import { overlapOf } from '../reading/pdf/page-geometry.ts';

/** Additions to a page that are not part of its print. Each is a case of the rule `page_plain`. */
type AdditionKind =
  'annotation' | 'see_through' | 'crossed_out' | 'mark_elsewhere' | 'behind_signature' | 'other_script';

/** One addition. Its line is the one that it covers, or 0. */
export interface FoundAddition {
  readonly kind: AdditionKind;
  readonly place: LetterPlace;
  readonly excerpt: string | null;
}

interface AdditionSearch {
  readonly reading: LetterReading;
  readonly letter: LetterText;
  readonly signature: FoundSignature;
  readonly phones: readonly FoundPhone[];
}

const ofKindMax = 4;
/** As parts of a page. The letterhead with its logo ends here; smaller marks are bullets; larger pictures have a rule of their own. */
const letterheadBottom = 0.17;
const markAreaMin = 0.0012;
const markAreaMax = 0.5;
/** How far over and under its line a signature reaches. */
const signatureReach = 0.1;

/** The additions to the pages, page by page. */
export function additionsOf(search: AdditionSearch): readonly FoundAddition[] {
  const { reading, letter } = search;
  const marks = reading.pages.flatMap(({ page, marks: all }) =>
    all.flatMap((mark) => additionOfMark(mark, page, search)),
  );
  const found = [...marks, ...behindSignature(search), ...otherScripts(letter)];
  return found.filter((each, at) => found.slice(0, at).filter(({ kind }) => kind === each.kind).length < ofKindMax);
}

const ofMark = { annotation: 'annotation', see_through: 'see_through', strike: 'crossed_out' } as const;

function additionOfMark(mark: PageMark, page: number, { letter, signature }: AdditionSearch): FoundAddition[] {
  const { kind, box } = mark;
  const line = lineUnder(letter, page, box);
  const place = { page, line: line?.line ?? 0, box };
  const excerpt = line === undefined ? null : foundIn(line, '').excerpt;
  if (kind === 'annotation' || kind === 'see_through' || kind === 'strike')
    return [{ kind: ofMark[kind], place, excerpt }];
  const area = box.width * box.height;
  const isOrdinary =
    box.top + box.height / 2 < letterheadBottom ||
    area < markAreaMin ||
    area > markAreaMax ||
    isOfSignature(box, page, signature);
  return isOrdinary ? [] : [{ kind: 'mark_elsewhere', place, excerpt }];
}

/**
 * True for ink, a picture or a drawing at the place where the letter is signed by hand, or in the lower part of a page with a PDF
 * signature.
 */
function isOfSignature(box: Box, page: number, { kind, place }: FoundSignature): boolean {
  if (place === null || place.page !== page) return false;
  if (kind === 'pdf') return box.top > 0.4;
  if (kind === 'electronic' || place.box === null) return false;
  const middle = box.top + box.height / 2;
  return middle > place.box.top - signatureReach && middle < place.box.top + place.box.height + signatureReach;
}

/** The line that most of a rectangle's height crosses, the widest of them. */
function lineUnder({ lines }: LetterText, page: number, box: Box): TextLine | undefined {
  const crossing = { ...box, height: Math.max(box.height, 0.001) };
  return lines
    .filter((line) => line.page === page)
    .map((line) => ({ line, ...overlapOf(line.box, crossing) }))
    .filter(({ width, height }) => width > 0 && height > 0)
    .sort((a, b) => b.width - a.width)[0]?.line;
}

/** Numbers that are listed behind the signature: on a later page, or under it. */
function behindSignature({ letter, signature: { place, kind }, phones }: AdditionSearch): FoundAddition[] {
  if (place === null || kind === 'none') return [];
  const signedAt = place.box === null ? 1 : place.box.top + place.box.height;
  const lines = letter.lines.filter((line) =>
    phones.some((phone) => phone.place?.page === line.page && phone.place.line === line.line),
  );
  const behind = lines.filter(
    (line) => line.page > place.page || (line.page === place.page && line.box.top > signedAt),
  );
  return behind.map((line) => ({ kind: 'behind_signature', ...foundIn(line, '') }));
}

/** Words that mix alphabets, and lines of another alphabet than Latin. */
function otherScripts({ lines }: LetterText): FoundAddition[] {
  return lines
    .filter(({ text }) => /[^\P{L}\p{Script=Latin}ªºµ]/u.test(text))
    .map((line) => ({ kind: 'other_script', ...foundIn(line, '') }));
}
