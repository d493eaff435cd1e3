import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { applyDelta } from '../../../../format/artefact/delta-lines.ts';
import { parseSegmentIndex, type Segment } from '../../../../format/artefact/segment-index.ts';
import { PreviousRows } from '../../../../pipelines/caches/artefact/previous-rows.ts';
import { writeArtefact, type WrittenArtefact } from '../../../../pipelines/caches/artefact/write-artefact.ts';
import { ArtefactDirectory } from '../../../../pipelines/caches/store/artefact-directory.ts';
import { storeBytes } from '../../../../pipelines/caches/store/store-bytes.ts';
import { sha256Of } from '../../../../runtime/digest.ts';

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-pass-'));
afterAll(() => rm(directory, { recursive: true }));
const store = new ArtefactDirectory(directory);
const artefact = { cache: 'spammer_phones', country: '' } as const;

interface Version extends WrittenArtefact {
  readonly bytes: Buffer;
  readonly segments: readonly Segment[];
  readonly delta: Buffer;
  readonly lost: readonly unknown[];
}

/** Writes rows as a version after another one, and stores it. */
async function write(plain: Buffer, before: Version | null, segmentRowsMax = 8): Promise<Version> {
  const lost: unknown[] = [];
  const onLost = (error: unknown) => void lost.push(error);
  const previous = before && (await PreviousRows.open(store, artefact, before, onLost));
  const [file, index, delta]: Uint8Array[][] = [[], [], []];
  try {
    const written = await writeArtefact({
      rows: inChunks(plain, 100),
      previous,
      hasLevels: true,
      segmentRowsMax,
      writeFile: async (bytes) => void file!.push(Buffer.from(bytes)),
      writeIndex: async (bytes) => void index!.push(bytes),
      addToDelta: async (text) => void delta!.push(text),
      onProgress: () => {},
      onLost,
    });
    const [bytes, indexBytes] = [Buffer.concat(file!), Buffer.concat(index!)];
    await storeBytes(store, { name: artefact, owner: 'test', bytes });
    await storeBytes(store, { name: { ...artefact, kind: 'index' }, owner: 'test', bytes: indexBytes });
    expect([sha256Of(bytes), sha256Of(indexBytes)]).toEqual([written.file.sha256, written.index.sha256]);
    const segments = parseSegmentIndex(indexBytes, written.index);
    return { ...written, bytes, segments, delta: Buffer.concat(delta!), lost };
  } finally {
    await previous?.close();
  }
}

async function* inChunks(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

const linesOf = (phones: ReadonlyMap<string, string>) =>
  Buffer.from(
    [...phones]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([phone, rest]) => `${phone}\t${rest}\n`)
      .join(''),
  );

async function applied(plain: Buffer, delta: Buffer): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of applyDelta([plain], delta.length === 0 ? [] : [delta])) parts.push(part);
  return Buffer.concat(parts);
}

/** Phones that crowd together, some of them the beginning of others, with few different rows. */
const rowsOf = fc
  .array(
    fc.tuple(fc.stringMatching(/^\+12025[0-3]{1,7}$/), fc.constantFrom('NEUTRAL\t', 'SPAM\t1', 'FRAUD\t7', 'SPAM\t6')),
    { maxLength: 120 },
  )
  .map((rows) => new Map(rows));

const labelOf = (rest: string | undefined) => (rest ?? 'NEUTRAL\t').split('\t') as [string, string];

/** The moves of labels, counted the slow way. */
function movesBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  const moves = { rises: 0, falls: 0, flips: 0, recategorized: 0 };
  for (const phone of new Set([...before.keys(), ...after.keys()])) {
    const [[from, category], [to, newCategory]] = [labelOf(before.get(phone)), labelOf(after.get(phone))];
    if (from === to) moves.recategorized += category === newCategory ? 0 : 1;
    else if (from === 'NEUTRAL') moves.rises++;
    else if (to === 'NEUTRAL') moves.falls++;
    else moves.flips++;
  }
  return moves;
}

describe('an artefact that is written after another', () => {
  it('has its text, the bytes of one that is written alone, and a delta that leads to it, whatever changed and wherever it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(rowsOf, rowsOf, fc.integer({ min: 1, max: 9 }), async (one, other, rowsMax) => {
        // Most rows stay, so that some segments are the same.
        const after = new Map([...one].filter((_, at) => at % 7 !== 0).concat([...other].slice(0, 9)));
        const [plainBefore, plain] = [linesOf(one), linesOf(after)];
        const first = await write(plainBefore, null, 4);
        const second = await write(plain, first, rowsMax);
        const alone = await write(plain, null, rowsMax);
        expect(gunzipSync(second.bytes)).toEqual(plain);
        expect(second.bytes.equals(alone.bytes)).toBe(true);
        expect(second.segments).toEqual(alone.segments);
        expect(second.lost).toEqual([]);
        expect(second.file.plainSha256).toBe(sha256Of(plain));
        expect(second.rows).toBe(after.size);
        expect(await applied(plainBefore, second.delta)).toEqual(plain);
        const changed = [...after].filter(([phone, rest]) => one.has(phone) && one.get(phone) !== rest).length;
        const added = [...after.keys()].filter((phone) => !one.has(phone)).length;
        const removed = [...one.keys()].filter((phone) => !after.has(phone)).length;
        expect(second.difference).toEqual({ added, changed, removed, ...movesBetween(one, after) });
      }),
      { numRuns: 100 },
    );
  });

  it('has no delta lines where nothing changed', async () => {
    const plain = linesOf(new Map(Array.from({ length: 200 }, (_, n) => [`+1202555${1000 + n}`, 'SPAM\t1'])));
    const first = await write(plain, null);
    const second = await write(plain, first);
    expect(second.delta.length).toBe(0);
    expect(second.bytes.equals(first.bytes)).toBe(true);
  });

  it('copies the block of a segment whose text is the same, and not one whose bytes are damaged', async () => {
    const rows = new Map(Array.from({ length: 200 }, (_, n) => [`+1202555${1000 + n}`, 'SPAM\t1']));
    const first = await write(linesOf(rows), null);
    const kept = first.segments[2]!;
    const damaged = Buffer.from(first.bytes);
    damaged[kept.offset + 3]! ^= 1;
    const { writeFile } = await import('node:fs/promises');
    await writeFile(store.path({ ...artefact, sha256: first.file.sha256 }), damaged);
    rows.set('+12025551199', 'FRAUD\t7');
    const second = await write(linesOf(rows), first);
    expect(gunzipSync(second.bytes)).toEqual(linesOf(rows));
    expect(second.lost).toHaveLength(1);
    expect(second.difference).toBeNull();
  });

  it('is compressed whole where the index of the one before is cut or missing', async () => {
    const plain = linesOf(new Map(Array.from({ length: 50 }, (_, n) => [`+1202555${1000 + n}`, 'SPAM\t1'])));
    const first = await write(plain, null);
    const path = store.path({ ...artefact, sha256: first.index.sha256, kind: 'index' });
    const { truncate } = await import('node:fs/promises');
    await truncate(path, first.index.bytes - 1);
    expect(await write(plain, first)).toMatchObject({ difference: null, rows: 50 });
    await rm(path);
    const third = await write(plain, first);
    expect(third).toMatchObject({ difference: null, rows: 50, file: first.file });
    expect(third.lost).toHaveLength(1);
  });

  it('refuses rows that do not ascend, and a last row without its end', async () => {
    for (const text of ['+12\tSPAM\t1\n+11\tSPAM\t1\n', '+12\tSPAM\t1\n+13\tSPAM\t1'])
      await expect(write(Buffer.from(text), null, 1)).rejects.toMatchObject({ code: 'rows_differ' });
  });
});
