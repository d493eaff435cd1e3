import { letterLimits } from '../../pipelines/branding/reading/gate/letter-limits.ts';
import { renderPage } from '../../pipelines/branding/reading/ocr/page-image.ts';
import type { GrayImage } from '../../pipelines/branding/reading/ocr/png.ts';
import { rotate } from '../../pipelines/branding/reading/ocr/straighten.ts';
import { openCheckedPdf } from '../../pipelines/branding/reading/pdf/checked-pdf.ts';
import type { Seeded } from '../../runtime/seeded.ts';

/** Office scanners: a worn one, and a clean one with a straight feeder. */
const worn = {
  dotsPerInch: 200,
  degreesMax: 1.5,
  paperFrom: 238,
  paperTo: 252,
  inkDarkest: 28,
  noise: 7,
  noisyShare: 0.35,
  specks: 12,
  greyStep: 4,
} as const;
const clean = { ...worn, degreesMax: 0.3, noise: 2, noisyShare: 0.2, specks: 0 } as const;

/** Resolution of the scans. */
export const scanDotsPerInch = worn.dotsPerInch;

/** The pages of a PDF as scanned: slightly rotated, on off-white paper, and with noise and dust from a worn scanner. */
export async function scanPdf(
  bytes: Uint8Array,
  random: Seeded,
  { isClean = false }: { readonly isClean?: boolean } = {},
): Promise<GrayImage[]> {
  const { pages, document } = await openCheckedPdf(bytes, letterLimits);
  try {
    return pages.map(({ width, height }, at) => {
      const drawn = renderPage(document, { page: at + 1, width, height }, scanDotsPerInch);
      return spoil(drawn, random, isClean ? clean : worn);
    });
  } finally {
    document.close();
  }
}

function spoil(page: GrayImage, random: Seeded, scanning: typeof worn | typeof clean): GrayImage {
  const turned = rotate(page, random.between(-scanning.degreesMax, scanning.degreesMax));
  const paper = random.between(scanning.paperFrom, scanning.paperTo);
  const shade = random.between(-6, 6) / turned.width; // one side of the lid is closer
  for (let place = 0; place < turned.gray.length; place++) {
    const noise = random.next() < scanning.noisyShare ? (random.next() - 0.5) * 2 * scanning.noise : 0;
    const lit =
      scanning.inkDarkest +
      (turned.gray[place]! / 255) * (paper - scanning.inkDarkest) +
      shade * (place % turned.width) +
      noise;
    turned.gray[place] = Math.max(0, Math.min(255, Math.round(lit / scanning.greyStep) * scanning.greyStep));
  }
  for (let speck = 0; speck < scanning.specks; speck++) addSpeck(turned, random);
  return turned;
}

function addSpeck({ width, height, gray }: GrayImage, random: Seeded): void {
  const [x, y, size] = [random.whole(2, width - 4), random.whole(2, height - 4), random.whole(1, 2)];
  for (let row = 0; row < size; row++)
    gray.fill(random.whole(90, 180), (y + row) * width + x, (y + row) * width + x + size);
}
