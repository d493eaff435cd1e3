import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { crc32 } from '../../../../format/gzip/crc32.ts';
import { compressBlock } from '../../../../pipelines/caches/format/compressed-block.ts';
import { finalBlock } from '../../../../format/base/compression.ts';
import { gzipHeader, gzipTrailer } from '../../../../format/gzip/gzip-member.ts';
import { findRows } from '../../../../format/artefact/row-block.ts';
import { SegmentCutter, type CutSegment } from '../../../../format/artefact/segment-cutter.ts';
import { inThread } from '../../../../pipelines/caches/format/segment-threads.ts';
import type { ChangedRows, SegmentBlock } from '../../../../pipelines/caches/format/segment-work.ts';

const rowsOf = (phones: readonly number[], level = 'SPAM') =>
  Buffer.from(phones.map((phone) => `+${phone}\t${level}\t1\n`).join(''));
const numbers = (count: number) => Array.from({ length: count }, (_none, at) => 12_025_550_000 + 2 * at);

function cut(plain: Buffer, rowsMax = 1000): CutSegment[] {
  const cutter = new SegmentCutter({ regions: ['+'], rowsMax, hasLevels: true });
  return [...cutter.push(findRows(plain)), ...cutter.end()];
}

const compress = (plain: Buffer) =>
  inThread({ kind: 'compress', cut: cut(plain)[0]!, before: null, profile: 'compact' });

function textOf({ deflated, crc, plainBytes }: SegmentBlock): string {
  return gunzipSync(Buffer.concat([gzipHeader, deflated, finalBlock, gzipTrailer(crc, plainBytes)])).toString();
}

/** A segment of 500 rows, some of them replaced. */
async function changes(keys: readonly number[], rows: Buffer, rowsMax = 1000): Promise<ChangedRows> {
  const { deflated, segments } = await compress(rowsOf(numbers(500)));
  const segment = { ...segments[0]!, offset: 10 };
  const chosen = keys.map((key) => `+${key}`);
  const how = { rowsMax, hasLevels: true, profile: 'compact' } as const;
  return { kind: 'patch', region: '+', segment, deflated, keys: chosen, rows, ...how };
}

describe('in a thread', () => {
  it('rows are compressed to the same bytes as elsewhere, and their buffer is taken away', async () => {
    const plain = rowsOf(numbers(500));
    const [segment] = cut(plain);
    const made = await inThread({ kind: 'compress', cut: segment!, before: null, profile: 'fast' });
    expect(segment!.plain.length).toBe(0);
    expect(made.deflated.equals((await compressBlock(plain, 'fast')).deflated)).toBe(true);
    expect(made.segments).toMatchObject([
      { prefix: '+', rows: 500, plainBytes: plain.length, crc: crc32(plain), levels: { SPAM: 500 } },
    ]);
    expect(made.segments[0]!.blockCrc).toBe(crc32(made.deflated));
  });

  it('changed rows take the place of those of a segment', async () => {
    const [removed, changed, added] = [12_025_550_004, 12_025_550_006, 12_025_550_007];
    const made = await inThread(await changes([removed, changed, added], rowsOf([changed, added], 'FRAUD')));
    const expected = rowsOf(numbers(500))
      .toString()
      .replace(`+${removed}\tSPAM\t1\n`, '')
      .replace(`+${changed}\tSPAM\t1\n`, rowsOf([changed, added], 'FRAUD').toString());
    expect(textOf(made)).toBe(expected);
    expect(made.delta.toString()).toBe(`-\t+${removed}\n~\t+${changed}\tFRAUD\t1\n+\t+${added}\tFRAUD\t1\n`);
    expect(made.replaced).toEqual({ rows: 2, levels: { SPAM: 2 } });
    expect(made.segments.map(({ rows, levels }) => ({ rows, levels }))).toEqual([
      { rows: 500, levels: { SPAM: 498, FRAUD: 2 } },
    ]);
  });

  it('what has grown beyond a segment is cut, and what has no row any more is none', async () => {
    const grown = await inThread(await changes([12_025_550_001], rowsOf([12_025_550_001]), 500));
    expect(grown.segments.map(({ prefix }) => prefix)).toEqual(
      cut(rowsOf([...numbers(500), 12_025_550_001].sort()), 500).map(({ prefix }) => prefix),
    );
    expect(grown.segments.length).toBeGreaterThan(1);
    const empty = await inThread(await changes(numbers(500), Buffer.alloc(0)));
    expect(empty).toMatchObject({ segments: [], plainBytes: 0, crc: 0 });
  });

  it('damage is reported with its code, and the next work is done', async () => {
    const damaged = await changes([12_025_550_001], Buffer.alloc(0));
    damaged.deflated[40]! ^= 0x10;
    await expect(inThread(damaged)).rejects.toMatchObject({ name: 'ServiceError', code: 'segment_index_invalid' });
    const foreign = await changes([12_025_550_001], rowsOf([12_025_550_003]));
    await expect(inThread(foreign)).rejects.toMatchObject({ code: 'rows_differ' });
    expect(textOf(await compress(rowsOf(numbers(3))))).toBe(rowsOf(numbers(3)).toString());
  });

  it('many pieces of work are done, each with its own answer', async () => {
    const counts = Array.from({ length: 40 }, (_none, at) => 1 + ((at * 37) % 400));
    const made = await Promise.all(counts.map((count) => compress(rowsOf(numbers(count)))));
    expect(made.map(({ segments }) => segments[0]!.rows)).toEqual(counts);
  });
});
