// What page-image.test.ts loads into a process that may read the packages alone.
export { openPdfImages } from '../../../../../pipelines/branding/reading/ocr/page-image.ts';
