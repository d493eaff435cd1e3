import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ArtefactDirectory } from '../../../../pipelines/caches/store/artefact-directory.ts';
import type { ArtefactFile } from '../../../../pipelines/caches/artefact-facts.ts';
import { applyDeltaFile } from '../../../../clients/typescript/files/apply-delta-file.ts';
import { contentOf } from '../../../../clients/typescript/service/manifest.ts';
import { checkDeltas, compareFiles } from '../../../../pipelines/caches/build/delta-files.ts';
import type { StoredDelta } from '../../../../pipelines/caches/artefact-facts.ts';
import { isServiceError } from '../../../../runtime/errors.ts';
import {
  deltasBetween,
  indexed,
  inventedRows,
  storeArtefact,
  type StoredArtefact,
} from '../../../support/segmented-artefacts.ts';

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-deltas-'));
const store = new ArtefactDirectory(join(directory, 'store'));
afterAll(() => rm(directory, { recursive: true }));

const artefact = { cache: 'spammer_phones', country: '' } as const;
const path = (delta: { sha256: string }) => store.path({ ...artefact, sha256: delta.sha256, kind: 'delta' });
const artefactPath = (stored: StoredArtefact) => store.path({ ...artefact, sha256: stored.file.sha256 });
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: unknown) => (isServiceError(error) ? error.code : error),
  );

const place = { store, artefact, owner: 'test' };

interface Version {
  readonly plain: Buffer;
  readonly stored: StoredArtefact;
  readonly deltas: readonly StoredDelta[];
}

/** Stores each plain text as the version after the one before. */
async function publishAll(plains: readonly Buffer[], segmentRowsMax = 100): Promise<Version[]> {
  const versions: Version[] = [];
  for (const [at, plain] of plains.entries()) {
    const stored = await storeArtefact(store, artefact, { plain, segmentRowsMax });
    const before = versions.at(-1);
    const deltas =
      before === undefined
        ? []
        : await deltasBetween(
            place,
            { version: at, ...indexed(before.stored) },
            { built: indexed(stored), earlier: before.deltas },
          );
    versions.push({ plain, stored, deltas });
  }
  return versions;
}

async function apply(from: Version, delta: { sha256: string }, to?: ArtefactFile): Promise<Buffer> {
  const outputPath = join(directory, 'new.tsv.gz');
  await applyDeltaFile({
    oldPath: artefactPath(from.stored),
    deltaPath: path(delta),
    outputPath,
    expected: to && contentOf(to),
  });
  return gunzipSync(await readFile(outputPath));
}

describe('the deltas of a version', () => {
  it('lead from every version before to exactly its rows, newest first, whatever changed', async () => {
    const seeds = fc.sample(
      fc.array(
        fc.record({
          every: fc.integer({ min: 1, max: 400 }),
          kind: fc.constantFrom('change', 'remove', 'grow', 'clear', 'keep a tenth'),
        }),
        { minLength: 6, maxLength: 6 },
      ),
      { numRuns: 6, seed: 7 },
    );
    for (const [run, history] of seeds.entries()) {
      const plains = history
        .map(({ every, kind }, at) =>
          inventedRows(kind === 'grow' ? 4000 : 1500, (n) => {
            if (kind === 'clear' || (kind === 'keep a tenth' && n % 10 !== 0)) return null;
            return n % every !== 0 ? 'SPAM\t1' : kind === 'remove' ? null : `FRAUD\t${7 + ((at + run) % 4)}`;
          }),
        )
        .filter((plain, at, all) => at === 0 || !plain.equals(all[at - 1]!));
      const versions = await publishAll(plains);
      const last = versions.at(-1)!;
      expect(last.deltas.map(({ from }) => from)).toEqual(
        versions
          .slice(0, -1)
          .map((_, at) => at + 1)
          .reverse(),
      );
      for (const delta of last.deltas) {
        const applied = await apply(versions[delta.from - 1]!, delta, last.stored.file);
        expect(applied.equals(last.plain)).toBe(true);
        const bytes = await readFile(path(delta));
        expect({ sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }).toEqual({
          sha256: delta.sha256,
          bytes: delta.bytes,
        });
        expect(gunzipSync(bytes).toString().split('\n').length - 1).toBe(delta.added + delta.changed + delta.removed);
      }
    }
  });

  it('are made of the segments that differ alone: damage in the others is not met', async () => {
    const before = inventedRows(3000);
    const [old, fresh] = [
      await storeArtefact(store, artefact, { plain: before, segmentRowsMax: 100 }),
      await storeArtefact(store, artefact, {
        plain: inventedRows(3000, (n) => (n === 2900 ? 'FRAUD\t7' : `SPAM\t${1 + (n % 5)}`)),
        segmentRowsMax: 100,
      }),
    ];
    expect(old.segments.length).toBeGreaterThan(20);
    for (const [at, stored] of [old, fresh].entries()) {
      const bytes = await readFile(artefactPath(stored));
      bytes.fill(0xff - at, stored.segments[3]!.offset, stored.segments[3]!.offset + 20);
      await writeFile(artefactPath(stored), bytes);
    }
    const delta = await compareFiles(place, { version: 4, ...indexed(old) }, indexed(fresh));
    expect(delta).toMatchObject({ from: 4, added: 0, changed: 1, removed: 0 });
    expect(await store.listUnfinished()).toEqual([]);
  });

  it('are not published where they do not give the new rows', async () => {
    const old = await storeArtefact(store, artefact, { plain: inventedRows(300), segmentRowsMax: 50 });
    const fresh = await storeArtefact(store, artefact, { plain: inventedRows(301), segmentRowsMax: 50 });
    const lying = {
      sha256: fresh.file.sha256,
      segments: fresh.segments.map((segment) => ({ ...segment, crc: segment.crc ^ 1 })),
    };
    expect(await refusal(compareFiles(place, { version: 1, ...indexed(old) }, lying))).toBe('segment_index_invalid');
    expect(await store.listUnfinished()).toEqual([]);
  });

  it('are made again where one is missing or damaged, or left out if the file it leads from is lost too', async () => {
    const versions = await publishAll([inventedRows(200), inventedRows(210), inventedRows(220), inventedRows(230)]);
    const [, second, third, last] = versions as [Version, Version, Version, Version];
    const [fromThree, fromTwo, fromOne] = last.deltas;
    const damage = async (target: string, at?: number) => {
      const bytes = await readFile(target);
      bytes[at ?? bytes.length >> 1]! ^= 0x10;
      await writeFile(target, bytes);
    };
    const next = await storeArtefact(store, artefact, { plain: inventedRows(240), segmentRowsMax: 100 });
    const lost: number[] = [];
    const watched = {
      ...place,
      onLost: async (from: number) => {
        lost.push(from);
        return from === 1 ? undefined : indexed(versions[from - 1]!.stored);
      },
    };
    await rm(path(fromTwo!));
    await damage(path(fromOne!));
    const written = await deltasBetween(
      watched,
      { version: 4, ...indexed(last.stored) },
      { built: indexed(next), earlier: last.deltas },
    );
    expect(written.map(({ from }) => from)).toEqual([4, 3, 2]);
    expect(lost.sort()).toEqual([1, 2]);
    expect((await apply(second, written[2]!, next.file)).equals(inventedRows(240))).toBe(true);
    expect((await apply(third, written[1]!, next.file)).equals(inventedRows(240))).toBe(true);

    lost.length = 0;
    const kept = await checkDeltas({ ...watched, deltas: last.deltas, built: indexed(last.stored) });
    expect(lost.sort()).toEqual([1, 2]);
    expect(kept).toEqual([
      fromThree,
      { ...fromTwo, sha256: expect.any(String) as string, bytes: expect.any(Number) as number },
    ]);
    expect((await apply(second, kept[1]!, last.stored.file)).equals(last.plain)).toBe(true);
    expect(await checkDeltas({ ...watched, deltas: kept, built: indexed(last.stored) })).toEqual(kept);

    await damage(path(kept[1]!));
    await damage(artefactPath(second.stored), second.stored.segments.at(-1)!.offset + 2); // the new rows are there
    expect(await checkDeltas({ ...watched, deltas: kept, built: indexed(last.stored) })).toEqual([fromThree]);
    expect(await store.listUnfinished()).toEqual([]);
  });

  it('lead to and from a file without rows', async () => {
    const versions = await publishAll([inventedRows(120), Buffer.alloc(0), inventedRows(120)]);
    expect(versions[1]!.deltas).toMatchObject([{ from: 1, added: 0, changed: 0, removed: 120 }]);
    expect(versions[2]!.deltas).toMatchObject([
      { from: 2, added: 120, changed: 0, removed: 0 },
      { from: 1, added: 120, changed: 0, removed: 120 },
    ]);
    expect((await apply(versions[0]!, versions[2]!.deltas[1]!)).equals(versions[2]!.plain)).toBe(true);
  });
});

/** What this process has open of the files of tests, and of temporary ones. */
async function openFiles(): Promise<string[]> {
  const targets = await Promise.all(
    (await readdir('/proc/self/fd')).map((descriptor) => readlink(join('/proc/self/fd', descriptor)).catch(() => '')),
  );
  return targets.filter((target) => target.startsWith(`${tmpdir()}/`));
}

describe('a delta over several versions', () => {
  it('leaves no file open and no step behind, where it is applied and where it is refused', async () => {
    // Steps longer than what is read of a file at once, so that none is read to its end before the refusal.
    const versions = await publishAll(
      [0, 1, 2, 3].map((turn) => inventedRows(9000, (n) => ((n + turn) % 2 === 0 ? null : `SPAM\t${turn + 1}`))),
      1000,
    );
    const [first, second, , last] = versions as [Version, Version, Version, Version];
    const chain = last.deltas.find(({ from }) => from === 1)!;
    const outputPath = join(directory, 'chained.tsv.gz');
    const openBefore = await openFiles();
    for (let time = 0; time < 5; time++) {
      expect(
        await refusal(applyDeltaFile({ oldPath: artefactPath(second.stored), deltaPath: path(chain), outputPath })),
      ).toBe('delta_invalid');
      expect(await refusal(applyDeltaFile({ oldPath: path(chain), deltaPath: path(chain), outputPath }))).toBe(
        'delta_invalid',
      );
      expect(
        await refusal(applyDeltaFile({ oldPath: join(directory, 'missing'), deltaPath: path(chain), outputPath })),
      ).toMatchObject({ code: 'ENOENT' });
    }
    expect((await apply(first, chain, last.stored.file)).equals(last.plain)).toBe(true);
    await expect.poll(openFiles).toEqual(openBefore);
    expect((await readdir(directory)).filter((name) => name.startsWith('.steps-'))).toEqual([]);
  });
});

describe('a delta with a flipped byte', () => {
  it('is refused wherever it is, but for bits between blocks that carry nothing', async () => {
    const [old, fresh] = (await publishAll([
      inventedRows(60),
      inventedRows(60, (n) => (n % 7 === 0 ? null : `FRAUD\t${7 + (n % 3)}`)),
    ])) as [Version, Version];
    const delta = fresh.deltas[0]!;
    const whole = await readFile(path(delta));
    const [deltaPath, outputPath] = [join(directory, 'flipped.gz'), join(directory, 'flipped-new.gz')];
    let carriesNothing = 0;
    for (let at = 0; at < whole.length; at++) {
      for (const bit of [0, 3, 7]) {
        const flipped = Buffer.from(whole);
        flipped[at]! ^= 1 << bit;
        await writeFile(deltaPath, flipped);
        const outcome = await refusal(applyDeltaFile({ oldPath: artefactPath(old.stored), deltaPath, outputPath }));
        if (outcome === 'nothing') {
          carriesNothing++;
          expect(gunzipSync(await readFile(outputPath)).equals(fresh.plain)).toBe(true);
        } else expect(outcome).toBe('delta_invalid');
      }
    }
    expect(carriesNothing).toBeLessThanOrEqual(6); // two bytes at most: the bits that fill up the full flush
  });

  it('is refused where it is cut off, or something is behind it', async () => {
    const [old, fresh] = (await publishAll([inventedRows(60), inventedRows(50)])) as [Version, Version];
    const whole = await readFile(path(fresh.deltas[0]!));
    const [deltaPath, outputPath] = [join(directory, 'cut.gz'), join(directory, 'cut-new.gz')];
    const variants = [
      ...Array.from({ length: whole.length }, (_, bytes) => whole.subarray(0, bytes)),
      Buffer.concat([whole, Buffer.of(0)]),
      Buffer.concat([whole, Buffer.from('x')]),
      Buffer.concat([whole, whole]),
    ];
    for (const variant of variants) {
      await writeFile(deltaPath, variant);
      expect(await refusal(applyDeltaFile({ oldPath: artefactPath(old.stored), deltaPath, outputPath }))).toBe(
        'delta_invalid',
      );
    }
  });

  it('does not make another version of the wrong file', async () => {
    const versions = await publishAll([inventedRows(90), inventedRows(95), inventedRows(100, () => 'SPAM\t9')]);
    expect(await refusal(apply(versions[0]!, versions[2]!.deltas[0]!, versions[2]!.stored.file))).toBe('delta_invalid');
    expect(await refusal(apply(versions[1]!, versions[2]!.deltas[0]!, versions[0]!.stored.file))).toBe('delta_invalid');
    expect((await readdir(store.directory)).includes('unfinished')).toBe(true);
  });
});
