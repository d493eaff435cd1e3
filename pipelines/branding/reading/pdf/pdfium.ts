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
  | 'FPDFBitmap_Destroy';

type Exports = Readonly<Record<FunctionName, (...values: readonly number[]) => number>> & {
  readonly memory: { readonly buffer: ArrayBuffer };
};

/** PDFium's functions and its memory. As WebAssembly it has no access to anything else. */
export interface Pdfium {
  readonly functions: Exports;
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
  library ??= PDFiumModule({}).then(({ wasmExports }) => {
    const functions = wasmExports as unknown as Exports;
    functions.FPDF_InitLibrary();
    return { functions };
  });
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
