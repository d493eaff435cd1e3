/** A picture of one byte a pixel, row by row from the top: 0 is black, 255 white. */
export interface GrayImage {
  readonly width: number;
  readonly height: number;
  readonly gray: Uint8Array;
}

/** A picture smaller by a whole factor: each pixel is the mean of a square. */
export function shrink(image: GrayImage, factor: number): GrayImage {
  if (factor <= 1) return image;
  const [width, height] = [
    Math.max(1, Math.floor(image.width / factor)),
    Math.max(1, Math.floor(image.height / factor)),
  ];
  const gray = new Uint8Array(width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      gray[y * width + x] = meanGray(image, { left: x * factor, top: y * factor, factor });
  return { width, height, gray };
}

function meanGray(
  { width, height, gray }: GrayImage,
  { left, top, factor }: { left: number; top: number; factor: number },
): number {
  const [right, bottom] = [Math.min(width, left + factor), Math.min(height, top + factor)];
  let sum = 0;
  for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) sum += gray[y * width + x]!;
  return sum / Math.max(1, (right - left) * (bottom - top));
}

/** A picture of twice the size: new pixels are the mean of their neighbours, so that strokes stay smooth. */
export function double({ width, height, gray }: GrayImage): GrayImage {
  const result = new Uint8Array(4 * width * height);
  for (let y = 0; y < 2 * height; y++) {
    const top = y >> 1;
    const below = Math.min(height - 1, top + (y & 1));
    for (let x = 0; x < 2 * width; x++) {
      const left = x >> 1;
      const right = Math.min(width - 1, left + (x & 1));
      result[2 * y * width + x] =
        (gray[top * width + left]! +
          gray[top * width + right]! +
          gray[below * width + left]! +
          gray[below * width + right]!) >>
        2;
    }
  }
  return { width: 2 * width, height: 2 * height, gray: result };
}

/** A picture rotated clockwise by quarter turns. */
export function turnByQuarters(image: GrayImage, quarters: number): GrayImage {
  if (quarters === 0) return image;
  const { width, height, gray } = image;
  const [toWidth, toHeight] = quarters === 2 ? [width, height] : [height, width];
  const turned = new Uint8Array(gray.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [toX, toY] =
        quarters === 1 ? [height - 1 - y, x] : quarters === 2 ? [width - 1 - x, height - 1 - y] : [y, width - 1 - x];
      turned[toY * toWidth + toX] = gray[y * width + x]!;
    }
  }
  return { width: toWidth, height: toHeight, gray: turned };
}
