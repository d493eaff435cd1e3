import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { instantiate } from '../../../../pipelines/caches/format/web-assembly.ts';
import { copyRowsModule } from '../../../../pipelines/caches/format/copy-rows-module.ts';

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const names = readdirSync(path('assembly')).map((file) => file.replace('.ts', ''));

it.each(names)('the module of assembly/%s.ts is what the compiler makes of it', (name) => {
  const compiled = execFileSync(process.execPath, [path('scripts/compile-assembly.mjs'), name, '--print']);
  expect(compiled.toString()).toBe(readFileSync(path(`pipelines/caches/${name}-module.ts`), 'utf8'));
});

it('an instance has the memory that its module asks for', () => {
  const { memory, functions } = instantiate<{ readonly memoryBytes: () => number }>(copyRowsModule);
  expect(memory.byteLength).toBeGreaterThanOrEqual(functions.memoryBytes());
  expect(memory.byteLength - functions.memoryBytes()).toBeLessThan(65_536);
});
