import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { networkIsolation, SandboxedChild, type SandboxLimits } from '../../../runtime/processes/sandboxed-child.ts';

const run = promisify(execFile);
const mib = 1024 * 1024;
const roomy: SandboxLimits = { memoryBytesMax: 512 * mib, dataBytesMax: 512 * mib };
const children: SandboxedChild[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) await child.end();
});

async function start(module: string, limits = roomy): Promise<SandboxedChild> {
  const child = await SandboxedChild.start(
    { module, stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'json', heapMib: 64 },
    limits,
  );
  children.push(child);
  return child;
}

/** One that waits for messages: the process that scores streams. */
async function startIdle(limits = roomy): Promise<SandboxedChild> {
  const child = await start('pipelines/audio/streaming/stream-scorer-child', limits);
  void once(child.process, 'message').then(
    () => child.markReady(),
    () => {},
  );
  return child;
}

const never = new Promise<never>(() => {});

describe('a sandboxed child', () => {
  it('that does not start is reported with what it printed, and is gone', async () => {
    const child = await start('runtime/no-such-module');
    await expect(child.untilReady()).rejects.toMatchObject({
      kind: 'start',
      message: expect.stringContaining('Cannot find module') as string,
    });
    expect(await child.exited).toBe(1);
  });

  it('is killed beyond its time', async () => {
    const child = await startIdle();
    await child.untilReady();
    await expect(child.supervise(Promise.race([never, child.failed]), { secondsMax: 0.2 })).rejects.toMatchObject({
      kind: 'time',
    });
    expect(child.isAlive).toBe(false);
    expect(child.process.signalCode).toBe('SIGKILL');
  });

  it('is killed beyond its memory', async () => {
    if (process.platform !== 'linux') return;
    const watched = await startIdle({ ...roomy, memoryBytesMax: 20 * mib });
    await expect(watched.untilReady()).rejects.toMatchObject({ kind: 'start', cause: { kind: 'memory' } });
    expect(watched.peakBytes).toBeGreaterThan(20 * mib);
  });

  it('may write the data of its limit and no more, whatever this version of Node reserves', async () => {
    if (process.platform !== 'linux') return;
    const child = await start('test/runtime/processes/writing-program', { ...roomy, dataBytesMax: 256 * mib });
    const write = async (bytes: number) => {
      child.process.send({ bytes });
      const [answer] = (await once(child.process, 'message')) as [string];
      return answer;
    };
    expect(await write(150 * mib)).toBe('written');
    expect(await write(256 * mib)).toBe('refused');
    expect(await write(1 * mib)).toBe('written');
  });

  it('is killed when its work is cancelled', async () => {
    const child = await startIdle();
    await child.untilReady();
    const controller = new AbortController();
    const work = child.supervise(Promise.race([never, child.failed]), { secondsMax: 60, signal: controller.signal });
    controller.abort();
    await expect(work).rejects.toMatchObject({ kind: 'cancelled' });
  });

  it('that died has the first failure, and supervision of its work ends', async () => {
    const child = await startIdle();
    await child.untilReady();
    const work = child.supervise(Promise.race([never, child.failed]), { secondsMax: 60 });
    process.kill(child.pid!, 'SIGSEGV');
    await expect(work).rejects.toMatchObject({ kind: 'exit', message: 'The process ended with SIGSEGV.' });
    child.fail('protocol', 'late');
    expect(child.failure!.kind).toBe('exit');
  });

  it('whose work ended in time continues without a limit', async () => {
    const child = await startIdle();
    await child.untilReady();
    expect(await child.supervise(Promise.resolve('done'), { secondsMax: 0.05 })).toBe('done');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(child.isAlive).toBe(true);
  });
});

describe('the network of a child', () => {
  it('is empty where the system allows it, which is probed once', async () => {
    const words = await networkIsolation();
    expect(await networkIsolation()).toBe(words);
    if (words.length === 0) return;
    const { stdout } = await run(words[0]!, [...words.slice(1), '/bin/sh', '-c', 'cat /proc/net/dev']);
    expect(
      stdout
        .split('\n')
        .filter((line) => line.includes(':'))
        .map((line) => line.trim().split(':')[0]),
    ).toEqual(['lo']);
  });
});
