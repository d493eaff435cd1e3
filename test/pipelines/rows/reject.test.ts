import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { REJECTS } from '../../../pipelines/rows/reject.ts';

it('docs/feeds.md explains every code of a refused row, and no other', () => {
  const docs = readFileSync(resolve(import.meta.dirname, '../../../docs/feeds.md'), 'utf8');
  const table = docs.slice(docs.indexOf('| Code | Meaning |'), docs.indexOf('## Gates'));
  const documented = [...table.matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map(([, code]) => code);
  expect(documented).toEqual(Object.keys(REJECTS));
});
