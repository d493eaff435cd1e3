import { openPdfium, type PdfiumDocument, type Pointer } from '../pdf/pdfium.ts';
import type { GrayImage } from './png.ts';

/** Largest picture of a page, a byte a pixel: A3 at 300 dots an inch has 17 million. PDFium would take up to 2 GiB. */
export const renderPixelsMax = 40_000_000;

const pointsPerInch = 72;

/** Bytes of FPDF_FORMFILLINFO, at least: its version, then callbacks, which stay unset. */
const formInfoBytes = 256;
const formInfoVersion = 2;

/** PDFium's number of a bitmap with a byte a pixel. */
const grayFormat = 1;
const white = 0xffffffff;

/** PDFium's flags for drawing. */
const flags = { annotations: 1, smoothText: 2, gray: 8 } as const;

/**
 * Opens a PDF for drawing.
 * @throws Error if the document is damaged or asks for a password
 */
export async function openPdfImages(bytes: Uint8Array): Promise<PdfImages> {
  return new PdfImages(await openPdfium(bytes));
}

/** Pages of an open PDF as pictures; pages count from 1. */
class PdfImages {
  private readonly document: PdfiumDocument;
  private form: { readonly handle: Pointer; readonly info: Pointer } | null = null;

  constructor(document: PdfiumDocument) {
    this.document = document;
  }

  get pageCount(): number {
    return this.document.pageCount;
  }

  /**
   * Points (1/72 inch), as the page is shown: its rotation is applied.
   * @throws Error if the document has no such page or the page is damaged
   */
  pageSize(page: number): { width: number; height: number } {
    const { pdfium, handle, pageCount } = this.document;
    if (!(Number.isInteger(page) && page >= 1 && page <= pageCount))
      throw new Error(`The document has no page ${page}.`);
    const size = pdfium.floats(2, (output) => pdfium.functions.FPDF_GetPageSizeByIndexF(handle, page - 1, output));
    const [width = 0, height = 0] = size ?? [];
    if (!(width > 0 && height > 0)) throw new Error(`Page ${page} is damaged.`);
    return { width, height };
  }

  /**
   * The page on white, with its annotations and form fields drawn.
   * @throws Error if the page is damaged, or its picture would have more than `renderPixelsMax` pixels
   */
  async render(page: number, dotsPerInch: number): Promise<GrayImage> {
    const size = this.pageSize(page);
    const [width, height] = [size.width, size.height].map((points) =>
      Math.max(1, Math.round((points * dotsPerInch) / pointsPerInch)),
    ) as [number, number];
    if (width * height > renderPixelsMax)
      throw new Error(`A picture of ${width} x ${height} pixels is larger than ${renderPixelsMax} pixels.`);
    const gray = this.document.usePage(page, (_pdfium, loaded) => this.draw(loaded, width, height));
    return { width, height, gray };
  }

  /** Frees the document's memory. Nothing else may be called afterwards. */
  close(): void {
    if (this.form !== null) {
      const { functions } = this.document.pdfium;
      functions.FPDFDOC_ExitFormFillEnvironment(this.form.handle);
      functions.free(this.form.info);
    }
    this.document.close();
  }

  private draw(page: Pointer, width: number, height: number): Uint8Array {
    const { functions } = this.document.pdfium;
    const form = this.openForm();
    const pixels = this.allocate(width * height);
    const bitmap = functions.FPDFBitmap_CreateEx(width, height, grayFormat, pixels, width);
    functions.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, white);
    const look = flags.smoothText | flags.gray;
    functions.FORM_OnAfterLoadPage(page, form);
    functions.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, look | flags.annotations);
    functions.FPDF_FFLDraw(form, bitmap, page, 0, 0, width, height, 0, look);
    functions.FORM_OnBeforeClosePage(page, form);
    const gray = new Uint8Array(functions.memory.buffer).slice(pixels, pixels + width * height);
    functions.FPDFBitmap_Destroy(bitmap);
    functions.free(pixels);
    return gray;
  }

  /** What PDFium needs to draw form fields and signatures. */
  private openForm(): Pointer {
    if (this.form === null) {
      const { pdfium, handle } = this.document;
      const info = this.allocate(formInfoBytes);
      const { buffer } = pdfium.functions.memory;
      new Uint8Array(buffer).fill(0, info, info + formInfoBytes);
      new DataView(buffer).setUint32(info, formInfoVersion, true);
      this.form = { info, handle: pdfium.functions.FPDFDOC_InitFormFillEnvironment(handle, info) };
    }
    return this.form.handle;
  }

  private allocate(bytes: number): Pointer {
    const place = this.document.pdfium.functions.malloc(bytes);
    if (place === 0) throw new Error('PDFium is out of memory.');
    return place;
  }
}
