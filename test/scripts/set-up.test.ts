import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The checkout with its packages and without what has been compiled; the tests and the weights of models are left out. */
async function copyCheckout(): Promise<string> {
  const clone = await mkdtemp(join(tmpdir(), 'caller-trust-clone-'));
  onTestFinished(() => rm(clone, { recursive: true, force: true }));
  const left = ['.git', 'bench', 'dist', 'docs', 'models', 'node_modules', 'test', 'training', 'var'];
  await cp(root, clone, { recursive: true, filter: (path) => !left.includes(relative(root, path)) });
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'));
  return clone;
}

it('compiles a fresh clone in a process that ends: the one that stays, such as `npm start`, is small', async () => {
  const clone = await copyCheckout();
  const script = `
    import { readFileSync } from 'node:fs';
    import { setUp } from './scripts/set-up.mjs';
    await setUp();
    console.log(readFileSync('/proc/self/status', 'utf8'));`;
  const run = promisify(execFile);
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: clone });
  expect(stderr).toBe('set-up: compiling\n');
  expect(existsSync(join(clone, 'dist', 'cli.js'))).toBe(true);
  const peakMiB = Number(/VmHWM:\s+(\d+)/.exec(stdout)![1]) / 1024;
  expect(peakMiB).toBeLessThan(80); // the compiler takes ten times as much
});
