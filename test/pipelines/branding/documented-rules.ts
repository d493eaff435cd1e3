import { describe, expect, it } from 'vitest';
import type { FreeLetterRule } from '../../../pipelines/branding/letter/rules/letter-rules.ts';
import { readProjectFile, tableRows } from '../../conventions/source-tree.ts';

/** The code in a cell of a table; undefined if it has another content. */
export const codeIn = (cell: string | undefined) => /^`([^`]+)`$/.exec(cell ?? '')?.[1];

/** Registers the tests of rules and of the document that lists them; returns the document and the rows of its tables. */
export function testDocumentedRules(
  rules: readonly (FreeLetterRule & { readonly passed?: string })[],
  path: string,
  { namesPerson, isRule = (id) => id !== undefined }: { namesPerson?: RegExp; isRule?: (id?: string) => boolean },
) {
  const document = readProjectFile(path);
  const rows = tableRows(document);
  describe(`the rules of ${path}`, () => {
    it('speak in whole sentences, each text once', () => {
      const texts = rules.flatMap(({ id, cases }) => Object.values(cases).map(({ message }) => `${id}: ${message}`));
      expect(new Set(texts).size).toBe(texts.length);
      for (const { checks, passed, cases } of rules)
        for (const text of [
          checks,
          ...(passed === undefined ? [] : [passed]),
          ...Object.values(cases).map(({ message }) => message),
        ])
          expect(text).toMatch(/^[A-Z{].*\.$/);
      const reviews = rules
        .flatMap(({ cases }) => Object.values(cases))
        .flatMap(({ severity, message }) => (severity === 'review' ? [message] : []));
      expect(reviews.filter((message) => namesPerson?.test(message) === false)).toEqual([]);
    });

    it('have one row each there in the words of the code, with the worst that they lead to', () => {
      const documented = rows
        .filter((cells) => cells.length === 3 && isRule(codeIn(cells[0])))
        .map(([id, checks, worst]) => ({ id: codeIn(id), checks, worst }));
      expect(documented).toEqual(rules.map((rule) => ({ id: rule.id, checks: rule.checks, worst: worstOf(rule) })));
    });

    it('have one row for each thing that they say, and there is none for one that does not exist', () => {
      const documented = rows
        .filter((cells) => cells.length === 4 && codeIn(cells[0]) !== undefined)
        .map(([id, name, severity, message]) => [codeIn(id), codeIn(name), severity, message]);
      expect(documented).toEqual(
        rules.flatMap(({ id, cases }) =>
          Object.entries(cases).map(([name, { severity, message }]) => [id, name, severity, message]),
        ),
      );
    });
  });
  return { document, rows };
}

function worstOf({ cases }: FreeLetterRule): string {
  const severities = Object.values(cases).map(({ severity }) => severity);
  return (['reject', 'review', 'note'] as const).find((severity) => severities.includes(severity)) ?? 'pass';
}
