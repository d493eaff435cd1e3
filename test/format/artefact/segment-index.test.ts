import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compressSegment,
  findPage,
  findSegment,
  inflateSegment,
  parseDirectory,
  parsePage,
  parseSegmentIndex,
  SegmentIndexWriter,
  type IndexFacts,
  type Segment,
} from '../../../format/artefact/segment-index.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import { leavesOf, phonesOf, type Leaf } from '../../support/prefix-tree.ts';

/** Segments of these leaves one after another in a file, with invented contents. */
function segmentsOf(leaves: readonly Leaf[]): Segment[] {
  let offset = 10;
  return leaves.map(({ prefix, phones }, at) => {
    const bytes = 20 + ((at * 7919) % 100);
    const segment = {
      prefix,
      offset,
      bytes,
      plainBytes: 3 * bytes,
      rows: phones.length,
      crc: at,
      blockCrc: 2 ** 32 - 1 - at,
    };
    offset += bytes;
    return { ...segment, sha256: sha256Of(prefix) };
  });
}

function indexOf(segments: readonly Segment[]): { readonly bytes: Buffer; readonly facts: IndexFacts } {
  const writer = new SegmentIndexWriter();
  const parts = segments.map((segment) => writer.add(segment));
  const { bytes, facts } = writer.end();
  return { bytes: Buffer.concat([...parts, bytes]), facts };
}

/** Directory and pages as a look-up reads them. */
function openIndex(segments: readonly Segment[]) {
  const { bytes, facts } = indexOf(segments);
  const pages = parseDirectory(bytes.subarray(facts.directory.offset), facts);
  const read = new Map(
    pages.map((page) => [page, parsePage(bytes.subarray(page.offset, page.offset + page.bytes), page)]),
  );
  const lookUp = (key: string) => {
    const page = findPage(pages, key);
    return page && findSegment(read.get(page)!, key);
  };
  return { pages, lookUp };
}

/** Phones of which many are the beginning of others; with few rows a segment they fill several pages. */
const cuts = fc.record({ phones: phonesOf('012', { maxLength: 400 }), rowsMax: fc.integer({ min: 1, max: 4 }) });
/** Keys beside those that are listed. */
const others = fc.array(fc.stringMatching(/^\+[0-3]{0,12}$/), { minLength: 5, maxLength: 30 });

describe('a segment index', () => {
  it('is read as it was written, in pages that follow each other', () => {
    fc.assert(
      fc.property(cuts, ({ phones, rowsMax }) => {
        const segments = segmentsOf(leavesOf(phones, rowsMax));
        const { bytes, facts } = indexOf(segments);
        expect(parseSegmentIndex(bytes, facts)).toEqual(segments);
        const { directory, ...of } = facts;
        expect(of).toEqual({
          sha256: sha256Of(bytes),
          bytes: bytes.length,
          segments: segments.length,
          blockBytesMax: Math.max(0, ...segments.map((segment) => segment.bytes)),
        });
        expect(directory.offset + directory.bytes).toBe(bytes.length);
        const pages = parseDirectory(bytes.subarray(directory.offset), facts);
        expect(pages.reduce((sum, page) => sum + page.bytes, 0)).toBe(directory.offset);
        expect(pages.map(({ prefix }) => prefix)).toEqual(
          segments.filter((_, at) => at % 96 === 0).map(({ prefix }) => prefix),
        );
      }),
      { seed: 3, numRuns: 40 },
    );
  });

  it('leads to the segment of every listed number, and of others to none but the one that could have it', () => {
    const seen = { pages: 0, refused: 0 };
    fc.assert(
      fc.property(cuts, others, ({ phones, rowsMax }, keys) => {
        const leaves = leavesOf(phones, rowsMax);
        const segments = segmentsOf(leaves);
        const read = openIndex(segments);
        seen.pages = Math.max(seen.pages, read.pages.length);
        const own = new Map(leaves.flatMap((leaf, at) => leaf.phones.map((phone) => [phone, segments[at]])));
        const wrong = [...phones, ...phones.map((phone) => `${phone}3`), ...keys].filter((key) => {
          const found = read.lookUp(key);
          if (own.has(key)) return found?.prefix !== own.get(key)!.prefix;
          // The longest listed prefix, or none where that is a number which others begin with.
          const at = segments.findLastIndex(({ prefix }) => key.startsWith(prefix));
          if (found === undefined && at !== -1) seen.refused++;
          return found === undefined
            ? at !== -1 && leaves[at]!.phones.join() !== leaves[at]!.prefix
            : found.prefix !== segments[at]?.prefix;
        });
        expect(wrong).toEqual([]);
      }),
      { seed: 4, numRuns: 60 },
    );
    expect(seen.pages).toBeGreaterThan(2);
    expect(seen.refused).toBeGreaterThan(0);
  });

  it.each([
    [2_500, 15_500],
    [16_000, 29_000],
  ])('of %d segments costs a look-up fewer than %d bytes', (count, bytesMax) => {
    const segments = Array.from({ length: count }, (_, at) => ({
      prefix: `+1${2_000_000 + at}`,
      offset: 10 + 20_000 * at,
      bytes: 20_000,
      plainBytes: 90_000,
      rows: 3000,
      crc: 0,
      blockCrc: 0,
      sha256: sha256Of(''),
    }));
    const { facts } = indexOf(segments);
    const pages = openIndex(segments).pages.map(({ bytes }) => bytes);
    expect(facts.directory.bytes + Math.max(...pages)).toBeLessThan(bytesMax);
  });

  it('without segments has an empty directory', () => {
    const { bytes, facts } = indexOf([]);
    expect([bytes.length, facts.segments, facts.blockBytesMax]).toEqual([0, 0, 0]);
    expect(parseSegmentIndex(bytes, facts)).toEqual([]);
    expect(openIndex([]).lookUp('+12025550100')).toBeUndefined();
  });

  it('is refused with any other byte', () => {
    const phones = Array.from({ length: 200 }, (_, at) => `+1202555${1000 + at}`);
    const { bytes, facts } = indexOf(segmentsOf(leavesOf(phones, 1)));
    for (let at = 0; at < bytes.length; at += 113)
      expect(() => parseSegmentIndex(bytes.with(at, bytes[at]! ^ 1), facts), String(at)).toThrow(
        expect.objectContaining({ code: 'segment_index_invalid' }),
      );
    expect(() => parseSegmentIndex(bytes.subarray(0, -1), facts)).toThrow();
  });

  it.each([
    ['is no segment', '+1\t10\t5\n'],
    ['has no end', `+1\t10\t5\t15\t1\t00000000\t00000000\t${'a'.repeat(64)}`],
    ['goes back', segmentLines('+2', 10) + segmentLines('+1', 15)],
    ['leaves a gap', segmentLines('+1', 10) + segmentLines('+2', 16)],
  ])('is refused with a line that %s, though the digest is right', (_what, page) => {
    expect(() => parsePage(Buffer.from(page), { sha256: sha256Of(page) })).toThrow(
      expect.objectContaining({ code: 'segment_index_invalid' }),
    );
  });
});

function segmentLines(prefix: string, offset: number): string {
  return `${prefix}\t${offset}\t5\t15\t1\t00000000\t00000000\t${'a'.repeat(64)}\n`;
}

describe('the block of a segment', () => {
  const plain = Buffer.from('+12025550100\tSPAM\t6\n'.repeat(30));

  it('gives its rows, and is refused where it is damaged or of another length', async () => {
    const { deflated, segment } = await compressSegment({ prefix: '+1', plain, rows: 30, sha256: sha256Of(plain) });
    expect(segment).toMatchObject({ bytes: deflated.length, plainBytes: plain.length, rows: 30 });
    expect(Buffer.from(await inflateSegment(deflated, segment)).equals(plain)).toBe(true);
    for (const wrong of [deflated.with(3, deflated[3]! ^ 1), deflated.subarray(0, 5), new Uint8Array(deflated.length)])
      await expect(inflateSegment(wrong, segment)).rejects.toMatchObject({ code: 'segment_index_invalid' });
    const shorter = { ...segment, plainBytes: plain.length - 1 };
    await expect(inflateSegment(deflated, shorter)).rejects.toMatchObject({ code: 'segment_index_invalid' });
  });
});
