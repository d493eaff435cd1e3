import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RowsBeforeFinder } from '../../../../../pipelines/caches/build/reading/rows-before.ts';
import { applyDelta } from '../../../../../format/artefact/delta-lines.ts';
import { findRows } from '../../../../../format/artefact/row-block.ts';
import { SegmentCutter, type CutSegment } from '../../../../../format/artefact/segment-cutter.ts';
import type { Segment } from '../../../../../format/artefact/segment-index.ts';
import { compressSegment } from '../../../../../pipelines/caches/format/segment-work.ts';

/** Rows of phones that are often the beginning of others, ascending. */
const rows = fc
  .uniqueArray(
    fc.record({
      phone: fc.string({ unit: fc.constantFrom('0', '1', '2'), minLength: 6, maxLength: 9 }),
      name: fc.constantFrom('A', 'B'),
    }),
    { selector: ({ phone }) => phone, maxLength: 120 },
  )
  .map((all) =>
    all
      .map(({ phone, name }) => `+${phone}\t${name}\n`)
      .sort()
      .join(''),
  )
  .map((text) => Buffer.from(text));

function cut(plain: Buffer, rowsMax: number): CutSegment[] {
  const cutter = new SegmentCutter({ regions: ['+'], rowsMax, hasLevels: false });
  return [...cutter.push(findRows(plain)), ...cutter.end()];
}

/** Segments with their deflate blocks, as those of an opened basis. */
async function basisOf(plain: Buffer, rowsMax: number) {
  const segments: Segment[] = [];
  const blocks = new Map<string, Buffer>();
  for (const segment of cut(plain, rowsMax)) {
    const made = await compressSegment({ cut: segment, before: null, profile: 'fast' });
    segments.push({ ...made.segments[0]!, offset: 0 });
    blocks.set(segment.prefix, made.deflated);
  }
  return {
    segments,
    blocks,
    read: async (run: readonly Segment[]) => Buffer.from(Buffer.concat(run.map(({ prefix }) => blocks.get(prefix)!))),
  };
}

/** The delta of each segment, and of what follows the last. */
async function deltasOf(basis: Awaited<ReturnType<typeof basisOf>>, after: Buffer, rowsMax: number) {
  const finder = new RowsBeforeFinder(basis, '+');
  const deltas: (Buffer | null)[] = [];
  for (const segment of cut(after, rowsMax)) {
    const before = await finder.inPlaceOf(segment);
    deltas.push((await compressSegment({ cut: segment, before, profile: 'fast' })).delta);
  }
  const before = await finder.upTo('+:');
  deltas.push((await compressSegment({ cut: null, before, profile: 'fast' })).delta);
  return deltas;
}

async function apply(before: Buffer, delta: Buffer): Promise<string> {
  const made: Uint8Array[] = [];
  for await (const text of applyDelta([before], [delta])) made.push(text);
  return Buffer.concat(made).toString();
}

describe('rows that are read, compared with those of the basis in their place', () => {
  it('give a delta that leads from all rows before to all rows now, however both were cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        rows,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        async (before, after, rowsMaxBefore, rowsMax) => {
          const deltas = await deltasOf(await basisOf(before, rowsMaxBefore), after, rowsMax);
          expect(await apply(before, Buffer.concat(deltas.map((delta) => delta!)))).toBe(after.toString());
        },
      ),
      { seed: 16, numRuns: 150 },
    );
  });

  it('are compared with one segment where nothing was cut in another place', async () => {
    const plain = Buffer.from(Array.from({ length: 300 }, (_none, at) => `+1202555${at + 1000}\tA\n`).join(''));
    const basis = await basisOf(plain, 40);
    const finder = new RowsBeforeFinder(basis, '+');
    for (const segment of cut(plain, 40)) {
      const found = await finder.inPlaceOf(segment);
      expect(found!.segments.map(({ prefix }) => prefix)).toEqual([segment.prefix]);
    }
    expect((await finder.upTo('+:'))!.segments).toEqual([]);
  });

  it('have no delta where the rows before are damaged or lost, and are compressed all the same', async () => {
    const plain = Buffer.from(Array.from({ length: 90 }, (_none, at) => `+1202555${at + 1000}\tA\n`).join(''));
    const changed = Buffer.from(plain.toString().replaceAll('\tA', '\tB'));
    const damaged = await basisOf(plain, 40);
    damaged.blocks.get(damaged.segments[2]!.prefix)!.fill(0x55, 2, 10);
    const deltas = await deltasOf(damaged, changed, 40);
    expect(deltas.map((delta) => delta === null)).toEqual(deltas.map((_delta, at) => at === 2));
    const lost = { ...damaged, read: () => Promise.reject(new Error('gone')) };
    expect(await new RowsBeforeFinder(lost, '+').upTo('+:')).toBeNull();
  });
});
