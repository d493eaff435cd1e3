import { letterPdf, textAt } from '../pipelines/branding/reading/pdf-builder.ts';
import { goodLetter, type LetterText } from './branding.ts';

/** Strokes of a pen beside the word "Signature:". */
const strokes = (y: number) => `1.2 w 180 ${y} m 200 ${y + 18} 215 ${y - 8} 235 ${y + 12} c 250 ${y + 20} 262 ${y - 6} 290 ${y + 6} c S\n`;

/** A letter as a PDF that a letter reader has to read; without a signature in words it is signed by strokes, which a person must judge. */
export function letterFile(phones: readonly string[], changes: Partial<LetterText> = {}): Buffer {
  const outcome = goodLetter(phones, changes);
  const texts = outcome.kind === 'read' ? outcome.reading.pages[0]!.lines.map(({ text }) => text) : [];
  const content = texts.map((text, at) => {
    const y = 740 - at * 22;
    return textAt(72, y, text) + (text.startsWith('Signature:') && changes.signature === '' ? strokes(y) : '');
  });
  return letterPdf({ content: content.join('') });
}
