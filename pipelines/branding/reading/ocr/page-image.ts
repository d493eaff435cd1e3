import type { Pdfium, PdfiumDocument, Pointer } from '../pdf/pdfium.ts';
import type { PdfPage } from '../pdf/pdf-pages.ts';
import type { GrayImage } from './picture.ts';

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
 * A page, counted from 1, on white, with its annotations and form fields drawn.
 * @throws Error if the page is damaged, or its picture would have more than `renderPixelsMax` pixels
 */
export function renderPage(
  { handle, usePage }: PdfiumDocument,
  { page, width, height }: { page: number } & Pick<PdfPage, 'width' | 'height'>,
  dotsPerInch: number,
): GrayImage {
  const [across, down] = [width, height].map((points) =>
    Math.max(1, Math.round((points * dotsPerInch) / pointsPerInch)),
  ) as [number, number];
  if (across * down > renderPixelsMax)
    throw new Error(`A picture of ${across} x ${down} pixels is larger than ${renderPixelsMax} pixels.`);
  const gray = usePage(page, ({ functions }, loaded) => {
    const pixels = allocate(functions, across * down);
    const info = allocate(functions, formInfoBytes);
    new Uint8Array(functions.memory.buffer).fill(0, info, info + formInfoBytes);
    new DataView(functions.memory.buffer).setUint32(info, formInfoVersion, true);
    const form = functions.FPDFDOC_InitFormFillEnvironment(handle, info); // for form fields and signatures
    const bitmap = functions.FPDFBitmap_CreateEx(across, down, grayFormat, pixels, across);
    functions.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, white);
    const look = flags.smoothText | flags.gray;
    functions.FORM_OnAfterLoadPage(loaded, form);
    functions.FPDF_RenderPageBitmap(bitmap, loaded, 0, 0, across, down, 0, look | flags.annotations);
    functions.FPDF_FFLDraw(form, bitmap, loaded, 0, 0, across, down, 0, look);
    functions.FORM_OnBeforeClosePage(loaded, form);
    const drawn = new Uint8Array(functions.memory.buffer).slice(pixels, pixels + across * down);
    functions.FPDFBitmap_Destroy(bitmap);
    functions.FPDFDOC_ExitFormFillEnvironment(form);
    functions.free(info);
    functions.free(pixels);
    return drawn;
  });
  return { width: across, height: down, gray };
}

function allocate({ malloc }: Pdfium['functions'], bytes: number): Pointer {
  const place = malloc(bytes);
  if (place === 0) throw new Error('PDFium is out of memory.');
  return place;
}
