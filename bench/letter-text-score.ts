import type { SampleLetter } from '../samples/letters/sample-letters.ts';

/** A part of a whole. */
export interface Share {
  readonly right: number;
  readonly all: number;
}

/** The numbers of a letter that are in the text read from it, ignoring punctuation. */
export function countFacts({ layout, truth, request }: SampleLetter, text: string): Share {
  const digits = text.replace(/[\s().+/–-]/g, '').replaceAll('\u00a0', '');
  const printed = layout.startsWith('csv')
    ? []
    : layout === 'number_ranges'
      ? [truth.phones[0]!, truth.phones.at(-1)!]
      : truth.phones;
  const codeDigits = { US: 1, CA: 1, GB: 2, DE: 2, FR: 2, ES: 2 }[request.country];
  return { right: printed.filter((phone) => digits.includes(phone.slice(1 + codeDigits))).length, all: printed.length };
}

/** How many words of the names, the signer and the title are in the text, accents and all. */
export function countWords({ truth }: SampleLetter, text: string): Share {
  const there = new Set(wordsOf(text));
  const wanted = wordsOf([truth.legalName, truth.signerName, truth.signerTitle].join(' '));
  return { right: wanted.filter((word) => there.has(word)).length, all: wanted.length };
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** True for the same words without accents, which OCR with an English model does not read. */
export function isSameText(read: string | undefined, truth: string): boolean {
  const folded = (text: string) =>
    wordsOf(text.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss')).join(' ');
  return read !== undefined && folded(read) === folded(truth);
}
