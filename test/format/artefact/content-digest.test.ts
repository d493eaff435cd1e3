import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentSha256, ContentWatch } from '../../../format/artefact/content-digest.ts';
import { leavesOf } from '../../support/prefix-tree.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const rowOf = (phone: string) => `${phone}\tSPAM\t${phone.length}\n`;

async function digestOf(text: string, rowsMax: number, pieceBytes = 7): Promise<string | null> {
  const watch = new ContentWatch(rowsMax);
  const bytes = Buffer.from(text);
  const pieces = (async function* () {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  })();
  const passed: Uint8Array[] = [];
  for await (const piece of watch.watch(pieces)) passed.push(piece);
  expect(Buffer.concat(passed).toString()).toBe(text);
  return watch.sha256();
}

describe('the content digest', () => {
  it('is that of the list of segments as their definition gives them, whatever the pieces of the text', async () => {
    const phones = fc.uniqueArray(
      fc.string({ unit: fc.constantFrom('0', '1', '2'), minLength: 8, maxLength: 10 }).map((digits) => `+1${digits}`),
      { maxLength: 80 },
    );
    await fc.assert(
      fc.asyncProperty(
        phones.map((each) => each.sort()),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 60 }),
        async (sorted, rowsMax, pieceBytes) => {
          const lines = leavesOf(sorted, rowsMax).map((leaf) => {
            const plain = leaf.phones.map(rowOf).join('');
            return `${leaf.prefix}\t${leaf.phones.length}\t${plain.length}\t${sha256(plain)}\n`;
          });
          expect(await digestOf(sorted.map(rowOf).join(''), rowsMax, pieceBytes)).toBe(sha256(lines.join('')));
        },
      ),
      { seed: 11, numRuns: 200 },
    );
  });

  it('of no rows is that of an empty list', async () => {
    expect(await digestOf('', 10)).toBe(sha256(''));
    expect(contentSha256([])).toBe(sha256(''));
  });

  it.each([
    ['whose rows do not ascend', '+12\ta\n+11\ta\n'],
    ['whose last row has no end', '+11\ta\n+12\ta'],
    ['of something else', '12\n'],
  ])('of a text %s is none', async (_, text) => {
    expect(await digestOf(text, 1)).toBeNull();
  });
});
