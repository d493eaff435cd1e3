import type { LetterPage } from '../../letter-reading.ts';
import type { LetterLimits } from '../gate/letter-limits.ts';
import { findInk } from './ink-marks.ts';
import { openOcr, type OcrEngine, type RecognisedWord } from './ocr-engine.ts';
import { makeOcrLines } from './ocr-lines.ts';
import { encodeGrayPng, type GrayImage } from './png.ts';
import { renderPage, renderPixelsMax } from './page-image.ts';
import { openCheckedPdf } from '../pdf/checked-pdf.ts';
import { double, shrink } from './picture-scale.ts';
import { decodePng } from './png-decoding.ts';
import { liesOnItsSide, straighten, turnByQuarters } from './straighten.ts';

export interface OcrRequest {
  /** `recognise`: text and ink; `draw`: pictures. */
  readonly task: 'recognise' | 'draw';
  readonly format: 'pdf' | 'png';
  /** Page numbers; null for all. */
  readonly pages: readonly number[] | null;
  /** Resolution of drawn pages; not used in recognition. */
  readonly dotsPerInch: number;
  readonly limits: LetterLimits;
}

/** The result of the OCR child; one of both lists is empty. */
export interface OcrResult {
  readonly pages: readonly LetterPage[];
  readonly drawn: readonly { readonly page: number; /** Base64. */ readonly png: string }[];
}

/**
 * Resolution at which pages are drawn for recognition. Letters of 10 points are then 42 pixels high; scans of 200 dots an
 * inch are enlarged by half, which Tesseract's models were trained for.
 */
const recognitionDpi = 300;

/** Largest picture that is recognised: a letter's page at 300 dots an inch has 8.4 million, legal 10.7. */
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

async function recognisePage({ page, width, height, picture }: PageSource, engine: OcrEngine): Promise<LetterPage> {
  const { image, words, quarters, turned } = await recogniseUpright(picture(), engine);
  const marks = findInk(image, words);
  const [across, down] = quarters % 2 === 0 ? [width, height] : [height, width];
  return { page, width: across, height: down, source: 'ocr', turned, lines: makeOcrLines(words, marks, image), marks };
}

/** Least mean confidence of a page that is upright; one that is upside down has less than half of it. */
const uprightConfidenceMin = 60;

interface Recognised {
  readonly image: GrayImage;
  readonly words: readonly RecognisedWord[];
  /** Clockwise. */
  readonly quarters: number;
  /** Degrees clockwise: the quarters, and what straightened it. */
  readonly turned: number;
  readonly confidence: number;
}

/**
 * The text of a page in any orientation: first along its lines, and with a low confidence also
 * upside down. A blank page is tried once. Places on a page that was turned are those of the turned page.
 */
async function recogniseUpright(picture: GrayImage, engine: OcrEngine): Promise<Recognised> {
  const turns = liesOnItsSide(picture) ? [1, 3, 0] : [0, 2];
  let best: Recognised | null = null;
  for (const quarters of turns) {
    const recognised = await recogniseTurned(picture, quarters, engine);
    if (best === null || recognised.confidence > best.confidence) best = recognised;
    if (best.confidence >= uprightConfidenceMin || (quarters === 0 && best.words.length === 0)) break;
  }
  return best!; // at least one turn was tried
}

async function recogniseTurned(picture: GrayImage, quarters: number, engine: OcrEngine): Promise<Recognised> {
  const { image, degrees } = straighten(turnByQuarters(picture, quarters));
  const words = await engine.recognise(image);
  const letters = words.reduce((sum, { text }) => sum + text.length, 0);
  return {
    image,
    words,
    quarters,
    turned: 90 * quarters + degrees,
    confidence: words.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0) / Math.max(1, letters),
  };
}

function fitResolution(
  { width, height }: { width: number; height: number },
  wanted: number,
  pixelsMax: number,
): number {
  return Math.min(wanted, Math.sqrt(pixelsMax / ((width / 72) * (height / 72))));
}

async function* openPdf(bytes: Uint8Array, { pages, limits }: OcrRequest): AsyncGenerator<PageSource> {
  const { pages: known, document } = await openCheckedPdf(bytes, limits); // checked here, too: this child may be the first to read the file
  const pixelsMax = Math.min(limits.letterPixelsMax, renderPixelsMax) * roundingShare;
  for (const [at, { width, height }] of known.entries()) {
    const size = { page: at + 1, width, height };
    if (pages !== null && !pages.includes(size.page)) continue;
    yield {
      ...size,
      picture: () => renderPage(document, size, fitResolution(size, recognitionDpi, recognitionPixelsMax)),
      drawing: (dotsPerInch) => renderPage(document, size, fitResolution(size, dotsPerInch, pixelsMax)),
    };
  }
  document.close();
}

/** A PNG has pixels and no inches: it is made smaller or larger where it has more or fewer than recognition can use. */
async function* openPng(bytes: Uint8Array, { letterPixelsMax: pixelsMax }: LetterLimits): AsyncGenerator<PageSource> {
  const image = await decodePng(bytes, { pixelsMax });
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
