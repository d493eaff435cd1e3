import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blocksOfRows } from '../../../../../pipelines/caches/build/reading/row-blocks.ts';
import { findRows, type RowBlock } from '../../../../../format/artefact/row-block.ts';

async function* inPieces(text: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let [at, turn] = [0, 0]; at < text.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    yield text.subarray(at, at + size);
    at += size;
  }
}

async function collect(blocks: AsyncIterable<RowBlock>): Promise<RowBlock[]> {
  const collected: RowBlock[] = [];
  for await (const block of blocks) collected.push(block);
  return collected;
}

describe('blocks of rows', () => {
  it('are the same bytes, cut at line ends only, whatever the pieces in which they come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ maxLength: 40 }).map((line) => `${line.replaceAll('\n', '')}\n`)),
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 200 }),
        async (lines, sizes, blockBytes) => {
          const text = Buffer.from(lines.join(''));
          const blocks = await collect(blocksOfRows(inPieces(text, sizes), blockBytes));
          expect(Buffer.concat(blocks.map(({ plain }) => plain)).equals(text)).toBe(true);
          const rows = blocks.flatMap(({ plain, rows: count, starts }) =>
            Array.from({ length: count }, (_none, at) =>
              Buffer.from(plain.subarray(starts[at], starts[at + 1])).toString(),
            ),
          );
          expect(rows).toEqual(lines);
          for (const { plain } of blocks.slice(0, -1)) expect(plain.length).toBeGreaterThan(blockBytes - 3 * 40 - 1);
        },
      ),
      { seed: 3, numRuns: 300 },
    );
  });

  it('that end within a row are refused', async () => {
    await expect(collect(blocksOfRows(inPieces(Buffer.from('a\nb'), [2]), 1))).rejects.toThrow('no line end');
  });

  it('may have rows shorter than any of an artefact', () => {
    expect(findRows(Buffer.from('\n'.repeat(100)))).toMatchObject({ rows: 100 });
  });
});
