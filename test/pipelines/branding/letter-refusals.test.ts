import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BRAND_CHECKS } from '../../../pipelines/branding/brand/brand-check.ts';
import { LETTER_REFUSALS } from '../../../pipelines/branding/letter-reading.ts';

it('docs/letters.md has every refusal to read a letter in the words of the code, and no other', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/letters.md'), 'utf8');
  const section = docs.slice(docs.indexOf('## How a letter is read'), docs.indexOf('## Checks besides the rules'));
  const documented = [...section.matchAll(/^\| `([a-z_]+)` \| (.+) \|$/gm)].map(([, code, meaning]) => [code, meaning]);
  expect(Object.fromEntries(documented)).toEqual(LETTER_REFUSALS);
});

it('docs/letters.md has every check besides the rules in the words of the code, and no other', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/letters.md'), 'utf8');
  const section = docs.slice(docs.indexOf('## Checks besides the rules'), docs.indexOf('## What is kept'));
  const documented = [...section.matchAll(/^\| `([a-z_]+)` \| (.+?) \| (.+) \|$/gm)].map(([, code, pass, review]) => [
    code,
    { pass, review },
  ]);
  expect(Object.fromEntries(documented)).toEqual(BRAND_CHECKS);
});
