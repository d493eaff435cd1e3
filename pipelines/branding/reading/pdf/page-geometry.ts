import type { Box } from '../../letter-reading.ts';
import type { Rectangle } from './pdf-file.ts';
import type { PdfPage } from './pdf-pages.ts';

/** A matrix of PDF (ISO 32000-1 section 8.3.3): [a b c d e f]. */
type Matrix = readonly [number, number, number, number, number, number];

/** First `a`, then `b`. */
function multiply(a: Matrix, b: Matrix): Matrix {
  return [
    a[0] * b[0] + a[1] * b[2],
    a[0] * b[1] + a[1] * b[3],
    a[2] * b[0] + a[3] * b[2],
    a[2] * b[1] + a[3] * b[3],
    a[4] * b[0] + a[5] * b[2] + b[4],
    a[4] * b[1] + a[5] * b[3] + b[5],
  ];
}

/** A point through a matrix. */
function transform([a, b, c, d, e, f]: Matrix, x: number, y: number): readonly [number, number] {
  return [a * x + c * y + e, b * x + d * y + f];
}

/** The matrix from a page's own coordinates to fractions of the page as shown, from the top left corner. */
export function toFractions({
  shown: [left, bottom, right, top],
  rotation,
}: Pick<PdfPage, 'shown' | 'rotation'>): Matrix {
  const unit = multiply([1, 0, 0, 1, -left, -bottom], [1 / (right - left), 0, 0, 1 / (top - bottom), 0, 0]);
  return multiply(unit, turns[rotation / 90] ?? turns[0]!);
}

/** From the unit square with y upwards to that with y downwards, turned clockwise by 0, 1, 2 and 3 quarters. */
const turns: readonly Matrix[] = [
  [1, 0, 0, -1, 0, 1],
  [0, 1, 1, 0, 0, 0],
  [-1, 0, 0, 1, 1, 0],
  [0, -1, -1, 0, 1, 1],
];

/** Bounds of points that are added one by one. */
class Bounds {
  private left = Infinity;
  private top = Infinity;
  private right = -Infinity;
  private bottom = -Infinity;

  add([x, y]: readonly [number, number]): void {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    this.left = Math.min(this.left, x);
    this.right = Math.max(this.right, x);
    this.top = Math.min(this.top, y);
    this.bottom = Math.max(this.bottom, y);
  }

  /** Its part on the page, or null. */
  box(): Box | null {
    const [left, top, right, bottom] = [
      Math.max(0, this.left),
      Math.max(0, this.top),
      Math.min(1, this.right),
      Math.min(1, this.bottom),
    ];
    return right >= left && bottom >= top ? { left, top, width: right - left, height: bottom - top } : null;
  }
}

/** The part of a rectangle on the page, in fractions of the page by a matrix; null if it is outside. */
export function boxOf(matrix: Matrix, [left, bottom, right, top]: Rectangle): Box | null {
  const bounds = new Bounds();
  for (const [x, y] of [
    [left, bottom],
    [right, bottom],
    [left, top],
    [right, top],
  ] as const)
    bounds.add(transform(matrix, x, y));
  return bounds.box();
}

/** The smallest rectangle around both. */
export function unite(a: Box, b: Box): Box {
  const [left, top] = [Math.min(a.left, b.left), Math.min(a.top, b.top)];
  return {
    left,
    top,
    width: Math.max(a.left + a.width, b.left + b.width) - left,
    height: Math.max(a.top + a.height, b.top + b.height) - top,
  };
}

/** True if the rectangles overlap when each side of `a` is moved out by these fractions of the page. */
function isNear(a: Box, b: Box, { x, y }: { x: number; y: number }): boolean {
  return (
    a.left - x <= b.left + b.width &&
    b.left <= a.left + a.width + x &&
    a.top - y <= b.top + b.height &&
    b.top <= a.top + a.height + y
  );
}

const boxesMax = 400;

/**
 * Joins rectangles that are near each other, until no two are. At most `boxesMax` are kept; the rest is
 * dropped, so that the time is bounded.
 */
export function cluster(boxes: readonly Box[], near: { x: number; y: number }): Box[] {
  const joined: Box[] = [];
  for (const box of boxes) {
    let grown = box;
    for (let at = joined.length - 1; at >= 0; at--) {
      if (!isNear(joined[at]!, grown, near)) continue;
      grown = unite(joined[at]!, grown);
      joined.splice(at, 1);
      at = joined.length; // what was apart from the smaller one may touch the larger one
    }
    if (joined.length < boxesMax) joined.push(grown);
  }
  return joined;
}

/** Numbers of a box to four places: a hundredth of a millimetre of a letter's page. */
export function roundBox({ left, top, width, height }: Box): Box {
  const round = (value: number) => Math.round(value * 10_000) / 10_000;
  return { left: round(left), top: round(top), width: round(width), height: round(height) };
}

/** Tolerance of containment for rounding, as a share of the page. */
const placeShareMax = 0.002;

/** True if a rectangle is within another one. */
export function isWithin(inner: Box, outer: Box): boolean {
  const [right, bottom] = [outer.left + outer.width, outer.top + outer.height].map((each) => each + placeShareMax) as [
    number,
    number,
  ];
  return (
    inner.left >= outer.left - placeShareMax &&
    inner.top >= outer.top - placeShareMax &&
    inner.left + inner.width <= right &&
    inner.top + inner.height <= bottom
  );
}
