import { describe, expect, it } from 'vitest';
import { formNumbersListedMax, formVersion } from '../../../../pipelines/branding/form/letter-form-pdf.ts';
import { formValidDays, letterFormRequestSchema } from '../../../../pipelines/branding/requests/letter-form.ts';
import { APPROVAL_POLICIES, FORM_RULES } from '../../../../pipelines/branding/decision/letter-form-rules.ts';
import { FORM_LANGUAGES } from '../../../../pipelines/branding/form/letter-form-texts.ts';
import { textDecisionLimits } from '../../../../pipelines/branding/decision/letter-text-background.ts';
import { worstOfRule, type LetterRule } from '../../../../pipelines/branding/letter/letter-rules.ts';
import { loadConfig, SETTINGS } from '../../../../runtime/config.ts';
import { readProjectFile, tableRows } from '../../../conventions/source-tree.ts';

const rules: readonly LetterRule[] = FORM_RULES;
const document = readProjectFile('docs/letter-forms.md');
const rows = tableRows(document);
const codeIn = (cell: string | undefined) => /^`([^`]+)`$/.exec(cell ?? '')?.[1];

describe('the rules of issued forms', () => {
  it('are told in whole sentences, each text once, and a review says who decides', () => {
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
    expect(reviews.filter((message) => !/[Aa] person (?:looks|compares|decides)|by a person/.test(message))).toEqual(
      [],
    );
  });
});

describe('docs/letter-forms.md', () => {
  it('has one row for each rule and each thing that it says, in the words of the code', () => {
    const documented = rows
      .filter((cells) => cells.length === 3 && codeIn(cells[0]) !== undefined)
      .map(([id, checks, worst]) => ({ id: codeIn(id), checks, worst }));
    expect(documented).toEqual(rules.map((rule) => ({ id: rule.id, checks: rule.checks, worst: worstOfRule(rule) })));
    const said = rows
      .filter((cells) => cells.length === 4 && codeIn(cells[0]) !== undefined)
      .map(([id, name, severity, message]) => [codeIn(id), codeIn(name), severity, message]);
    expect(said).toEqual(
      rules.flatMap(({ id, cases }) =>
        Object.entries(cases).map(([name, { severity, message }]) => [id, name, severity, message]),
      ),
    );
  });

  it('has one row for each policy, which are the values of the setting', () => {
    const documented = Object.fromEntries(
      rows
        .filter((cells) => cells.length === 2 && codeIn(cells[0]) !== undefined)
        .map(([name, text]) => [codeIn(name), text]),
    );
    expect(documented).toEqual(APPROVAL_POLICIES);
    for (const policy of Object.keys(APPROVAL_POLICIES))
      expect(loadConfig({ LETTER_APPROVAL: policy }).letterApproval).toBe(policy);
    expect(() => loadConfig({ LETTER_APPROVAL: 'text' })).toThrow();
    expect(loadConfig({}).letterApproval).toBe('signature');
    expect(SETTINGS.letterApproval.env).toBe('LETTER_APPROVAL');
  });

  it('names the true version, languages and limits, and a request that is taken', () => {
    expect(document).toContain(`\`${formVersion}\``);
    expect(document).toContain(FORM_LANGUAGES.map((language) => `\`${language}\``).join(', '));
    expect(document).toContain(`Up to ${formNumbersListedMax} numbers are listed`);
    expect(document).toContain(`(${formValidDays} days)`);
    expect(document).toContain(
      `a text of ${textDecisionLimits.charactersAtOnceMax.toLocaleString('en-US')} characters`,
    );
    expect(
      letterFormRequestSchema.safeParse(JSON.parse(/```json\n([\s\S]+?)```/.exec(document)![1]!)).error,
    ).toBeUndefined();
  });
});
