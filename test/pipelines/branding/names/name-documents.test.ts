import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { NEARNESS } from '../../../../pipelines/branding/names/protected-names.ts';
import { NAME_REASONS } from '../../../../pipelines/branding/names/related-name.ts';

const docs = readFileSync(join(import.meta.dirname, '../../../../docs/branding.md'), 'utf8');
const section = docs.slice(docs.indexOf('## Names'), docs.indexOf('## Results'));
const documented = [...section.matchAll(/^\| `([a-z_]+)` \| (.+?) \| .+ \|$/gm)].map(([, code, text]) => [code, text]);

it('docs/branding.md has every reason why a name needs a person in the words of the code, and no other', () => {
  const { same_words: _same, part_of_words: _part, ...reasons } = NAME_REASONS;
  expect(Object.fromEntries(documented)).toEqual({ ...reasons, ...NEARNESS });
});
