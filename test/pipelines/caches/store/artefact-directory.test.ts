import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { StoredName } from '../../../../pipelines/caches/store/stored-name.ts';
import { useStore } from '../../../support/night.ts';

const store = await useStore();

async function keep(text: string): Promise<StoredName> {
  const name = { cache: 'phones', country: 'US', sha256: createHash('sha256').update(text).digest('hex') };
  const file = await store.start('build-1-1');
  await file.handle.writeFile(text);
  await file.keep(name);
  return name;
}

it('lists the files that are there, with their sizes', async () => {
  const name = await keep('rows');
  expect(await store.list()).toEqual([{ ...name, kind: 'artefact', bytes: 4 }]);
});

it('lists files while others are removed', async () => {
  const stays = await keep('rows');
  const names: StoredName[] = [];
  for (let n = 0; n < 200; n++) names.push(await keep(`rows ${n}`));
  let left = names.length;
  const removing = (async () => {
    for (const name of names) {
      await store.remove(name);
      left--;
    }
  })();
  while (left > 0) expect(await store.list()).toContainEqual({ ...stays, kind: 'artefact', bytes: 4 });
  await removing;
  expect(await store.list()).toHaveLength(1);
});
