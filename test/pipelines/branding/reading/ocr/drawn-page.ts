/** Pixels of {@link drawPage}. */
export const [width, height] = [850, 1100];

/** A page of white with black rectangles: left, top, width and height in pixels. */
export function drawPage(...boxes: readonly (readonly [number, number, number, number])[]) {
  const gray = new Uint8Array(width * height).fill(250);
  for (const [left, top, wide, high] of boxes)
    for (let y = top; y < top + high; y++) gray.fill(20, y * width + left, y * width + left + wide);
  return { width, height, gray };
}
