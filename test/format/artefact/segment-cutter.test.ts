import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutSegments, type CutSegment } from '../../../format/artefact/segment-cutter.ts';
import { leavesOf, phonesOf } from '../../support/prefix-tree.ts';

const line = (phone: string) => `${phone}\tSPAM\t\n`;
const textOf = (phones: readonly string[]) => phones.map(line).join('');

/** Cuts a text that comes in chunks of these lengths, again and again. */
async function cut(text: string, rowsMax?: number, lengths: readonly number[] = [50]): Promise<CutSegment[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const length = lengths[turn % lengths.length]!;
      yield bytes.subarray(at, at + length);
      at += length;
    }
  }
  const segments: CutSegment[] = [];
  for await (const segment of cutSegments(chunks(), rowsMax)) segments.push(segment);
  return segments;
}

describe('cutting rows into segments', () => {
  it.each([
    [16, ['+']],
    [17, ['+1234567']],
  ])('makes one segment of %d rows if they are 16 at most, else one a next digit', async (rows, prefixes) => {
    const phones = Array.from({ length: rows }, (_, at) => `+1234567${String(at).padStart(3, '0')}`);
    const segments = await cut(textOf(phones), 16);
    expect(segments.map(({ prefix }) => prefix.slice(0, 8))).toEqual(rows === 16 ? prefixes : ['+1234567', '+1234567']);
    expect(segments.map((segment) => segment.rows)).toEqual(rows === 16 ? [16] : [10, 7]);
  });

  it('puts a phone that is the beginning of others into a segment of its own', async () => {
    const phones = ['+12345678', '+123456780', '+123456781'];
    expect((await cut(textOf(phones), 1)).map(({ prefix, rows }) => [prefix, rows])).toEqual([
      ['+12345678', 1],
      ['+123456780', 1],
      ['+123456781', 1],
    ]);
  });

  it('has 3,000 rows in a segment at most', async () => {
    const phones = Array.from({ length: 3001 }, (_, at) => `+1234567${String(at).padStart(4, '0')}`);
    expect((await cut(textOf(phones.slice(1)))).map(({ rows }) => rows)).toEqual([3000]);
    expect((await cut(textOf(phones))).map(({ rows }) => rows)).toEqual([1000, 1000, 1000, 1]);
  });

  it('cuts as the definition says, wherever the text is cut into chunks, and keeps every byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        phonesOf('012'),
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 }),
        async (phones, rowsMax, lengths) => {
          const segments = await cut(textOf(phones), rowsMax, lengths);
          expect(segments.map(({ prefix, rows }) => [prefix, rows])).toEqual(
            leavesOf(phones, rowsMax).map((leaf) => [leaf.prefix, leaf.phones.length]),
          );
          expect(Buffer.concat(segments.map(({ plain }) => plain)).toString()).toBe(textOf(phones));
        },
      ),
      { seed: 8, numRuns: 300 },
    );
  });

  it('makes no segment of no rows', async () => {
    expect(await cut('')).toEqual([]);
  });

  it.each([
    ['rows that go back', textOf(['+12345679', '+11345678'])],
    ['a row without a key', 'SPAM\t1\n'],
    ['a last row without an end', textOf(['+12345678']).slice(0, -1)],
  ])('refuses %s', async (_name, text) => {
    await expect(cut(text, 1)).rejects.toMatchObject({ code: 'rows_differ' });
  });
});
