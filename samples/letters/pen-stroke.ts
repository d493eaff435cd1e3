import type { GrayImage } from '../../pipelines/branding/reading/ocr/picture.ts';
import type { Seeded } from '../../runtime/seeded.ts';

/** Points of a scrawl, from 0 to 1 in both directions. */
type Scrawl = readonly (readonly [number, number])[];

const scrawlPoints = 220;

/** A line like a handwritten signature: loops that lean and become smaller to the right, and end in a flourish. */
export function drawScrawl(random: Seeded): Scrawl {
  const loops = random.between(4, 9);
  const heights = Array.from({ length: 10 }, (_, loop) => (loop === 0 ? 1 : random.between(0.25, 0.9)));
  const widths = Array.from({ length: 10 }, () => random.between(0.02, 0.08));
  const lean = random.between(0.2, 0.5);
  const phase = random.between(0, Math.PI);
  const points = Array.from({ length: scrawlPoints }, (_, index): [number, number] => {
    const t = index / (scrawlPoints - 1);
    const angle = phase + t * loops * 2 * Math.PI;
    const height = 0.44 * (1 - 0.45 * t) * between(heights, t * loops);
    const y = 0.52 - height * Math.sin(angle);
    return [0.05 + 0.8 * t + between(widths, t * loops) * Math.cos(angle) + lean * 0.3 * (0.5 - y), y];
  });
  return [...points, [0.97, 0.35 + random.between(0, 0.2)], [0.3, 0.78 + random.between(0, 0.1)]];
}

/** A value interpolated between two of a list. */
function between(values: readonly number[], place: number): number {
  const first = Math.min(values.length - 2, Math.floor(place));
  return values[first]! + (values[first + 1]! - values[first]!) * (place - first);
}

/** The scrawl as a picture of black ink on white, as if scanned from paper. */
export function paintScrawl(scrawl: Scrawl, { width, height }: { width: number; height: number }): GrayImage {
  const gray = new Uint8Array(width * height).fill(255);
  for (let index = 1; index < scrawl.length; index++) {
    const [from, to] = [scrawl[index - 1]!, scrawl[index]!];
    const steps = Math.ceil(Math.hypot((to[0] - from[0]) * width, (to[1] - from[1]) * height) * 2);
    for (let step = 0; step <= steps; step++) {
      const t = step / Math.max(1, steps);
      dab(
        { width, height, gray },
        (from[0] + (to[0] - from[0]) * t) * width,
        (from[1] + (to[1] - from[1]) * t) * height,
      );
    }
  }
  return { width, height, gray };
}

const penRadius = 1.7;

/** One dot of the pen with a soft edge. */
function dab({ width, height, gray }: GrayImage, x: number, y: number): void {
  for (let row = Math.max(0, Math.floor(y - 3)); row <= Math.min(height - 1, y + 3); row++) {
    for (let column = Math.max(0, Math.floor(x - 3)); column <= Math.min(width - 1, x + 3); column++) {
      const ink = Math.max(0, Math.min(1, penRadius + 0.5 - Math.hypot(column - x, row - y)));
      const place = row * width + column;
      gray[place] = Math.min(gray[place]!, Math.round(255 - 225 * ink));
    }
  }
}
