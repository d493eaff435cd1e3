import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { crc32, gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinCrc32 } from '../../../format/gzip/crc32.ts';
import { measureGzip, readGzip } from '../../../format/gzip/gzip-reading.ts';
import { compressBlock, writeGzip, writeMember } from '../../../format/gzip/gzip-writing.ts';

const bytes = fc.uint8Array({ maxLength: 5000 }).map((array) => Buffer.from(array));

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** Writes each text as a block of its own. */
async function member(texts: Buffer[]): Promise<{ file: Buffer; facts: Awaited<ReturnType<typeof writeMember>> }> {
  const parts: Uint8Array[] = [];
  const facts = await writeMember(each(texts), {
    write: async (part) => void parts.push(part),
    compress: compressBlock,
  });
  return { file: Buffer.concat(parts), facts };
}

const sha256 = (of: Buffer) => createHash('sha256').update(of).digest('hex');

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

describe('a gzip member of blocks', () => {
  it('is one that any gunzip reads, for any texts, with true sizes and digests', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { maxLength: 6 }), async (texts) => {
        const { file, facts } = await member(texts);
        const plain = gunzipSync(file);
        expect(plain.equals(Buffer.concat(texts))).toBe(true);
        expect(facts).toEqual({ bytes: file.length, sha256: sha256(file), plainBytes: plain.length });
        const rows = plain.filter((byte) => byte === 0x0a).length;
        expect(await measureGzip(each([file]))).toEqual({ ...facts, plainSha256: sha256(plain), rows });
      }),
      { numRuns: 100 },
    );
  });

  it('writes the blocks in their order, a few of them compressed at a time', async () => {
    let [inWork, most] = [0, 0];
    const order: number[] = [];
    await writeMember(each([9, 1, 5, 1, 9, 1, 1, 5]), {
      write: async () => {},
      inFlightMax: 4,
      async compress(wait) {
        most = Math.max(most, ++inWork);
        await new Promise((resolve) => setTimeout(resolve, wait));
        inWork--;
        return { deflated: new Uint8Array(0), plainBytes: 0, crc: 0, wait };
      },
      onBlock: ({ wait }) => void order.push(wait),
    });
    expect([order, most]).toEqual([[9, 1, 5, 1, 9, 1, 1, 5], 4]);
  });

  it('of text in chunks has the same text, whatever the chunks', async () => {
    const text = Buffer.from('+12025550100\tSPAM\t6\n'.repeat(150_000));
    for (const length of [1_000_000, 4096, text.length]) {
      const chunks = Array.from({ length: Math.ceil(text.length / length) }, (_, at) =>
        text.subarray(at * length, (at + 1) * length),
      );
      const parts: Uint8Array[] = [];
      await writeGzip(each(chunks), async (part) => void parts.push(part));
      expect(gunzipSync(Buffer.concat(parts)).equals(text)).toBe(true);
    }
  });

  it.each([
    ['a second member', (file: Buffer) => Buffer.concat([file, file])],
    ['bytes after it', (file: Buffer) => Buffer.concat([file, Buffer.of(0)])],
    ['another header', (file: Buffer) => file.with(9, 3)],
    ['another length', (file: Buffer) => file.with(-1, 1)],
    ['no end', (file: Buffer) => file.subarray(0, -1)],
  ])('is not read with %s', async (_what, change) => {
    const { file } = await member([Buffer.from('a\tb\n'), Buffer.from('c\td\n')]);
    const read = async () => {
      for await (const _ of readGzip(each([change(file)])));
    };
    await expect(read()).rejects.toMatchObject({ code: 'delta_invalid' });
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
    const { deflated } = await compressBlock(plain);
    expect(inflateRawSync(Buffer.concat([deflated, Buffer.from([3, 0])])).equals(plain)).toBe(true);
  });

  it('carries time 0 and no name, so that nothing but the rows decides its bytes', async () => {
    const { file } = await member([Buffer.from('x\n')]);
    expect([...file.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  });
});
