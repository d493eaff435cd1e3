import { describe, expect, it } from 'vitest';
import { checkAsDrawn } from '../../../pipelines/branding/letter-as-drawn.ts';
import type { LetterPage } from '../../../pipelines/branding/letter-reading.ts';

function page(texts: readonly string[], source: LetterPage['source'] = 'text', confidence: number | null = null): LetterPage {
  const lines = texts.map((text, at) => ({ text, box: { left: 0.1, top: 0.05 * at, width: 0.8, height: 0.02 }, confidence, font: null }));
  return { page: 1, width: 612, height: 792, source, lines, marks: [] };
}

const letter = ['Northwind Dental LLC authorizes calls from', '+1 212 555 0100', '(212) 555-0101, 212.555.0102', 'Signed on 3/4/2026 by Jane Sample'];
const places = letter.map((_, at) => ({ page: 1, line: at + 1, box: null }));
const check = (drawn: readonly string[], options: { confidence?: number; carried?: readonly string[] } = {}) =>
  checkAsDrawn({ pages: [page(options.carried ?? letter)], drawn: [page(drawn, 'ocr', options.confidence ?? 95)], places }).severity;

describe('a letter as it is drawn', () => {
  it.each([
    ['shows the same text', letter],
    ['shows the same text in other lines', [letter[3]!, `${letter[0]} ${letter[1]}`, letter[2]!]],
    ['shows words that recognition misread', ['Northwmd Dental LLC authorizes calls from', ...letter.slice(1)]],
    ['shows numbers with other spaces', [letter[0]!, '+1 212 5550100', '(212)555-0101, 212.555.0102', letter[3]!]],
    ['has a logo of a few words beside it', ['Smile Better Every Morning', ...letter]],
  ])('passes where it %s', (_what, drawn) => {
    expect(check(drawn)).toBe('pass');
  });

  it.each<[string, readonly string[]]>([
    ['a number is not drawn', [letter[0]!, letter[2]!, letter[3]!]],
    ['a number is drawn with another digit', [letter[0]!, '+1 212 555 0109', ...letter.slice(2)]],
    ['the date is not drawn', [...letter.slice(0, 3), 'Signed by Jane Sample']],
    ['the words of a line are not drawn', ['Meridian Bank forbids', ...letter.slice(1)]],
    ['nothing is drawn', []],
    ['another letter is drawn beside it', [...letter, 'This letter revokes every authorization that was given before', 'and prohibits anybody from using these telephone numbers']],
  ])('goes to a person where %s', (_what, drawn) => {
    expect(check(drawn)).toBe('review');
  });

  it('goes to a person where a page could not be drawn', () => {
    expect(checkAsDrawn({ pages: [page(letter)], drawn: [], places }).severity).toBe('review');
  });

  it('does not take what recognition is unsure of for other text', () => {
    expect(check([...letter, 'wavy stroke scrawl marks lines beneath something'], {})).toBe('review');
    const unsure = page(['wavy stroke scrawl marks lines beneath something'], 'ocr', 40).lines;
    const drawn = { ...page(letter, 'ocr', 95), lines: [...page(letter, 'ocr', 95).lines, ...unsure] };
    expect(checkAsDrawn({ pages: [page(letter)], drawn: [drawn], places }).severity).toBe('pass');
  });

  it('says nothing of pages that were recognised anyway', () => {
    expect(checkAsDrawn({ pages: [page(letter, 'ocr', 95)], drawn: [], places }).severity).toBe('pass');
  });
});
