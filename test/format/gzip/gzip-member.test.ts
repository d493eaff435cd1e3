import { execFileSync } from 'node:child_process';
import { crc32, gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinCrc32 } from '../../../format/gzip/crc32.ts';
import { compressBlock } from '../../../pipelines/caches/format/compressed-block.ts';
import { GzipMember } from '../../../format/gzip/gzip-member.ts';
import { buildProfiles, type BuildProfile } from '../../../pipelines/caches/format/row-deflate.ts';

const bytes = fc.uint8Array({ maxLength: 5000 }).map((array) => Buffer.from(array));

async function member(
  blocks: Buffer[],
  profile: BuildProfile = 'compact',
): Promise<{ file: Buffer; facts: ReturnType<GzipMember['facts']> }> {
  const gzip = new GzipMember();
  const parts = [gzip.begin()];
  for (const block of blocks) parts.push(gzip.append(await compressBlock(block, profile)));
  parts.push(gzip.end());
  return { file: Buffer.concat(parts), facts: gzip.facts() };
}

describe('joinCrc32', () => {
  it('gives the CRC of the whole from the CRCs of any two pieces', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => joinCrc32(crc32(a), crc32(b), b.length) === crc32(Buffer.concat([a, b]))),
      { numRuns: 500 },
    );
  });

  it('holds for pieces whose length needs every bit of the exponent', () => {
    const zeros = Buffer.alloc(2 ** 22 + 2 ** 13 + 1);
    for (const length of [1, 2, 255, 256, 65_535, 65_536, 2 ** 20, zeros.length]) {
      const piece = zeros.subarray(0, length);
      expect(joinCrc32(crc32('head'), crc32(piece), length)).toBe(crc32(Buffer.concat([Buffer.from('head'), piece])));
    }
  });

  it('continues beyond 2 GiB: joining with a long piece is joining with its halves', () => {
    const halfLength = 2 ** 33;
    let halfCrc = crc32(Buffer.alloc(1));
    for (let length = 1; length < halfLength; length *= 2) halfCrc = joinCrc32(halfCrc, halfCrc, length);
    const wholeCrc = joinCrc32(halfCrc, halfCrc, halfLength);
    const head = crc32('head');
    expect(joinCrc32(joinCrc32(head, halfCrc, halfLength), halfCrc, halfLength)).toBe(
      joinCrc32(head, wholeCrc, 2 * halfLength),
    );
  });
});

describe('GzipMember', () => {
  it('is one member that any gunzip reads, for any blocks, with true sizes and digests', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(bytes, { maxLength: 6 }),
        fc.constantFrom(...buildProfiles),
        async (blocks, profile) => {
          const { file, facts } = await member(blocks, profile);
          const plain = gunzipSync(file);
          expect(plain.equals(Buffer.concat(blocks))).toBe(true);
          expect(facts.bytes).toBe(file.length);
          expect(facts.plainBytes).toBe(plain.length);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('of no rows is a valid gzip of nothing', async () => {
    const { file } = await member([]);
    expect(gunzipSync(file)).toHaveLength(0);
    expect(execFileSync('gzip', ['-dc'], { input: file })).toHaveLength(0);
  });

  it('gives the same bytes for the same blocks', async () => {
    const blocks = [Buffer.from('a\tb\n'.repeat(1000)), Buffer.from('c\td\n'.repeat(500))];
    expect((await member(blocks)).file.equals((await member(blocks)).file)).toBe(true);
  });

  it('has blocks that decompress alone', async () => {
    const plain = Buffer.from('+12025550100\tSPAM\t6\n'.repeat(300));
    const { deflated } = await compressBlock(plain, 'compact');
    expect(inflateRawSync(Buffer.concat([deflated, Buffer.from([3, 0])])).equals(plain)).toBe(true);
  });

  it('carries time 0 and no name, so that nothing but the rows decides its bytes', async () => {
    const { file } = await member([Buffer.from('x\n')]);
    expect([...file.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  });
});
