import { expect, it } from 'vitest';
import { BufferPool } from '../../../api/downloads/buffer-pool.ts';

it('lends as many buffers as the limit, and one more when one comes back, in the order of asking', async () => {
  const pool = new BufferPool({ bufferBytes: 16, buffersMax: 2 });
  const [first, second] = [pool.take() as Buffer, pool.take() as Buffer];
  const served: string[] = [];
  const waiting = ['a', 'b', 'c'].map(async (name) => {
    const buffer = await pool.take();
    served.push(name);
    return buffer;
  });
  await Promise.resolve();
  expect({ served, borrowed: pool.borrowed }).toEqual({ served: [], borrowed: 2 });
  pool.giveBack(first);
  expect(await waiting[0]).toBe(first);
  expect(served).toEqual(['a']);
  pool.giveBack(second);
  pool.giveBack(first);
  await Promise.all(waiting);
  expect({ served, borrowed: pool.borrowed }).toEqual({ served: ['a', 'b', 'c'], borrowed: 2 });
  pool.giveBack(second);
  pool.giveBack(first);
  expect(pool.borrowed).toBe(0);
  expect(pool.take()).toBe(first);
});

it('replaces a buffer that was abandoned, and never lends it again', async () => {
  const pool = new BufferPool({ bufferBytes: 16, buffersMax: 1 });
  const lost = pool.take();
  const next = pool.take();
  pool.abandon();
  const buffer = await next;
  expect(buffer).not.toBe(lost);
  expect(buffer).toHaveLength(16);
  pool.abandon();
  expect(pool.borrowed).toBe(0);
  expect(pool.take()).not.toBe(lost);
});
