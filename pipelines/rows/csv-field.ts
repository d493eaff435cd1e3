/** A field of CSV, quoted where RFC 4180 requires it; empty for null and undefined. */
export function formatCsvField(value: string | number | boolean | null | undefined): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet takes for a formula: a text that begins with one of these signs, also in full width, and is no number. */
const formula = /^\s*(?:[=@＝＠]|[+\-＋－](?![\d\s.,()/-]*$))/;

/** A field of CSV for people, who open it in a spreadsheet: an apostrophe before what it would take for a formula makes it a text. */
export function formatSheetField(value: string | number | boolean | null | undefined): string {
  return formatCsvField(typeof value === 'string' && formula.test(value) ? `'${value}` : value);
}
