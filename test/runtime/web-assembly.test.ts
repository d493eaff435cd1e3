import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { instantiate } from '../../runtime/web-assembly.ts';
import { rowDeflateModule } from '../../pipelines/caches/format/row-deflate-module.ts';

it('each module of assembly/ is the output of the compiler', () => {
  const script = fileURLToPath(new URL('../../scripts/compile-assembly.mjs', import.meta.url));
  expect(() => execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe' })).not.toThrow();
});

it('an instance has the memory that its module asks for', () => {
  const { memory, functions } = instantiate<{ readonly memoryBytes: () => number }>(rowDeflateModule);
  expect(memory.byteLength).toBeGreaterThanOrEqual(functions.memoryBytes());
  expect(memory.byteLength - functions.memoryBytes()).toBeLessThan(65_536);
});
