import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ArtefactDirectory } from '../../../../pipelines/caches/store/artefact-directory.ts';
import { applyDeltaFile } from '../../../../clients/typescript/files/apply-delta-file.ts';
import { keepDeltas } from '../../../../pipelines/caches/artefact/delta-files.ts';
import { isServiceError } from '../../../../runtime/errors.ts';
import { inventedRows, storeArtefact, type StoredArtefact } from '../../../support/segmented-artefacts.ts';

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

interface Version {
  readonly plain: Buffer;
  readonly stored: StoredArtefact;
}

/** Stores each plain text as the version after the one before. */
async function publishAll(plains: readonly Buffer[], segmentRowsMax = 100): Promise<Version[]> {
  const versions: Version[] = [];
  for (const [at, plain] of plains.entries()) {
    const last = versions.at(-1)?.stored;
    const before = last && { ...last, version: at };
    versions.push({ plain, stored: await storeArtefact(store, artefact, { plain, segmentRowsMax, before }) });
  }
  return versions;
}

async function apply(from: Version, delta: { sha256: string }, to?: Version): Promise<Buffer> {
  const outputPath = join(directory, 'new.tsv.gz');
  await applyDeltaFile({
    oldPath: artefactPath(from.stored),
    deltaPath: path(delta),
    outputPath,
    plainSha256: to?.stored.file.plainSha256,
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
      expect(last.stored.deltas.map(({ from }) => from)).toEqual(
        versions
          .slice(0, -1)
          .map((_, at) => at + 1)
          .reverse(),
      );
      for (const delta of last.stored.deltas) {
        const applied = await apply(versions[delta.from - 1]!, delta, last);
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

  it('are left out where one is missing or damaged: clients of that version take the whole file', async () => {
    const plains = [inventedRows(200), inventedRows(210), inventedRows(220), inventedRows(230)];
    const last = (await publishAll(plains)).at(-1)!;
    const [, fromTwo, fromOne] = last.stored.deltas;
    await rm(path(fromTwo!));
    const bytes = await readFile(path(fromOne!));
    bytes[bytes.length >> 1]! ^= 0x10;
    await writeFile(path(fromOne!), bytes);
    const lost: number[] = [];
    const onLost = (from: number) => void lost.push(from);

    const before = { ...last.stored, version: 4 };
    const next = await storeArtefact(store, artefact, {
      plain: inventedRows(240),
      segmentRowsMax: 100,
      before,
      onLost,
    });
    expect(next.deltas.map(({ from }) => from)).toEqual([4, 3]);
    expect(lost.sort()).toEqual([1, 2]);
    lost.length = 0;
    expect(await keepDeltas({ store, artefact, owner: 'test', onLost }, last.stored.deltas)).toEqual([
      last.stored.deltas[0],
    ]);
    expect(lost.sort()).toEqual([1, 2]);
    expect(await store.listUnfinished()).toEqual([]);
  });

  it('lead to and from a file without rows', async () => {
    const versions = await publishAll([inventedRows(120), Buffer.alloc(0), inventedRows(120)]);
    expect(versions[1]!.stored.deltas).toMatchObject([{ from: 1, added: 0, changed: 0, removed: 120 }]);
    expect(versions[2]!.stored.deltas).toMatchObject([
      { from: 2, added: 120, changed: 0, removed: 0 },
      { from: 1, added: 120, changed: 0, removed: 120 },
    ]);
    expect((await apply(versions[0]!, versions[2]!.stored.deltas[1]!)).equals(versions[2]!.plain)).toBe(true);
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
    const chain = last.stored.deltas.find(({ from }) => from === 1)!;
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
    expect((await apply(first, chain, last)).equals(last.plain)).toBe(true);
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
    const delta = fresh.stored.deltas[0]!;
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
    const whole = await readFile(path(fresh.stored.deltas[0]!));
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
    expect(await refusal(apply(versions[0]!, versions[2]!.stored.deltas[0]!, versions[2]!))).toBe('delta_invalid');
    expect(await refusal(apply(versions[1]!, versions[2]!.stored.deltas[0]!, versions[0]!))).toBe('delta_invalid');
    expect((await readdir(store.directory)).includes('unfinished')).toBe(true);
  });
});
