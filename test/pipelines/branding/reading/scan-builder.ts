import { renderPage } from '../../../../pipelines/branding/reading/ocr/page-image.ts';
import type { GrayImage } from '../../../../pipelines/branding/reading/ocr/picture.ts';
import { rotate } from '../../../../samples/letters/scan.ts';
import { openCheckedPdf } from '../../../../pipelines/branding/reading/pdf/checked-pdf.ts';
import { letterLimits } from './letter-limits.ts';
import { flate, letterPdf, at } from './pdf-builder.ts';

interface ScanPlan {
  readonly dotsPerInch: number;
  /** How far the sheet lay askew, clockwise. */
  readonly degrees?: number;
  /** Spread of the noise of a pixel, 0 to 255. */
  readonly noise?: number;
}

/** The first page of a PDF as a scanner sees it: printed, laid askew, and noisy. */
export async function scanOf(pdf: Uint8Array, { dotsPerInch, degrees = 0, noise = 0 }: ScanPlan): Promise<GrayImage> {
  const { pages, document } = await openCheckedPdf(pdf, letterLimits);
  const image = renderPage(document, { page: 1, ...pages[0]! }, dotsPerInch);
  document.close();
  const laid = degrees === 0 ? image : rotate(image, degrees);
  let state = 7;
  const random = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff) / 0x7fffffff - 0.5;
  return noise === 0
    ? laid
    : {
        ...laid,
        gray: laid.gray.map((value) => Math.max(0, Math.min(255, value * 0.85 + 25 + (random() + random()) * noise))),
      };
}

/** A picture as the only thing on a letter's page. */
export function picturePdf({ width, height, gray }: GrayImage, content = ''): Buffer {
  const image = flate(
    `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8`,
    Buffer.from(gray),
  );
  return letterPdf({
    content: `q 612 0 0 792 0 0 cm /Im Do Q ${content}`,
    resources: `/XObject << /Im ${at.more} 0 R >>`,
    more: [image],
  });
}
