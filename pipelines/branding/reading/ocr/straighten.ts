import { shrink } from './picture-scale.ts';
import type { GrayImage } from './png.ts';

/** Largest skew of a sheet in a feeder; beyond it, recognition copes or a person looks. */
const degreesMax = 5;

/** A smaller angle shifts the ends of a line by 4 pixels at 300 dots an inch, which is harmless. */
const degreesMin = 0.1;

/** Width of the picture on which the angle is measured. */
const measureWidth = 1000;

const darkPixelsMax = 60_000;

/** The picture rotated so that its lines of text are level, and the degrees clockwise. A level one is returned as it is. */
export function straighten(image: GrayImage): { image: GrayImage; degrees: number } {
  const degrees = -measureSkew(image);
  return Math.abs(degrees) < degreesMin ? { image, degrees: 0 } : { image: rotate(image, degrees), degrees };
}

/**
 * The angle of the lines of text in degrees, clockwise positive: that at which the dark pixels of rows differ most from
 * row to row (Postl's projection profile).
 */
export function measureSkew(image: GrayImage): number {
  const small = shrink(image, Math.max(1, Math.round(image.width / measureWidth)));
  const dark = darkPixels(small);
  if (dark.length < 200) return 0;
  const coarse = bestAngle(dark, small, { from: -degreesMax, to: degreesMax, step: 0.5 });
  return bestAngle(dark, small, { from: coarse - 0.5, to: coarse + 0.5, step: 0.1 });
}

/** Coordinates x, y, x, y... of dark pixels, thinned out evenly where there are many. The margins hold shadows of the sheet. */
function darkPixels({ width, height, gray }: GrayImage): Int32Array {
  const level = darkLevel(gray);
  const found: number[] = [];
  const [marginX, marginY] = [Math.round(width * 0.03), Math.round(height * 0.03)];
  for (let y = marginY; y < height - marginY; y++)
    for (let x = marginX; x < width - marginX; x++) if (gray[y * width + x]! < level) found.push(x, y);
  const every = Math.max(1, Math.ceil(found.length / 2 / darkPixelsMax));
  return Int32Array.from(every === 1 ? found : found.filter((_each, at) => (at >> 1) % every === 0));
}

/** Ink is darker than this: two thirds of the paper's brightness, which is that of most pixels. */
export function darkLevel(gray: Uint8Array): number {
  const counts = new Uint32Array(256);
  for (const value of gray) counts[value]!++;
  let [left, paper] = [gray.length * 0.4, 255];
  while (paper > 0 && left > counts[paper]!) left -= counts[paper--]!;
  return Math.max(60, paper * 0.68);
}

function bestAngle(
  dark: Int32Array,
  { width, height }: GrayImage,
  { from, to, step }: { from: number; to: number; step: number },
): number {
  let best = { score: -1, degrees: 0 };
  for (let count = 0; count <= Math.round((to - from) / step); count++) {
    const degrees = from + count * step;
    const score = profileScore(dark, degrees, { width, height });
    // Of equal angles the smaller one: a page of one line has little evidence.
    if (score > best.score * 1.0001) best = { score, degrees };
  }
  return Math.round(best.degrees * 10) / 10;
}

function profileScore(dark: Int32Array, degrees: number, { width, height }: { width: number; height: number }): number {
  const slope = Math.tan((degrees * Math.PI) / 180);
  const offset = Math.ceil(Math.abs(slope) * width);
  const rows = new Uint32Array(height + 2 * offset + 2);
  for (let at = 0; at < dark.length; at += 2) rows[Math.round(dark[at + 1]! - slope * dark[at]!) + offset]!++;
  let score = 0;
  for (let row = 1; row < rows.length; row++) score += (rows[row]! - rows[row - 1]!) ** 2;
  return score;
}

/** A picture rotated clockwise by quarter turns. */
export function turnByQuarters(image: GrayImage, quarters: number): GrayImage {
  const turns = ((quarters % 4) + 4) % 4;
  if (turns === 0) return image;
  const { width, height, gray } = image;
  const [toWidth, toHeight] = turns === 2 ? [width, height] : [height, width];
  const turned = new Uint8Array(gray.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [toX, toY] =
        turns === 1 ? [height - 1 - y, x] : turns === 2 ? [width - 1 - x, height - 1 - y] : [y, width - 1 - x];
      turned[toY * toWidth + toX] = gray[y * width + x]!;
    }
  }
  return { width: toWidth, height: toHeight, gray: turned };
}

/** Rows of text are dark and light in turn; across them a page changes less. From this ratio on the text runs upright. */
const sidewaysRatio = 1.3;

/** True if the lines of text run from top to bottom: the sheet was laid on its side. */
export function liesOnItsSide(image: GrayImage): boolean {
  const small = shrink(image, Math.max(1, Math.round(image.width / measureWidth)));
  const across = turnByQuarters(small, 1);
  return lineStrength(across) > sidewaysRatio * lineStrength(small);
}

const levelAngles = Array.from({ length: 4 * degreesMax + 1 }, (_, at) => at / 2 - degreesMax);

/** Difference from row to row at the best angle of skew, per dark pixel. */
function lineStrength(image: GrayImage): number {
  const dark = darkPixels(image);
  if (dark.length < 200) return 0;
  return Math.max(...levelAngles.map((degrees) => profileScore(dark, degrees, image))) / dark.length;
}

/** Rotates a picture about its centre, clockwise for positive degrees, with white outside. */
export function rotate({ width, height, gray }: GrayImage, degrees: number): GrayImage {
  const result = new Uint8Array(width * height).fill(255);
  const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
  const [middleX, middleY] = [width / 2, height / 2];
  for (let y = 0; y < height; y++) {
    let fromX = cos * (0 - middleX) + sin * (y - middleY) + middleX;
    let fromY = -sin * (0 - middleX) + cos * (y - middleY) + middleY;
    for (let x = 0; x < width; x++, fromX += cos, fromY -= sin) {
      const [left, top] = [Math.floor(fromX), Math.floor(fromY)];
      if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) continue;
      const at = top * width + left;
      const [dx, dy] = [fromX - left, fromY - top];
      const above = gray[at]! * (1 - dx) + gray[at + 1]! * dx;
      const below = gray[at + width]! * (1 - dx) + gray[at + width + 1]! * dx;
      result[y * width + x] = above * (1 - dy) + below * dy;
    }
  }
  return { width, height, gray: result };
}
