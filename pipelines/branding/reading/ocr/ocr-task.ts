import type { LetterPage, LetterWord } from '../../letter-reading.ts';
import type { LetterLimits } from '../gate/letter-limits.ts';
import { findInk } from './ink-marks.ts';
import { openOcr, type OcrEngine } from './ocr-engine.ts';
import { renderPage, renderPixelsMax } from './page-image.ts';
import { double, shrink, turnByQuarters, type GrayImage } from './picture.ts';
import { decodePng, encodeGrayPng } from './png.ts';
import { openCheckedPdf } from '../pdf/checked-pdf.ts';
import { roundBox, unite } from '../pdf/page-geometry.ts';

export interface OcrRequest {
  /** `recognise`: text and ink; `draw`: pictures. */
  readonly task: 'recognise' | 'draw';
  readonly format: 'pdf' | 'png';
  /** Resolution of drawn pages; not used in recognition. */
  readonly dotsPerInch: number;
  readonly limits: LetterLimits;
}

/** The result of the OCR child; one of both lists is empty. */
export interface OcrResult {
  readonly pages: readonly LetterPage[];
  readonly drawn: readonly { readonly page: number; /** Base64. */ readonly png: string }[];
}

/** Resolution at which pages are drawn for recognition. At 200 and at 300 the same numbers were read, in the same time. */
const recognitionDpi = 250;

/** Largest picture that is recognised: a letter's page has 5.8 million, legal 7.4. */
const recognitionPixelsMax = 11_000_000;

/** A PNG with fewer pixels is a page at less than 150 dots an inch, whose letters are too small for the engine. */
const enlargePixelsMax = 2_100_000;

/** Sides are rounded to whole pixels, which may make a picture larger than computed. */
const roundingShare = 0.99;

/** Assumed width of a PNG in inches when it is drawn. */
const sheetInches = 8.5;

interface PageSource {
  readonly page: number;
  readonly width: number;
  readonly height: number;
  /** For recognition. */
  picture(): GrayImage;
  /** For a person. */
  drawing(dotsPerInch: number): GrayImage;
}

/**
 * Draws the pages of a letter and recognises their text, one after the other, with one engine for all.
 * @throws LetterRefused
 */
export async function recogniseLetter(request: OcrRequest, bytes: Uint8Array): Promise<OcrResult> {
  const sources = request.format === 'png' ? openPng(bytes, request.limits) : openPdf(bytes, request);
  const result = { pages: [] as LetterPage[], drawn: [] as { page: number; png: string }[] };
  let engine: OcrEngine | undefined;
  for await (const source of sources) {
    if (request.task === 'draw')
      result.drawn.push({
        page: source.page,
        png: Buffer.from(encodeGrayPng(source.drawing(request.dotsPerInch))).toString('base64'),
      });
    else result.pages.push(await recognisePage(source, (engine ??= await openOcr())));
  }
  return result;
}

/** Least mean confidence of a page that is upright; one that is upside down or on its side has less than half of it. */
const uprightConfidenceMin = 60;

/** Quarter turns clockwise that are tried, until one is read with confidence. */
const turnsTried = [0, 1, 3, 2];

/**
 * A page in any orientation. One without any text is tried once more with its noise smoothed, which the engine takes for a picture.
 * Places on a page that was turned are those of the turned page.
 */
async function recognisePage({ page, width, height, picture }: PageSource, engine: OcrEngine): Promise<LetterPage> {
  let drawn = picture();
  let best = await recogniseTurned(drawn, turnsTried[0]!, engine);
  if (best.lines.length === 0) {
    drawn = double(shrink(drawn, 2));
    best = await recogniseTurned(drawn, turnsTried[0]!, engine);
  }
  for (const quarters of turnsTried.slice(1)) {
    if (best.confidence >= uprightConfidenceMin || best.lines.length === 0) break;
    const turned = await recogniseTurned(drawn, quarters, engine);
    if (turned.confidence > best.confidence) best = turned;
  }
  const { quarters, lines, ink } = best;
  const size = quarters % 2 === 0 ? { width, height } : { width: height, height: width };
  return { page, ...size, turned: 90 * quarters, lines, ink };
}

interface TurnedPage extends Pick<LetterPage, 'lines' | 'ink'> {
  /** Clockwise. */
  readonly quarters: number;
  readonly confidence: number;
}

async function recogniseTurned(picture: GrayImage, quarters: number, engine: OcrEngine): Promise<TurnedPage> {
  const image = turnByQuarters(picture, quarters);
  const recognised = await engine.recognise(image);
  const words = recognised.flat();
  return {
    quarters,
    confidence: isLevel(image, words) ? meanConfidence(words) : 0,
    ink: findInk(image, words),
    lines: recognised.map((own) => ({
      text: own.map(({ text }) => text).join(' '),
      confidence: Math.round(meanConfidence(own)),
      box: roundBox(own.map(({ box }) => box).reduce(unite)),
      words: own.map((word) => ({ ...word, confidence: Math.round(word.confidence), box: roundBox(word.box) })),
    })),
  };
}

/** False for a page on its side, which the engine may read as it lies: most of its long words are higher than they are wide. */
function isLevel(image: GrayImage, words: readonly LetterWord[]): boolean {
  const long = words.filter(({ text }) => text.length >= 4);
  const level = long.filter(({ box }) => box.width * image.width > box.height * image.height);
  return level.length * 2 >= long.length;
}

/** Weighted by characters. */
function meanConfidence(words: readonly LetterWord[]): number {
  const characters = words.reduce((sum, { text }) => sum + text.length, 0);
  return words.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0) / Math.max(1, characters);
}

function fitResolution(
  { width, height }: { width: number; height: number },
  wanted: number,
  pixelsMax: number,
): number {
  return Math.min(wanted, Math.sqrt(pixelsMax / ((width / 72) * (height / 72))));
}

async function* openPdf(bytes: Uint8Array, { limits }: OcrRequest): AsyncGenerator<PageSource> {
  const { pages: known, document } = await openCheckedPdf(bytes, limits); // checked here, too: this child may be the first to read the file
  const pixelsMax = Math.min(limits.letterPixelsMax, renderPixelsMax) * roundingShare;
  for (const [at, { width, height }] of known.entries()) {
    const size = { page: at + 1, width, height };
    yield {
      ...size,
      picture: () => renderPage(document, size, fitResolution(size, recognitionDpi, recognitionPixelsMax)),
      drawing: (dotsPerInch) => renderPage(document, size, fitResolution(size, dotsPerInch, pixelsMax)),
    };
  }
  document.close();
}

/** A PNG has pixels and no inches: it is made smaller or larger where it has more or fewer than recognition can use. */
function* openPng(bytes: Uint8Array, { letterPixelsMax: pixelsMax }: LetterLimits): Generator<PageSource> {
  const image = decodePng(bytes, { pixelsMax });
  const { width, height } = image;
  yield {
    page: 1,
    width,
    height,
    picture: () =>
      width * height <= enlargePixelsMax
        ? double(image)
        : shrink(image, Math.ceil(Math.sqrt((width * height) / recognitionPixelsMax))),
    drawing: (dotsPerInch) => shrink(image, Math.floor(width / (sheetInches * dotsPerInch))),
  };
}
