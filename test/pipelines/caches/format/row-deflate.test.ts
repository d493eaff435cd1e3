import { execFileSync } from 'node:child_process';
import { crc32, constants, gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compressBlock } from '../../../../pipelines/caches/format/compressed-block.ts';
import { GzipMember } from '../../../../format/gzip/gzip-member.ts';
import {
  buildProfiles,
  deflateRows,
  endOfChunk,
  type BuildProfile,
} from '../../../../pipelines/caches/format/row-deflate.ts';

const MiB = 1024 * 1024;

/** Seeded bits, so that a failure comes again. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function inflate(deflated: Buffer): Buffer {
  return inflateRawSync(deflated, { finishFlush: constants.Z_SYNC_FLUSH });
}

async function expectSame(plain: Buffer): Promise<void> {
  for (const profile of buildProfiles) {
    const deflated = await deflateRows(plain, profile);
    expect(inflate(deflated).equals(plain)).toBe(true);
    expect([...deflated.subarray(-4)]).toEqual([0, 0, 0xff, 0xff]);
    // At worst stored: 5 bytes for each 65,535 of a piece, and the flush.
    expect(deflated.length).toBeLessThanOrEqual(
      plain.length + 5 * (Math.ceil(plain.length / 65_535) + 2 * Math.ceil(plain.length / MiB)) + 6,
    );
  }
}

/** Rows of a profile cache. */
function profileRows(rows: number, seed = 1): Buffer {
  const random = makeRandom(seed);
  const words = ['Acme', 'Lakeside', 'Motors', 'Dental', 'Cedar', 'Bank', 'École', '中国银行'];
  const lines: string[] = [];
  for (let i = 0, phone = 12_010_000_000; i < rows; i++) {
    phone += 1 + random(5000);
    const reputation = ['NEUTRAL\t', 'NEUTRAL\t', 'SPAM\t6', 'FRAUD\t15'][random(4)]!;
    const name = reputation.startsWith('N')
      ? `${words[random(words.length)]} ${words[random(words.length)]} ${random(1000)}`
      : '';
    lines.push(
      `+${phone}\t${reputation}\t${name}\t${random(20) === 0 ? 'Customer service, Monday to Friday' : ''}\t\t\n`,
    );
  }
  return Buffer.from(lines.join(''));
}

const hostile: [string, () => Buffer][] = [
  ['nothing', () => Buffer.alloc(0)],
  ['one byte', () => Buffer.from('x')],
  ['one line end', () => Buffer.from('\n')],
  ['two bytes', () => Buffer.from('\t\n')],
  ['a row without its line end', () => Buffer.from('+12025550100\tSPAM\t6')],
  ['zeros', () => Buffer.alloc(300_000)],
  ['bytes of 0xff', () => Buffer.alloc(300_000, 0xff)],
  ['line ends alone', () => Buffer.alloc(100_000, 0x0a)],
  ['tabs alone', () => Buffer.alloc(100_000, 0x09)],
  ['spaces alone', () => Buffer.alloc(100_000, 0x20)],
  ['one line of 3 MiB', () => Buffer.alloc(3 * MiB, 'ab cd ')],
  ['lines longer than the reach of a match', () => Buffer.from(`${'x'.repeat(32_769)}\n`.repeat(20))],
  ['lines of exactly the reach of a match', () => Buffer.from(`${'word '.repeat(6553)}xy\n`.repeat(20))],
  ['the same row over and over', () => Buffer.from('+12025550100\tSPAM\t6\n'.repeat(50_000))],
  ['every byte value', () => Buffer.from(Array.from({ length: 100_000 }, (_none, at) => at & 0xff))],
  ['random bytes', () => randomBytes(700_000, 3)],
  ['random bytes, one more than fits a stored block', () => randomBytes(65_536, 4)],
  ['a full piece of random bytes', () => randomBytes(MiB, 5)],
  ['a full piece of random bytes and one more', () => randomBytes(MiB + 1, 6)],
  // Counts that grow like Fibonacci's numbers make the deepest codes: 15 bits must do for all.
  ['bytes whose code would be deeper than 15 bits', () => fibonacciBytes(24)],
];

function randomBytes(length: number, seed: number): Buffer {
  const random = makeRandom(seed);
  return Buffer.from(Array.from({ length }, () => random(256)));
}

function fibonacciBytes(symbols: number): Buffer {
  const pieces: Buffer[] = [];
  for (let symbol = 0, count = 1, before = 1; symbol < symbols; symbol++) {
    pieces.push(Buffer.alloc(count, 0x80 + symbol));
    [count, before] = [count + before, count];
  }
  const sorted = Buffer.concat(pieces);
  const step = 40_503; // shares no divisor with the length, so that every byte is taken once
  return Buffer.from(Array.from({ length: sorted.length }, (_none, at) => sorted[(at * step) % sorted.length]!));
}

describe('deflateRows', () => {
  it.each(hostile)('gives %s back, byte for byte, never much longer than it was', async (_name, make) => {
    await expectSame(make());
  });

  it('gives any bytes back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), (bytes) => expectSame(Buffer.from(bytes))),
      { numRuns: 300, seed: 5 },
    );
  });

  it('gives any text of few words, fields and lines back', async () => {
    const word = fc.constantFrom(
      '+1202555',
      '0100',
      '\t',
      '\t',
      '\n',
      '\n',
      ' ',
      'SPAM',
      'NEUTRAL',
      'Acme Dental',
      'a',
      'é',
      '1',
      '\0',
    );
    const text = fc.array(word, { maxLength: 2000 }).map((words) => Buffer.from(words.join('')));
    await fc.assert(fc.asyncProperty(text, expectSame), { numRuns: 300, seed: 6 });
  });

  it('gives copies at every distance and length back', async () => {
    const piece = fc.record({
      bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }),
      gap: fc.integer({ min: 0, max: 40_000 }),
      times: fc.integer({ min: 1, max: 6 }),
    });
    const text = fc
      .array(piece, { maxLength: 6 })
      .map((pieces) =>
        Buffer.concat(
          pieces.flatMap(({ bytes, gap, times }) =>
            Array.from({ length: times }, () => [Buffer.from(' '), bytes, Buffer.alloc(gap, '.')]).flat(),
          ),
        ),
      );
    await fc.assert(fc.asyncProperty(text, expectSame), { numRuns: 100, seed: 7 });
  });

  it('gives rows of every shape back in a long random run', async () => {
    const random = makeRandom(11);
    for (let round = 0; round < 60; round++) {
      const text = Array.from({ length: random(3000) }, () => randomRow(random)).join('');
      await expectSame(Buffer.from(text.slice(0, text.length - random(10))));
    }
  });

  it('gives the same bytes for the same rows, whatever was compressed before', async () => {
    const rows = profileRows(3000);
    for (const profile of buildProfiles) {
      const first = await deflateRows(rows, profile);
      await deflateRows(randomBytes(400_000, 8), 'compact');
      await deflateRows(profileRows(5000, 2), 'fast');
      expect((await deflateRows(rows, profile)).equals(first)).toBe(true);
    }
  });

  it('keeps apart what is compressed at the same time, also in several pieces', async () => {
    const texts = [profileRows(60_000, 1), randomBytes(2 * MiB, 9), profileRows(40_000, 2), profileRows(10, 3)];
    const deflated = await Promise.all(
      texts.flatMap((text) => buildProfiles.map((profile) => deflateRows(text, profile))),
    );
    for (const [at, text] of texts.entries()) {
      expect(inflate(deflated[2 * at]!).equals(text)).toBe(true);
      expect(inflate(deflated[2 * at + 1]!).equals(text)).toBe(true);
    }
  });

  it.each<[BuildProfile, number]>([
    ['compact', 1],
    ['fast', 1.03],
  ])('makes rows with profile %s no larger than %f times what gzip -6 makes of them', async (profile, ratio) => {
    const rows = profileRows(16_000);
    expect((await deflateRows(rows, profile)).length).toBeLessThan(
      ratio * execFileSync('gzip', ['-6', '-c'], { input: rows, maxBuffer: 64 * MiB }).length,
    );
  });

  it('lets the event loop run between pieces', async () => {
    let turns = 0;
    const count = () => void (turns++, (turning = setImmediate(count)));
    let turning = setImmediate(count);
    await deflateRows(Buffer.alloc(4 * MiB, 'ab cd\n'), 'fast');
    clearImmediate(turning);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});

/** Rows of many shapes: with the fields of each cache, of deltas, with long texts, with few or no fields. */
function randomRow(random: (below: number) => number): string {
  const phone = `+${12_010_000_000 + random(1_000_000)}`;
  const name = () =>
    Array.from({ length: random(5) }, () => ['Acme', 'Bank', 'of', 'Ōsaka', '42', 'Dental'][random(6)]).join(' ');
  switch (random(7)) {
    case 0:
      return `${phone}\tSPAM\t${random(16)}\n`;
    case 1:
      return `${phone}\t${name()}\n`;
    case 2:
      return `${'+~-'[random(3)]}\t${phone}\tNEUTRAL\t\t${name()}\t\t\t\n`;
    case 3:
      return `${phone}\tNEUTRAL\t\t${name()}\t${name().repeat(random(80))}\t${name()}\thttps://example.com/${random(1000)}.png\n`;
    case 4:
      return `${phone}\n`;
    case 5:
      return '\n';
    default:
      return `${phone}\tFRAUD\t15\t\t\t\t\n`;
  }
}

describe('an artefact of such blocks', () => {
  const blocks = [
    profileRows(16_000, 1),
    Buffer.alloc(0),
    Buffer.from('+2\n'),
    randomBytes(5000, 1),
    profileRows(400, 2),
  ];

  it.each(buildProfiles)('of profile %s is read by gunzip and by zlib, whole', async (profile) => {
    const member = new GzipMember();
    const parts = [member.begin()];
    for (const block of blocks) parts.push(member.append(await compressBlock(block, profile)));
    parts.push(member.end());
    const file = Buffer.concat(parts);
    const plain = Buffer.concat(blocks);
    expect(gunzipSync(file).equals(plain)).toBe(true);
    expect(execFileSync('gzip', ['-dc'], { input: file, maxBuffer: 64 * MiB }).equals(plain)).toBe(true);
    execFileSync('gzip', ['-t'], { input: file });
  });

  it('has blocks that decompress alone', async () => {
    for (const block of blocks) {
      const { deflated, crc } = await compressBlock(block, 'compact');
      expect(inflateRawSync(Buffer.concat([deflated, Buffer.from([3, 0])])).equals(block)).toBe(true);
      expect(crc).toBe(crc32(block));
    }
  });
});

describe('endOfChunk', () => {
  const text = Buffer.from('aa\nbbb\ncccc');
  it.each([
    [0, 100, 11],
    [0, 11, 11],
    [0, 10, 7],
    [0, 7, 7],
    [0, 6, 3],
    [3, 4, 7],
    [7, 3, 10],
    [0, 2, 2],
    [11, 5, 11],
  ])('from %d with at most %d bytes is %d', (from, bytesMax, expected) => {
    expect(endOfChunk(text, from, bytesMax)).toBe(expected);
  });
});
