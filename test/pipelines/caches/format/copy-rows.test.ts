import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { payloadBytesMax, takeRows } from '../../../../pipelines/caches/format/copy-rows.ts';

function framed(payloads: readonly (string | Buffer)[], type = 'd'): Buffer {
  return Buffer.concat(
    payloads.map((payload) => {
      const header = Buffer.from(`${type}\0\0\0\0`);
      header.writeUInt32BE(payload.length + 4, 1);
      return Buffer.concat([header, Buffer.from(payload)]);
    }),
  );
}

function take(chunk: Buffer, { at = 0, blockBytes = 200_000, filled = 0, rows = 0, rowsMax = 100_000 } = {}) {
  const room = { block: Buffer.alloc(blockBytes), filled, rows, starts: new Int32Array(rowsMax + 1) };
  const result = takeRows(chunk, at, room);
  return {
    ...result,
    text: room.block.subarray(filled, result.filled).toString('latin1'),
    starts: [...room.starts.subarray(rows + 1, result.rows + 1)],
  };
}

describe('takeRows', () => {
  it('moves the rows of whole messages, and says where each ends', () => {
    expect(take(framed(['ab\n', 'c\n', '\n']))).toEqual({
      taken: 21,
      filled: 6,
      rows: 3,
      text: 'ab\nc\n\n',
      starts: [3, 5, 6],
    });
  });

  it('goes on from a place of the chunk, behind what the block has', () => {
    expect(take(Buffer.concat([Buffer.from('rest'), framed(['ab\n', 'c\n'])]), { at: 4, filled: 10, rows: 2 })).toEqual(
      { taken: 15, filled: 15, rows: 4, text: 'ab\nc\n', starts: [13, 15] },
    );
  });

  it.each([
    ['a message that the chunk cuts', framed(['ab\n', 'cde\n']).subarray(0, 16), {}],
    ['a header that the chunk cuts', framed(['ab\n', 'cde\n']).subarray(0, 12), {}],
    ['a message of another type', Buffer.concat([framed(['ab\n']), framed(['cd\n'], 'c')]), {}],
    ['a row that the block has no room for', framed(['ab\n', 'c\n']), { blockBytes: 4 }],
    ['a row that has no place among the starts', framed(['ab\n', 'c\n']), { rowsMax: 1 }],
  ])('stops before %s', (_what, chunk, room) => {
    expect(take(chunk, room)).toEqual({ taken: 8, filled: 3, rows: 1, text: 'ab\n', starts: [3] });
  });

  it('fills a block to its last byte', () => {
    expect(take(framed(['ab\n', 'c\n']), { blockBytes: 5 })).toMatchObject({ taken: 15, filled: 5, rows: 2 });
  });

  it('counts a row when its last payload ends in a line end', () => {
    expect(take(framed(['a', '', 'b\n', 'c']))).toEqual({ taken: 24, filled: 4, rows: 1, text: 'ab\nc', starts: [3] });
  });

  it('takes a payload as long as it may be, and none that is longer', () => {
    const longest = Buffer.alloc(payloadBytesMax, 'x');
    expect(take(framed([longest]))).toMatchObject({ taken: payloadBytesMax + 5, filled: payloadBytesMax });
    expect(take(framed([Buffer.concat([longest, Buffer.from('x')])]))).toMatchObject({ taken: 0, filled: 0 });
  });

  it('gives what the messages hold, whatever their lengths', () => {
    const rows = fc.array(
      fc.string({ unit: fc.constantFrom('a', '\t', '7'), maxLength: 90 }).map((text) => `${text}\n`),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(rows, fc.nat({ max: 3000 }), (lines, cut) => {
        const whole = framed(lines);
        const chunk = whole.subarray(0, Math.max(0, whole.length - cut));
        const { taken, text, starts } = take(chunk);
        const fitting = lines.filter((_line, at) => framed(lines.slice(0, at + 1)).length <= chunk.length);
        expect(text).toBe(fitting.join(''));
        expect(taken).toBe(framed(fitting).length);
        expect(starts).toEqual(fitting.map((_line, at) => fitting.slice(0, at + 1).join('').length));
      }),
      { numRuns: 100, seed: 3 },
    );
  });
});
