import { letterPdf, textAt } from '../pipelines/branding/reading/pdf-builder.ts';
import { goodLetter, type LetterText } from './branding.ts';

/** A letter as a PDF that a letter reader has to read, with a line more if one is given. */
export function letterFile(
  phones: readonly string[],
  { attachment, ...changes }: Partial<LetterText> & { attachment?: string } = {},
): Buffer {
  const outcome = goodLetter([...phones, ...(attachment === undefined ? [] : [attachment])], changes);
  const lines = outcome.kind === 'read' ? outcome.reading.pages[0]!.lines : [];
  return letterPdf({ content: lines.map(({ text }, at) => textAt(72, 740 - at * 22, text)).join('') });
}
