import { accessSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createWorker, OEM, PSM, type Bbox } from 'tesseract.js';
import type { Box, LetterWord } from '../../letter-reading.ts';
import type { GrayImage } from './picture.ts';

/** An engine that recognises pages one after the other: the words of each line, in reading order. */
export interface OcrEngine {
  recognise(image: GrayImage): Promise<readonly (readonly LetterWord[])[]>;
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
 * in English, and names with other letters are read by their nearest ones. The engine itself levels a page that lies askew.
 * @throws Error if there is not memory enough
 */
export async function openOcr(): Promise<OcrEngine> {
  const worker = await createWorker('eng', OEM.LSTM_ONLY, { langPath: models, cacheMethod: 'none', gzip: true });
  await worker.setParameters({ tessedit_pageseg_mode: PSM.AUTO, user_defined_dpi: '300', tessedit_do_invert: '0' });
  return {
    async recognise(image) {
      const { data } = await worker.recognize(
        portableGraymap(image),
        { rotateAuto: true },
        { blocks: true, text: false },
      );
      const lines = (data.blocks ?? []).flatMap(({ paragraphs }) => paragraphs.flatMap((paragraph) => paragraph.lines));
      return lines
        .map(({ words }) =>
          words.flatMap(({ text, confidence, bbox }): LetterWord[] => {
            const own = text.replace(/\s+/g, ' ').trim();
            return own === '' ? [] : [{ text: own, confidence, box: placeOn(image, bbox, data.rotateRadians ?? 0) }];
          }),
        )
        .filter((words) => words.length > 0);
    },
  };
}

/** The rectangle on the picture, as fractions of it, of one that the engine found after it turned the picture about its centre. */
function placeOn({ width, height }: GrayImage, { x0, y0, x1, y1 }: Bbox, radians: number): Box {
  const [sin, cos] = [Math.sin(radians), Math.cos(radians)];
  const [x, y] = [(x0 + x1 - width) / 2, (y0 + y1 - height) / 2];
  const [across, down] = [x1 - x0, y1 - y0];
  const [toWidth, toHeight] = [across * cos + down * Math.abs(sin), down * cos + across * Math.abs(sin)];
  return {
    left: (width / 2 + x * cos + y * sin - toWidth / 2) / width,
    top: (height / 2 + y * cos - x * sin - toHeight / 2) / height,
    width: toWidth / width,
    height: toHeight / height,
  };
}

/** The picture in the simplest format of the engine (PGM), without compression. */
function portableGraymap({ width, height, gray }: GrayImage): Buffer {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), gray]);
}
