import { describe, expect, it } from 'vitest';
import {
  LETTER_RULES,
  letterRuleLimits,
  letterRuleVersion,
} from '../../../../../pipelines/branding/letter/rules/letter-rules.ts';
import { codeIn, testDocumentedRules } from '../../documented-rules.ts';

const { document, rows } = testDocumentedRules(LETTER_RULES, 'docs/letters.md', {
  isRule: (id) => LETTER_RULES.some((rule) => rule.id === id),
});

describe('the rules of letters', () => {
  it('say of nothing that it is in order', () => {
    const severities = LETTER_RULES.flatMap(({ cases }) => Object.values(cases).map(({ severity }) => severity));
    expect(new Set(severities)).toEqual(new Set(['note', 'review', 'reject']));
    expect(LETTER_RULES.filter((rule) => 'passed' in rule)).toEqual([]);
  });

  it('have ids of their own in snake case', () => {
    expect(new Set(LETTER_RULES.map(({ id }) => id)).size).toBe(LETTER_RULES.length);
    expect(LETTER_RULES.filter(({ id }) => !/^[a-z]+(?:_[a-z]+)+$/.test(id))).toEqual([]);
  });
});

describe('docs/letters.md', () => {
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
