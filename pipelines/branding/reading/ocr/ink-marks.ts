import type { Box, LetterWord } from '../../letter-reading.ts';
import { cluster, roundBox } from '../pdf/page-geometry.ts';
import { shrink, type GrayImage } from './picture.ts';

/** Width of the grid on which ink is searched: 100 cells an inch on a letter's page. */
const gridWidth = 850;

/** A word with a lower confidence may be a signature, unless it is long and as high as the others. */
const wordConfidenceMin = 45;
const longWord = /^[\p{L}\p{N}.,'’®™-]{6,}$/u;
const wordHeightMax = 1.6;

/** A line at least this long, as a part of the page, and at most this many cells thick is a rule and no ink. */
const ruleLengthMin = 0.06;
const ruleCellsMax = 4;

/** Largest gap between parts of one signature. */
const partGap = { x: 0.018, y: 0.008 } as const;

/** Smallest mark: three tenths of an inch wide, an eighth high, as fractions of a letter's page. */
const markMin = { width: 0.035, height: 0.011 } as const;

/** Parts of a mark: less ink than this is dust. */
const partCellsMin = 6;
const marksMax = 100;

/**
 * Dark regions of a page that no recognised word covers, of the size of a signature, a stamp or a logo. Rules, frames and
 * the shadow at a sheet's edge do not count.
 */
export function findInk(image: GrayImage, words: readonly LetterWord[]): Box[] {
  const grid = makeGrid(image);
  const heights = words.map(({ box }) => box.height).sort((a, b) => a - b);
  const heightMax = (heights[heights.length >> 1] ?? 0) * wordHeightMax;
  const isPrint = ({ text, confidence, box }: LetterWord) =>
    confidence >= wordConfidenceMin ? /[\p{L}\p{N}]/u.test(text) : longWord.test(text) && box.height <= heightMax;
  for (const word of words) if (isPrint(word)) erase(grid, word.box);
  eraseRules(grid);
  const parts = findParts(grid).filter((box) => !isEdge(box));
  const marks = cluster(parts, partGap).filter(
    ({ width, height }) => width >= markMin.width && height >= markMin.height,
  );
  return marks.slice(0, marksMax).map(roundBox);
}

/** Ink is darker than this: two thirds of the paper's brightness, which is that of most pixels. */
function darkLevel(gray: Uint8Array): number {
  const counts = new Uint32Array(256);
  for (const value of gray) counts[value]!++;
  let [left, paper] = [gray.length * 0.4, 255];
  while (paper > 0 && left > counts[paper]!) left -= counts[paper--]!;
  return Math.max(60, paper * 0.68);
}

interface Grid {
  readonly width: number;
  readonly height: number;
  readonly dark: Uint8Array;
}

function makeGrid(image: GrayImage): Grid {
  const { width, height, gray } = shrink(image, Math.max(1, Math.round(image.width / gridWidth)));
  const level = Math.min(235, darkLevel(gray) * 1.2); // thin strokes are paler in the mean of a cell
  return { width, height, dark: gray.map((value) => (value < level ? 1 : 0)) };
}

function erase({ width, height, dark }: Grid, box: Box): void {
  const [left, right] = [
    Math.max(0, Math.floor(box.left * width) - 1),
    Math.min(width, Math.ceil((box.left + box.width) * width) + 1),
  ];
  const [top, bottom] = [
    Math.max(0, Math.floor(box.top * height) - 1),
    Math.min(height, Math.ceil((box.top + box.height) * height) + 1),
  ];
  for (let y = top; y < bottom; y++) dark.fill(0, y * width + left, Math.max(y * width + left, y * width + right));
}

/** Long thin runs of dark cells, level and upright. */
function eraseRules(grid: Grid): void {
  const { width, height, dark } = grid;
  const rules = [
    ...findRules(grid, { lines: height, lineStep: width, count: width, step: 1, lengthMin: ruleLengthMin * width }),
    ...findRules(grid, { lines: width, lineStep: 1, count: height, step: width, lengthMin: ruleLengthMin * height }),
  ];
  for (const at of rules) dark[at] = 0;
}

interface Direction extends Omit<Walk, 'start'> {
  readonly lines: number;
  /** From a line to the next; across the runs. */
  readonly lineStep: number;
  readonly lengthMin: number;
}

function findRules({ dark }: Grid, { lines, lineStep, count, step, lengthMin }: Direction): number[] {
  const found: number[] = [];
  for (let line = 0; line < lines; line++) {
    const start = line * lineStep;
    for (const [from, to] of runs(dark, { start, step, count }, lengthMin)) {
      for (let at = start + from * step; at < start + to * step; at += step)
        if (thickness(dark, at, lineStep) <= ruleCellsMax) found.push(at);
    }
  }
  return found;
}

interface Walk {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

function runs(dark: Uint8Array, { start, step, count }: Walk, lengthMin: number): [number, number][] {
  const found: [number, number][] = [];
  let from = -1;
  for (let at = 0; at <= count; at++) {
    const isDark = at < count && dark[start + at * step] === 1;
    if (isDark && from < 0) from = at;
    if (isDark || from < 0) continue;
    if (at - from >= lengthMin) found.push([from, at]);
    from = -1;
  }
  return found;
}

/** Dark cells in a row through one cell, across. */
function thickness(dark: Uint8Array, at: number, step: number): number {
  let count = 1;
  for (let near = at - step; dark[near] === 1 && count <= ruleCellsMax; near -= step) count++;
  for (let near = at + step; dark[near] === 1 && count <= ruleCellsMax; near += step) count++;
  return count;
}

function findParts(grid: Grid): Box[] {
  const { width, height, dark } = grid;
  const left = dark.slice();
  const parts: Box[] = [];
  for (let at = 0; at < left.length && parts.length < 20_000; at++) {
    if (left[at] !== 1) continue;
    const part = flood(left, at, grid);
    const [across, down] = [part.right - part.left + 1, part.bottom - part.top + 1];
    const isSlantedRule = across >= ruleLengthMin * width && down < across / 8 && part.cells < 3 * across;
    if (part.cells >= partCellsMin && !isSlantedRule)
      parts.push({ left: part.left / width, top: part.top / height, width: across / width, height: down / height });
  }
  return parts;
}

/** Removes one connected region and returns its bounds. */
function flood(
  left: Uint8Array,
  start: number,
  { width, height }: Grid,
): { left: number; right: number; top: number; bottom: number; cells: number } {
  const part = { left: width, right: 0, top: height, bottom: 0, cells: 0 };
  const open = [start];
  left[start] = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const [x, y] = [at % width, Math.floor(at / width)];
    part.cells++;
    [part.left, part.right] = [Math.min(part.left, x), Math.max(part.right, x)];
    [part.top, part.bottom] = [Math.min(part.top, y), Math.max(part.bottom, y)];
    for (let dy = -1; dy <= 1; dy++) {
      for (let dx = -1; dx <= 1; dx++) {
        const next = at + dy * width + dx;
        if (x + dx < 0 || x + dx >= width || left[next] !== 1) continue;
        left[next] = 0;
        open.push(next);
      }
    }
  }
  return part;
}

/** The shadow of a sheet's edge: it touches an edge of the picture and is thin, or runs along it. */
function isEdge({ left, top, width, height }: Box): boolean {
  const touches = left < 0.004 || top < 0.004 || left + width > 0.996 || top + height > 0.996;
  return touches && (width > 0.4 || height > 0.4 || width < 0.02 || height < 0.02);
}
