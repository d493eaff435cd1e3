import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { becomeHolder, endHolder, holderLives, silentMs } from '../../../../pipelines/audio/streaming/stream-holder.ts';

/** When a process was started (proc_pid_stat(5)), of one whose name has no blanks. */
const startOf = async (pid: number) => (await readFile(`/proc/${pid}/stat`, 'latin1')).split(' ')[21]!;

describe('a holder', () => {
  it('of this process lives until it ends', async () => {
    const holder = await becomeHolder();
    expect(await holderLives(holder, 0)).toBe(true);
    expect(await holderLives({ ...holder, token: 'of a process before that had the same id' }, Date.now())).toBe(false);
    endHolder(holder);
    expect(await holderLives(holder, Date.now())).toBe(false);
  });

  it.runIf(process.platform === 'linux')(
    'of another process lives while that does, and not when its id is given again',
    async () => {
      const child = spawn('sleep', ['100']);
      await once(child, 'spawn');
      const holder = { ...(await becomeHolder()), token: 'other', pid: child.pid!, started: await startOf(child.pid!) };
      expect(await holderLives(holder, 0)).toBe(true);
      expect(await holderLives({ ...holder, started: '1' }, Date.now())).toBe(false);
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect(await holderLives(holder, Date.now())).toBe(false);
    },
  );

  it.runIf(process.platform === 'linux')('that is elsewhere lives while it touches its streams', async () => {
    const holder = { ...(await becomeHolder()), place: 'another container' };
    expect(await holderLives(holder, Date.now() - silentMs / 2)).toBe(true);
    expect(await holderLives(holder, Date.now() - silentMs * 2)).toBe(false);
  });
});
