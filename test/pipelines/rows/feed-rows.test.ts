import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFeedBytes } from '../../../pipelines/feeds/feed-bytes.ts';
import { quotedRowLinesMax, readFeedRows, type FeedRow, type RowFormat } from '../../../pipelines/rows/feed-rows.ts';
import { gzipMembers, useTemporaryDirectory } from '../../support/feeds.ts';

const directory = await useTemporaryDirectory();

const format: RowFormat = {
  columns: [
    { names: ['phone'], required: true },
    { names: ['display_name', 'name'], required: true },
    { names: ['detail'], required: false },
  ],
  headerOptional: true,
  personal: false,
};

const lineBytesMax = 64;

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

async function rowsOf(
  content: string | Uint8Array,
  options: { format?: RowFormat; chunk?: number } = {},
): Promise<FeedRow[]> {
  const rows: FeedRow[] = [];
  const chunks = inChunks(Buffer.from(content as Uint8Array), options.chunk ?? 1 << 20);
  for await (const batch of readFeedRows(chunks, options.format ?? format, lineBytesMax)) rows.push(...batch);
  return rows;
}

/** Rows as [line, value, ...] and refusals as [line, code]. */
async function read(
  content: string | Uint8Array,
  options: { format?: RowFormat; chunk?: number } = {},
): Promise<(string | number)[][]> {
  return (await rowsOf(content, options)).map((row) =>
    'values' in row ? [row.line, ...row.values] : [row.line, row.refusal.code],
  );
}

describe('rows of a feed', () => {
  it('are read by column name in any order and letter case, and other columns are ignored', async () => {
    expect(await read('X,NAME, Phone ,y\n1,Ann,+1,2\n')).toEqual([[2, '+1', 'Ann', '']]);
  });

  it('are read with LF, CRLF, a byte order mark and no last line end', async () => {
    const expected = [
      [2, '+1', 'A', ''],
      [3, '+2', 'B', ''],
    ];
    expect(await read('phone,name\n+1,A\n+2,B\n')).toEqual(expected);
    expect(await read('\ufeffphone,name\r\n+1,A\r\n+2,B')).toEqual(expected);
  });

  it('are split at tabs when the header is', async () => {
    expect(await read('phone\tname\n+1\tA, B\n+2\t"C\tD"\n')).toEqual([
      [2, '+1', 'A, B', ''],
      [3, '+2', 'C\tD', ''],
    ]);
  });

  it('need no header when the first field looks like a phone number', async () => {
    expect(await read('+12025550143,A\n+12025550144,B\n')).toEqual([
      [1, '+12025550143', 'A', ''],
      [2, '+12025550144', 'B', ''],
    ]);
  });

  it('keep commas, doubled quotes and line breaks of quoted fields, and the number of their first line', async () => {
    expect(await read('phone,name\n+1,"A, ""B"""\n+2,"C\nD\n\nE"\n+3, "F" \n"+4",G 5" H\n')).toEqual([
      [2, '+1', 'A, "B"', ''],
      [3, '+2', 'C\nD\n\nE', ''],
      [7, '+3', 'F', ''],
      [8, '+4', 'G 5" H', ''],
    ]);
  });

  it('may have as many lines between quotes as the limit says, and not one more', async () => {
    const rowOf = (lines: number) => `phone,name\n+1,"${'a\n'.repeat(lines - 1)}b"\n`;
    const readRows = async (content: string) => {
      const rows: FeedRow[] = [];
      for await (const batch of readFeedRows(inChunks(Buffer.from(content), 1000), format, 65_536)) rows.push(...batch);
      return rows;
    };
    expect(await readRows(rowOf(quotedRowLinesMax))).toHaveLength(1);
    const [first, ...others] = await readRows(rowOf(quotedRowLinesMax + 1));
    expect(first).toMatchObject({ line: 2, refusal: { code: 'quote_unterminated' } });
    expect(others).toHaveLength(quotedRowLinesMax);
  });

  it('of a file whose lines end in CR alone are not lost in silence: the feed is refused', async () => {
    await expect(read('phone,name\r+1,A\r+2,B\r')).rejects.toMatchObject({ code: 'feed_header_invalid' });
  });

  it('are refused at a quote that is never closed, from the next line on read again', async () => {
    expect(await read('phone,name\n+1,"A\n+2,B\n+3,C\n')).toEqual([
      [2, 'quote_unterminated'],
      [3, '+2', 'B', ''],
      [4, '+3', 'C', ''],
    ]);
    const long = `phone,name\n+1,"A\n${'+2,B\n'.repeat(100)}+3,"C"\n`;
    const rows = await read(long);
    expect(rows[0]).toEqual([2, 'quote_unterminated']);
    expect(rows).toHaveLength(102);
  });

  it('are refused where something follows a closing quote', async () => {
    expect(await read('phone,name\n+1,"A"B\n+2,"C"\n')).toEqual([
      [2, 'quote_invalid'],
      [3, '+2', 'C', ''],
    ]);
  });

  it('are refused when they are empty or have another number of fields than the header', async () => {
    expect(await read('phone,name\n\n+1\n+1,A,B\n+2,C\n\n')).toEqual([
      [2, 'line_empty'],
      [3, 'field_count'],
      [4, 'field_count'],
      [5, '+2', 'C', ''],
      [6, 'line_empty'],
    ]);
  });

  it('take a line of only \\. as data', async () => {
    expect(await read('phone,name\n\\.\n+1,A\n\\.,B\n')).toEqual([
      [2, 'field_count'],
      [3, '+1', 'A', ''],
      [4, '\\.', 'B', ''],
    ]);
  });

  it('are refused with invalid UTF-8 or NUL, and the lines around them are read', async () => {
    const content = Buffer.concat([
      Buffer.from('phone,name\n+1,é\n+2,'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('\n+3,B\n+4,\0\n+5,日本\r\n'),
    ]);
    expect(await read(content)).toEqual([
      [2, '+1', 'é', ''],
      [3, 'utf8_invalid'],
      [4, '+3', 'B', ''],
      [5, 'nul_byte'],
      [6, '+5', '日本', ''],
    ]);
    expect((await rowsOf(content)).flatMap((row) => ('refusal' in row ? [row.excerpt] : []))).toEqual([
      '+2,\\xc3(',
      '+4,\\x00',
    ]);
  });

  it.each([
    ['ASCII', 'x'],
    ['two bytes', 'é'],
  ])('may have as many bytes as the limit and not one more (%s)', async (_name, letter) => {
    const size = Buffer.byteLength(letter);
    const name = letter.repeat((lineBytesMax - 4) / size);
    expect(Buffer.byteLength(`+12,${name}`)).toBe(lineBytesMax);
    for (const chunk of [7, 1 << 20]) {
      for (const end of ['\n', '\r\n', '']) {
        expect(await read(`phone,name\n+12,${name}${end}`, { chunk })).toEqual([[2, '+12', name, '']]);
        expect(await read(`phone,name\n+123,${name}${end}`, { chunk })).toEqual([[2, 'line_too_long']]);
      }
    }
  });

  it('are the same however the bytes are cut into chunks', async () => {
    const piece = fc.constantFrom(
      '+1',
      'A',
      ',',
      '"',
      '""',
      '\n',
      '\r\n',
      '\r',
      '\\.',
      'é',
      '日',
      '\0',
      ' ',
      '\t',
      '\u00a0',
      '\ufeff',
      'x'.repeat(70),
      '+2,B\n',
      '+3,"C\nD"\n',
      '"\n',
      ',"',
      '",',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 40 }),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(',', '\t'),
        async (pieces, chunk, delimiter) => {
          const content = `phone${delimiter}name\n${pieces.join('').replaceAll(',', delimiter)}`;
          expect(await rowsOf(content, { chunk })).toEqual(await rowsOf(content));
        },
      ),
      { numRuns: 4000 },
    );
  });

  it.each([',', '\t'])('come back from quoted text as they went in (delimiter %j)', async (delimiter) => {
    const text = fc
      .string({ unit: fc.constantFrom('a', '"', ',', '\n', 'é', ' ', '\t', ';'), maxLength: 10 })
      .map((value) => value.trim());
    const needsQuotes = /^"|[,\n\t]/;
    const field = fc
      .tuple(text, fc.boolean())
      .map(([value, always]) => ({
        value,
        written: always || needsQuotes.test(value) ? `"${value.replaceAll('"', '""')}"` : value,
      }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(field, field, field), { minLength: 1, maxLength: 20 }), async (rows) => {
        const content = `phone${delimiter}name${delimiter}detail\n${rows.map((row) => `${row.map(({ written }) => written).join(delimiter)}\n`).join('')}`;
        const read = await rowsOf(content);
        expect(read.map((row) => ('values' in row ? row.values : row))).toEqual(
          rows.map((row) => row.map(({ value }) => value)),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('of 256 MiB in one line are refused without holding the line', async () => {
    async function* long(): AsyncGenerator<Buffer> {
      yield Buffer.from('phone,name\n+1,A\n');
      for (let times = 0; times < 1024; times++) yield Buffer.alloc(256 * 1024, 'x');
      yield Buffer.from('\n+2,B\n');
    }
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const rows: FeedRow[] = [];
    for await (const batch of readFeedRows(long(), format, 64 * 1024)) {
      rows.push(...batch);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(rows.map((row) => ('refusal' in row ? row.refusal.code : row.values[1]))).toEqual([
      'A',
      'line_too_long',
      'B',
    ]);
    expect(rows.flatMap((row) => ('refusal' in row ? [row.excerpt] : []))).toEqual([`${'x'.repeat(200)}…`]);
    expect(most).toBeLessThan(128 * 1024 * 1024);
  });

  it('that cannot be split are not shown where they hold personal data', async () => {
    const rows = await rowsOf(Buffer.from('phone,name\n+1,"A\n+2\n+3,\xff\n+4,\0\n', 'latin1'), {
      format: { ...format, personal: true },
    });
    expect(rows.map((row) => ('refusal' in row ? row.excerpt : null))).toEqual([
      '(withheld)',
      '(withheld)',
      '(withheld)',
      '(withheld)',
    ]);
  });
});

describe('a header', () => {
  it.each([
    ['is empty', ''],
    ['lacks a column', 'phone,x\n'],
    ['names a column twice', 'phone,name,phone\n'],
    ['names a column under two names', 'phone,name,display_name\n'],
    ['is not closed', 'phone,"name\n'],
    ['is too long', `phone,name,${'x'.repeat(100)}\n`],
    ['is not text', Buffer.from([0x70, 0xff, 0xfe, 0x70, 0x0a])],
    ['is missing and the first line has too many fields', '+12025550143,A,B,C\n'],
    ['is missing and the first line has too few', '+12025550143\n'],
  ])('that %s is refused', async (_what, content) => {
    await expect(read(content)).rejects.toMatchObject({ code: 'feed_header_invalid' });
  });

  it('may be quoted, and all there is', async () => {
    expect(await read('"phone","name"\n')).toEqual([]);
    expect(await read('phone,name')).toEqual([]);
  });
});

describe('the bytes of a feed', () => {
  const limits = { plainBytesMax: 1000 };
  async function bytesOf(
    content: Uint8Array,
    options: { plainBytesMax: number; signal?: AbortSignal } = limits,
  ): Promise<string> {
    const path = join(directory, 'bytes');
    await writeFile(path, content);
    const parts: Buffer[] = [];
    for await (const chunk of readFeedBytes(path, options)) parts.push(chunk);
    return Buffer.concat(parts).toString();
  }

  it('are decompressed when they are gzip, whatever the name, with all members', async () => {
    expect(await bytesOf(gzipMembers('a\n', 'b\n'))).toBe('a\nb\n');
    expect(await bytesOf(Buffer.from('a\n'))).toBe('a\n');
    expect(await bytesOf(Buffer.alloc(0))).toBe('');
    expect(await bytesOf(Buffer.from([0x1f]))).toBe('\x1f');
  });

  const member = gzipSync('a\n'.repeat(100));
  const damaged = Buffer.from(member);
  damaged[damaged.length - 6]! ^= 1;
  it.each([
    ['cut off in the data', member.subarray(0, member.length - 12)],
    ['cut off in the trailer', member.subarray(0, member.length - 1)],
    ['cut off in the header', member.subarray(0, 5)],
    ['changed by one bit', damaged],
    ['followed by text', Buffer.concat([member, Buffer.from('x\n')])],
    ['followed by zeros and a member', Buffer.concat([member, Buffer.alloc(8), member])],
    ['followed by half a member', Buffer.concat([member, member.subarray(0, 12)])],
  ])('of gzip %s are refused', async (_what, content) => {
    await expect(bytesOf(content)).rejects.toMatchObject({ code: 'feed_gzip_invalid' });
  });

  it('may be as many as the limit after decompression and not one more', async () => {
    expect(await bytesOf(gzipSync('x'.repeat(1000)))).toHaveLength(1000);
    await expect(bytesOf(gzipSync('x'.repeat(1001)))).rejects.toMatchObject({ code: 'feed_too_large' });
    await expect(bytesOf(Buffer.alloc(1001, 'x'))).rejects.toMatchObject({ code: 'feed_too_large' });
  });

  it('stop when the signal is given', async () => {
    await expect(bytesOf(Buffer.from('a\n'), { ...limits, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'interrupted',
    });
  });

  it('of a file that is gone are an error', async () => {
    await expect(readFeedBytes(join(directory, 'gone'), limits).next()).rejects.toMatchObject({
      code: 'feed_not_found',
    });
  });
});
