// What page-image.test.ts loads into a process that may read the packages alone.
export { renderPage } from '../../../../../pipelines/branding/reading/ocr/page-image.ts';
export { openPdfium } from '../../../../../pipelines/branding/reading/pdf/pdfium.ts';
