import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { performSeveral } from '../../../../pipelines/audio/batches/perform-several.ts';

it('works on as many items at a time as it may, and on all of them', async () => {
  const done: number[] = [];
  let [now, most] = [0, 0];
  await performSeveral([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    most = Math.max(most, ++now);
    await sleep(2);
    now -= 1;
    done.push(item);
  });
  expect(most).toBe(3);
  expect(done.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

it('begins nothing after a failure, ends what is in hand, and throws the failure', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const run = performSeveral([1, 2, 3, 4], 2, async (item) => {
    begun.push(item);
    await sleep(item === 1 ? 1 : 10);
    if (item === 1) throw new Error('first');
    ended.push(item);
  });
  await expect(run).rejects.toThrow('first');
  expect([begun, ended]).toEqual([[1, 2], [2]]);
});
