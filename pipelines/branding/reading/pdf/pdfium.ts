import { PDFiumModule } from '@hyzyla/pdfium';

/** An address in PDFium's memory, or a handle; 0 for none. */
export type Pointer = number;

/** The functions of PDFium's public headers that are called here, by their names there. Arguments and results are numbers. */
type FunctionName =
  | 'malloc'
  | 'free'
  | 'FPDF_InitLibrary'
  | 'FPDF_LoadMemDocument'
  | 'FPDF_CloseDocument'
  | 'FPDF_GetPageCount'
  | 'FPDF_LoadPage'
  | 'FPDF_ClosePage'
  | 'FPDF_RenderPageBitmap'
  | 'FPDF_FFLDraw'
  | 'FPDFDOC_InitFormFillEnvironment'
  | 'FPDFDOC_ExitFormFillEnvironment'
  | 'FORM_OnAfterLoadPage'
  | 'FORM_OnBeforeClosePage'
  | 'FPDFBitmap_CreateEx'
  | 'FPDFBitmap_FillRect'
  | 'FPDFBitmap_Destroy'
  | 'FPDFPage_CountObjects'
  | 'FPDFPage_GetObject'
  | 'FPDFPage_GetAnnot'
  | 'FPDFPage_CloseAnnot'
  | 'FPDFAnnot_GetObjectCount'
  | 'FPDFAnnot_GetObject'
  | 'FPDFFormObj_CountObjects'
  | 'FPDFFormObj_GetObject'
  | 'FPDFPageObj_GetType'
  | 'FPDFPageObj_GetMatrix'
  | 'FPDFPageObj_GetBounds'
  | 'FPDFPageObj_GetFillColor'
  | 'FPDFPageObj_GetStrokeColor'
  | 'FPDFPageObj_HasTransparency'
  | 'FPDFPageObj_SetIsActive'
  | 'FPDFPageObj_CountMarks'
  | 'FPDFPageObj_GetMark'
  | 'FPDFPageObj_RemoveMark'
  | 'FPDFPath_GetDrawMode'
  | 'FPDFPath_CountSegments'
  | 'FPDFPath_GetPathSegment'
  | 'FPDFPathSegment_GetType'
  | 'FPDFPathSegment_GetPoint'
  | 'FPDFImageObj_GetImagePixelSize'
  | 'FPDFTextObj_GetFont'
  | 'FPDFTextObj_GetFontSize'
  | 'FPDFTextObj_GetTextRenderMode'
  | 'FPDFFont_GetBaseFontName'
  | 'FPDFText_LoadPage'
  | 'FPDFText_ClosePage'
  | 'FPDFText_CountChars'
  | 'FPDFText_GetUnicode'
  | 'FPDFText_IsGenerated'
  | 'FPDFText_IsHyphen'
  | 'FPDFText_HasUnicodeMapError'
  | 'FPDFText_GetCharOrigin'
  | 'FPDFText_GetLooseCharBox'
  | 'FPDFText_GetMatrix'
  | 'FPDFText_GetTextObject';

type Exports = Readonly<Record<FunctionName, (...values: readonly number[]) => number>> & {
  readonly memory: { readonly buffer: ArrayBuffer };
};

/** Room for what one function writes, in bytes: names of fonts are the longest. */
const outputBytes = 1024;

/** PDFium's functions and its memory. As WebAssembly it has no access to anything else. */
export class Pdfium {
  readonly functions: Exports;
  /** Where functions write their results. */
  private readonly output: Pointer;
  private view: DataView;

  constructor(functions: Exports) {
    this.functions = functions;
    functions.FPDF_InitLibrary();
    this.output = functions.malloc(outputBytes);
    this.view = new DataView(functions.memory.buffer);
  }

  /** The 32-bit floats that a function writes one after another; null if it fails. */
  floats(count: number, call: (output: Pointer) => number): number[] | null {
    return call(this.output) === 0
      ? null
      : this.read(count, (at) => this.memory().getFloat32(this.output + 4 * at, true));
  }

  /** The numbers that a function writes into arguments of their own, each `bytes` long: integers of 4, floats of 8. */
  values(count: number, bytes: 4 | 8, call: (...outputs: Pointer[]) => number): number[] | null {
    const places = this.read(count, (at) => this.output + bytes * at);
    if (call(...places) === 0) return null;
    return places.map((place) =>
      bytes === 4 ? this.memory().getInt32(place, true) : this.memory().getFloat64(place, true),
    );
  }

  /** Text that a function writes with a zero behind it, and whose length with the zero it returns. */
  text(call: (output: Pointer, bytes: number) => number): string {
    const length = Math.min(call(this.output, outputBytes), outputBytes);
    return Buffer.from(this.functions.memory.buffer, this.output, Math.max(0, length - 1)).toString();
  }

  /** The memory, whose buffer is another one after it has grown. */
  private memory(): DataView {
    const { buffer } = this.functions.memory;
    if (this.view.buffer !== buffer) this.view = new DataView(buffer);
    return this.view;
  }

  private read(count: number, value: (at: number) => number): number[] {
    return Array.from({ length: count }, (_none, at) => value(at));
  }
}

/** An open PDF; pages count from 1. */
export interface PdfiumDocument {
  readonly pdfium: Pdfium;
  readonly handle: Pointer;
  readonly pageCount: number;
  /** @throws Error if the page is damaged */
  usePage<Result>(page: number, use: (pdfium: Pdfium, page: Pointer) => Result): Result;
  close(): void;
}

/** Compiling 4 MB of WebAssembly takes longer than reading a page, so a process does it once. */
let library: Promise<Pdfium> | null = null;

/** @throws Error if the document is damaged or asks for a password */
export async function openPdfium(bytes: Uint8Array): Promise<PdfiumDocument> {
  library ??= PDFiumModule({}).then(({ wasmExports }) => new Pdfium(wasmExports as unknown as Exports));
  const pdfium = await library;
  const { functions } = pdfium;
  const copy = functions.malloc(bytes.length);
  new Uint8Array(functions.memory.buffer).set(bytes, copy);
  const document = resetOnError(() => functions.FPDF_LoadMemDocument(copy, bytes.length, 0));
  const close = () => {
    if (document !== 0) functions.FPDF_CloseDocument(document);
    functions.free(copy);
  };
  if (document === 0) {
    close();
    throw new Error('PDFium cannot read the document.');
  }
  return {
    pdfium,
    handle: document,
    pageCount: functions.FPDF_GetPageCount(document),
    usePage: (number, use) =>
      resetOnError(() => {
        const page = Number.isInteger(number) ? functions.FPDF_LoadPage(document, number - 1) : 0;
        if (page === 0) throw new Error(`PDFium cannot read page ${number}.`);
        const result = use(pdfium, page);
        functions.FPDF_ClosePage(page);
        return result;
      }),
    close,
  };
}

/** After an error inside of WebAssembly its memory is in no known state; the next document gets a new instance. */
function resetOnError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    library = null;
    throw error;
  }
}
