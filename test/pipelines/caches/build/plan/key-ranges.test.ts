import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  areSplit,
  divide,
  keysApart,
  sharesOf,
  type KeyRange,
} from '../../../../../pipelines/caches/build/plan/key-ranges.ts';
import { findRows } from '../../../../../format/artefact/row-block.ts';
import { SegmentCutter } from '../../../../../format/artefact/segment-cutter.ts';
import type { Segment } from '../../../../../format/artefact/segment-index.ts';
import { leavesOf, type Leaf } from '../../../../support/prefix-tree.ts';

const phones = fc
  .uniqueArray(
    fc.string({ unit: fc.constantFrom('0', '1', '2'), minLength: 4, maxLength: 7 }).map((text) => `+${text}`),
    { maxLength: 150 },
  )
  .map((all) => all.sort());

const noFacts = { offset: 0, bytes: 1, crc: 0, levels: {}, sha256: null, blockCrc: null };
const toSegment = ({ prefix, phones: { length: rows } }: Leaf): Segment => ({
  ...noFacts,
  prefix,
  rows,
  plainBytes: 10 * rows,
});

const inRange =
  ({ from, to }: KeyRange) =>
  (phone: string) =>
    phone >= from && phone < to;

/** Cuts the rows of each range alone. */
function cutRanges(all: readonly string[], ranges: readonly KeyRange[], rowsMax: number): Leaf[] {
  return ranges.flatMap((range) => {
    const cutter = new SegmentCutter({ ...range, rowsMax, hasLevels: false });
    const rows = all.filter(inRange(range)).map((phone) => `${phone}\tx\n`);
    const cuts = [...cutter.push(findRows(Buffer.from(rows.join('')))), ...cutter.end()];
    return cuts.map(({ prefix, plain }) => ({
      prefix,
      phones: Buffer.from(plain).toString().split('\tx\n').slice(0, -1),
    }));
  });
}

describe('ranges of keys', () => {
  it('have each phone once, and the segments of all phones where their borders are known to be split', () => {
    let held = 0;
    fc.assert(
      fc.property(
        phones,
        fc.array(fc.nat(), { maxLength: 6 }),
        fc.integer({ min: 1, max: 30 }),
        (all, picks, rowsMax) => {
          const keys = [...new Set(picks.map((pick) => all[pick % all.length] ?? '+1'))].sort();
          const ranges = divide(['+'], keys);
          expect(ranges.length).toBe(Math.max(1, keys.length));
          expect(all.map((phone) => ranges.filter((range) => inRange(range)(phone)).length)).toEqual(all.map(() => 1));
          const leaves = cutRanges(all, ranges, rowsMax);
          expect(leaves.flatMap((leaf) => leaf.phones)).toEqual(all);
          const borders = ranges.flatMap((range) => range.borders);
          const isSame = JSON.stringify(leaves) === JSON.stringify(leavesOf(all, rowsMax));
          if (areSplit(leaves.map(toSegment), borders, rowsMax)) {
            held++;
            expect(isSame).toBe(true);
          }
          return true;
        },
      ),
      { seed: 16, numRuns: 500 },
    );
    expect(held).toBeGreaterThan(100);
  });

  it('are as good within regions of the tree, whose neighbours are not read', () => {
    fc.assert(
      fc.property(phones, fc.integer({ min: 2, max: 12 }), fc.integer({ min: 1, max: 200 }), (all, rowsMax, bytes) => {
        const leaves = leavesOf(all, rowsMax);
        const [from, to] = [Math.floor(leaves.length / 4), Math.ceil((leaves.length * 3) / 4)];
        const read = leaves.slice(from, to);
        if (read.length === 0) return;
        const segments = leaves.map(toSegment);
        const regions = read
          .map(({ prefix }) => prefix)
          .filter((prefix, at, all) => !prefix.startsWith(all[at - 1] ?? '-'));
        const ranges = divide(regions, keysApart(segments, regions, bytes));
        const rows = read.flatMap((leaf) => leaf.phones);
        expect(rows.every((phone) => ranges.filter((range) => inRange(range)(phone)).length === 1)).toBe(true);
        const borders = ranges.flatMap((range) => range.borders);
        if (areSplit(segments, borders, rowsMax)) expect(cutRanges(rows, ranges, rowsMax)).toEqual(read);
      }),
      { seed: 17, numRuns: 500 },
    );
  });

  it('are about as large as asked for', () => {
    const leaves = Array.from({ length: 100 }, (_none, at) => ({
      prefix: `+1${String(at).padStart(2, '0')}`,
      phones: Array.from({ length: 10 }, () => ''),
    }));
    const segments = leaves.map(toSegment);
    expect(keysApart(segments, ['+'], 1000)).toEqual([...'0123456789'].map((digit) => `+1${digit}0`));
    expect(keysApart(segments, ['+12', '+14'], 500)).toEqual(['+120', '+125', '+140', '+145']);
    expect(divide(['+'], ['+100', '+150', '+175'])).toEqual([
      { from: '+', to: '+15', regions: ['+'], borders: ['+15'] },
      { from: '+15', to: '+17', regions: ['+'], borders: ['+15', '+17'] },
      { from: '+17', to: '+:', regions: ['+'], borders: ['+17'] },
    ]);
  });

  it('are one where nothing is known about the keys', () => {
    expect(divide(['+12', '+13'], [])).toEqual([{ from: '+12', to: '+13:', regions: ['+12', '+13'], borders: [] }]);
  });
});

describe('shares of ranges', () => {
  it.each([
    [0, []],
    [1, [1]],
    [8, [8]],
    [9, [8, 1]],
    [17, [8, 8, 1]],
  ])('of %i have eight each but the last, in their order', (count, sizes) => {
    const ranges = divide(
      ['+'],
      Array.from({ length: count }, (_, at) => `+${100 + at}`),
    ).slice(0, count);
    const shares = sharesOf(ranges);
    expect(shares.map((share) => share.length)).toEqual(sizes);
    expect(shares.flat()).toEqual(ranges);
  });
});
