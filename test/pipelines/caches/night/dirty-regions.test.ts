import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countDiffering,
  regionsOf,
  rowsUnder,
  widenRegions,
  stepsOf,
} from '../../../../pipelines/caches/night/dirty-regions.ts';
import { SegmentCutter } from '../../../../pipelines/caches/format/segment-cutter.ts';
import type { Segment } from '../../../../pipelines/caches/format/segment-index.ts';
import { leavesOf, type Leaf } from '../../../support/prefix-tree.ts';
import { findRows } from '../../../../pipelines/caches/format/row-block.ts';

const segmentOf = ({ prefix, phones }: Leaf): Segment => ({
  prefix,
  rows: phones.length,
  offset: 0,
  bytes: 1,
  plainBytes: 1,
  crc: 0,
  levels: {},
  sha256: null,
  blockCrc: null,
});
const segmentsOf = (phones: readonly string[], rowsMax: number) => leavesOf(phones, rowsMax).map(segmentOf);

/** What an incremental build makes of the leaves before, by its own steps. */
function rebuild(
  before: readonly string[],
  after: readonly string[],
  { rowsMax, markLength }: { rowsMax: number; markLength: number },
): { prefix: string; rows: number }[] {
  const segments = segmentsOf(before, rowsMax);
  const [old, now] = [new Set(before), new Set(after)];
  const changed = [...before.filter((phone) => !now.has(phone)), ...after.filter((phone) => !old.has(phone))];
  const regions = regionsOf(segments, [...new Set(changed.map((phone) => phone.slice(0, markLength)))]);
  const counted = regions
    .map((prefix) => ({ prefix, rows: after.filter((phone) => phone.startsWith(prefix)).length }))
    .filter(({ prefix, rows }) => rows > 0 || rowsUnder(segments, prefix) > 0);
  return stepsOf(segments, widenRegions(segments, counted, rowsMax))
    .flatMap((step) => {
      if (step.kind === 'copy') return step.segments.map(({ prefix, rows }) => ({ prefix, rows }));
      const cutter = new SegmentCutter({ regions: step.regions, rowsMax, hasLevels: false });
      const rows = after.filter((phone) => step.regions.some((region) => phone.startsWith(region)));
      return [
        ...cutter.push(findRows(Buffer.from(rows.map((phone) => `${phone}\tNEUTRAL\n`).join('')))),
        ...cutter.end(),
      ];
    })
    .map(({ prefix, rows }) => ({ prefix, rows }));
}

const phone = (digits: string) =>
  fc.string({ unit: fc.constantFrom(...digits), minLength: 8, maxLength: 10 }).map((text) => `+${text}`);
const sorted = (phones: string[]) => [...new Set(phones)].sort();

describe('the regions of an incremental build', () => {
  it.each(['012', '01', '0123456789'])(
    'lead to the segments of a full build, for every change of phones of the digits %s',
    (digits) => {
      const history = fc.record({
        before: fc.array(phone(digits), { minLength: 1, maxLength: 150 }).map(sorted),
        added: fc.array(phone(digits), { maxLength: 60 }),
        keep: fc.array(fc.boolean(), { minLength: 150, maxLength: 150 }),
        removes: fc.boolean(),
        rowsMax: fc.integer({ min: 1, max: 50 }),
        markLength: fc.constantFrom(3, 6, 8),
      });
      fc.assert(
        fc.property(history, ({ before, added, keep, removes, rowsMax, markLength }) => {
          const after = sorted([...before.filter((_, at) => !removes || keep[at]), ...added]);
          expect(rebuild(before, after, { rowsMax, markLength })).toEqual(
            leavesOf(after, rowsMax).map(({ prefix, phones }) => ({ prefix, rows: phones.length })),
          );
        }),
        { seed: 21, numRuns: 400 },
      );
    },
  );

  it('are the segments that hold the changed prefixes, and the gaps where there was none', () => {
    const segments = segmentsOf(['+12000000', '+12000001', '+13000000', '+13000001', '+44000000'], 2);
    expect(segments.map(({ prefix }) => prefix)).toEqual(['+12', '+13', '+4']);
    expect(regionsOf(segments, ['+1200000', '+1400000', '+4400000', '+7'])).toEqual(['+12', '+14', '+4', '+7']);
    expect(regionsOf(segments, ['+1'])).toEqual(['+1']);
    expect(regionsOf(segments, ['+'])).toEqual(['+']);
    expect(regionsOf(segments, [])).toEqual([]);
  });

  it('widen to a node whose rows have become few enough for one segment', () => {
    const segments = segmentsOf(['+12000000', '+12000001', '+13000000', '+13000001', '+44000000', '+44000001'], 2);
    expect(widenRegions(segments, [{ prefix: '+12', rows: 0 }], 2)).toEqual(['+1']);
    expect(widenRegions(segments, [{ prefix: '+12', rows: 1 }], 2)).toEqual(['+12']);
  });

  it('are read together where no copied segment lies between them', () => {
    const segments = segmentsOf(['+12000000', '+12000001', '+13000000', '+13000001', '+44000000', '+44000001'], 2);
    expect(
      stepsOf(segments, ['+12', '+13']).map((step) =>
        step.kind === 'copy' ? step.segments.map(({ prefix }) => prefix) : step.regions,
      ),
    ).toEqual([['+12', '+13'], ['+4']]);
    expect(stepsOf(segments, [])).toEqual([{ kind: 'copy', segments }]);
  });

  it.each([
    ['two mebibytes together', [1_048_576, 1_048_576, 1], [2, 1]],
    ['one byte more', [1_048_576, 1_048_577, 1], [1, 2]],
    ['one that is larger', [1, 5_000_000, 1, 1], [1, 1, 2]],
  ])('leave segments to be copied at once up to two mebibytes: %s', (_what, sizes, runs) => {
    const segments = sizes.map((plainBytes, at) => ({ ...segmentOf({ prefix: `+1${at}`, phones: [] }), plainBytes }));
    expect(stepsOf(segments, []).map((step) => step.kind === 'copy' && step.segments.length)).toEqual(runs);
  });
});

describe('comparing a full build with its basis', () => {
  const segments = segmentsOf(['+12000000', '+12000001', '+13000000', '+13000001'], 2);
  it.each<[string, Segment[], number]>([
    ['nothing', segments, 0],
    ['another CRC', segments.map((segment, at) => (at === 0 ? { ...segment, crc: 7 } : segment)), 1],
    ['a segment less', segments.slice(1), 1],
    ['a segment more', [...segments, { ...segments[0]!, prefix: '+2' }], 1],
  ])('counts %s outside the regions', (_name, after, differing) => {
    expect(countDiffering(segments, after, [])).toBe(differing);
    expect(countDiffering(segments, after, ['+'])).toBe(0);
  });
});
