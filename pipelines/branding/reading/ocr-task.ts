import type { LetterPage } from '../letter-reading.ts';
import type { LetterLimits } from './letter-limits.ts';
import { LetterRefused } from './letter-refused.ts';
import { findInk } from './ink-marks.ts';
import { openOcr, type OcrEngine } from './ocr-engine.ts';
import { makeOcrLines } from './ocr-lines.ts';
import { encodeGrayPng, type GrayImage } from './png.ts';
import { openPdfImages } from './page-image.ts';
import { decodePng, readPngSize } from './png-decoding.ts';
import { shrink, straighten } from './straighten.ts';

export interface OcrRequest {
  /** `recognise`: text and ink; `draw`: pictures. */
  readonly task: 'recognise' | 'draw';
  readonly format: 'pdf' | 'png';
  /** Pages to take; null for all. */
  readonly pages: readonly number[] | null;
  /** Resolution of drawn pages; null for that of recognition. */
  readonly dotsPerInch: number | null;
  readonly limits: LetterLimits;
}

/** What the OCR child finds; one of both is empty. */
export interface OcrResult {
  readonly pages: readonly LetterPage[];
  readonly drawn: readonly { readonly page: number; /** Base64. */ readonly png: string }[];
}

/**
 * Resolution at which pages are drawn for recognition. Letters of 10 points are then 42 pixels high; scans of 200 dots an
 * inch are enlarged by half, which Tesseract's models were trained for (figures in docs/letters.md).
 */
const recognitionDpi = 300;

/** Largest picture that is recognised: a letter's page at 300 dots an inch has 8.4 million, legal 10.7. */
const recognitionPixelsMax = 11_000_000;

interface PageSource {
  readonly page: number;
  readonly width: number;
  readonly height: number;
  draw(dotsPerInch: number): Promise<GrayImage>;
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
    const dotsPerInch = fitResolution(source, request.dotsPerInch ?? recognitionDpi, request.task === 'draw' ? request.limits.letterPixelsMax : recognitionPixelsMax);
    const image = await source.draw(dotsPerInch);
    if (request.task === 'draw') result.drawn.push({ page: source.page, png: Buffer.from(encodeGrayPng(image, { dotsPerInch })).toString('base64') });
    else result.pages.push(await recognisePage(source, image, (engine ??= await openOcr())));
  }
  return result;
}

async function recognisePage({ page, width, height }: PageSource, image: GrayImage, engine: OcrEngine): Promise<LetterPage> {
  const straight = straighten(image);
  const words = await engine.recognise(straight);
  const marks = findInk(straight, words);
  return { page, width, height, source: 'ocr', lines: makeOcrLines(words, marks, straight), marks };
}

function fitResolution({ width, height }: PageSource, wanted: number, pixelsMax: number): number {
  return Math.min(wanted, Math.sqrt(pixelsMax / ((width / 72) * (height / 72))));
}

async function* openPdf(bytes: Uint8Array, { pages, limits }: OcrRequest): AsyncGenerator<PageSource> {
  const images = await openPdfImages(bytes);
  if (images.pageCount > limits.letterPagesMax) throw new LetterRefused('letter_too_many_pages', `The PDF has more than ${limits.letterPagesMax} pages.`);
  for (const page of pages ?? Array.from({ length: images.pageCount }, (_none, at) => at + 1)) {
    const { width, height } = images.pageSize(page);
    if (Math.max(width, height) > limits.letterPageInchesMax * 72) throw new LetterRefused('letter_page_too_large', `A page is longer than ${limits.letterPageInchesMax} inches.`);
    yield { page, width, height, draw: (dotsPerInch) => images.render(page, dotsPerInch) };
  }
  images.close();
}

/** A PNG has pixels and no inches: it is taken as it is, and made smaller where it has more than recognition can use. */
async function* openPng(bytes: Uint8Array, limits: LetterLimits): AsyncGenerator<PageSource> {
  const { width, height } = readPngSize(bytes, { pixelsMax: limits.letterPixelsMax });
  const image = await decodePng(bytes, { pixelsMax: limits.letterPixelsMax });
  yield { page: 1, width, height, draw: (dotsPerInch) => Promise.resolve(shrink(image, Math.ceil(72 / dotsPerInch))) };
}
