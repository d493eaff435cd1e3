import { expect, it } from 'vitest';
import { Turns } from '../../../console/http/turns.ts';

const refusal = { code: 'overloaded', operation: 'wait', problem: 'Others wait.' } as const;

/** Work that ends on command. */
function held(): { readonly work: () => Promise<void>; readonly end: () => void; readonly begun: () => boolean } {
  let [end, hasBegun] = [() => {}, false];
  const ended = new Promise<void>((resolve) => (end = resolve));
  const work = () => {
    hasBegun = true;
    return ended;
  };
  return { work, end, begun: () => hasBegun };
}

it('gives the turns in the order in which they were asked for, and refuses one that is too many', async () => {
  const turns = new Turns({ runningMax: 1, waitingMax: 2, refusal });
  const [first, second, third] = [held(), held(), held()];
  const all = [first, second, third].map(({ work }) => turns.take(work));
  await expect(turns.take(async () => {})).rejects.toMatchObject({ code: 'overloaded' });
  first.end();
  await all[0];
  expect([second.begun(), third.begun()]).toEqual([true, false]);
  second.end();
  third.end();
  await Promise.all(all);
  await expect(turns.take(async () => 'free')).resolves.toBe('free');
});

it('does not do the work of one who has left while it waited, and gives its place to another', async () => {
  const turns = new Turns({ runningMax: 1, waitingMax: 1, refusal });
  const [first, left, next] = [held(), held(), held()];
  const leaving = new AbortController();
  const running = turns.take(first.work);
  const waiting = turns.take(left.work, leaving.signal);
  leaving.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  await expect(turns.take(left.work, leaving.signal)).rejects.toThrow('left');
  const after = turns.take(next.work);
  first.end();
  await running;
  next.end();
  await after;
  expect([left.begun(), next.begun()]).toEqual([false, true]);
});
