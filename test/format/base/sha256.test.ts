import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PortableSha256 } from '../../../format/base/sha256.ts';
import { portableCrc32 } from '../../../format/gzip/crc32.ts';

const parts = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 });

describe('what browsers do without node:crypto and node:zlib', () => {
  it('gives the SHA-256 of Node, whatever the parts in which the bytes come', () => {
    fc.assert(
      fc.property(parts, (texts) => {
        const [ours, nodes] = [new PortableSha256(), createHash('sha256')];
        for (const text of texts) {
          ours.update(text);
          nodes.update(text);
        }
        expect(ours.digest('hex')).toBe(nodes.digest('hex'));
      }),
      { numRuns: 300 },
    );
  });

  it.each([55, 56, 63, 64, 65, 119, 120])('gives it at the limit of a block, for %i bytes', (length) => {
    const text = new Uint8Array(length).fill(0x61);
    expect(new PortableSha256().update(text).digest('hex')).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('gives the CRC-32 of Node, also of a text that continues', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (first, second) => {
        expect(portableCrc32(second, portableCrc32(first))).toBe(crc32(second, crc32(first)));
      }),
    );
  });
});
