import { describe, expect, it } from 'vitest';
import { brandLimits, brandProfileSchema, RELATIONSHIPS } from '../../../pipelines/branding/brand-profile.ts';
import { NUMBER_OUTCOMES } from '../../../pipelines/branding/brand/number-claims.ts';
import { namedNumbersMax, OPERATIONS, operationTitles } from '../../../pipelines/branding/operation.ts';
import { requestFileBytesMax } from '../../../pipelines/branding/requests/request-file.ts';
import { BRAND_TRANSITIONS, LETTER_TRANSITIONS, NUMBER_TRANSITIONS } from '../../../pipelines/branding/states.ts';
import { readProjectFile, tableRows } from '../../conventions/source-tree.ts';

const text = readProjectFile('docs/branding.md');

/** Rows of the table whose first column has the given title: the code of the first cell with the other cells. */
function rowsUnder(title: string): Record<string, string[]> {
  const at = text.indexOf(`| ${title} |`);
  const rows = tableRows(text.slice(at).split('\n\n', 1)[0]!);
  return Object.fromEntries(
    rows.flatMap(([first, ...rest]) => (first?.startsWith('`') ? [[/`([^`]+)`/.exec(first!)![1]!, rest]] : [])),
  );
}

describe('docs/branding.md', () => {
  it.each([
    ['Brand', BRAND_TRANSITIONS],
    ['Letter', LETTER_TRANSITIONS],
    ['Number', NUMBER_TRANSITIONS],
  ] as const)('explains every state of a %s, and none that it does not have', (title, { states }) => {
    expect(Object.keys(rowsUnder(title)).toSorted()).toEqual([...states].toSorted());
  });

  it('has every operation under its title', () => {
    for (const [kind, title] of Object.entries(operationTitles)) expect(text).toContain(`| ${title} | \`${kind}\` |`);
  });

  it('explains every outcome of a row in the words of the code', () => {
    const { phone_missing: _refused, ...rows } = rowsUnder('Outcome of a row');
    expect(Object.fromEntries(Object.entries(rows).map(([code, [meaning]]) => [code, meaning]))).toEqual(
      NUMBER_OUTCOMES,
    );
  });

  it('has every field of a request and of a brand', () => {
    expect(Object.keys(rowsUnder('Field of a brand')).toSorted()).toEqual(
      Object.keys(brandProfileSchema.shape).toSorted(),
    );
    const fields = new Set(Object.values(OPERATIONS).flatMap(({ shape }) => Object.keys(shape)));
    expect(Object.keys(rowsUnder('Field')).toSorted()).toEqual([...fields].toSorted());
  });

  it('gives the true limits', () => {
    const limits = Object.fromEntries(
      Object.entries({ ...rowsUnder('Field of a brand') }).map(([field, [limit]]) => [field, limit]),
    );
    expect(limits['legalName']).toBe(`1 to ${brandLimits.nameCharactersMax} characters`);
    expect(limits['displayName']).toContain(`1 to ${brandLimits.displayNameCharactersMax} characters`);
    expect(limits['address']).toBe(`1 to ${brandLimits.addressCharactersMax} characters`);
    expect(limits['taxId']).toBe(`1 to ${brandLimits.taxIdCharactersMax} characters`);
    expect(limits['callReasons']).toBe(
      `at most ${brandLimits.callReasonsMax}, each 1 to ${brandLimits.callReasonCharactersMax} characters`,
    );
    expect(limits['logo']).toContain(`${brandLimits.urlBytesMax} bytes`);
    expect(limits['relationship']).toMatch(new RegExp(`^${RELATIONSHIPS.map((word) => `\`${word}\``).join('.+')}`));
    expect(rowsUnder('Field')['numbers']![1]).toContain(`at most ${namedNumbersMax.toLocaleString('en-US')} numbers`);
    expect(text).toContain(`at most ${requestFileBytesMax.toLocaleString('en-US')} bytes of UTF-8`);
  });

  it('shows a request.json that is taken', () => {
    const { operation, owner, key, ...request } = JSON.parse(/```json\n(\{\n[\s\S]+?)```/.exec(text)![1]!) as Record<
      string,
      unknown
    >;
    expect([operation, typeof owner, typeof key]).toEqual(['add_managed_brand', 'string', 'string']);
    expect(OPERATIONS.add_managed_brand.safeParse(request).error).toBeUndefined();
  });
});
