import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isProcessAlive } from '../../runtime/files/file-lock.mjs';
import { useFolder } from './recording-batch.ts';
import { listTemporaryFiles, RunWatch } from './run-watch.ts';
import { until } from './service-process.ts';

const directory = await useFolder('watch');

/** Starts a program that reads from this test, and waits for its first line. */
async function start(command: string, ...words: string[]): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, line: line.toString().trim() };
}

async function endByItself(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.stdin!.end('\n');
  await ended;
}

/** Removes shared memory. */
function remove(id: string): void {
  spawnSync('perl', ['-e', `shmctl(${id}, 0, 0)`]);
}

describe.skipIf(!existsSync('/proc/self/stat'))('the watch of a run', () => {
  it('finds a process whose parent has ended, asks it to end, and leaves the processes of others alone', async () => {
    const { child, line } = await start('sh', '-c', 'setsid sleep 601 & echo $!; read _');
    const other = spawn('sleep', ['602']);
    onTestFinished(() => void other.kill('SIGKILL'));
    const watch = new RunWatch(child.pid);
    await endByItself(child);
    expect(await watch.end(0)).toEqual([`process ${line}: sleep 601`]);
    await until(async () => !isProcessAlive(Number(line)), 'it has ended');
    expect(isProcessAlive(other.pid!)).toBe(true);
  });

  it('waits for what ends by itself', async () => {
    const { child } = await start('sh', '-c', 'sleep 0.5 & echo; read _');
    const watch = new RunWatch(child.pid);
    await endByItself(child);
    expect(await watch.end()).toEqual([]);
  });

  it.skipIf(spawnSync('perl', ['-v']).error !== undefined)(
    'finds shared memory of a process that has ended, but none that was there before',
    async () => {
      const made = String.raw`$| = 1; sub make { print shmget(0, 56, 01600), "\n"; <STDIN> } make; make`;
      const { child, line: before } = await start('perl', '-e', made);
      onTestFinished(() => remove(before));
      const watch = new RunWatch(child.pid);
      child.stdin!.write('\n');
      const [id] = (await once(child.stdout!, 'data')) as [Buffer];
      const line = id.toString().trim();
      onTestFinished(() => remove(line));
      await endByItself(child);
      expect(await watch.end(0)).toEqual([`shared memory ${line} of process ${child.pid}`]);
    },
  );

  it('finds the data directory of a PostgreSQL, also outside the directory of the run', async () => {
    const data = join(directory, 'data');
    await mkdir(data);
    await writeFile(join(data, 'PG_VERSION'), '18\n');
    await symlink('/bin/sleep', join(directory, 'postgres'));
    const server = spawn(join(directory, 'postgres'), ['603'], { cwd: data });
    onTestFinished(() => void server.kill('SIGKILL'));
    await once(server, 'spawn');
    const watch = new RunWatch(server.pid);
    expect(await watch.end(0)).toEqual([]); // the root itself is not left
    expect(watch.listDataDirectories()).toEqual([data]);
  });
});

describe('the temporary files of a run', () => {
  it('are listed by their kind', async () => {
    const temporary = join(directory, 'tmp');
    await mkdir(join(temporary, 'state'), { recursive: true });
    expect(await listTemporaryFiles(join(temporary, 'state'))).toEqual([]);
    await writeFile(join(temporary, 'letter.pdf'), '');
    const server = createServer().listen(join(temporary, 'socket'));
    await once(server, 'listening');
    expect((await listTemporaryFiles(temporary)).sort()).toEqual([
      `file ${temporary}/letter.pdf`,
      `folder ${temporary}/state`,
      `socket ${temporary}/socket`,
    ]);
    server.close();
  });
});
