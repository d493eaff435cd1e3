import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  BRAND_TRANSITIONS,
  LETTER_TRANSITIONS,
  NUMBER_TRANSITIONS,
  type TransitionTable,
} from '../../../pipelines/branding/states.ts';
import { drawStates } from '../../support/states-picture.ts';

const pictures = join(import.meta.dirname, '../../../docs/pictures');
const tables: TransitionTable<string, string>[] = [BRAND_TRANSITIONS, LETTER_TRANSITIONS, NUMBER_TRANSITIONS];

/** After a change of the tables: `npx vitest run -u` on this file, then `dot -Tsvg` of Graphviz on the drawing. */
describe('the picture of the states', () => {
  it('is drawn from the transition tables', async () => {
    await expect(drawStates(tables)).toMatchFileSnapshot(join(pictures, 'branding-states.dot'));
  });

  it('shows every state and every transition of the drawing', async () => {
    const svg = (await readFile(join(pictures, 'branding-states.svg'), 'utf8'))
      .replaceAll('&#45;', '-')
      .replaceAll('&gt;', '>');
    const titles = new Set([...svg.matchAll(/<title>([^<]+)<\/title>/g)].map(([, title]) => title));
    const drawn = await readFile(join(pictures, 'branding-states.dot'), 'utf8');
    const nodes = [...drawn.matchAll(/^ {4}(\w+) \[/gm)].map(([, node]) => node!);
    const edges = [...drawn.matchAll(/^ {4}(\w+) -> (\w+) /gm)].map(([, from, to]) => `${from}->${to}`);
    expect(nodes.length).toBe(tables.reduce((sum, { states }) => sum + states.length, 0));
    expect([...nodes, ...edges].filter((title) => !titles.has(title))).toEqual([]);
  });
});
