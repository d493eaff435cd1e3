import { describe, expect, it } from 'vitest';
import {
  allows,
  BRAND_TRANSITIONS,
  LETTER_TRANSITIONS,
  NUMBER_TRANSITIONS,
  transition,
  type TransitionTable,
} from '../../../pipelines/branding/states.ts';

const tables: TransitionTable<string, string>[] = [BRAND_TRANSITIONS, LETTER_TRANSITIONS, NUMBER_TRANSITIONS];

describe.each(tables)('the transition table of a $kind', (table) => {
  const pairs = table.states.flatMap((from) => Object.keys(table.actions).map((action) => ({ from, action })));

  it('names only states that exist, each once', () => {
    expect(new Set(table.states).size).toBe(table.states.length);
    for (const { from, to } of Object.values(table.actions))
      for (const state of [...from, to]) expect(table.states).toContain(state);
  });

  it('reaches every state from the first', () => {
    const reached = new Set([table.states[0]!]);
    for (const state of reached)
      for (const { from, to } of Object.values(table.actions)) if (from.includes(state)) reached.add(to);
    expect([...reached].sort()).toEqual([...table.states].sort());
  });

  it.each(pairs)('$action from $from is done or refused as the table says', ({ from, action }) => {
    const attempt = () => transition(table, from, { action, object: 'it' });
    if (table.actions[action]!.from.includes(from)) {
      expect(allows(table, from, action)).toBe(true);
      expect(attempt()).toBe(table.actions[action]!.to);
    } else {
      expect(allows(table, from, action)).toBe(false);
      expect(attempt).toThrow(
        expect.objectContaining({
          code: 'transition_refused',
          problem: expect.stringContaining(`is ${from}, and cannot become ${table.actions[action]!.to}`),
        }),
      );
    }
  });
});

it('the final states have no way out', () => {
  const leaves = (table: TransitionTable<string, string>, state: string) =>
    Object.values(table.actions).some(({ from }) => from.includes(state));
  expect([
    leaves(BRAND_TRANSITIONS, 'withdrawn'),
    leaves(LETTER_TRANSITIONS, 'rejected'),
    leaves(LETTER_TRANSITIONS, 'expired'),
    leaves(LETTER_TRANSITIONS, 'withdrawn'),
  ]).toEqual([false, false, false, false]);
  expect(leaves(NUMBER_TRANSITIONS, 'permanently_rejected')).toBe(false);
});
