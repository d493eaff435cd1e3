/** A piece of text on a page, in one unit for both directions (points), y downwards. */
export interface TextPiece {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly baseline: number;
  /** Size of its font. */
  readonly height: number;
  readonly font?: string | null;
  /** Corners of the place of text that does not run level. */
  readonly corners?: readonly (readonly [x: number, y: number])[];
}

/** Pieces that a person reads as one line. */
export interface LaidOutLine extends TextPiece {
  /** Its pieces, from left to right. */
  readonly parts: readonly TextPiece[];
}

/** Baselines this near, as a part of the font's size, are one row. Superscripts are 0.33 above theirs. */
const rowTolerance = 0.36;

/** Gaps in parts of the font's size: from the first on there is a space, from the second on another column begins. */
const spaceGap = 0.15;
const columnGap = 2.2;

/** Largest distance to a second line of the same column, in sizes of its font. */
const bandGap = 4;

/** From this length on, texts side by side are columns of prose, and not cells of a table. */
const proseCharacters = 18;

/** A label at the start of a text: "Name:", "Date signed:". */
const labelHead = /^\p{Lu}[\p{L}\p{N} .,'’()/&-]{0,40}:/u;

interface Row {
  baseline: number;
  height: number;
  pieces: TextPiece[];
}

type Segments = readonly LaidOutLine[];

/**
 * Groups pieces of text into lines in reading order. Distant pieces of one row are separate lines, unless
 * the first is the label of the second; columns are read one by one, cells of a table row by row.
 */
export function layOut(pieces: readonly TextPiece[]): LaidOutLine[] {
  const rows = makeRows(pieces)
    .map(joinPieces)
    .filter((segments) => segments.length > 0);
  return orderRows(rows);
}

function makeRows(pieces: readonly TextPiece[]): Row[] {
  const rows: Row[] = [];
  for (const piece of [...pieces].sort((a, b) => a.baseline - b.baseline || a.left - b.left)) {
    const row = rows.at(-1);
    if (row !== undefined && isSameRow(row, piece)) row.pieces.push(piece);
    else rows.push({ baseline: piece.baseline, height: piece.height, pieces: [piece] });
  }
  return rows;
}

/** A superscript or subscript joins the row of its neighbours by their size, unless it is less than half of that. */
function isSameRow(row: Row, piece: TextPiece): boolean {
  const [smaller, larger] = [Math.min(row.height, piece.height), Math.max(row.height, piece.height)];
  return piece.baseline - row.baseline <= rowTolerance * (smaller * 2 > larger ? larger : smaller);
}

function joinPieces({ pieces }: Row): LaidOutLine[] {
  const segments: LaidOutLine[] = [];
  let spaceBefore = false;
  for (const piece of pieces.sort((a, b) => a.left - b.left)) {
    if (piece.text.trim() === '') {
      spaceBefore = true;
      continue;
    }
    const last = segments.at(-1);
    if (last === undefined) segments.push(trimmed(piece));
    else if (isPaintedTwice(last, piece)) continue;
    else if (isApart(last, piece)) segments.push(trimmed(piece));
    else segments[segments.length - 1] = join(last, piece, spaceBefore);
    spaceBefore = false;
  }
  return segments;
}

function trimmed(piece: TextPiece): LaidOutLine {
  return {
    text: piece.text.trim(),
    left: piece.left,
    right: piece.right,
    baseline: piece.baseline,
    height: piece.height,
    parts: [piece],
  };
}

/** Bold type is sometimes made by printing a text twice, slightly offset. */
function isPaintedTwice(last: LaidOutLine, piece: TextPiece): boolean {
  const near = 0.1 * piece.height;
  const isOver =
    piece.left >= last.left - near && piece.left < last.right - 2 * near && Math.abs(last.right - piece.right) < near;
  return isOver && last.text.endsWith(piece.text.trim());
}

function isApart(last: LaidOutLine, piece: TextPiece): boolean {
  const gap = piece.left - last.right;
  if (gap <= columnGap * Math.max(last.height, piece.height)) return false;
  const isValue = /[:_#]$/.test(last.text) && !labelHead.test(piece.text.trim());
  return !isValue;
}

function join(last: LaidOutLine, piece: TextPiece, spaceBefore: boolean): LaidOutLine {
  const gap = piece.left - last.right;
  const space =
    spaceBefore || gap > spaceGap * Math.min(last.height, piece.height) || /^\s/.test(piece.text) ? ' ' : '';
  return {
    text: `${last.text}${space}${piece.text.trim()}`,
    left: last.left,
    right: Math.max(last.right, piece.right),
    baseline: last.height >= piece.height ? last.baseline : piece.baseline,
    height: Math.max(last.height, piece.height),
    parts: [...last.parts, piece],
  };
}

function orderRows(rows: readonly Segments[]): LaidOutLine[] {
  const ordered: LaidOutLine[] = [];
  for (let at = 0; at < rows.length;) {
    const band = findBand(rows, at);
    if (band === null) ordered.push(...rows[at++]!);
    else {
      const [left, right] = splitBand(rows.slice(at, band.end), band.gutter);
      ordered.push(...orderRows(left), ...orderRows(right));
      at = band.end;
    }
  }
  return ordered;
}

interface Gutter {
  readonly from: number;
  readonly to: number;
}

/** The rows from `start` on that a white strip parts into two columns of prose or of labelled fields. */
function findBand(rows: readonly Segments[], start: number): { end: number; gutter: Gutter } | null {
  const first = rows[start]!;
  let gutter = widestGap(first);
  if (gutter === null) return null;
  let end = start + 1;
  for (; end < rows.length; end++) {
    const [above, row] = [rows[end - 1]!, rows[end]!];
    if (row[0]!.baseline - above[0]!.baseline > bandGap * Math.max(row[0]!.height, above[0]!.height)) break;
    const narrowed = narrow(gutter, row);
    if (narrowed === null) break;
    gutter = narrowed;
  }
  const [left, right] = splitBand(rows.slice(start, end), gutter);
  return isColumn(left.flat()) && isColumn(right.flat()) ? { end, gutter } : null;
}

function widestGap(row: Segments): Gutter | null {
  let widest: Gutter | null = null;
  for (let at = 1; at < row.length; at++) {
    const gap = { from: row[at - 1]!.right, to: row[at]!.left };
    if (widest === null || gap.to - gap.from > widest.to - widest.from) widest = gap;
  }
  return widest;
}

/** What is left of the strip when a row keeps it white, or null if the row crosses it. */
function narrow(gutter: Gutter, row: Segments): Gutter | null {
  let { from, to } = gutter;
  const middle = (from + to) / 2;
  for (const { left, right, height } of row) {
    if (right <= to && (left + right) / 2 < middle) from = Math.max(from, right);
    else if (left >= from) to = Math.min(to, left);
    else return null;
    if (to - from < height) return null;
  }
  return { from, to };
}

function splitBand(rows: readonly Segments[], { from, to }: Gutter): [Segments[], Segments[]] {
  const middle = (from + to) / 2;
  const pick = (isLeft: boolean) =>
    rows
      .map((row) => row.filter(({ left, right }) => (left + right) / 2 < middle === isLeft))
      .filter((row) => row.length > 0);
  return [pick(true), pick(false)];
}

function isColumn(lines: Segments): boolean {
  if (lines.length < 2) return false;
  const labelled = lines.filter(({ text }) => labelHead.test(text)).length;
  const lengths = lines.map(({ text }) => text.length).sort((a, b) => a - b);
  return labelled * 2 >= lines.length || lengths[lengths.length >> 1]! >= proseCharacters;
}
