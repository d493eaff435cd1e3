import { describe, expect, it } from 'vitest';
import { layOut, type TextPiece } from '../../../../../pipelines/branding/reading/pdf/text-layout.ts';

/** A piece of 10 points whose letters are 5 wide. */
const piece = (left: number, baseline: number, text: string): TextPiece => ({
  text,
  left,
  right: left + text.length * 5,
  baseline,
  height: 10,
});
const read = (...pieces: TextPiece[]) => layOut(pieces).map(({ text }) => text);

describe('pieces of text', () => {
  it('of one row are a line from left to right, whatever their order', () => {
    expect(read(piece(95, 100, 'letter'), piece(40, 100.5, 'This'), piece(66, 100, 'is a'))).toEqual([
      'This is a letter',
    ]);
  });

  it('that touch are one word', () => {
    expect(read(piece(40, 100, 'Auth'), piece(60, 100, 'orization'))).toEqual(['Authorization']);
  });

  it('with a space of their own between them stay apart', () => {
    expect(read(piece(40, 100, 'a'), piece(45, 100, ' '), piece(46, 100, 'b'))).toEqual(['a b']);
  });

  it('of rows one below the other are lines from top to bottom', () => {
    expect(read(piece(40, 114, 'second'), piece(40, 100, 'first'))).toEqual(['first', 'second']);
  });

  it('that are raised a little belong to their row', () => {
    expect(read(piece(40, 100, 'the 2'), { ...piece(66, 97, 'nd'), height: 7 })).toEqual(['the 2nd']);
  });

  it('printed twice for bold type are read once', () => {
    expect(read(piece(40, 100, 'Bold'), piece(40.3, 100, 'Bold'))).toEqual(['Bold']);
  });

  it('far apart are lines of their own', () => {
    expect(read(piece(40, 100, 'Name'), piece(300, 100, 'Title'))).toEqual(['Name', 'Title']);
  });

  it.each([
    ['Name:', 'Marta Vance', ['Name: Marta Vance']],
    ['Signature:', 'Signature:', ['Signature:', 'Signature:']],
    ['Name:', 'Date: 2026-03-02', ['Name:', 'Date: 2026-03-02']],
  ])('%s and, far apart, %s are %j', (label, value, lines) => {
    expect(read(piece(40, 100, label), piece(300, 100, value))).toEqual(lines);
  });

  it('in two columns of prose are read column by column', () => {
    const left = ['We authorize the agency', 'to show our name on', 'calls from the numbers'];
    const right = ['that are listed on the', 'second page, until we', 'say otherwise in words'];
    const rows = left.flatMap((text, row) => [
      piece(40, 100 + 14 * row, text),
      piece(320, 100 + 14 * row, right[row]!),
    ]);
    expect(read(...rows)).toEqual([...left, ...right]);
  });

  it('in two blocks of signatures are read block by block', () => {
    const rows = ['Name:', 'Title:', 'Date:'].flatMap((label, row) => [
      piece(40, 100 + 14 * row, `${label} A${row}`),
      piece(320, 100 + 14 * row, `${label} B${row}`),
    ]);
    expect(read(...rows)).toEqual(['Name: A0', 'Title: A1', 'Date: A2', 'Name: B0', 'Title: B1', 'Date: B2']);
  });

  it('in a table of short cells are read row by row', () => {
    const rows = [0, 1, 2].flatMap((row) => [
      piece(40, 100 + 14 * row, `2125550${row}`),
      piece(200, 100 + 14 * row, `desk ${row}`),
    ]);
    expect(read(...rows)).toEqual(['21255500', 'desk 0', '21255501', 'desk 1', '21255502', 'desk 2']);
  });

  it('of a heading across two columns come first', () => {
    const rows = [0, 1, 2].flatMap((row) => [
      piece(40, 130 + 14 * row, `left column, text ${row} on and on`),
      piece(320, 130 + 14 * row, `right column, text ${row} on and on`),
    ]);
    const [first, second] = read(
      piece(100, 100, 'A heading that goes across the whole of the page, on and on'),
      ...rows,
    );
    expect([first, second]).toEqual([
      'A heading that goes across the whole of the page, on and on',
      'left column, text 0 on and on',
    ]);
  });

  it('are no lines where there are none', () => {
    expect(read(piece(40, 100, '  '))).toEqual([]);
  });
});
