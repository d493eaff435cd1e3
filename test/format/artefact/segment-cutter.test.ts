import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRows } from '../../../format/artefact/row-block.ts';
import { SegmentCutter, type CutSegment } from '../../../format/artefact/segment-cutter.ts';
import { leavesOf } from '../../support/prefix-tree.ts';

const line = (phone: string) => `${phone}\t${['NEUTRAL', 'SPAM', 'FRAUD'][Number(phone.at(-1)) % 3]}\t\n`;

function cut(
  phones: readonly string[],
  { rowsMax, blockRows, regions = ['+'] }: { rowsMax: number; blockRows: number; regions?: string[] },
): { segments: CutSegment[] } {
  const cutter = new SegmentCutter({ regions, rowsMax, hasLevels: true });
  const segments: CutSegment[] = [];
  for (let at = 0; at < phones.length; at += blockRows)
    segments.push(
      ...cutter.push(
        findRows(
          Buffer.from(
            phones
              .slice(at, at + blockRows)
              .map(line)
              .join(''),
          ),
        ),
      ),
    );
  return { segments: [...segments, ...cutter.end()] };
}

/** Phones of few digits, so that many share long beginnings and some are beginnings of others. */
const phonesOf = (digits: string) =>
  fc
    .uniqueArray(
      fc.string({ unit: fc.constantFrom(...digits), minLength: 8, maxLength: 11 }).map((text) => `+${text}`),
      { maxLength: 120 },
    )
    .map((phones) => phones.sort());

describe('cutting rows into segments', () => {
  it.each([
    [16, ['+']],
    [17, ['+1234567']],
  ])('makes one segment of %d rows if they are 16 at most, else one a next digit', (rows, prefixes) => {
    const phones = Array.from({ length: rows }, (_, at) => `+1234567${String(at).padStart(3, '0')}`);
    const { segments } = cut(phones, { rowsMax: 16, blockRows: 5 });
    expect(segments.map(({ prefix }) => prefix.slice(0, 8))).toEqual(rows === 16 ? prefixes : ['+1234567', '+1234567']);
    expect(segments.map((segment) => segment.rows)).toEqual(rows === 16 ? [16] : [10, 7]);
  });

  it('puts a phone that is the beginning of others into a segment of its own', () => {
    const phones = ['+12345678', '+123456780', '+123456781'];
    const { segments } = cut(phones, { rowsMax: 1, blockRows: 2 });
    expect(segments.map(({ prefix, rows }) => [prefix, rows])).toEqual([
      ['+12345678', 1],
      ['+123456780', 1],
      ['+123456781', 1],
    ]);
  });

  it('cuts as the definition says, whatever the blocks, and keeps every byte', () => {
    fc.assert(
      fc.property(
        phonesOf('012'),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 30 }),
        (phones, rowsMax, blockRows) => {
          const { segments } = cut(phones, { rowsMax, blockRows });
          expect(segments.map(({ prefix, rows }) => [prefix, rows])).toEqual(
            leavesOf(phones, rowsMax).map((leaf) => [leaf.prefix, leaf.phones.length]),
          );
          expect(Buffer.concat(segments.map(({ plain }) => plain)).toString()).toBe(phones.map(line).join(''));
        },
      ),
      { seed: 8, numRuns: 300 },
    );
  });

  it('counts the levels of each segment', () => {
    const phones = Array.from({ length: 30 }, (_, at) => `+12345678${String(at).padStart(2, '0')}`);
    const { segments } = cut(phones, { rowsMax: 10, blockRows: 7 });
    expect(segments.map(({ levels }) => levels)).toEqual(
      Array.from({ length: 3 }, () => ({ NEUTRAL: 4, SPAM: 3, FRAUD: 3 })),
    );
  });

  it.each([
    ['a row outside its regions', ['+12345678', '+22345678'], ['+1']],
    ['rows that go back', ['+12345679', '+11345678'], ['+']],
  ])('refuses %s', (_name, phones, regions) => {
    expect(() => cut(phones, { rowsMax: 1, blockRows: 1, regions })).toThrow(
      expect.objectContaining({ code: 'rows_differ' }),
    );
  });
});
