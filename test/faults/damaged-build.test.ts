import { readFile, type FileHandle } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ArtefactStore, UnfinishedFile } from '../../pipelines/caches/store/artefact-store.ts';
import type { StoredName } from '../../pipelines/caches/store/stored-name.ts';
import { listPublications } from '../../pipelines/caches/publications.ts';
import { useTestDatabase } from '../support/database.ts';
import { outcomes, runWholeNight, useStore } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();
const only = 'phones/US';

type Damage = (file: UnfinishedFile, name: StoredName) => Promise<void>;

/** The store, with files that are damaged before they get their name. */
function damagingStore(before: Damage): ArtefactStore {
  return new Proxy(store, {
    get(target, key) {
      if (key !== 'start') {
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return async (owner: string): Promise<UnfinishedFile> => {
        const file = await target.start(owner);
        return {
          ...file,
          keep: async (name) => {
            await before(file, name);
            await file.keep(name);
          },
        };
      };
    },
  });
}

/** Turns over one bit of a byte. */
async function turnByte(handle: FileHandle, at: number): Promise<void> {
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, at);
  await handle.write(Buffer.from([byte[0]! ^ 0x10]), 0, 1, at);
}

const isKind = ({ kind = 'artefact' }: StoredName, expected: string) => kind === expected;

async function publishedLines(): Promise<number> {
  const { published } = (await listPublications(db)).find(({ cache }) => cache === 'phones')!;
  const plain = gunzipSync(
    await readFile(store.path({ cache: 'phones', country: 'US', sha256: published!.file.sha256 })),
  );
  return plain.toString().split('\n').length - 1;
}

beforeEach(async () => {
  await db.query('TRUNCATE phone_number, branded_number, publication, artefact_version, build, night_run CASCADE');
  await putNumbers(db, manyNumbers(300));
});

describe('a new file with one byte turned over', () => {
  it.each(['artefact', 'index'])('before its rename fails the build (%s), and nothing is published', async (kind) => {
    for (const at of [3, 40]) {
      const damaged = damagingStore(async (file, name) => {
        if (isKind(name, kind)) await turnByte(file.handle, at);
      });
      const report = await runWholeNight({ db, url, store: damaged, only });
      expect(report.artefacts[0]).toMatchObject({ outcome: 'failed', failure: { code: 'artefact_not_stored' } });
      expect((await listPublications(db)).filter(({ published }) => published !== null)).toEqual([]);
    }
    expect(outcomes(await runWholeNight({ db, url, store, only }))).toEqual({ 'phones/US': 'published' });
    expect(await publishedLines()).toBe(300);
  });

  it('in its delta is found before the delta is offered: the file is published without it', async () => {
    await runWholeNight({ db, url, store, only });
    await putNumbers(db, [{ phone: '+12029990000', name: 'New' }]);
    const damaged = damagingStore(async (file, name) => {
      if (isKind(name, 'delta')) await turnByte(file.handle, 12);
    });
    const report = await runWholeNight({ db, url, store: damaged, only });
    expect(outcomes(report)).toEqual({ 'phones/US': 'published' });
    expect((await listPublications(db)).find(({ cache }) => cache === 'phones')!.published!.deltas).toEqual([]);
    expect(await publishedLines()).toBe(301);
  });
});
