import { PDFiumLibrary, type PDFiumDocument, type PDFiumPage } from '@hyzyla/pdfium';
import type { GrayImage } from './png.ts';

/** Pages of an open PDF as pictures; pages count from 1. */
export interface PdfImages {
  readonly pageCount: number;
  /**
   * Points (1/72 inch), as the page is shown: its rotation is applied.
   * @throws Error if the document has no such page or the page is damaged
   */
  pageSize(page: number): { readonly width: number; readonly height: number };
  /**
   * The page on white, with its annotations and form fields drawn.
   * @throws Error if the page is damaged, or its picture would have more than `renderPixelsMax` pixels
   */
  render(page: number, dotsPerInch: number): Promise<GrayImage>;
  /** Gives the document's memory back. Nothing else may be called afterwards. */
  close(): void;
}

/** Largest picture of a page, a byte a pixel: A3 at 300 dots an inch has 17 million. PDFium would take up to 2 GiB. */
export const renderPixelsMax = 40_000_000;

const pointsPerInch = 72;

/** Compiling PDFium's 4 MB of WebAssembly takes longer than drawing a page, so a process does it once. */
let library: Promise<PDFiumLibrary> | null = null;

/**
 * Opens a PDF for drawing. PDFium runs in WebAssembly: it sees nothing but the bytes that it is given.
 * @throws Error if the document is damaged or asks for a password
 */
export async function openPdfImages(bytes: Uint8Array): Promise<PdfImages> {
  library ??= PDFiumLibrary.init();
  const started = library;
  return orForget(async () => new OpenDocument(await (await started).loadDocument(bytes)));
}

/** After a trap inside WebAssembly its memory is in no known state; the next document gets a new instance. */
async function orForget<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // WebAssembly.RuntimeError; the type is not in the libraries that the project compiles with.
    if (error instanceof Error && error.name === 'RuntimeError') library = null;
    throw new Error('PDFium cannot read the document.', { cause: error });
  }
}

class OpenDocument implements PdfImages {
  readonly pageCount: number;
  private readonly document: PDFiumDocument;
  /** Loaded and not drawn yet: the library closes a page when it has drawn it. */
  private readonly loaded = new Map<number, PDFiumPage>();

  constructor(document: PDFiumDocument) {
    this.document = document;
    this.pageCount = document.getPageCount();
  }

  pageSize(page: number): { width: number; height: number } {
    const { originalWidth, originalHeight } = this.load(page).getOriginalSize();
    if (!(originalWidth > 0 && originalHeight > 0)) throw new Error(`Page ${page} is damaged.`);
    return { width: originalWidth, height: originalHeight };
  }

  async render(page: number, dotsPerInch: number): Promise<GrayImage> {
    const size = this.pageSize(page);
    const [width, height] = [size.width, size.height].map((points) =>
      Math.max(1, Math.round((points * dotsPerInch) / pointsPerInch)),
    ) as [number, number];
    if (width * height > renderPixelsMax)
      throw new Error(`A picture of ${width} x ${height} pixels is larger than ${renderPixelsMax} pixels.`);
    const loaded = this.load(page);
    this.loaded.delete(page);
    const { data } = await orForget(() => loaded.render({ width, height, colorSpace: 'Gray', renderFormFields: true }));
    return { width, height, gray: data };
  }

  close(): void {
    this.document.destroy();
  }

  private load(page: number): PDFiumPage {
    if (!(Number.isInteger(page) && page >= 1 && page <= this.pageCount))
      throw new Error(`The document has no page ${page}.`);
    const loaded = this.loaded.get(page) ?? this.document.getPage(page - 1);
    this.loaded.set(page, loaded);
    return loaded;
  }
}
