import { expect, it } from 'vitest';
import { formatCsvField, formatSheetField } from '../../../pipelines/rows/csv-field.ts';

it.each([
  ["=cmd|' /C calc'!A0", `'=cmd|' /C calc'!A0`],
  ['@SUM(1)', `'@SUM(1)`],
  ['+HYPERLINK("http://x")', `"'+HYPERLINK(""http://x"")"`],
  ['-2+3', `'-2+3`],
  ['\t=1', `'\t=1`],
  ['\r\n=1', `"'\r\n=1"`],
  ['＝1', `'＝1`],
  ['=', `'=`],
])('%j, which a spreadsheet would take for a formula, is a text', (text, field) => {
  expect(formatSheetField(text)).toBe(field);
});

it.each(['+12025550123', '-0.5', '+1 (202) 555-0123', 'a=b', 'call-1.wav', "'=x", '', null, -7, 0.25, true])(
  '%j is written as it is',
  (value) => {
    expect(formatSheetField(value)).toBe(formatCsvField(value));
  },
);
