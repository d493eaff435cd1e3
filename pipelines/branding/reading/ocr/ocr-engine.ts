import { accessSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createWorker, OEM, PSM, type Line } from 'tesseract.js';
import type { GrayImage } from './png.ts';

/** A word that was recognised, in pixels of the picture. */
export interface RecognisedWord {
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  /** Height of the baseline of its line under it. */
  readonly baseline: number;
  /** Height of its line: from the lowest to the highest letter. */
  readonly lineHeight: number;
  /** 0 to 100. */
  readonly confidence: number;
}

/** An engine that recognises pages one after the other. */
export interface OcrEngine {
  recognise(image: GrayImage): Promise<readonly RecognisedWord[]>;
}

/**
 * The model in the package of English. Of 480 numbers on pages of 200 dots an inch the smaller and the larger one read the
 * same 479, in the same time. Its presence is checked when this module is loaded: later its absence would look like a fault
 * of the letter.
 */
const models = join(
  dirname(createRequire(import.meta.url).resolve('@tesseract.js-data/eng/package.json')),
  '4.0.0_best_int',
);
accessSync(join(models, 'eng.traineddata.gz'));

/**
 * Starts Tesseract with the files in node_modules: nothing is fetched and no cache is written. English alone: letters come
 * in English, and names with other letters are read by their nearest ones.
 * @throws Error if there is not memory enough
 */
export async function openOcr(): Promise<OcrEngine> {
  const worker = await createWorker('eng', OEM.LSTM_ONLY, { langPath: models, cacheMethod: 'none', gzip: true });
  await worker.setParameters({ tessedit_pageseg_mode: PSM.AUTO, user_defined_dpi: '300', tessedit_do_invert: '0' });
  return {
    async recognise(image) {
      const { data } = await worker.recognize(portableGraymap(image), {}, { blocks: true, text: false });
      return (data.blocks ?? []).flatMap(({ paragraphs }) =>
        paragraphs.flatMap(({ lines }) => lines.flatMap(wordsOfLine)),
      );
    },
  };
}

function wordsOfLine({ words, baseline, bbox }: Line): RecognisedWord[] {
  const slope = (baseline.y1 - baseline.y0) / Math.max(1, baseline.x1 - baseline.x0);
  return words.flatMap(({ text, confidence, bbox: { x0, y0, x1, y1 } }) => {
    const own = text.replace(/\s+/g, ' ').trim();
    return own === ''
      ? []
      : [
          {
            text: own,
            confidence,
            left: x0,
            top: y0,
            right: x1,
            bottom: y1,
            baseline: baseline.y0 + slope * (x0 - baseline.x0),
            lineHeight: bbox.y1 - bbox.y0,
          },
        ];
  });
}

/** The picture in the simplest format of the engine (PGM), without compression. */
function portableGraymap({ width, height, gray }: GrayImage): Buffer {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), gray]);
}
