import { describe, expect, it } from 'vitest';
import {
  LETTER_RULES,
  letterRuleLimits,
  letterRuleVersion,
  worstOfRule,
  type LetterRule,
} from '../../../../pipelines/branding/letter/letter-rules.ts';
import { readProjectFile, tableRows } from '../../../conventions/source-tree.ts';

const rules: readonly LetterRule[] = LETTER_RULES;
const document = readProjectFile('docs/letters.md');
const rows = tableRows(document);
const codeIn = (cell: string | undefined) => /^`([^`]+)`$/.exec(cell ?? '')?.[1];

describe('the rules of letters', () => {
  it('have ids of their own in snake case', () => {
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    expect(rules.filter(({ id }) => !/^[a-z]+(?:_[a-z]+)+$/.test(id))).toEqual([]);
  });

  it('are told to the customer in whole sentences, each text once, and a review says that a person looks', () => {
    const texts = rules.flatMap(({ id, cases }) => Object.values(cases).map(({ message }) => `${id}: ${message}`));
    expect(new Set(texts).size).toBe(texts.length);
    for (const { checks, passed, cases } of rules)
      for (const text of [checks, passed, ...Object.values(cases).map(({ message }) => message)])
        expect(text).toMatch(/^[A-Z{].*\.$/);
    const reviews = rules.flatMap(({ cases }) =>
      Object.values(cases)
        .filter(({ severity }) => severity === 'review')
        .map(({ message }) => message),
    );
    expect(reviews.filter((message) => !/[Aa] person (?:looks|compares)/.test(message))).toEqual([]);
  });
});

describe('docs/letters.md', () => {
  it('has one row for each rule in the words of the code, with the worst that it leads to', () => {
    const documented = rows
      .filter((cells) => cells.length === 3 && rules.some(({ id }) => id === codeIn(cells[0])))
      .map(([id, checks, worst]) => ({ id: codeIn(id), checks, worst }));
    expect(documented).toEqual(rules.map((rule) => ({ id: rule.id, checks: rule.checks, worst: worstOfRule(rule) })));
  });

  it('has one row for each thing that a rule says, and none for one that does not exist', () => {
    const documented = rows
      .filter((cells) => cells.length === 4 && codeIn(cells[0]) !== undefined)
      .map(([id, name, severity, message]) => [codeIn(id), codeIn(name), severity, message]);
    expect(documented).toEqual(
      rules.flatMap(({ id, cases }) =>
        Object.entries(cases).map(([name, { severity, message }]) => [id, name, severity, message]),
      ),
    );
  });

  it('names the version and the limits of the rules', () => {
    expect(document).toContain(`\`${letterRuleVersion}\``);
    const limits = Object.fromEntries(
      rows
        .filter(([name]) => Object.hasOwn(letterRuleLimits, codeIn(name) ?? ''))
        .map(([name, value]) => [codeIn(name), Number(value)]),
    );
    expect(limits).toEqual(letterRuleLimits);
  });
});
