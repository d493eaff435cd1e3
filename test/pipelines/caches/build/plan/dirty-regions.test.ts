import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countDiffering,
  findChanges,
  findShrinking,
  neighbouringRegions,
  rowsUnder,
  widenRegions,
  stepsOf,
} from '../../../../../pipelines/caches/build/plan/dirty-regions.ts';
import { SegmentCutter } from '../../../../../format/artefact/segment-cutter.ts';
import type { Segment } from '../../../../../format/artefact/segment-index.ts';
import { leavesOf, type Leaf } from '../../../../support/prefix-tree.ts';
import { findRows } from '../../../../../format/artefact/row-block.ts';

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
  const leaves = leavesOf(before, rowsMax);
  const segments = leaves.map(segmentOf);
  const [old, now] = [new Set(before), new Set(after)];
  const changed = [...before.filter((phone) => !now.has(phone)), ...after.filter((phone) => !old.has(phone))];
  const found = findChanges(segments, [...new Set(changed.map((phone) => phone.slice(0, markLength)))]);
  const count = (prefixes: readonly string[]) =>
    prefixes
      .map((prefix) => ({ prefix, rows: after.filter((phone) => phone.startsWith(prefix)).length }))
      .filter(({ prefix, rows }) => rows > 0 || rowsUnder(segments, prefix) > 0);
  let [counted, patches] = [count(found.regions), found.patches];
  for (let shrinking = patches; shrinking.length > 0;) {
    shrinking = findShrinking(segments, { counted, patches }, rowsMax);
    counted = [...counted, ...count(shrinking.map(({ region }) => region))];
    patches = patches.filter((patch) => !shrinking.includes(patch));
  }
  const cut = (regions: readonly string[], phones: readonly string[]) => {
    const cutter = new SegmentCutter({ regions, rowsMax, hasLevels: false });
    const rows = findRows(Buffer.from(phones.map((phone) => `${phone}\tNEUTRAL\n`).join('')));
    return [...cutter.push(rows), ...cutter.end()];
  };
  return stepsOf(segments, { regions: widenRegions(segments, counted, rowsMax), patches })
    .flatMap((step) => {
      if (step.kind === 'copy') return step.segments.map(({ prefix, rows }) => ({ prefix, rows }));
      if (step.kind === 'read')
        return cut(
          step.regions,
          after.filter((phone) => step.regions.some((region) => phone.startsWith(region))),
        );
      return step.patches.flatMap(({ region, keys }) => {
        const kept =
          leaves.find(({ prefix }) => prefix === region)?.phones.filter((each) => !keys.includes(each)) ?? [];
        return cut([region], [...kept, ...keys.filter((key) => now.has(key))].sort());
      });
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
        markLength: fc.constantFrom(3, 6, 8, 11),
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
    const regionsOf = (changed: string[]) => findChanges(segments, changed);
    expect(regionsOf(['+1200000', '+1400000', '+4400000', '+7'])).toEqual({
      regions: ['+12', '+14', '+4', '+7'],
      patches: [],
    });
    expect(regionsOf(['+1'])).toEqual({ regions: ['+1'], patches: [] });
    expect(regionsOf(['+'])).toEqual({ regions: ['+'], patches: [] });
    expect(regionsOf([])).toEqual({ regions: [], patches: [] });
  });

  it('are patched where few keys of a segment have changed, and in a gap', () => {
    const phones = Array.from({ length: 8 }, (_none, at) => `+1200000${at}`);
    const segments = segmentsOf([...phones, ...phones.map((phone) => phone.replace('+12', '+13'))], 8);
    expect(segments.map(({ prefix, rows }) => [prefix, rows])).toEqual([
      ['+12', 8],
      ['+13', 8],
    ]);
    const keys = ['+12000001', '+12000009'];
    expect(findChanges(segments, [...keys, '+14000000', '+13000001', '+13000001'])).toEqual({
      regions: [],
      patches: [
        { region: '+12', keys },
        { region: '+13', keys: ['+13000001'] },
        { region: '+14', keys: ['+14000000'] },
      ],
    });
    expect(findChanges(segments, [...keys, '+12000002']).regions).toEqual(['+12']); // more than a quarter
    expect(findChanges(segments, [...keys, '+1200'])).toEqual({ regions: ['+12'], patches: [] });
  });

  it('are counted where the keys of a patch may have no row any more, so that the rows fit into one segment', () => {
    const segments = [
      { ...segmentOf({ prefix: '+12', phones: [] }), rows: 8 },
      { ...segmentOf({ prefix: '+13', phones: [] }), rows: 3 },
    ];
    const patches = [{ region: '+12', keys: ['+12000001', '+12000002'] }];
    expect(findShrinking(segments, { counted: [], patches }, 8)).toEqual([]);
    expect(findShrinking(segments, { counted: [], patches }, 9)).toEqual(patches);
    expect(findShrinking(segments, { counted: [{ prefix: '+13', rows: 2 }], patches }, 8)).toEqual(patches);
  });

  it('widen to a node whose rows have become few enough for one segment', () => {
    const segments = segmentsOf(['+12000000', '+12000001', '+13000000', '+13000001', '+44000000', '+44000001'], 2);
    expect(widenRegions(segments, [{ prefix: '+12', rows: 0 }], 2)).toEqual(['+1']);
    expect(widenRegions(segments, [{ prefix: '+12', rows: 1 }], 2)).toEqual(['+12']);
  });

  it('are counted together with up to 64 neighbours, unless more than seven eighths of the rows around them are others', () => {
    const prefixes = Array.from({ length: 70 }, (_, at) => `+1${String(at).padStart(2, '0')}`);
    const segments = prefixes.map((prefix) => segmentOf({ prefix, phones: ['+1', '+2'] }));
    const runs = neighbouringRegions(segments, [...prefixes].reverse());
    expect(runs).toEqual([prefixes.slice(0, 64), prefixes.slice(64)]);
    expect(neighbouringRegions(segments, ['+100', '+115'])).toEqual([['+100', '+115']]); // 2 of 16 segments
    expect(neighbouringRegions(segments, ['+100', '+116'])).toEqual([['+100'], ['+116']]); // 2 of 17
    expect(neighbouringRegions(segments, ['+19', '+2', '+3'])).toEqual([['+19', '+2', '+3']]); // nothing is between them
    expect(neighbouringRegions([], [])).toEqual([]);
  });

  it('are read together where no copied segment lies between them', () => {
    const segments = segmentsOf(['+12000000', '+12000001', '+13000000', '+13000001', '+44000000', '+44000001'], 2);
    expect(
      stepsOf(segments, { regions: ['+12', '+13'], patches: [] }).map((step) =>
        step.kind === 'read' ? step.regions : step.segments.map(({ prefix }) => prefix),
      ),
    ).toEqual([['+12', '+13'], ['+4']]);
    expect(stepsOf(segments, { regions: [], patches: [] })).toEqual([{ kind: 'copy', segments }]);
  });

  it('are patched together where nothing else lies between them', () => {
    const segments = segmentsOf(['+12000000', '+12000001', '+13000000', '+13000001', '+44000000', '+44000001'], 2);
    const patch = (region: string) => ({ region, keys: [`${region}9999999`] });
    const patches = ['+12', '+13', '+14', '+4'].map(patch);
    expect(stepsOf(segments, { regions: [], patches })).toEqual([{ kind: 'patch', segments, patches }]);
    expect(stepsOf(segments, { regions: ['+13'], patches: [patch('+12'), patch('+4')] })).toEqual([
      { kind: 'patch', segments: [segments[0]], patches: [patch('+12')] },
      { kind: 'read', regions: ['+13'] },
      { kind: 'patch', segments: [segments[2]], patches: [patch('+4')] },
    ]);
  });

  it.each([
    ['two mebibytes together', [1_048_576, 1_048_576, 1], [2, 1]],
    ['one byte more', [1_048_576, 1_048_577, 1], [1, 2]],
    ['one that is larger', [1, 5_000_000, 1, 1], [1, 1, 2]],
  ])('leave segments to be copied at once up to two mebibytes: %s', (_what, sizes, runs) => {
    const segments = sizes.map((plainBytes, at) => ({ ...segmentOf({ prefix: `+1${at}`, phones: [] }), plainBytes }));
    expect(
      stepsOf(segments, { regions: [], patches: [] }).map((step) => step.kind === 'copy' && step.segments.length),
    ).toEqual(runs);
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

  it.each([2, 5, 8])(
    'counts none where only what marks of %d digits name has changed, though it was cut otherwise',
    (digits) => {
      const history = fc.record({
        before: fc.array(phone('012'), { minLength: 1, maxLength: 150 }).map(sorted),
        added: fc.array(phone('012'), { maxLength: 40 }),
        keep: fc.array(fc.boolean(), { minLength: 150, maxLength: 150 }),
        rowsMax: fc.integer({ min: 1, max: 30 }),
      });
      const digestsOf = (phones: readonly string[], rowsMax: number) =>
        leavesOf(phones, rowsMax).map((leaf) => ({ ...segmentOf(leaf), crc: crc32(leaf.phones.join()) }));
      fc.assert(
        fc.property(history, ({ before, added, keep, rowsMax }) => {
          const marks = [...before.filter((_, at) => !keep[at]), ...added].map((each) => each.slice(0, 1 + digits));
          const after = sorted([...before.filter((_, at) => keep[at]), ...added]);
          const old = digestsOf(before, rowsMax);
          const { regions, patches } = findChanges(old, marks);
          const changed = [...regions, ...patches.map(({ region }) => region)];
          expect(countDiffering(old, digestsOf(after, rowsMax), changed)).toBe(0);
        }),
        { seed: 23, numRuns: 300 },
      );
    },
  );
});
