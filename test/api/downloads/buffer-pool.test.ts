import { expect, it } from 'vitest';
import { BufferPool, type PooledBuffer } from '../../../api/downloads/buffer-pool.ts';
import { SharedFile } from '../../../api/downloads/shared-file.ts';
import type { StoredFile } from '../../../pipelines/caches/store/stored-file.ts';

const file = new SharedFile({} as StoredFile);
const take = (pool: BufferPool) => pool.take() as PooledBuffer;
const sent = { sent: true };

/** Borrows a buffer, shares it as the page from `start` and gives it back. */
function keepPage(pool: BufferPool, start: number): PooledBuffer {
  const buffer = take(pool);
  pool.share(buffer, { file, start, bytes: pool.bufferBytes });
  pool.giveBack(buffer, sent);
  return buffer;
}

it('lends as many buffers as the limit, and one more when one comes back, in the order of asking', async () => {
  const pool = new BufferPool({ bufferBytes: 16, buffersMax: 2 });
  const [first, second] = [take(pool), take(pool)];
  const served: string[] = [];
  const waiting = ['a', 'b', 'c'].map(async (name) => {
    const buffer = await pool.take();
    served.push(name);
    return buffer;
  });
  await Promise.resolve();
  expect({ served, borrowed: pool.borrowed }).toEqual({ served: [], borrowed: 2 });
  pool.giveBack(first, sent);
  expect(await waiting[0]).toBe(first);
  expect(served).toEqual(['a']);
  pool.giveBack(second, sent);
  pool.giveBack(first, sent);
  await Promise.all(waiting);
  expect({ served, borrowed: pool.borrowed }).toEqual({ served: ['a', 'b', 'c'], borrowed: 2 });
  pool.giveBack(second, sent);
  pool.giveBack(first, sent);
  expect(pool.borrowed).toBe(0);
  expect(pool.take()).toBe(first);
});

it('replaces a buffer whose write was not confirmed, and never lends it again', async () => {
  const pool = new BufferPool({ bufferBytes: 16, buffersMax: 1 });
  const lost = take(pool);
  const next = pool.take();
  pool.giveBack(lost, { sent: false });
  const buffer = await next;
  expect(buffer).not.toBe(lost);
  expect(buffer.memory).toHaveLength(16);
  pool.giveBack(buffer, { sent: false });
  expect(pool.borrowed).toBe(0);
  expect([lost, buffer]).not.toContain(pool.take());
});

it('lets several downloads borrow the buffer of one page, and counts it once', () => {
  const pool = new BufferPool({ bufferBytes: 16, buffersMax: 4 });
  const buffer = take(pool);
  expect(pool.find(file, 32)).toBeUndefined();
  pool.share(buffer, { file, start: 32, bytes: 16 });
  expect(pool.find(file, 32)).toBe(buffer);
  expect(pool.find(file, 16)).toBeUndefined();
  expect(pool.find(new SharedFile({} as StoredFile), 32)).toBeUndefined();
  expect(pool.borrowed).toBe(1);
  pool.giveBack(buffer, sent);
  expect(pool.borrowed).toBe(1);
  pool.giveBack(buffer, sent);
  expect(pool.borrowed).toBe(0);
  expect(pool.find(file, 32)).toBe(buffer);
});

it('never overwrites a page while one of its writes is not confirmed', () => {
  const pool = new BufferPool({ bufferBytes: 16, buffersMax: 1 });
  const buffer = take(pool);
  pool.share(buffer, { file, start: 0, bytes: 16 });
  pool.find(file, 0);
  pool.giveBack(buffer, { sent: false });
  pool.giveBack(buffer, sent);
  expect(pool.find(file, 0)).toBeUndefined();
  expect(pool.take()).not.toBe(buffer);
});

it('keeps pages in a quarter of its buffers, and forgets the one that was not used for the longest time', () => {
  const pool = new BufferPool({ bufferBytes: 16, buffersMax: 8 });
  const [first, second] = [keepPage(pool, 0), keepPage(pool, 16)];
  pool.giveBack(pool.find(file, 0)!, sent);
  expect(keepPage(pool, 32)).toBe(second);
  expect(pool.find(file, 0)).toBe(first);
  expect(pool.find(file, 16)).toBeUndefined();
  expect(pool.find(file, 32)).toBe(second);
});

it('lends all of its buffers although some hold pages', () => {
  const pool = new BufferPool({ bufferBytes: 16, buffersMax: 8 });
  keepPage(pool, 0);
  keepPage(pool, 16);
  const lent = new Set(Array.from({ length: 8 }, () => pool.take()));
  expect([...lent].every((buffer) => !(buffer instanceof Promise))).toBe(true);
  expect(lent.size).toBe(8);
  expect(pool.take()).toBeInstanceOf(Promise);
});
