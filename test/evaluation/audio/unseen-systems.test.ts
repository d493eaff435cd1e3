import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeUnseenSystems, readUnseenSystems } from '../../../evaluation/audio/unseen-systems.ts';
import { loadShippedRegistry } from '../../../pipelines/audio/models/registry.ts';
import { useFolder } from '../../support/recording-batch.ts';

const folder = await useFolder('unseen-systems');

it('every default has figures on systems never seen, shortest recordings first, of at most 5 % of genuine speech called attacks', async () => {
  const registry = await loadShippedRegistry();
  for (const family of ['phone', 'digital'] as const) {
    const figures = await readUnseenSystems(registry.defaultOf(family)!.directory!);
    expect(figures.map(({ seconds }) => seconds)).toEqual([3, 10]);
    for (const { genuineCalledAttacks, attacksMissed, equalError } of figures) {
      expect(genuineCalledAttacks.rate).toBeLessThanOrEqual(0.05);
      expect(equalError.interval.low).toBeLessThanOrEqual(equalError.rate);
      expect(attacksMissed.rate).toBeGreaterThan(0.5);
    }
  }
});

it('are given in two sentences, with those of chance', async () => {
  const share = (rate: number) => ({ rate, interval: { low: rate, high: rate } });
  const counts = { systems: 118, families: 21, genuine: 433, genuineSpeakers: 129, synthetic: 1679 };
  const figures = [3, 10].map((seconds) => ({
    ...counts,
    seconds,
    equalError: share(0.503),
    attacksMissed: share(0.971),
    genuineCalledAttacks: share(0.015),
  }));
  expect(describeUnseenSystems('phone/v8.2', figures.slice(0, 1))).toBe(
    'What the synthesis score of phone/v8.2 is worth on 118 synthesizers that it never saw: at 3 s 3 % of those recordings are called attacks, and 2 % of genuine ones (EER 50 %; 50 % is chance). Its card has which kinds it finds and which not.',
  );
  expect(describeUnseenSystems('phone/v8.2', figures)).toContain('; at 10 s 3 % of those');
  expect(describeUnseenSystems('phone/v8.2', [])).toBe('');
});

it('are none where a model has no such file, and a file of another form is refused', async () => {
  const [none, other] = [join(folder, 'none'), join(folder, 'other')];
  await Promise.all([none, other].map((each) => mkdir(each)));
  await writeFile(join(other, 'unseen-systems.json'), '{"schema": "unseen-systems/2"}');
  expect(await readUnseenSystems(none)).toEqual([]);
  await expect(readUnseenSystems(other)).rejects.toThrow('unseen-systems/1');
});
