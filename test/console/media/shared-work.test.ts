import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SharedWork } from '../../../console/media/shared-work.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work that ends on command, and what was released. */
function useWork({ keptMax = 3, idleMs }: { keptMax?: number; idleMs?: number } = {}) {
  const stopping = new AbortController();
  const gone: string[] = [];
  const begun: string[] = [];
  const given: string[] = [];
  const shared = new SharedWork<string>({
    signal: stopping.signal,
    keptMax,
    onGone: (result) => gone.push(result),
    ...(idleMs === undefined ? {} : { idleMs }),
  });
  const ends = new Map<string, (result: string) => void>();
  const take = (key: string, signal: AbortSignal) =>
    shared.take(key, signal, (left) => {
      begun.push(key);
      left.addEventListener('abort', () => given.push(key));
      return new Promise((resolve, reject) => {
        ends.set(key, resolve);
        left.addEventListener('abort', () => reject(left.reason as Error));
      });
    });
  const taken = async (key: string): Promise<AbortController> => {
    const user = new AbortController();
    const result = take(key, user.signal);
    ends.get(key)!(key);
    await result;
    return user;
  };
  return { shared, stopping, gone, begun, given, take, taken };
}

const user = () => new AbortController();

describe('work that several ask for', () => {
  it('is done once, and again when its result was released', async () => {
    const { shared, begun, taken } = useWork();
    const [first, second] = [await taken('a'), await taken('a')];
    expect(begun).toEqual(['a']);
    first.abort();
    second.abort();
    shared.forget('a');
    await taken('a');
    expect(begun).toEqual(['a', 'a']);
  });

  it('ends when the last who waits has left, and not before', async () => {
    const { take, given } = useWork();
    const [first, second] = [user(), user()];
    const results = [take('a', first.signal), take('a', second.signal)];
    const refused = Promise.all(results.map((each) => expect(each).rejects.toThrow('left')));
    first.abort(new Error('left'));
    expect(given).toEqual([]);
    second.abort(new Error('left'));
    await refused;
    expect(given).toEqual(['a']);
  });

  it('is not done for who has left already', async () => {
    const { take, given } = useWork();
    const left = user();
    left.abort(new Error('left'));
    await expect(take('a', left.signal)).rejects.toThrow('left');
    expect(given).toEqual(['a']);
  });

  it('that failed is tried again', async () => {
    const { shared, begun, taken } = useWork();
    await expect(shared.take('a', user().signal, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await taken('a');
    expect(begun).toEqual(['a']);
  });
});

describe('a result', () => {
  it('that is let go of is gone when its last user has left', async () => {
    const { shared, gone, taken } = useWork();
    const [first, second] = [await taken('a'), await taken('a')];
    shared.forget('a');
    first.abort();
    expect(gone).toEqual([]);
    second.abort();
    expect(gone).toEqual(['a']);
  });

  it('is let go of where there is more than may be kept, the one used first before others', async () => {
    const { gone, taken } = useWork({ keptMax: 2 });
    for (const key of ['a', 'b', 'a']) (await taken(key)).abort();
    expect(gone).toEqual([]);
    (await taken('c')).abort();
    expect(gone).toEqual(['b']);
  });

  it('is kept without a user for its time, and not a moment longer', async () => {
    const { gone, taken } = useWork({ idleMs: 1000 });
    (await taken('a')).abort();
    vi.advanceTimersByTime(999);
    const again = await taken('a');
    vi.advanceTimersByTime(5000);
    expect(gone).toEqual([]);
    again.abort();
    vi.advanceTimersByTime(999);
    expect(gone).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(gone).toEqual(['a']);
  });

  it('makes room where it is asked to, if nobody uses it', async () => {
    const { shared, gone, taken } = useWork();
    const used = await taken('a');
    (await taken('b')).abort();
    (await taken('c')).abort();
    expect([shared.forgetOldestUnused(), gone]).toEqual([true, ['b']]);
    expect([shared.forgetOldestUnused(), gone]).toEqual([true, ['b', 'c']]);
    expect([shared.forgetOldestUnused(), gone]).toEqual([false, ['b', 'c']]);
    used.abort();
  });

  it('is not kept by a process that stops', async () => {
    const { stopping, gone, taken } = useWork();
    const used = await taken('a');
    (await taken('b')).abort();
    stopping.abort();
    expect(gone).toEqual(['b']);
    used.abort();
    expect(gone).toEqual(['b', 'a']);
  });
});
