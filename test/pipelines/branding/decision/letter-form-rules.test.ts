import { describe, expect, it } from 'vitest';
import { formNumbersListedMax, formVersion } from '../../../../pipelines/branding/form/letter-form-pdf.ts';
import { formValidDays, letterFormRequestSchema } from '../../../../pipelines/branding/requests/letter-form.ts';
import { APPROVAL_POLICIES, FORM_RULES } from '../../../../pipelines/branding/decision/letter-form-rules.ts';
import { FORM_LANGUAGES } from '../../../../pipelines/branding/form/letter-form-texts.ts';
import { loadConfig, SETTINGS } from '../../../../runtime/config.ts';
import { codeIn, testDocumentedRules } from '../documented-rules.ts';

const { document, rows } = testDocumentedRules(FORM_RULES, 'docs/letter-forms.md', {
  namesPerson: /[Aa] person (?:looks|compares|decides)|by a person/,
});

describe('docs/letter-forms.md', () => {
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
    expect(
      letterFormRequestSchema.safeParse(JSON.parse(/```json\n([\s\S]+?)```/.exec(document)![1]!)).error,
    ).toBeUndefined();
  });
});
