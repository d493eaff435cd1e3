import { letterLimits } from '../../pipelines/branding/reading/gate/letter-limits.ts';
import { renderPage } from '../../pipelines/branding/reading/ocr/page-image.ts';
import type { GrayImage } from '../../pipelines/branding/reading/ocr/picture.ts';
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

/** Rotates a picture about its centre, clockwise for positive degrees, with white outside. */
export function rotate({ width, height, gray }: GrayImage, degrees: number): GrayImage {
  const result = new Uint8Array(width * height).fill(255);
  const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
  const [middleX, middleY] = [width / 2, height / 2];
  for (let y = 0; y < height; y++) {
    let fromX = cos * (0 - middleX) + sin * (y - middleY) + middleX;
    let fromY = -sin * (0 - middleX) + cos * (y - middleY) + middleY;
    for (let x = 0; x < width; x++, fromX += cos, fromY -= sin) {
      const [left, top] = [Math.floor(fromX), Math.floor(fromY)];
      if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) continue;
      const at = top * width + left;
      const [dx, dy] = [fromX - left, fromY - top];
      const above = gray[at]! * (1 - dx) + gray[at + 1]! * dx;
      const below = gray[at + width]! * (1 - dx) + gray[at + width + 1]! * dx;
      result[y * width + x] = above * (1 - dy) + below * dy;
    }
  }
  return { width, height, gray: result };
}
