import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BlockQueue, Backlog } from '../../../../pipelines/caches/build/block-queue.ts';
import type { SegmentBlock } from '../../../../pipelines/caches/format/segment-work.ts';

const MiB = 1024 * 1024;
const blockOf = (crc: number): SegmentBlock => ({
  deflated: Buffer.alloc(0),
  plainBytes: 0,
  crc,
  segments: [],
  delta: null,
});
/** A block that is ready after some milliseconds. */
const pending = (crc: number, { ms = 0, plainBytes = MiB } = {}) => ({
  block: sleep(ms).then(() => blockOf(crc)),
  plainBytes,
});

describe('the blocks of a build', () => {
  it('are written in the order of their parts, whichever is made first', async () => {
    const line = new BlockQueue(3);
    const written: number[] = [];
    const drained = line.drain(async ({ crc }) => void written.push(crc));
    const [one, other] = [new Backlog(), new Backlog()];
    await line.push(2, pending(5), one);
    line.complete(2);
    await line.push(1, pending(3, { ms: 30 }), other);
    await line.push(1, pending(4), other);
    line.complete(1);
    await line.push(0, pending(1, { ms: 20 }), one);
    await line.push(0, pending(2), one);
    expect(written).toEqual([]);
    line.complete(0);
    await drained;
    expect(written).toEqual([1, 2, 3, 4, 5]);
  });

  it('hold back a producer that is far ahead, until what is before them is written', async () => {
    const line = new BlockQueue(2);
    const drained = line.drain(async () => {});
    const ahead = new Backlog();
    let made = 0;
    const producing = (async () => {
      for (; made < 40; made++) await line.push(1, pending(made), ahead);
      line.complete(1);
    })();
    await sleep(50);
    expect(made).toBe(8);
    await line.push(0, pending(0), new Backlog());
    line.complete(0);
    await Promise.all([producing, drained]);
    expect(made).toBe(40);
    expect(ahead.plainBytes).toBe(0);
  });

  it('let a single block pass that is larger than all that may wait', async () => {
    const line = new BlockQueue(1);
    const drained = line.drain(async () => {});
    await line.push(0, pending(1, { plainBytes: 100 * MiB }), new Backlog());
    line.complete(0);
    await drained;
  });

  it('end the work of all with the error of one', async () => {
    const line = new BlockQueue(2);
    const cut = new Error('cut');
    const drained = line.drain(async () => {});
    const backlog = new Backlog();
    const held = line.push(1, pending(1, { plainBytes: 100 * MiB }), backlog);
    line.fail(cut);
    await expect(drained).rejects.toBe(cut);
    await expect(held).rejects.toBe(cut);
    await expect(line.push(1, pending(2), backlog)).rejects.toBe(cut);
    await line.whenIdle();
  });

  it('end with the error of a block, also one that fails before it is waited for', async () => {
    const line = new BlockQueue(1);
    const damaged = new Error('damaged');
    await line.push(0, { block: Promise.reject(damaged), plainBytes: 1 }, new Backlog());
    await sleep(10);
    await expect(line.drain(async () => {})).rejects.toBe(damaged);
  });
});
